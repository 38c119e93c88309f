/* SPDX-License-Identifier: Apache-2.0 */
/* gristmill/smem.h: shared memory on paper. What a warp's access costs in wavefronts, which padding or which swizzle
 * makes it cheap, and whether a TMA tensor map and a WGMMA descriptor speak of the same bytes.
 *
 * Everything here is plain arithmetic on the host: no GPU, no driver, no allocation, no state; every function may be
 * called from any thread. Addresses are byte addresses in shared memory (32-bit, as `cvta.to.shared` gives them).
 * Structs begin with their size and are zero-initialisable, as in gristmill.h; errors are reported the same way, and an
 * output parameter is written only with GM_OK. Every function refuses a NULL with GM_ERROR_INVALID_ARGUMENT and a
 * struct whose size is that of no version with GM_ERROR_SIZE; what else it refuses stands beside it. Elements of an
 * array are as far apart as the first one's size says.
 *
 * The model was compared with an H200's counters, pattern by pattern: docs/counters.md.
 */
#ifndef GRISTMILL_SMEM_H
#define GRISTMILL_SMEM_H

#include "gristmill/core.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- banks -------------------------------------------------------------------------------------- */

/*  Shared memory has 32 banks of 4 bytes:  bank(address) = address / 4 mod 32.
 *  One wavefront serves at most one word of every bank; lanes that ask for the same word share it.  */

enum { GM_LANES = 32, GM_BANKS = 32, GM_WAVEFRONTS_MAX = 64 };

enum gm_access_kind {
    GM_ACCESS_LOAD = 0,     /* ld.shared, .v2, .v4 */
    GM_ACCESS_STORE = 1,    /* st.shared, .v2, .v4 */
    GM_ACCESS_LDMATRIX = 2, /* every address is a row of 16 bytes: lanes 0-7 for x1, 0-15 for x2, all for x4 */
    GM_ACCESS_STMATRIX = 3,
    GM_ACCESS_CP_ASYNC = 4,  /* cp.async.ca from a contiguous source: its write of shared memory */
    GM_ACCESS_ATOMIC = 5,    /* atom.shared / red.shared on 32-bit integers: lanes never share a word */
    GM_ACCESS_INCREMENT = 6, /* red.shared.add of the constant 1 (a histogram): lanes share words */
    GM_ACCESS_CAS = 7        /* atom.shared.cas: every wavefront twice */
};

/* One instruction of one warp. */
struct gm_access {
    size_t size;
    enum gm_access_kind kind;
    uint32_t width;             /* bytes a lane: load, store 1 2 4 8 16; cp.async 4 8 16; atomics 4; matrix kinds 16 */
    uint32_t matrices;          /* matrix kinds: 1, 2, 4 (0: 4); otherwise 0 */
    uint32_t inactive;          /* bit i: lane i takes no part */
    uint32_t address[GM_LANES]; /* of lane i; a multiple of the width */
};

struct gm_bank_cost {
    size_t size;
    uint32_t wavefronts; /* what the access takes */
    uint32_t ideal;      /* what the same lanes and widths take when no two words share a bank */
    uint32_t conflicts;  /* what the hardware counts as bank conflicts: wavefronts - ideal; half that for CAS */
    uint32_t degree;     /* the most words (atomics, CAS, cp.async: lanes) a bank must serve within one phase */
    uint32_t words;      /* different 4-byte words touched */
};

/* GM_ERROR_INVALID_ARGUMENT: unknown kind or width, or a lane's address that ends beyond 2^32;
 * GM_ERROR_MISALIGNED: an active lane's address is no multiple of the width. */
GM_API enum gm_status gm_bank_cost(const struct gm_access *access, struct gm_bank_cost *cost);

#define GM_NO_WAVEFRONT 255u
#define GM_NO_WORD      0xffffffffu

/* The same, wavefront by wavefront. The hardware does not say which of two conflicting words goes first; here it is
 * the lower lane's. */
