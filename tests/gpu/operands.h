/* SPDX-License-Identifier: Apache-2.0 */
/* Cases of operations whose operands are rows of elements: placed in device memory, inputs between NaN, outputs between
 * poison; and what a call shall have written, element by element. */
#ifndef GPU_TESTS_OPERANDS_H
#define GPU_TESTS_OPERANDS_H

#include "gpu_tests.h"

enum { OPERANDS_MAX = 16 };

struct operand {
    const char *name;
    size_t argument; /* offset of its address in the argument struct */
    enum gm_type type;
    int64_t rows, columns, stride; /* elements; without rows it is not placed, and its address is 0 */
    int start;                     /* elements past a 256-byte boundary */
    bool written;
    int in_place_of; /* 1 + index of the operand that is the same memory; 0: none */
    /* 1 + index of the operand in whose rows it lies, `start` elements behind its beginning, both of one size; 0: none.
     * That one's extent covers both. */
    int within;
    /* NULL: row * stride + column; or where an element is, and then `extent` elements are all there are. Either way
     * the columns of a row follow each other. */
    int64_t (*offset)(const void *of, int64_t row, int64_t column);
    int64_t extent;
    /* What it holds before the call, of what is read. NULL: it is written only. */
    double (*value)(const void *of, int64_t row, int64_t column);
};

/* What a row of an operand shall be after the call. */
enum { AS_BEFORE = -1 };
struct expectation {
    double *want, *tolerance; /* of each column; a tolerance of AS_BEFORE: it is not written */
};

struct operand_memory {
    struct arena inputs[OPERANDS_MAX], region;
};

/* Begins what an operation's case places. */
struct placed_operands {
    struct call call; /* first */
    const void *of;   /* the case */
    void *args;
    struct operand operands[OPERANDS_MAX];
    int count;
    size_t at[OPERANDS_MAX]; /* of the written ones: in the region */
    uint8_t *before;         /* the region before the call; freed with the memory of the case */
    /* Fills in what a row shall be; called for every operand that is written. */
    void (*expect)(const struct placed_operands *placed, int operand, int64_t row, struct expectation *expectation);
};

/* Places what placed->operands says, from the second time on at the same addresses, and tells placed->args. */
bool place_operands(struct result *result, struct placed_operands *placed, struct operand_memory *memory);
/* The alignment that the address of an operand has: 16, 8, 4, 2 or 1. */
int32_t alignment_of(const struct placed_operands *placed, int operand);
void free_placed(struct placed_operands *placed);
void free_operands(struct operand_memory *memory);

/* Of struct tested_operation. */
void fill_placed_region(const struct call *call, uint8_t *region);
bool compare_placed(struct result *result, const struct call *call, const uint8_t *region, const char *what);

/* A block of rows, repeated until there are `rows` of so many bytes at `to`. */
bool repeat_rows(struct result *result, CUdeviceptr to, int64_t rows, size_t row_bytes, CUdeviceptr block,
                 int64_t block_rows);
/* Whether the rows at both ends, and those beside 2^31 elements, are those of the block. */
void check_repeated_rows(struct result *result, CUdeviceptr at, int64_t rows, size_t row_bytes, int64_t columns,
                         const uint8_t *block, int64_t block_rows);
/* So many bytes of device memory for a large case; 0: skipped, or reported. */
CUdeviceptr take_large(struct result *result, size_t bytes);

/* Programmatic dependent launch: for every operand which is read, one launch of a kernel by name, behind one that writes
 * the operand slowly and lets ours start at once; skipped where the device has no such launches. */
void run_early(struct result *result, struct placed_operands *placed, const char *kernel);

#endif
