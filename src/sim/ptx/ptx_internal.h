/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the PTX front end share.
 *
 * Every function that may fail returns false (or NULL) after ptx_fail() has written the message. */
#ifndef SIM_PTX_INTERNAL_H
#define SIM_PTX_INTERNAL_H

#include "sim/ptx/ptx.h"
#include "sim/ptx/ptx_arena.h"
#include "sim/ptx/ptx_lexer.h"
#include "sim/ptx/ptx_raw.h"

/* Limits against hostile text. */
enum {
    PTX_TEXT_MOST = 64 << 20,
    PTX_DEPTH_MOST = 64,          /* nested { } */
    PTX_REGISTERS_MOST = 1 << 18, /* of a kernel */
    PTX_TARGETS_MOST = 1 << 20,   /* of all indexed branches of a kernel */
    PTX_SHARED_MOST = 1 << 24,    /* the window of shared addresses */
    PTX_LOCAL_MOST = 512 << 10,   /* a thread's, as on hardware */
    PTX_PARAMETERS_MOST = 32764   /* bytes of a kernel's parameters, likewise */
};
#define PTX_ARENA_MOST    ((size_t)1 << 29)
#define PTX_VARIABLE_MOST ((uint64_t)1 << 40)

/* ---- growing arrays -------------------------------------------------------------------------- */

struct ptx_vector {
    void *items;
    uint32_t count, room;
};
#define PTX_AT(vector, type, index) (&((type *)(vector).items)[index])

/* ---- types and names ------------------------------------------------------------------------- */

struct ptx_type {
    char name[7];
    char kind;    /* b, u, s, f (float), p (pred) */
    uint8_t bits; /* 1: pred */
};
/* NULL: no such type. `name` without the dot. */
const struct ptx_type *ptx_type_find(const char *name, size_t length);

enum ptx_symbol_kind {
    PTX_SYMBOL_REGISTERS, /* one, or with `count` a range name0, name1 ... */
    PTX_SYMBOL_VARIABLE,
    PTX_SYMBOL_PARAMETER,
    PTX_SYMBOL_LABEL,
    PTX_SYMBOL_TARGETS,
    PTX_SYMBOL_FUNCTION
};
struct ptx_symbol {
    const char *name;
    uint32_t length, hash, depth;
    enum ptx_symbol_kind kind;
    bool is_range;
    const struct ptx_type *type; /* registers */
    uint32_t count;              /* of a range; of targets */
    uint32_t *numbers;           /* registers: per member 1 + its number in the kernel, 0 while it is not used */
    uint32_t first;              /* label: its pc; targets: the first element; parameter: its offset */
    struct ptx_variable *variable;
    struct ptx_variable *used; /* shared and local memory: what the kernel `used_by` made of it */
    uint32_t used_by;
    struct ptx_symbol *chain;
};

/* Names in scopes. Buckets hold the newest first, so that leaving a scope takes off their heads. */
struct ptx_names {
    struct ptx_symbol **bucket;
    uint32_t bucket_count;
    struct ptx_vector order; /* struct ptx_symbol *, the oldest first */
    uint32_t scope_first[PTX_DEPTH_MOST + 2];
    uint32_t depth;
};

/* ---- the kernel that is being parsed --------------------------------------------------------- */

/* A name of a label that was used before its block was complete. */
struct ptx_pending {
    struct ptx_token name;
    uint32_t instruction, operand; /* operand PTX_OPERANDS_MAX: elements[instruction] */
};

/* An operand that is the address of a variable, which is not known before the kernel (or the module) is complete. */
struct ptx_reference {
    struct ptx_variable *variable;
    int64_t addend;
    uint32_t instruction, operand; /* as above */
};

struct ptx_builder {
    struct ptx_function *function;
    struct ptx_vector code, elements, registers, pending, references, parameters;
    struct ptx_vector variables; /* struct ptx_variable *: of shared and local memory, in the order of first use */
    uint32_t pending_first[PTX_DEPTH_MOST + 2];
    uint64_t declared_registers;
};