struct gm_bank_map {
    size_t size;
    struct gm_bank_cost cost;
    uint8_t wavefront[GM_LANES][4];             /* of a lane's word w (CAS: first of two); GM_NO_WAVEFRONT: none */
    uint32_t word[GM_WAVEFRONTS_MAX][GM_BANKS]; /* byte address of the word that the bank serves; GM_NO_WORD: idle */
};
/* Errors as gm_bank_cost(). */
GM_API enum gm_status gm_bank_map(const struct gm_access *access, struct gm_bank_map *map);

/* ---- swizzles ----------------------------------------------------------------------------------- */

/*  Swizzle<B, M, S> as in CuTe, with mask = 2^B - 1; the M lowest bits stay:
 *      S > 0:  a ^ ((a >> S) & (mask << M))       bits M .. M+B-1 are XORed with the bits S places above them
 *      S < 0:  a ^ ((a & (mask << M)) << -S)      bits M .. M+B-1 are XORed into the bits -S places above them  */
struct gm_swizzle {
    uint32_t bits; /* B */
    uint32_t base; /* M */
    int32_t shift; /* S; |S| >= B, except that B = 0 is the identity */
};

enum gm_swizzle_mode { GM_SWIZZLE_NONE = 0, GM_SWIZZLE_32B = 1, GM_SWIZZLE_64B = 2, GM_SWIZZLE_128B = 3 };

/* GM_ERROR_INVALID_ARGUMENT when the fields overlap or leave 32 bits. */
GM_API enum gm_status gm_swizzle_check(struct gm_swizzle swizzle);
GM_API uint32_t gm_swizzle_apply(struct gm_swizzle swizzle, uint32_t address);
/* The swizzle of a TMA / WGMMA mode, on absolute byte addresses of shared memory: <0..3, 4, 3>. */
GM_API struct gm_swizzle gm_swizzle_of_mode(enum gm_swizzle_mode mode);
GM_API uint32_t gm_swizzle_span_bytes(enum gm_swizzle_mode mode);    /* 16, 32, 64, 128; 16 for none */
GM_API uint32_t gm_swizzle_pattern_bytes(enum gm_swizzle_mode mode); /* repeats every 128, 256, 512, 1024 */
/* The same map on element indices instead of byte addresses: M less log2(element_bytes). GM_ERROR_INVALID_ARGUMENT
 * when it cuts elements (M would be negative) or element_bytes is no power of two up to 16. */
GM_API enum gm_status gm_swizzle_of_elements(struct gm_swizzle bytes, uint32_t element_bytes,
                                             struct gm_swizzle *elements);

/* A tile in shared memory: row r, byte c of it lies at swizzle(base + r * pitch + c). */
struct gm_smem_tile {
    size_t size;
    uint32_t rows, row_bytes;  /* 1 .. 65536 rows; at most 2^20 bytes in all */
    uint32_t pitch_bytes;      /* 0: row_bytes */
    uint32_t base;             /* byte address of row 0 */
    struct gm_swizzle swizzle; /* B = 0: none */
};
/* GM_ERROR_INVALID_ARGUMENT: the byte lies outside the tile, or the tile is none (its limits above, or beyond 2^32). */
GM_API enum gm_status gm_smem_tile_address(const struct gm_smem_tile *tile, uint32_t row, uint32_t byte,
                                           uint32_t *address);

/* Stands for the conflicts of a walk that the tile does not have: it is too narrow or too low, its rows are not aligned
 * to the width, or the swizzle tears a lane's bytes apart. */
#define GM_NO_WALK 0xffffffffu

/* Found by going through every address and every column of the tile, not by reasoning. `width` i of the arrays is
 * 1 << i bytes a lane: 1, 2, 4, 8, 16. */
struct gm_swizzle_proof {
    size_t size;
    uint32_t bijective; /* 1: no two bytes of the tile meet, and none leaves the tile's pattern */
    uint32_t self_inverse;
    uint32_t row_worst[5];    /* worst conflicts of 32 lanes side by side along a row, over all rows and starts */
    uint32_t column_worst[5]; /* worst conflicts of 32 lanes one below the other, over all columns */
    uint32_t ldmatrix_worst;  /* ldmatrix.x1 on 8 rows, over all 16-byte columns and groups of 8 rows */
};
/* GM_ERROR_INVALID_ARGUMENT as gm_smem_tile_address(). */
GM_API enum gm_status gm_swizzle_prove(const struct gm_smem_tile *tile, struct gm_swizzle_proof *proof);

