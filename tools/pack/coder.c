/* SPDX-License-Identifier: Apache-2.0 */
/* The arithmetic encoder, and tokens as its bits: the mirror of src/host/unpack.c. */
#include "pack.h"

/* ---- bits as bytes ---------------------------------------------------------------------------------- */

/* Moves the highest byte of `low` out. It waits where a carry may reach it. */
static void move_byte(struct encoder *e) {
    if (e->low >= 0xff000000u && e->low >> 32 == 0) {
        e->ones++;
    } else {
        const int carry = (int)(e->low >> 32);
        if (e->held >= 0)
            e->to[e->used++] = (unsigned char)(e->held + carry);
        for (; e->ones; e->ones--)
            e->to[e->used++] = (unsigned char)(255 + carry);
        e->held = (int)(e->low >> 24 & 255);
    }
    e->low = e->low << 8 & UINT32_MAX;
}

void encoder_begin(struct encoder *encoder, unsigned char *to) {
    *encoder = (struct encoder){.to = to, .range = UINT32_MAX, .held = -1};
}

/* Five bytes: the last one pushes the one held out, and is not written. */
void encoder_end(struct encoder *encoder) {
    for (int i = 0; i < 5; i++)
        move_byte(encoder);
}

static void put_split(struct encoder *e, uint32_t zero, int one) {
    e->low += one ? zero : 0;
    e->range = one ? e->range - zero : zero;
    for (; e->range < 1u << 24; e->range <<= 8)
        move_byte(e);
}

static void put_bit(struct encoder *e, struct gm_packing_bit *bit, int one) {
    put_split(e, (uint32_t)((uint64_t)e->range * bit->zero >> 16), one);
    gm_packing_learn(bit, one);
}

static void put_tree(struct encoder *e, struct gm_packing_bit *tree, int bits, size_t value) {
    for (int i = bits - 1; i >= 0; i--)
        put_bit(e, &tree[(value | (size_t)1 << bits) >> (i + 1)], value >> i & 1);
}

/* ---- tokens as bits --------------------------------------------------------------------------------- */

unsigned number_slot(size_t value) {
    const unsigned bits = value < 4 ? 0 : 62 - (unsigned)__builtin_clzll(value);
    return 2 * bits + (unsigned)(value >> bits);
}

static void put_number(struct encoder *e, struct gm_packing_number *number, size_t value) {
    const unsigned slot = number_slot(value);
    put_tree(e, number->slot, 6, slot);
    if (slot < 4)
        return;
    int bits = (int)slot / 2 - 1;
    for (; bits > 4; bits--)
        put_split(e, e->range >> 1, value >> (bits - 1) & 1);
    put_tree(e, number->low[slot < GM_PACKING_OWN_SLOTS ? slot : GM_PACKING_OWN_SLOTS], bits,
             value & (((size_t)1 << bits) - 1));
}

static void put_literal(struct encoder *e, struct gm_packing_bit literal[3][256], unsigned byte, unsigned like) {
    int is_like = 1;
    for (int i = 7; i >= 0; i--) {
        const int one = byte >> i & 1, foretold = like >> i & 1;
        put_bit(e, &literal[is_like ? 1 + foretold : 0][(byte | 256) >> (i + 1)], one);
        is_like &= one == foretold;
    }
}

unsigned foretold_byte(const struct state *state, const unsigned char *bytes, size_t at) {
    const size_t distance = state->distances[0];
    return distance > 0 && distance <= at ? bytes[at - distance] : 0;
}

void next_state(struct state *state, struct token token) {
    state->history = gm_packing_next_history(state->history, token.kind);
    if (token.kind != GM_PACKING_LITERAL)
        gm_packing_renew(state->distances, token.kind == GM_PACKING_MATCH ? GM_PACKING_DISTANCES - 1 : token.which,
                         token.distance);
}

void put_token(struct encoder *e, struct gm_packing_model *model, struct state *state, const unsigned char *bytes,
               size_t at, struct token token) {
    const size_t place = at % GM_PACKING_ALIGN;
    put_bit(e, &model->is_copy[state->history][place], token.kind != GM_PACKING_LITERAL);
    if (token.kind == GM_PACKING_LITERAL) {
        put_literal(e, model->literal[place], bytes[at], foretold_byte(state, bytes, at));
    } else if (token.kind == GM_PACKING_MATCH) {
        put_bit(e, &model->is_repeat[state->history], 0);
        put_number(e, &model->length[0][place], token.length - 1);
        put_number(e, &model->distance, token.distance - 1);
    } else {
        put_bit(e, &model->is_repeat[state->history], 1);
        put_tree(e, model->which, 2, (size_t)token.which);
        put_number(e, &model->length[token.which == 0 ? 1 : 2][place], token.length - 1);
    }
    next_state(state, token);
}
