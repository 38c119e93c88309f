/* SPDX-License-Identifier: Apache-2.0 */
/* PTX, parsed and decoded: text -> module -> functions -> instructions that the machine can run.
 *
 * A register is a row of 32 lanes in the warp's register file, named by its byte offset there. Registers of up to 32
 * bits are rows of 32 uint32_t (the unused high bits are zero), 64-bit registers rows of 32 uint64_t. A predicate is
 * one uint32_t, a bit per lane. Immediates are rows of the same kind, made once by the parser, so that a handler reads
 * both alike (SIM_SOURCE_32, SIM_SOURCE_64 in machine.h). */
#ifndef SIM_PTX_H
#define SIM_PTX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PTX_LANES = 32, PTX_OPERANDS_MAX = 10, PTX_CHOICES_MAX = 12, PTX_NONE = -1 };
enum { SIM_SHARED_RESERVED = 1024 }; /* bytes of shared memory before a kernel's own: the system's */

/* ---- the instruction set (instructions.def) --------------------------------------------------------------------- */

struct sim_warp;
struct sim_path;
struct ptx_instruction;

/* What became of an instruction for the lanes that ran it. */
enum sim_next {
    SIM_NEXT,     /* done: the path goes on to the next instruction */
    SIM_JUMPED,   /* done: the handler has set path->pc (or split or ended the path) itself */
    SIM_WAIT,     /* not done: run it again later; path->wait says what it waits for (for reports) */
    SIM_EXITED,   /* the lanes are gone */
    SIM_FAULT     /* the launch ends; the report is written */
};

/* Runs one instruction for the lanes of `mask` (guard applied, never 0, a subset of path->mask). */
typedef enum sim_next sim_handler(struct sim_warp *warp, struct sim_path *path, const struct ptx_instruction *i,
                                  uint32_t mask);

/* Classes that the counters add up. */
enum sim_class {
    SIM_CLASS_INTEGER, SIM_CLASS_FLOAT, SIM_CLASS_CONVERT, SIM_CLASS_MOVE, SIM_CLASS_PREDICATE, SIM_CLASS_CONTROL,
    SIM_CLASS_WARP,          /* shuffles, votes, elect */
    SIM_CLASS_GLOBAL_LOAD, SIM_CLASS_GLOBAL_STORE, SIM_CLASS_GLOBAL_ATOMIC,
    SIM_CLASS_SHARED_LOAD, SIM_CLASS_SHARED_STORE, SIM_CLASS_SHARED_ATOMIC,
    SIM_CLASS_LDMATRIX, SIM_CLASS_STMATRIX,
    SIM_CLASS_CP_ASYNC,      /* cp.async, not bulk */
    SIM_CLASS_BULK,          /* cp.async.bulk, cp.reduce.async.bulk and their tensor forms */
    SIM_CLASS_PARAM, SIM_CLASS_LOCAL,
    SIM_CLASS_BARRIER, SIM_CLASS_FENCE, SIM_CLASS_MMA, SIM_CLASS_WGMMA, SIM_CLASS_OTHER,
    SIM_CLASSES
};

/* One row of the table: an opcode pattern with its operands and its handler.
 *
 * Opcode pattern, matched dot by dot: "add" literal; "{.s32|.u32}" one of these, required; "[.relaxed|.acquire]" one of
 * these or nothing. The i-th bracket's match is instruction->choice[i]: 1, 2, ... in the order written, 0 = absent.
 * A qualifier that holds "::" is one piece (".shared::cta"). The row that matches first, in the file's order, wins.
 *
 * Operand pattern, one letter per operand:
 *   d destination register (or '_')    D destination predicate register (or '_')
 *   s source register or immediate     P source predicate register, '!' allowed, or immediate 0 / 1
 *   q address [.param variable of a body +- immediate]
 *   a address [register +- immediate], [symbol +- immediate], [immediate]
 *   v vector {x, y, ...} of registers or immediates (source or destination: see W)    W vector, destination
 *   l label        i immediate        t a label list named by .branchtargets
 *   c a register of the clock: %clock, %clock64 ... (an immediate: value is its enum ptx_special)
 *   ? before a letter: the operand may be missing (then its kind is PTX_OPERAND_NONE)
 * "d|p" in PTX (shfl, setp) is two operands, the second PTX_OPERAND_NONE where it is not written.
 * "[map, {x, y}]" is two operands, a then v. "[map, {x, y}, {ow, oh}]" is a then v; im2col offsets are another v. */
struct sim_operation {
    const char *opcode, *operands;
    enum sim_class class;
    sim_handler *handler;
};
extern const struct sim_operation sim_operations[];
extern const size_t sim_operation_count;

