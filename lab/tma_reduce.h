/* SPDX-License-Identifier: Apache-2.0 */
/* Tensor reductions (ptx/bulk_reduce.ptx), on paper: one element at a time. */
#ifndef LAB_TMA_REDUCE_H
#define LAB_TMA_REDUCE_H

#include <stdbool.h>
#include <stdint.h>

/* In the order in which the kernel numbers them. */
enum reduce_operation {
    REDUCE_ADD,
    REDUCE_MIN,
    REDUCE_MAX,
    REDUCE_INC,
    REDUCE_DEC,
    REDUCE_AND,
    REDUCE_OR,
    REDUCE_XOR,
    REDUCE_OPERATIONS
};

/* An element type, by its number in a tensor map. */
struct reduce_type {
    const char *name;
    int type;
    unsigned bytes;
    bool floating, is_signed;
    bool flushes; /* subnormal numbers are taken for zeros */
};
extern const struct reduce_type reduce_types[];
extern const unsigned reduce_type_count;
extern const char *const reduce_names[REDUCE_OPERATIONS];

/* What the ISA allows of the reduction without a tensor map. */
bool reduce_is_listed(enum reduce_operation operation, const struct reduce_type *type);
/* What the one with a tensor map takes: the same, but and, or, xor of 64 bits as u64 alone; and sums of f32.ftz, a type
 * that only tensor maps have. */
bool reduce_is_taken(enum reduce_operation operation, const struct reduce_type *type);
/* The bits of `old`, as large as the type, after `operand` has been reduced into it. */
uint64_t reduce_bits(enum reduce_operation operation, const struct reduce_type *type, uint64_t old, uint64_t operand);
/* The bits of a number in this type, and the number of such bits; exact for small whole numbers. */
uint64_t reduce_bits_of(const struct reduce_type *type, double number);
double reduce_number_of(const struct reduce_type *type, uint64_t bits);

#endif
