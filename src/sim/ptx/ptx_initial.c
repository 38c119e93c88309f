/* SPDX-License-Identifier: Apache-2.0 */
/* Initialisers of .global and .const variables: "= 5", "= {1, 2, {3, 4}}". */
#include "sim/ptx/ptx_internal.h"

#include <stdlib.h>
#include <string.h>

/* One number as the bytes of the type. */
static bool parse_element(struct ptx_parser *parser, const struct ptx_type *type, uint8_t bytes[8]) {
    bool negative = false;
    struct ptx_number number;
    const struct ptx_token name = parser->token;
    if (name.kind == PTX_TOKEN_WORD && !ptx_token_is(&name, "WARP_SZ"))
        return ptx_unsupported(parser, &name, "an initialiser with the address of ");
    while (ptx_take_mark(parser, '-'))
        negative = !negative;
    const struct ptx_token token = parser->token;
    if (token.kind != PTX_TOKEN_NUMBER || !ptx_number_read(&token, &number))
        return ptx_fail_here(parser, "a number");
    ptx_next(parser);
    if (type->bits == 128)
        return ptx_unsupported(parser, &token, "an initialiser of .b128: ");
    if (number.kind == PTX_NUMBER_FLOAT64 && type->bits == 32) {
        double wide;
        memcpy(&wide, &number.bits, sizeof wide);
        const float narrow = (float)wide;
        uint32_t bits;
        memcpy(&bits, &narrow, sizeof bits);
        number = (struct ptx_number){.kind = PTX_NUMBER_FLOAT32, .bits = bits};
    }
    if (negative)
        number.bits = number.kind == PTX_NUMBER_INTEGER   ? 0 - number.bits
                      : number.kind == PTX_NUMBER_FLOAT32 ? number.bits ^ UINT64_C(1) << 31
                                                          : number.bits ^ UINT64_C(1) << 63;
    memcpy(bytes, &number.bits, 8); /* the host is little-endian, as the GPU */
    return true;
}

/* Nested braces only group: elements follow each other in memory. */
static bool parse_list(struct ptx_parser *parser, const struct ptx_type *type, struct ptx_vector *bytes) {
    uint32_t depth = 0;
    do {
        while (ptx_take_mark(parser, '{'))
            depth++;
        uint8_t element[8];
        if (!ptx_at_mark(parser, '}')) {
            if (!parse_element(parser, type, element))
                return false;
            for (uint32_t i = 0; i < type->bits / 8u; i++)
                if (!ptx_push(parser, bytes, &element[i], 1))
                    return false;
        }
        while (depth && ptx_take_mark(parser, '}'))
            depth--;
    } while (depth && ptx_take_mark(parser, ','));
    return depth == 0 || ptx_expect_mark(parser, '}');
}

bool ptx_parse_initial(struct ptx_parser *parser, struct ptx_variable *variable, const struct ptx_type *type) {
    struct ptx_vector bytes = {0};
    const uint32_t line = parser->token.line;
    ptx_next(parser); /* = */
    bool fine = parse_list(parser, type, &bytes);
    if (fine && variable->bytes == 0)
        variable->bytes = bytes.count;
    if (fine && bytes.count > variable->bytes)
        fine = ptx_fail(parser, line, "%s has %llu bytes, its initialiser %u", variable->name,
                        (unsigned long long)variable->bytes, bytes.count);
    uint8_t *initial = fine ? ptx_take(parser, variable->bytes) : NULL;
    if (initial && bytes.count)
        memcpy(initial, bytes.items, bytes.count);
    variable->initial = initial;
    free(bytes.items);
    return initial != NULL;
}