/* ---- rows that an opcode matches ------------------------------------------------------------- */

struct ptx_candidate {
    const struct sim_operation *operation;
    uint8_t choice[PTX_CHOICES_MAX];
    struct ptx_candidate *next;
};

/* An opcode as written, with all that follows from its text. */
struct ptx_opcode {
    const char *text;
    uint32_t length, hash;
    struct ptx_candidate *candidates;              /* in the table's order; NULL: unsupported */
    const struct ptx_type *first_type, *last_type; /* NULL: it names none */
    const struct ptx_type *types[4];               /* all types in order, as far as they fit */
    uint32_t type_count;
    const char *widths;  /* ptx_widths.c; NULL: not checked */
    uint32_t vector;     /* .v2 .v4 .v8, .x1 .x2 .x4: registers of the vector; 0: not said */
    uint32_t dimensions; /* .1d to .5d; 0: not said */
    uint32_t shape[3];   /* .m64n128k16; 0: not said */
    struct ptx_opcode *chain;
};

/* A .loc: a place in a source, and where that is inlined. */
struct ptx_place {
    uint32_t file, line, column;
};
struct ptx_note {
    uint32_t ptx_line, parent; /* parent: of the place it is inlined at, the .loc, counted from 1; 0: not found */
    bool begins_kernel;        /* no .loc: those before are of another kernel */
    bool inlined;
    struct ptx_place place, at;
};
struct ptx_source_file {
    const char *name;        /* in the text */
    uint32_t length, offset; /* offset: in the block of struct ptx_sources */
};

/* The lanes of an immediate. */
struct ptx_lanes {
    uint64_t row64[PTX_LANES];
    uint32_t row[PTX_LANES];
    struct ptx_lanes *chain;
};

struct ptx_parser {
    struct ptx_module *module;
    struct ptx_arena *scratch;
    struct ptx_lexer lexer;
    struct ptx_token token; /* the current one */
    struct ptx_names names;
    struct ptx_builder builder;
    struct ptx_vector functions, variables; /* struct ptx_function; struct ptx_variable * */
    struct ptx_vector callees;              /* ptx_call.c */
    uint32_t calls;                         /* whose bodies are being parsed, one within the other */
    uint64_t inlined_bytes;                 /* of all such bodies so far */
    struct ptx_vector notes, files;         /* struct ptx_note; struct ptx_source_file */
    struct ptx_opcode *opcodes[256];
    struct ptx_lanes **lanes; /* all immediates so far: a hash table with a power of two of buckets */
    uint32_t lanes_count, lanes_buckets;
    struct ptx_raw_list *raw; /* of the instruction at hand; made at the first one */
    char *message;
    size_t message_bytes;
    bool failed, out_of_memory;
};

/* ---- ptx_support.c: tokens and messages ------------------------------------------------------ */

