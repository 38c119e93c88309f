/* SPDX-License-Identifier: Apache-2.0 */
/* Unpacks the parts of a chain. */
#include "host/unpack.h"

#include <string.h>

/* The arithmetic decoder. `code` is where in the range the packed bytes are. */
struct decoder {
    const unsigned char *at, *end;
    uint32_t code, range;
    int is_short; /* bytes behind the end were asked for */
};

static inline void fill(struct decoder *d) {
    while (d->range < 1u << 24) {
        d->range <<= 8;
        d->code = d->code << 8 | (d->at < d->end ? *d->at : 0);
        d->is_short |= d->at == d->end;
        d->at += d->at < d->end;
    }
}

/* NOTE: branches, since one that is foretold costs less than a choice of values: 94 ns a packed byte instead of 111. */
static inline int read_split(struct decoder *d, uint32_t zero) {
    const int one = d->code >= zero;
    if (one) {
        d->code -= zero;
        d->range -= zero;
    } else {
        d->range = zero;
    }
    fill(d);
    return one;
}

static inline unsigned read_bit(struct decoder *d, struct gm_packing_bit *bit) {
    const int one = read_split(d, (uint32_t)((uint64_t)d->range * bit->zero >> 16));
    gm_packing_learn(bit, one);
    return (unsigned)one;
}

static inline unsigned read_tree(struct decoder *d, struct gm_packing_bit *tree, int bits) {
    unsigned node = 1;
    for (int i = 0; i < bits; i++)
        node = 2 * node + read_bit(d, &tree[node]);
    return node - (1u << bits);
}

static size_t read_number(struct decoder *d, struct gm_packing_number *number) {
    const unsigned slot = read_tree(d, number->slot, 6);
    if (slot < 4)
        return slot;
    int bits = (int)slot / 2 - 1;
    size_t value = 2 + slot % 2;
    for (; bits > 4; bits--)
        value = 2 * value + (size_t)read_split(d, d->range >> 1);
    return (value << bits) + read_tree(d, number->low[slot < GM_PACKING_OWN_SLOTS ? slot : GM_PACKING_OWN_SLOTS], bits);
}

/* `like`: the byte at the latest distance. */
static unsigned char read_literal(struct decoder *d, struct gm_packing_bit literal[3][256], unsigned like) {
    unsigned node = 1, is_like = 1;
    for (int i = 7; i >= 0; i--) {
        const unsigned foretold = like >> i & 1;
        const unsigned one = read_bit(d, &literal[is_like ? 1 + foretold : 0][node]);
        node = 2 * node + one;
        is_like &= one == foretold;
    }
    return (unsigned char)node;
}

/* Byte by byte where the copy overlaps what it writes. */
static void copy(unsigned char *to, size_t distance, size_t length) {
    if (distance >= length) {
        memcpy(to, to - distance, length);
        return;
    }
    for (size_t i = 0; i < length; i++)
        to[i] = to[i - distance];
}

void gm_packing_begin(struct gm_packing_model *model) {
    struct gm_packing_bit *bits = (struct gm_packing_bit *)model;
    for (size_t i = 0; i < sizeof *model / sizeof *bits; i++)
        bits[i] = (struct gm_packing_bit){32768, 0};
}

void gm_packing_begin_distances(size_t distances[GM_PACKING_DISTANCES], size_t to_base) {
    const size_t begin[GM_PACKING_DISTANCES] = {to_base, GM_PACKING_ALIGN, GM_PACKING_ALIGN / 2, 2 * GM_PACKING_ALIGN};
    memcpy(distances, begin, sizeof begin);
}

void gm_unpack_begin(struct gm_unpacker *unpacker, unsigned char *to, size_t room) {
    unpacker->to = to;
    unpacker->room = room;
    unpacker->start = unpacker->at = 0;
    gm_packing_begin(&unpacker->model);
}

static size_t read_length(struct decoder *d, struct gm_packing_model *model, size_t place, enum gm_packing_token token,
                          size_t distances[GM_PACKING_DISTANCES]) {
    if (token == GM_PACKING_MATCH) {
        const size_t length = 1 + read_number(d, &model->length[0][place]);
        gm_packing_renew(distances, GM_PACKING_DISTANCES - 1, 1 + read_number(d, &model->distance));
        return length;
    }
    const int which = (int)read_tree(d, model->which, 2);
    gm_packing_renew(distances, which, distances[which]);
    return 1 + read_number(d, &model->length[which == 0 ? 1 : 2][place]);
}

/* Bytes [at, end). 0: a token that cannot be. */
static int read_tokens(struct decoder *d, struct gm_packing_model *model, unsigned char *to, size_t at, size_t end,
                       size_t distances[GM_PACKING_DISTANCES]) {
    unsigned history = 0;
    while (at < end) {
        const size_t place = at % GM_PACKING_ALIGN;
        enum gm_packing_token token = GM_PACKING_LITERAL;
        if (read_bit(d, &model->is_copy[history][place]))
            token = read_bit(d, &model->is_repeat[history]) ? GM_PACKING_REPEAT : GM_PACKING_MATCH;
        history = gm_packing_next_history(history, token);
        const size_t length = token == GM_PACKING_LITERAL ? 1 : read_length(d, model, place, token, distances);
        const int can_copy = distances[0] > 0 && distances[0] <= at;
        if (token == GM_PACKING_LITERAL)
            to[at] = read_literal(d, model->literal[place], can_copy ? to[at - distances[0]] : 0);
        else if (can_copy && length <= end - at)
            copy(to + at, distances[0], length);
        else
            return 0;
        at += length;
    }
    return 1;
}

int gm_unpack(struct gm_unpacker *unpacker, const unsigned char *packed, size_t packed_bytes, size_t bytes) {
    struct decoder d = {packed, packed + packed_bytes, 0, 0, 0};
    const size_t start = gm_packing_aligned(unpacker->at);
    size_t distances[GM_PACKING_DISTANCES];
    if (start > unpacker->room || bytes > unpacker->room - start || packed_bytes < sizeof d.code)
        return 0;
    memset(unpacker->to + unpacker->at, 0, start - unpacker->at);
    gm_packing_begin_distances(distances, start - unpacker->start);
    for (size_t i = 0; i < sizeof d.code; i++)
        d.code = d.code << 8 | *d.at++;
    d.range = UINT32_MAX;
    if (!read_tokens(&d, &unpacker->model, unpacker->to, start, start + bytes, distances))
        return 0;
    unpacker->start = start;
    unpacker->at = start + bytes;
    return d.code == 0 && d.at == d.end && !d.is_short;
}
