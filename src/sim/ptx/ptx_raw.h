/* SPDX-License-Identifier: Apache-2.0 */
/* The operands of an instruction as they are written, with their names looked up. */
#ifndef SIM_PTX_RAW_H
#define SIM_PTX_RAW_H

#include "sim/ptx/ptx.h"
#include "sim/ptx/ptx_lexer.h"

enum ptx_raw_kind { PTX_RAW_NAME, PTX_RAW_NUMBER, PTX_RAW_ADDRESS, PTX_RAW_VECTOR, PTX_RAW_SINK };
enum ptx_meaning {
    PTX_MEANS_NOTHING,
    PTX_MEANS_REGISTER,
    PTX_MEANS_SPECIAL,
    PTX_MEANS_CLOCK,
    PTX_MEANS_VARIABLE,
    PTX_MEANS_PARAMETER
};
struct ptx_raw {
    enum ptx_raw_kind kind;
    bool negated, piped; /* !p; the second of a|b */
    struct ptx_token token;
    enum ptx_meaning meaning; /* of a name, or of an address's base */
    uint32_t number;          /* register: in builder.registers; special: enum ptx_special */
    uint8_t bits;             /* of the register */
    struct ptx_variable *variable;
    struct ptx_number literal;
    int64_t addend;           /* of an address, a symbol; a parameter's offset is in it */
    struct ptx_raw *elements; /* of a vector */
    uint32_t count;
};
enum { PTX_RAW_MOST = 12 };
struct ptx_raw_list {
    struct ptx_raw raw[PTX_RAW_MOST];
    uint32_t count;
    struct ptx_raw element[512]; /* of all vectors: the largest is wgmma's with 128 */
    uint32_t element_count;
};

#endif