/* ---- decoded code ----------------------------------------------------------------------------------------------- */

enum ptx_operand_kind {
    PTX_OPERAND_NONE, PTX_OPERAND_REGISTER, PTX_OPERAND_PREDICATE, PTX_OPERAND_IMMEDIATE, PTX_OPERAND_ADDRESS,
    PTX_OPERAND_VECTOR, PTX_OPERAND_LABEL, PTX_OPERAND_SINK
};

struct ptx_operand {
    enum ptx_operand_kind kind;
    uint8_t bits;            /* of the register or immediate: 1, 16, 32, 64 (8-bit registers do not exist) */
    bool negated;            /* predicate: !p */
    bool based;              /* address: `reg` is its base register; otherwise `value` is the whole address */
    uint32_t reg;            /* offset of the row in the register file; of '_': of a row that nobody reads */
    int64_t value;           /* immediate (bits; as declared by its row's type), address offset, or label's pc */
    const void *row;         /* immediate: 32 equal lanes of uint32_t (its low bits) */
    const void *row64;       /* immediate: the same as 32 uint64_t (sign-extended) */
    uint32_t first, count;   /* vector: function->elements[first], `count` of them; branch targets likewise (labels) */
};

struct ptx_instruction {
    const struct sim_operation *operation;
    sim_handler *handler;    /* = operation->handler */
    uint32_t line;           /* in the PTX text, from 1 */
    uint32_t pc;             /* index of this instruction in its function */
    int32_t guard;           /* offset of the guard predicate, or PTX_NONE */
    bool guard_negated;
    int32_t rejoin;          /* branches: where diverged lanes meet again (immediate post-dominator); PTX_NONE: at exit */
    uint8_t choice[PTX_CHOICES_MAX];
    uint8_t operand_count;
    struct ptx_operand operand[PTX_OPERANDS_MAX];
    /* Every register row (not predicates) that it reads and writes, guard excluded: indices into function->touched. */
    uint32_t reads_first, writes_first;
    uint16_t reads_count, writes_count;
    bool touches_wgmma;      /* no wgmma, but it touches registers of one: sim_wgmma_prepare() */
};

struct ptx_register {        /* for reports and the single step */
    const char *name;        /* "%r12" */
    uint32_t offset;
    uint8_t bits;            /* 1: predicate */
    char type[6];            /* "b32", "f32", "pred" ... as declared */
};

struct ptx_parameter {
    const char *name, *type; /* type: "u64", "f32"; of an array that of its elements, "b8" */
    uint32_t offset, bytes, align;
};

/* A variable of a memory space. Module-wide .global / .const and .shared variables, and a function's own. */
enum ptx_space { PTX_SPACE_GLOBAL, PTX_SPACE_CONST, PTX_SPACE_SHARED, PTX_SPACE_LOCAL };
struct ptx_variable {
    const char *name;
    enum ptx_space space;
    bool is_param;           /* .param of a body: an argument of a call, in local memory */
    bool is_extern;          /* .extern .shared x[]: the dynamic part */
    uint64_t bytes;          /* 0 when extern */
    uint32_t align;
    uint64_t offset;         /* shared: in the CTA's static part (dynamic: filled at launch); local: in the lane's frame */
    const uint8_t *initial;  /* .global / .const with an initialiser: `bytes` bytes; else NULL (zero) */
    uint64_t address;        /* global / const: where ptx_place_variable() put it; shared: its 32-bit shared address */
    struct ptx_placement *placements;  /* operands that hold the address of a global / const variable */
};

struct ptx_function {
    const char *name;
    struct ptx_module *module;
    struct ptx_instruction *code;
    uint32_t count;
    struct ptx_operand *elements;      /* of all vectors and branch-target lists */
    uint32_t element_count;
    uint32_t *touched;                 /* register offsets, see ptx_instruction */
    struct ptx_register *registers;
    uint32_t register_count;
    uint32_t register_bytes;           /* of a warp's register file, special registers included. Its end is a spare 64-bit
                                          row: for '_', and so that no row of 32 bits, taken for 64, reaches beyond it */
    struct ptx_parameter *parameters;
    uint32_t parameter_count, parameter_bytes;
    struct ptx_variable *variables;    /* .shared and .local that it uses, the module's .shared among them */
    uint32_t variable_count;
    uint32_t static_shared_bytes, dynamic_shared_align, local_bytes;
    uint32_t max_threads[3];           /* .maxntid / .reqntid; 0: not said */
    bool threads_required;             /* max_threads is from .reqntid: a launch must have exactly these */
    uint32_t min_ctas;                 /* .minnctapersm */
    bool wgmma_prepared;               /* its instructions' touches_wgmma are known */
    uint32_t max_registers;            /* .maxnreg; 0: not said */
    bool explicit_cluster;             /* .explicitcluster */
    uint32_t required_cluster[3];      /* .reqnctapercluster; 0: not said */
    uint32_t max_cluster;              /* .maxclusterrank; 0: not said */
};