/* ---- advice ------------------------------------------------------------------------------------- */

/* How a warp walks a tile: lane i touches `width` bytes from byte[i] of row[i]. */
struct gm_tile_access {
    size_t size;
    enum gm_access_kind kind;
    uint32_t width, matrices, inactive; /* as in gm_access */
    uint32_t row[GM_LANES], byte[GM_LANES];
};
/* The access's addresses in the tile. GM_ERROR_INVALID_ARGUMENT when a lane leaves the tile. */
GM_API enum gm_status gm_tile_access_place(const struct gm_smem_tile *tile, const struct gm_tile_access *walk,
                                           struct gm_access *access);

/* The smallest Swizzle<B, M, S> (fewest bits B, then the highest M, then the smallest S) with which all accesses take
 * their ideal wavefronts. *found = 0 when there is none; then *swizzle is the identity. */
GM_API enum gm_status gm_swizzle_search(const struct gm_smem_tile *tile, const struct gm_tile_access *walks,
                                        size_t count, struct gm_swizzle *swizzle, int *found);

enum gm_cure { GM_CURE_NONE_NEEDED = 0, GM_CURE_PAD = 1, GM_CURE_SWIZZLE = 2, GM_CURE_NOTHING_HELPS = 3 };

struct gm_pad_advice {
    size_t size;
    uint32_t unit_bytes;                           /* pads come in steps of this: the widest access, at least a word */
    uint32_t pad_bytes;                            /* the smallest pad a row with the fewest wavefronts */
    uint32_t wavefronts, wavefronts_padded, ideal; /* summed over the accesses */
    uint32_t tile_bytes, tile_bytes_padded;
    int32_t blocks, blocks_padded; /* resident on an SM, as its shared memory and its limit allow */
    struct gm_swizzle swizzle;     /* the smallest swizzle that cures it without a byte; B = 0: none found or needed */
    uint32_t wavefronts_swizzled;
    enum gm_cure cure;  /* a pad; not if it costs a resident block, is worse than the swizzle, or TMA or WGMMA
                         * touches the tile */
    char sentence[400]; /* why */
};

/* `tiles` such tiles (stages, buffers) and `other_bytes` more make up a block's shared memory. `hardware_swizzle`:
 * the tile is filled by TMA or read by WGMMA, which rules padding out. */
struct gm_pad_question {
    size_t size;
    struct gm_smem_tile tile; /* its swizzle and pitch are ignored */
    uint32_t tiles;           /* 0: 1 */
    uint32_t other_bytes;
    uint32_t hardware_swizzle;
};
/* GM_ERROR_INVALID_ARGUMENT: no walk or more than 65,536, a walk that leaves the tile, a device without shared memory,
 * or a tile that TMA cannot fill although it has to. */
GM_API enum gm_status gm_pad_advise(const struct gm_pad_question *question, const struct gm_tile_access *walks,
                                    size_t count, const struct gm_device *device, struct gm_pad_advice *advice);

/* ---- TMA tensor maps ---------------------------------------------------------------------------- */

/* What cuTensorMapEncodeTiled is asked for, in its own order and with its own enum values; innermost first. */
struct gm_tensor_map_request {
    size_t size;
    int32_t type; /* CUtensorMapDataType, 0 .. 12 */
    uint32_t rank;
    uint64_t address;
    uint64_t dims[5];            /* elements */
    uint64_t strides[4];         /* bytes, of dimensions 1 .. rank - 1 */
    uint32_t box[5];             /* elements */
    uint32_t element_strides[5]; /* 0: 1 */
    int32_t interleave;
    enum gm_swizzle_mode swizzle;
    int32_t l2_promotion, oob_fill;
};

/* One rule and how the request stands to it. */
struct gm_rule {
    size_t size;
    const char *name;   /* "box row against swizzle span" */
    int32_t holds;      /* 1; 0: broken; -1: does not apply */
    char sentence[200]; /* with the request's numbers */
};
/* Writes min(capacity, all) rules, in the order in which the driver would check them, the full count to *count, and
 * to *legal whether the driver of an H200 accepts the request. `rules` may be NULL when capacity is 0; otherwise the
 * first one's size is set, and is that of all. */
