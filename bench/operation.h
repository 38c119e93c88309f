/* SPDX-License-Identifier: Apache-2.0 */
/* What the benchmark knows of an operation: one struct bench_operation for each line of src/operations.def, in
 * bench/operations/<operation>.c. Suites, results, tables and options are made from the operation's own fields. */
#ifndef BENCH_OPERATION_H
#define BENCH_OPERATION_H

#include <stdbool.h>

#include "host/operation.h"

/* An array in device memory that a call reads or writes: `rows` times `columns` elements. Integers that are read are
 * 0, 1, 2, ... */
struct bench_operand {
    const char *name; /* "D", in sentences */
    enum gm_type type;
    int64_t rows, columns;
    size_t argument; /* offset of its address in the argument struct */
    enum bench_access { BENCH_READ, BENCH_WRITTEN, BENCH_READ_AND_WRITTEN } access;
};
#define BENCH_OPERANDS_MAX 16

/* How far an element may be from the baseline's: relative * max(|ours|, |theirs|) + absolute. */
struct bench_tolerance {
    double relative, absolute;
};

/* Problems by the operation's axis, from the first to the last value. */
struct bench_regime {
    const char *name; /* "M ≤ 64" */
    int64_t from, to;
};
#define BENCH_REGIMES_MAX 4

struct baseline_kind;

struct bench_operation {
    const struct gm_operation *operation;
    const void *usual; /* the problem that --shape begins with: its sizes are replaced */
    const char *out;   /* name of the field that --out sets; NULL: it has none */

    /* NULL, or: fills in what a problem's line and options left to the benchmark. -1 with a printed sentence: it does not
     * measure such a problem. */
    int (*complete)(void *problem);
    /* The operands of a problem; returns how many. */
    int (*operands)(const void *problem, struct bench_operand operands[BENCH_OPERANDS_MAX]);
    /* NULL, or: elements from a row of an operand to the next. Without it rows are packed. */
    int64_t (*pitch)(const void *problem, const struct bench_operand *operand);
    /* The integers of an operand that is read are uniform in [0, below); where this is NULL, or 0, they are 0, 1, 2, ...
     * Floats are N(0,1). */
    int64_t (*below)(const void *problem, const struct bench_operand *operand);
    /* NULL, or: the integer at an index of any operand that is read, instead of these. */
    int64_t (*value)(const void *problem, const struct bench_operand *operand, int64_t index);
    /* NULL, or: fills in what is no address of a call's arguments. */
    void (*tell)(const void *problem, void *args);
    size_t workspace, workspace_bytes; /* offsets in the argument struct; 0: the operation uses none */
    /* Of results for N(0,1) inputs, for an operand that is written. */
    struct bench_tolerance (*tolerance)(const void *problem, const struct bench_operand *operand);
    const struct baseline_kind *const *baselines; /* NULL behind the last */

    bool told_in_bytes;                 /* its rate is GB/s, not TFLOPS */
    const struct bench_regime *regimes; /* disjoint */
    int regime_count;
    /* NULL, or: the words that tell problems of the same sizes apart, "bf16 tn → fp32". Without it they are the type, and
     * what is not as in `usual`. */
    void (*words)(const void *problem, char *text, size_t bytes);
    /* NULL, or: a problem that counts in a class of its own beside its regime, such as squares. */
    bool (*is_special)(const void *problem);
    const char *special; /* "squares" */
    /* NULL, or: makes a ledger's problem of another class than the one that suites have: --epilogue general of tune. */
    void (*generalise)(void *problem);
};

#define OPERATION(name, computes) extern const struct bench_operation name##_bench;
#include "operations.def"
#undef OPERATION

extern const struct bench_operation *const bench_operations[]; /* in the order of gm_operations */
/* NULL: there is none of this name. */
const struct bench_operation *bench_operation_named(const char *name);
const struct bench_operation *bench_operation_of(const struct gm_operation *operation);
/* "gemm, rms_norm", in `text`. */
#define BENCH_NAMES_BYTES 256
const char *bench_operation_names(char text[BENCH_NAMES_BYTES]);

#endif
