/* SPDX-License-Identifier: Apache-2.0 */
/* What a caller may ask for: one struct gm_operation for each line of src/operations.def. The core of the library, the
 * benchmark and the tests know an operation through this struct alone. */
#ifndef GM_OPERATION_H
#define GM_OPERATION_H

#include "gristmill/core.h"

enum gm_field_kind {
    GM_FIELD_SIZE, /* int64_t */
    GM_FIELD_TYPE, /* enum gm_type */
    GM_FIELD_WORD, /* an enum with a word for each value */
    GM_FIELD_REAL  /* float */
};

/* Where a field appears, beside the problem struct. */
enum gm_field_use {
    GM_IN_SUITES = 1,  /* a suite's line, results, --shape */
    GM_IN_LEDGERS = 2, /* an entry's key */
    GM_IN_OPTIONS = 4, /* an option of `gristmill explain` */
    GM_FALLS_BACK = 8, /* of ledgers: what was measured for value 0 answers for the others until they are measured */
    GM_MAY_BE_0 = 16,  /* of options: a size whose 0 is asked for, not the default that is left unsaid */
};

/* One field of a problem. Command lines, suites, ledgers, results and test labels are made from these. */
struct gm_field {
    const char *name; /* "m", "d_type", "layout" */
    enum gm_field_kind kind;
    unsigned uses;            /* of enum gm_field_use */
    size_t offset;            /* of the member, where there is one */
    const char *const *words; /* GM_FIELD_WORD: by value, NULL behind the last */
    uint32_t types;           /* GM_FIELD_TYPE: bit 1 << type for each that is legal */
    /* Of a field that is no member: its value, and what makes a problem have it (NULL: read only; 0: it cannot). */
    int64_t (*get)(const void *problem);
    int (*set)(void *problem, int64_t value);
    const char *about; /* for --help */
};
#define GM_FIELDS_MAX 48
/* Words of enum gm_rounding. */
extern const char *const gm_rounding_words[];

/* What a problem costs at least, whatever computes it. */
struct gm_work {
    double flops, least_bytes; /* every operand and result once */
};

/* Memory that one call reads or writes. */
struct gm_range {
    const char *name; /* as the argument struct calls it */
    gm_device_ptr address;
    int64_t rows, row_bytes, pitch_bytes; /* a range without rows or bytes is not checked */
    int32_t align;                        /* bytes, a power of 2: what the plan was promised, or the element's own */
    int32_t element_bytes;
    int written;
    int may_equal; /* index of the one other range that may be the same memory, row by row; -1: none */
};
#define GM_RANGES_MAX 16

/* What a call may use as it likes. */
struct gm_workspace {
    gm_device_ptr address;
    size_t bytes;  /* that the caller gave */
    size_t needed; /* by the plan */
};
#define GM_WORKSPACE_ALIGN 16

struct gm_sequences;

struct gm_operation {
    const char *name, *computes;
    const struct gm_field *fields; /* in the order of a suite's line */
    int field_count;
    int axis;                                  /* field over which a ledger's neighbours answer, such as tokens */
    int type;                                  /* field that says which type of kernels is asked */
    size_t problem_bytes, problem_bytes_least; /* of the public struct: today's size, and the first version's */
    size_t args_bytes, args_bytes_least;
    size_t planned_bytes; /* of what is planned, which begins with the problem; no less than problem_bytes */

    /* Checks a caller's problem of today's size and fills in its defaults; a sentence where it is refused. */
    enum gm_status (*normalize)(void *problem);
    /* NULL, or: makes of a normalised problem what is planned, an equal problem that more kernels take. */
    void (*simplify)(void *planned, const struct gm_plan_options *options);
    int (*is_empty)(const void *problem); /* nothing is launched */
    struct gm_work (*work)(const void *problem);
    /* NULL, or: checks what is no address among a call's arguments; a sentence where the call is refused. */
    enum gm_status (*check_call)(const void *planned, const void *args);
    /* The ranges of a call on what was planned, and its workspace; returns how many. */
    int (*ranges)(const void *planned, const void *args, struct gm_range ranges[GM_RANGES_MAX],
                  struct gm_workspace *workspace);
    const struct gm_sequences *sequences; /* NULL: it is computed by one launch */
    /* NULL, or: which type of kernels is asked, where other fields than `type` have a say in it. */
    enum gm_type (*kernel_type)(const void *problem);
};

#define OPERATION(name, computes) extern const struct gm_operation gm_operation_##name;
#include "operations.def"
#undef OPERATION

/* All of them, in the order of src/operations.def. */
extern const struct gm_operation *const gm_operations[];
size_t gm_operation_count(void);
/* NULL: there is none of this name. */
const struct gm_operation *gm_operation_named(const char *name);

/* The type of kernels that compute a problem. */
enum gm_type gm_kernel_type_of(const struct gm_operation *operation, const void *problem);
/* The field of this name; -1: there is none. */
int gm_field_named(const struct gm_operation *operation, const char *name);
/* A field's value in a problem: a size, an enum's number, or the bits of a float. */
int64_t gm_field_get(const struct gm_field *field, const void *problem);
/* 0: the problem cannot have this value. */
int gm_field_set(const struct gm_field *field, void *problem, int64_t value);
/* A value from its text of so many bytes; 0: the text is none. Sizes are from 0 to 2^31 - 1. */
int gm_field_parse(const struct gm_field *field, const char *text, size_t bytes, int64_t *value);
/* A value as text, in `text` where it is a number. */
#define GM_FIELD_TEXT_BYTES 32
const char *gm_field_print(const struct gm_field *field, int64_t value, char text[GM_FIELD_TEXT_BYTES]);

/* A problem as a suite's line: the operation's name and the fields of suites. */
void gm_problem_print(const struct gm_operation *operation, const void *problem, char *text, size_t bytes);

#endif
