/* SPDX-License-Identifier: Apache-2.0 */
/* Immediates: rows of 32 equal lanes, one for every value that a module uses. */
#include "sim/ptx/ptx_internal.h"

#include <stdlib.h>

static uint32_t bucket_of(const struct ptx_parser *parser, uint64_t wide, uint32_t narrow) {
    const uint64_t mixed = (wide ^ (uint64_t)narrow << 20) * UINT64_C(0x9E3779B97F4A7C15);
    return (uint32_t)(mixed >> 32) & (parser->lanes_buckets - 1);
}

static bool grow(struct ptx_parser *parser) {
    struct ptx_lanes **before = parser->lanes;
    const uint32_t count = parser->lanes_buckets;
    struct ptx_lanes **after = calloc(count ? count * 2u : 64u, sizeof(struct ptx_lanes *));
    if (!after)
        return ptx_out_of_memory(parser);
    parser->lanes = after;
    parser->lanes_buckets = count ? count * 2u : 64u;
    for (uint32_t i = 0; i < count; i++) {
        for (struct ptx_lanes *lanes = before[i], *next; lanes; lanes = next) {
            const uint32_t bucket = bucket_of(parser, lanes->row64[0], lanes->row[0]);
            next = lanes->chain;
            lanes->chain = after[bucket];
            after[bucket] = lanes;
        }
    }
    free(before);
    return true;
}

static struct ptx_lanes *find_lanes(struct ptx_parser *parser, uint64_t wide, uint32_t narrow) {
    if (parser->lanes_count == parser->lanes_buckets && !grow(parser))
        return NULL;
    const uint32_t bucket = bucket_of(parser, wide, narrow);
    for (struct ptx_lanes *lanes = parser->lanes[bucket]; lanes; lanes = lanes->chain)
        if (lanes->row64[0] == wide && lanes->row[0] == narrow)
            return lanes;
    struct ptx_lanes *lanes = ptx_take(parser, sizeof *lanes);
    if (!lanes)
        return NULL;
    for (int lane = 0; lane < PTX_LANES; lane++) {
        lanes->row64[lane] = wide;
        lanes->row[lane] = narrow;
    }
    lanes->chain = parser->lanes[bucket];
    parser->lanes[bucket] = lanes;
    parser->lanes_count++;
    return lanes;
}

bool ptx_immediate(struct ptx_parser *parser, struct ptx_operand *operand, int64_t value, unsigned bits) {
    const uint32_t narrow = bits >= 32 ? (uint32_t)value : (uint32_t)value & ((UINT32_C(1) << bits) - 1);
    const struct ptx_lanes *lanes = find_lanes(parser, (uint64_t)value, narrow);
    if (!lanes)
        return false;
    operand->kind = PTX_OPERAND_IMMEDIATE;
    operand->bits = (uint8_t)(bits > 1 && bits < 16 ? 16 : bits);
    operand->value = value;
    operand->row = lanes->row;
    operand->row64 = lanes->row64;
    return true;
}