/* Writes "line N: ..." unless a message was written before. Returns false. */
bool ptx_fail(struct ptx_parser *parser, uint32_t line, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* "'x' where ... is expected" */
bool ptx_fail_here(struct ptx_parser *parser, const char *expected);
/* Writes "unsupported: TEXT at line N". Returns false. */
bool ptx_unsupported(struct ptx_parser *parser, const struct ptx_token *token, const char *before);
bool ptx_out_of_memory(struct ptx_parser *parser);
void *ptx_take(struct ptx_parser *parser, size_t bytes);         /* of the module */
void *ptx_take_scratch(struct ptx_parser *parser, size_t bytes); /* until the end of the parse */
bool ptx_push(struct ptx_parser *parser, struct ptx_vector *vector, const void *item, size_t bytes);
/* The vector's items, moved to the module's memory. */
void *ptx_settle(struct ptx_parser *parser, const struct ptx_vector *vector, size_t bytes);

void ptx_next(struct ptx_parser *parser);
bool ptx_at_mark(const struct ptx_parser *parser, char mark);
bool ptx_at_directive(const struct ptx_parser *parser, const char *directive);
bool ptx_take_mark(struct ptx_parser *parser, char mark); /* consumes it if it is there */
bool ptx_expect_mark(struct ptx_parser *parser, char mark);
bool ptx_expect_word(struct ptx_parser *parser, const char *what, struct ptx_token *word);
bool ptx_expect_count(struct ptx_parser *parser, const char *what, uint64_t most, uint64_t *count);
/* "-4 + 2": literals and WARP_SZ, added up. */
bool ptx_parse_integer(struct ptx_parser *parser, int64_t *value);
/* A token as "%.*s" arguments, not too long for a message. */
#define PTX_SHOW(token)         (int)((token).length < 60 ? (token).length : 60), (token).text
#define PTX_SHOW_OPCODE(opcode) (int)((opcode)->length < 120 ? (opcode)->length : 120), (opcode)->text

/* ---- ptx_notes.c ----------------------------------------------------------------------------- */

/* .loc, .file, .section, .pragma: *skipped tells whether it was one. */
bool ptx_skip_note(struct ptx_parser *parser, bool *skipped);
bool ptx_begin_source(struct ptx_parser *parser, uint32_t line); /* a kernel begins */
bool ptx_settle_sources(struct ptx_parser *parser);

/* ---- ptx_names.c ----------------------------------------------------------------------------- */

void ptx_names_free(struct ptx_names *names);
bool ptx_scope_open(struct ptx_parser *parser);
void ptx_scope_close(struct ptx_parser *parser);
/* Labels have names of their own. NULL: not declared (no message). */
struct ptx_symbol *ptx_name_find(const struct ptx_names *names, const struct ptx_token *name, bool label);
/* Declares a name (or a range of names) in the innermost scope. NULL: failed. */
struct ptx_symbol *ptx_name_declare(struct ptx_parser *parser, const struct ptx_token *name, enum ptx_symbol_kind kind,
                                    bool is_range);
/* The register that a name means. False: no such (no message). `*number`: in builder.registers, made at its first use.
 */
bool ptx_register_find(struct ptx_parser *parser, const struct ptx_token *name, uint32_t *number,
                       struct ptx_symbol **symbol);

/* ---- ptx_declare.c --------------------------------------------------------------------------- */

bool ptx_declare_registers(struct ptx_parser *parser);
/* At ".shared", ".local", ".global" or ".const". */
bool ptx_declare_variables(struct ptx_parser *parser, bool is_extern);
/* ".align 16" if it is there. */
bool ptx_parse_align(struct ptx_parser *parser, uint32_t *align);
bool ptx_expect_type(struct ptx_parser *parser, const struct ptx_type **type);
bool ptx_parse_initial(struct ptx_parser *parser, struct ptx_variable *variable, const struct ptx_type *type);

struct ptx_statement {
    struct ptx_token opcode;
    bool guarded, guard_negated;
    uint32_t guard; /* in builder.registers */
};

/* ---- ptx_parse_entry.c ----------------------------------------------------------------------- */

bool ptx_parse_entry(struct ptx_parser *parser);
bool ptx_parse_limits(struct ptx_parser *parser, struct ptx_function *function);

/* ---- ptx_call.c ------------------------------------------------------------------------------ */

/* Finds all functions with a body, wherever in the text. */
bool ptx_note_functions(struct ptx_parser *parser, const char *end);
/* At ".func": steps over it, but for its notes. */
bool ptx_skip_function(struct ptx_parser *parser);
/* One statement of a body: an instruction, a declaration, the beginning of a block. */
typedef bool ptx_statement_parser(struct ptx_parser *parser);
/* At a call, and at a ret of a function's body: up to the ';', which is consumed. */
bool ptx_parse_call(struct ptx_parser *parser, const struct ptx_statement *statement, ptx_statement_parser *parse);
bool ptx_parse_return(struct ptx_parser *parser, const struct ptx_statement *statement);

/* ---- ptx_parse_operands.c, ptx_special.c ----------------------------------------------------- */
/* Up to the ';', which is consumed. */
bool ptx_parse_operands(struct ptx_parser *parser, struct ptx_raw_list *list);
/* The kernel's own copy of a variable in shared or local memory; of global memory, the module's. NULL: failed. */
struct ptx_variable *ptx_use_variable(struct ptx_parser *parser, struct ptx_symbol *symbol);
/* -1: not a special register; PTX_SPECIALS and up: a clock. */
int ptx_special_find(const char *name, size_t length);
const char *ptx_special_name(unsigned special);

/* ---- matching and decoding ------------------------------------------------------------------- */

/* The opcode's entry, made at its first use. NULL: out of memory. */
struct ptx_opcode *ptx_opcode_find(struct ptx_parser *parser, const struct ptx_token *text);
/* Matches `text` against a row's opcode pattern. */
bool ptx_pattern_matches(const char *pattern, const char *text, size_t length, uint8_t choice[PTX_CHOICES_MAX]);
/* Assigns raw operands to the letters of a pattern: at[k] is the raw operand of the k-th letter, or -1. */
bool ptx_operands_fit(const char *pattern, const struct ptx_raw_list *list, int at[PTX_OPERANDS_MAX]);
bool ptx_is_predicate(const struct ptx_raw *raw);
/* The k-th letter, without '?'; '\0' after the last. */
static inline char ptx_letter(const char *pattern, uint32_t k) {
    for (; *pattern; pattern++)
        if (*pattern != '?' && k-- == 0)
            return *pattern;
    return '\0';
}

/* Decodes and appends one instruction. */
bool ptx_decode(struct ptx_parser *parser, const struct ptx_statement *statement, struct ptx_raw_list *list);
/* Makes `operand` an immediate with its rows, shared with all operands of the same value: all of the value in row64,
 * its lowest `bits` in row. */
bool ptx_immediate(struct ptx_parser *parser, struct ptx_operand *operand, int64_t value, unsigned bits);
/* Until a kernel is complete, ptx_operand.reg is a register's number, or this plus an enum ptx_special. */
#define PTX_SPECIAL_NUMBER UINT32_C(0x80000000)

/* Sets opcode->widths. */
void ptx_opcode_widths(struct ptx_opcode *opcode);
/* Do the registers fit the opcode's types and its vectors' lengths? */
bool ptx_check_widths(struct ptx_parser *parser, const struct ptx_opcode *opcode, const char *pattern,
                      const struct ptx_raw_list *list, const int at[PTX_OPERANDS_MAX], uint32_t line);

/* ---- a kernel is complete -------------------------------------------------------------------- */

bool ptx_labels_resolve(struct ptx_parser *parser, bool outermost); /* at the end of a block */
bool ptx_finish_function(struct ptx_parser *parser, uint32_t line);
/* Lays out shared and local memory and enters the addresses into the operands. */
bool ptx_place_variables(struct ptx_parser *parser, struct ptx_function *function);
/* Sets rejoin of every instruction. */
bool ptx_flow(struct ptx_parser *parser, struct ptx_function *function);

/* A graph of `count` nodes: node n's successors are edge[first[n]] ... edge[first[n + 1] - 1]. */
struct ptx_graph {
    uint32_t count;
    uint32_t *first, *edge;
};
/* Immediate dominators of the nodes that can be reached from `root`; UINT32_MAX for the root and for the others. `back`
 * holds the same edges the other way round. False: out of memory. */
bool ptx_dominators(const struct ptx_graph *graph, const struct ptx_graph *back, uint32_t root, uint32_t *dominator);

/* Where an operand's rows are, to be set again when its variable is placed (ptx_place_variable). */
struct ptx_placement {
    struct ptx_operand *operand;
    int64_t addend;
    uint32_t *row; /* immediates: rows of this operand alone */
    uint64_t *row64;
    struct ptx_placement *next;
};

#endif