GM_API enum gm_status gm_tensor_map_explain(const struct gm_tensor_map_request *request, struct gm_rule *rules,
                                            size_t capacity, size_t *count, int *legal);
GM_API uint32_t gm_tensor_map_element_bytes(int32_t type); /* 0 for a type that is none */
/* Bytes that a load delivers; 0: the request is illegal. */
GM_API uint32_t gm_tensor_map_box_bytes(const struct gm_tensor_map_request *request);

/* ---- WGMMA matrix descriptors ------------------------------------------------------------------- */

struct gm_matrix_descriptor {
    size_t size;
    uint32_t start;         /* byte address, a multiple of 16, below 2^18 */
    uint32_t leading_bytes; /* LBO, a multiple of 16, below 2^18 */
    uint32_t stride_bytes;  /* SBO, the same */
    uint32_t base_offset;   /* 0 .. 7: phase of the pattern, in rows of 128 bytes */
    enum gm_swizzle_mode swizzle;
};
/* GM_ERROR_INVALID_ARGUMENT: a field outside its range above. */
GM_API enum gm_status gm_matrix_descriptor_encode(const struct gm_matrix_descriptor *fields, uint64_t *bits);
/* GM_ERROR_INVALID_ARGUMENT when bits are set that belong to no field. */
GM_API enum gm_status gm_matrix_descriptor_decode(uint64_t bits, struct gm_matrix_descriptor *fields);

/* How a warpgroup's operand uses a descriptor. */
struct gm_wgmma_operand {
    size_t size;
    enum gm_major major;
    uint32_t element_bytes; /* 1, 2, 4; MN-major needs 2 */
    uint32_t rows;          /* along M or N: 64 for A, 8 .. 256 for B */
};
/* The byte address at which WGMMA reads element (row, k) of one instruction; k < 32 / element_bytes.
 * GM_ERROR_INVALID_ARGUMENT: a field outside its range, an operand that WGMMA has not, or an element outside it. */
GM_API enum gm_status gm_wgmma_address(const struct gm_matrix_descriptor *descriptor,
                                       const struct gm_wgmma_operand *operand, uint32_t row, uint32_t k,
                                       uint32_t *address);

/* Both sides of a tile: the boxes that TMA writes, and the descriptor that reads them, K step by K step. */
struct gm_descriptor_question {
    size_t size;
    struct gm_tensor_map_request map; /* rank 2: inner = the contiguous index, outer = the other */
    uint32_t destination;             /* shared-memory address of the first box */
    uint32_t boxes;                   /* boxes side by side along the inner index, consecutive in memory; 0: 1 */
    struct gm_wgmma_operand operand;
    uint64_t descriptor;   /* of the first K step */
    uint32_t k_steps;      /* 0: as many as the boxes hold */
    uint32_t k_step_bytes; /* added to the start address for each */
};
struct gm_descriptor_answer {
    size_t size;
    int32_t agrees;           /* 1: every element is read from where it was written */
    uint32_t elements, wrong; /* compared; of these read from elsewhere */
    uint32_t row, k;          /* the first that is wrong */
    uint32_t written, read;   /* its two addresses */
    char sentence[400];       /* what is wrong: mode, alignment phase, LBO, SBO, K step, or the map itself */
};
/* Disagreement is an answer, not an error; so is an illegal map. GM_ERROR_INVALID_ARGUMENT: an operand that WGMMA has
 * not, or bits that belong to no field. */
GM_API enum gm_status gm_descriptor_compare(const struct gm_descriptor_question *question,
                                            struct gm_descriptor_answer *answer);
/* The descriptor and K step that do fit `map`, `destination` and `operand` (the rest of the question is ignored).
 * GM_ERROR_INVALID_ARGUMENT: none fits, and the sentence says why. */
GM_API enum gm_status gm_descriptor_suggest(const struct gm_descriptor_question *question, uint64_t *descriptor,
                                            uint32_t *k_step_bytes);

#ifdef __cplusplus
}
#endif
#endif
