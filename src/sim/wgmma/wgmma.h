/* SPDX-License-Identifier: Apache-2.0 */
/* wgmma: four warps issue an operation each for itself; when the fourth has, the operation exists. Operations that were
 * issued since the last commit are a group. The group runs when its flight lands: only then are operands read and
 * results written. A warp may touch the registers again when it has itself waited for the group. */
#ifndef SIM_WGMMA_H
#define SIM_WGMMA_H

#include "sim/barriers/barriers.h"
#include "sim/execute/matrix.h"
#include "sim/execute/matrix_tile.h"
#include "sim/memory/shadow.h"

enum { WGMMA_WARPS = 4, WGMMA_ALL = 15, WGMMA_OPERATIONS_MAX = 1024 };

/* One of the two operands in shared memory. */
struct wgmma_matrix {
    enum sim_element element;
    uint64_t descriptor;
    bool mn_major;
    uint32_t rows; /* 64 of A, N of B */
};

struct wgmma_operation {
    struct wgmma_operation *next;
    const struct ptx_instruction *instruction;
    struct wgmma_matrix a, b;
    enum sim_accumulator type;
    bool a_in_registers, keep, negate, saturate;
    bool broken; /* something about it was reported that leaves nothing to compute */
    bool landed;
    uint32_t group;              /* counted from 0 */
    uint8_t issued, waited;      /* a bit per warp */
    uint64_t time;               /* of the first issue */
    uint64_t tainted_rows;       /* of A: uninitialised bytes */
    uint64_t tainted_columns[4]; /* of B */
    /* What all warps that have issued it know: the smallest clock of each agent. */
    struct sim_clocks known, flushed;
    uint32_t agents;
};

/* The registers of one warp, by row (offset / 128). */
struct wgmma_registers {
    uint32_t fences;     /* wgmma.fence so far */
    uint32_t *touched;   /* `fences` when something else touched the register last; 0 at first: never fenced */
    uint16_t *in_flight; /* operations that the warp has not waited for */
    uint16_t *use;       /* how the last operation used it */
};

struct sim_warpgroup {
    struct sim_cta *cta;
    struct sim_warp *warp; /* the first of four */
    uint32_t agent;        /* SIM_AGENT_NONE until the first operation */
    struct wgmma_operation *first, *unused;
    uint32_t operations;                                  /* in the list */
    uint32_t rows;                                        /* registers of a warp */
    uint32_t committed[WGMMA_WARPS], waited[WGMMA_WARPS]; /* groups */
    uint32_t launched, landed;
    struct wgmma_registers registers[WGMMA_WARPS];
    uint64_t seen[256]; /* descriptors that wgmma_check_origin() has looked at */
};

static inline uint32_t wgmma_k(const struct wgmma_operation *operation) {
    return 32 / sim_element_bytes(operation->b.element);
}

/* Pieces of 16 bytes that the operand has in shared memory. */
static inline uint32_t wgmma_pieces(const struct wgmma_matrix *matrix) {
    return 2 * matrix->rows;
}

static inline uint32_t wgmma_bit(const struct sim_warp *warp) {
    return 1u << warp->index % WGMMA_WARPS;
}

/* ---- wgmma_group.c ----------------------------------------------------------------------------------------------- */

/* A whole warp of a whole warpgroup, all lanes together? Reports otherwise. False: the handler returns *next. */
bool wgmma_check_warp(struct sim_warp *warp, struct sim_path *path, const struct ptx_instruction *i, uint32_t mask,
                      enum sim_next *next);
/* An operation at the end of the list. NULL: too many, or no memory, and then the launch ends. */
struct wgmma_operation *wgmma_append(struct sim_warpgroup *warpgroup);
/* Fills it in; its place in the list and its clocks stay. */
void wgmma_set(struct wgmma_operation *operation, const struct wgmma_operation *to);

/* ---- wgmma_address.c --------------------------------------------------------------------------------------------- */

/* The addresses of the operand's pieces of 16 bytes. K-major: of row r its two at 2 r. MN-major: of k its rows / 8 from
 * k * rows / 8 on. False: the descriptor is none (`why` says so). */
enum { WGMMA_PIECES_MAX = 512, WGMMA_UNITS_MAX = (1 << 18) / 16 };
bool wgmma_addresses(const struct wgmma_matrix *matrix, uint32_t addresses[WGMMA_PIECES_MAX], char *why, size_t bytes);

/* The bytes of the descriptor's swizzle, 0 for none. */
uint32_t wgmma_span(const struct wgmma_matrix *matrix);

/* ---- wgmma_operand.c --------------------------------------------------------------------------------------------- */

/* One operand being checked. */
struct wgmma_check {
    struct wgmma_operation *operation;
    struct sim_warp *warp; /* for the reports */
    const struct wgmma_matrix *matrix;
    char name; /* 'A', 'B' */
    uint32_t addresses[WGMMA_PIECES_MAX];
    uint64_t read[WGMMA_UNITS_MAX / 64]; /* a bit for every 16 bytes of shared memory that are read */
};

/* When all four have issued: reports what is wrong with the operands in shared memory, counts their reads. */
void wgmma_check_operands(struct sim_warpgroup *warpgroup, struct wgmma_operation *operation, struct sim_warp *last);

/* The operand as floats: A as [64][k]; B as [k][rows], columns stored as matrix_tile.h says. False: not to be had. */
bool wgmma_read_a(const struct sim_warpgroup *warpgroup, const struct wgmma_operation *operation, float *a);
bool wgmma_read_b(const struct sim_warpgroup *warpgroup, const struct wgmma_operation *operation, float *b);

/* ---- wgmma_origin.c ---------------------------------------------------------------------------------------------- */

void wgmma_check_origin(struct sim_warpgroup *warpgroup, const struct wgmma_check *check);

/* ---- wgmma_registers.c ------------------------------------------------------------------------------------------- */

/* False: no memory, and nothing taken. */
bool wgmma_registers_begin(struct wgmma_registers *registers, uint32_t rows);
void wgmma_registers_end(struct wgmma_registers *registers);
/* The warp issues the operation: checks its registers and takes them. */
void wgmma_registers_take(struct sim_warp *warp, const struct wgmma_operation *operation);
/* The warp has waited for it. */
void wgmma_registers_give(struct sim_warp *warp, const struct wgmma_operation *operation);

/* ---- wgmma_run.c ------------------------------------------------------------------------------------------------- */

void wgmma_run(struct sim_warpgroup *warpgroup, struct wgmma_operation *operation);

#endif