/* From this PTX line on, up to the next one: `line` of the source file whose name begins `name` bytes behind the list's
 * start; line 0: nothing is said. */
struct ptx_location {
    uint32_t ptx_line, name, line;
};

/* What the .loc and .file of a module say: one block without pointers, so that memcpy of `bytes` makes another. Names
 * stand behind the list. */
struct ptx_sources {
    size_t bytes;
    uint32_t count;
    struct ptx_location at[];
};

struct ptx_module {
    char *text;                        /* the PTX as loaded, for reports and the single step */
    const char **lines;                /* line n begins at lines[n - 1]; line_count of them */
    uint32_t line_count;
    unsigned version;                  /* 90 = 9.0 */
    unsigned target;                   /* 80, 90 */
    bool target_accelerated;           /* sm_90a */
    struct ptx_function *functions;
    uint32_t function_count;
    struct ptx_variable *variables;
    uint32_t variable_count;
    struct ptx_sources *sources;       /* of the instructions */
    struct ptx_arena *arena;           /* owns everything above but `text` */
};

/* Special registers occupy the front of every register file, one 32-bit row each, filled when the warp starts; but
 * %clock, %clock64, %globaltimer are read with a mov of their own (operand 'c', see instructions.def). */
enum ptx_special {
    PTX_TID_X, PTX_TID_Y, PTX_TID_Z, PTX_NTID_X, PTX_NTID_Y, PTX_NTID_Z, PTX_CTAID_X, PTX_CTAID_Y, PTX_CTAID_Z,
    PTX_NCTAID_X, PTX_NCTAID_Y, PTX_NCTAID_Z, PTX_LANEID, PTX_WARPID, PTX_NWARPID, PTX_SMID, PTX_NSMID,
    PTX_CLUSTERID_X, PTX_CLUSTERID_Y, PTX_CLUSTERID_Z, PTX_NCLUSTERID_X, PTX_NCLUSTERID_Y, PTX_NCLUSTERID_Z,
    PTX_CLUSTER_CTAID_X, PTX_CLUSTER_CTAID_Y, PTX_CLUSTER_CTAID_Z,
    PTX_CLUSTER_NCTAID_X, PTX_CLUSTER_NCTAID_Y, PTX_CLUSTER_NCTAID_Z, PTX_CLUSTER_CTARANK, PTX_CLUSTER_NCTARANK,
    PTX_LANEMASK_EQ, PTX_LANEMASK_LT, PTX_LANEMASK_LE, PTX_LANEMASK_GT, PTX_LANEMASK_GE,
    PTX_DYNAMIC_SMEM_SIZE, PTX_TOTAL_SMEM_SIZE, PTX_ENVREG_ZERO,
    PTX_SPECIALS,
    PTX_CLOCK_LO = PTX_SPECIALS, PTX_CLOCK_HI, PTX_CLOCK64, PTX_GLOBALTIMER   /* not in the file: operand.value */
};
#define PTX_SPECIAL_OFFSET(special) ((uint32_t)(special) * 128)

/* Parses and decodes a module. NULL: it failed, and `message` holds one sentence with the line ("unsupported:
 * wgmma.xyz at line 12", "line 7: ..."); errno is ENOMEM when memory was short and EINVAL when the text is wrong.
 * `text` need not end in NUL and is copied. No input crashes it. */
struct ptx_module *ptx_parse(const char *text, size_t bytes, char *message, size_t message_bytes);
void ptx_free(struct ptx_module *module);
struct ptx_function *ptx_find_function(const struct ptx_module *module, const char *name);
/* Says where a .global or .const variable of the module lies, and enters the address into all operands that name it.
 * False: `variable` is not such a one. Before that its address is 0. */
bool ptx_place_variable(struct ptx_module *module, struct ptx_variable *variable, uint64_t address);
/* Where the instruction at a PTX line comes from. False: the PTX does not say. `sources` may be NULL. */
bool ptx_source_find(const struct ptx_sources *sources, uint32_t ptx_line, const char **file, uint32_t *line);
/* "%r12" of the register at an offset ("?" when there is none). */
const char *ptx_register_name(const struct ptx_function *function, uint32_t offset);

#endif
