/* SPDX-License-Identifier: Apache-2.0 */
/* Which tokens to write: the cheapest way through the bytes, some thousand at a time, by the prices that the model's
 * probabilities make. A long copy ends a plan, and is taken without one. */
#include "pack.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define MATCH_LEAST  4
#define LONG_COPY    128
#define PLAN_MOST    4096 /* bytes */
#define PLAN_LEAST   64   /* a plan may end where all its ways meet, but not before */
#define HASH_BITS    18
#define CHAIN_MOST   64  /* places looked at for a match */
#define STALE        128 /* bytes written, after which prices are asked anew */
#define PRICE_OF_BIT 256

struct number_prices {
    uint32_t slot[64], low[GM_PACKING_OWN_SLOTS + 1][16];
};

/* The cheapest way to a byte: its price, its last token, and the state it leads to. */
struct way {
    uint32_t price;
    struct token token;
    struct state state;
    size_t next; /* on the way that is taken */
};

struct parser {
    const unsigned char *bytes;
    size_t end, inserted;
    int32_t *heads, *previous; /* the last place of each hash, and the place before each place; -1: none */
    struct gm_packing_model *model;
    struct state state;
    struct number_prices distance;
    uint32_t length[3][GM_PACKING_ALIGN][LONG_COPY + 1]; /* price of a copy's length */
    struct way ways[PLAN_MOST + LONG_COPY + 1];          /* of the plan's bytes */
    size_t reached;                                      /* ways[0 .. reached] have a price */
    struct token long_copy;                              /* behind the plan; of no length: none */
};

/* ---- prices ----------------------------------------------------------------------------------------- */

static uint32_t prices[4097]; /* of probabilities, of 4096 */
static pthread_once_t prices_made = PTHREAD_ONCE_INIT;

/* Logarithms by squaring, the same on every machine. */
static void make_prices(void) {
    prices[0] = 13 * PRICE_OF_BIT;
    for (uint32_t i = 1; i <= 4096; i++) {
        uint64_t power = i;
        uint32_t log = 0;
        for (int square = 0; square < 8; square++) {
            log *= 2;
            for (power *= power; power >= 1 << 16; power >>= 1)
                log++;
        }
        prices[i] = 12 * PRICE_OF_BIT - 15 - log;
    }
}

static uint32_t bit_price(const struct gm_packing_bit *bit, int one) {
    return prices[(one ? 65536 - bit->zero : bit->zero) >> 4];
}

static uint32_t tree_price(const struct gm_packing_bit *tree, int bits, unsigned value) {
    uint32_t price = 0;
    for (int i = bits - 1; i >= 0; i--)
        price += bit_price(&tree[(value | 1u << bits) >> (i + 1)], value >> i & 1);
    return price;
}

static void ask_number(struct number_prices *asked, const struct gm_packing_number *number) {
    for (unsigned slot = 0; slot < 64; slot++)
        asked->slot[slot] = tree_price(number->slot, 6, slot);
    for (unsigned slot = 4; slot <= GM_PACKING_OWN_SLOTS; slot++) {
        const int bits = slot < GM_PACKING_OWN_SLOTS ? (int)slot / 2 - 1 : 4;
        for (unsigned value = 0; value < 1u << bits; value++)
            asked->low[slot][value] = tree_price(number->low[slot], bits, value);
    }
}

static uint32_t number_price(const struct number_prices *asked, size_t value) {
    const unsigned slot = number_slot(value);
    if (slot < 4)
        return asked->slot[slot];
    if (slot < GM_PACKING_OWN_SLOTS)
        return asked->slot[slot] + asked->low[slot][value & (((size_t)1 << (slot / 2 - 1)) - 1)];
    return asked->slot[slot] + (slot / 2 - 5) * PRICE_OF_BIT + asked->low[GM_PACKING_OWN_SLOTS][value & 15];
}

static void ask_prices(struct parser *p) {
    for (int kind = 0; kind < 3; kind++)
        for (int place = 0; place < GM_PACKING_ALIGN; place++) {
            struct number_prices asked;
            ask_number(&asked, &p->model->length[kind][place]);
            for (size_t length = 1; length <= LONG_COPY; length++)
                p->length[kind][place][length] = number_price(&asked, length - 1);
        }
    ask_number(&p->distance, &p->model->distance);
}

static uint32_t literal_price(const struct parser *p, const struct state *state, size_t at) {
    const struct gm_packing_bit(*literal)[256] = p->model->literal[at % GM_PACKING_ALIGN];
    const unsigned byte = p->bytes[at], like = foretold_byte(state, p->bytes, at);
    uint32_t price = 0;
    int is_like = 1;
    for (int i = 7; i >= 0; i--) {
        const int one = byte >> i & 1, foretold = like >> i & 1;
        price += bit_price(&literal[is_like ? 1 + foretold : 0][(byte | 256) >> (i + 1)], one);
        is_like &= one == foretold;
    }
    return price;
}

/* ---- bytes that were there before ------------------------------------------------------------------- */

static uint32_t hash_at(const struct parser *p, size_t at) {
    uint32_t word;
    memcpy(&word, p->bytes + at, sizeof word);
    return word * 2654435761u >> (32 - HASH_BITS);
}

/* Those before `at` can be found. */
static void insert_until(struct parser *p, size_t at) {
    for (; p->inserted < at && p->inserted + MATCH_LEAST <= p->end; p->inserted++) {
        int32_t *head = &p->heads[hash_at(p, p->inserted)];
        p->previous[p->inserted] = *head;
        *head = (int32_t)p->inserted;
    }
}

static size_t common_bytes(const struct parser *p, size_t x, size_t at) {
    size_t length = 0;
    for (uint64_t a, b; at + length + sizeof a <= p->end; length += sizeof a) {
        memcpy(&a, p->bytes + x + length, sizeof a);
        memcpy(&b, p->bytes + at + length, sizeof b);
        if (a != b)
            break;
    }
    while (at + length < p->end && p->bytes[x + length] == p->bytes[at + length])
        length++;
    return length;
}

/* ---- the plan --------------------------------------------------------------------------------------- */

/* A way to byte i + the token's length of the plan. */
static void offer(struct parser *p, size_t i, struct token token, uint32_t price) {
    const size_t to = i + token.length;
    while (p->reached < to)
        p->ways[++p->reached].price = UINT32_MAX;
    if (price < p->ways[to].price) {
        p->ways[to].price = price;
        p->ways[to].token = token;
    }
}

static void offer_literal(struct parser *p, size_t i, size_t at) {
    const struct way *way = &p->ways[i];
    const struct gm_packing_bit *is_copy = &p->model->is_copy[way->state.history][at % GM_PACKING_ALIGN];
    offer(p, i, (struct token){GM_PACKING_LITERAL, 0, 1, 0},
          way->price + bit_price(is_copy, 0) + literal_price(p, &way->state, at));
}

/* Copies of all lengths from `least` on. */
static void offer_copy(struct parser *p, size_t i, size_t at, struct token copy, size_t least, uint32_t price) {
    const int kind = copy.kind == GM_PACKING_MATCH ? 0 : copy.which == 0 ? 1 : 2;
    const uint32_t *length_prices = p->length[kind][at % GM_PACKING_ALIGN];
    if (copy.length >= LONG_COPY && copy.length > p->long_copy.length)
        p->long_copy = copy;
    const size_t most = copy.length < LONG_COPY ? copy.length : LONG_COPY;
    for (copy.length = least; copy.length <= most; copy.length++)
        offer(p, i, copy, price + length_prices[copy.length]);
}

static uint32_t copy_price(const struct parser *p, const struct way *way, size_t at, int is_repeat) {
    return way->price + bit_price(&p->model->is_copy[way->state.history][at % GM_PACKING_ALIGN], 1) +
           bit_price(&p->model->is_repeat[way->state.history], is_repeat);
}

static void offer_repeats(struct parser *p, size_t i, size_t at) {
    const uint32_t price = copy_price(p, &p->ways[i], at, 1);
    for (int which = 0; which < GM_PACKING_DISTANCES; which++) {
        const size_t distance = p->ways[i].state.distances[which];
        if (distance == 0 || distance > at)
            continue;
        const struct token repeat = {GM_PACKING_REPEAT, which, common_bytes(p, at - distance, at), distance};
        offer_copy(p, i, at, repeat, 1, price + tree_price(p->model->which, 2, (unsigned)which));
    }
}

/* Of every length the nearest. */
static void offer_matches(struct parser *p, size_t i, size_t at) {
    const uint32_t price = copy_price(p, &p->ways[i], at, 0);
    size_t longest = MATCH_LEAST - 1;
    insert_until(p, at);
    if (at + MATCH_LEAST > p->end)
        return;
    int32_t place = p->heads[hash_at(p, at)];
    for (int tries = 0; tries < CHAIN_MOST && place >= 0; tries++, place = p->previous[place]) {
        if (at + longest >= p->end || p->bytes[(size_t)place + longest] != p->bytes[at + longest])
            continue; /* no longer than the longest */
        const struct token match = {GM_PACKING_MATCH, 0, common_bytes(p, (size_t)place, at), at - (size_t)place};
        if (match.length <= longest)
            continue;
        offer_copy(p, i, at, match, longest + 1, price + number_price(&p->distance, match.distance - 1));
        longest = match.length;
    }
}

/* Plans from `start` on; how many bytes. */
static size_t plan(struct parser *p, size_t start) {
    p->ways[0] = (struct way){.state = p->state};
    p->long_copy.length = p->reached = 0;
    for (size_t i = 0;; i++) {
        struct way *way = &p->ways[i];
        if (i > 0) {
            way->state = p->ways[i - way->token.length].state;
            next_state(&way->state, way->token);
        }
        if (start + i == p->end || i == PLAN_MOST || (i == p->reached && i > PLAN_LEAST))
            return i;
        offer_repeats(p, i, start + i);
        if (p->long_copy.length == 0)
            offer_matches(p, i, start + i);
        if (p->long_copy.length > 0)
            return i;
        offer_literal(p, i, start + i);
    }
}

/* Writes the plan's tokens, and the long copy. */
static size_t put_plan(struct parser *p, struct encoder *encoder, size_t at, size_t bytes) {
    for (size_t to = bytes; to > 0; to -= p->ways[to].token.length)
        p->ways[to - p->ways[to].token.length].next = to;
    for (size_t i = 0; i < bytes; i = p->ways[i].next)
        put_token(encoder, p->model, &p->state, p->bytes, at + i, p->ways[p->ways[i].next].token);
    at += bytes;
    if (p->long_copy.length > 0)
        put_token(encoder, p->model, &p->state, p->bytes, at, p->long_copy);
    return at + p->long_copy.length;
}

size_t pack_bytes(const unsigned char *bytes, size_t base, size_t start, size_t end, struct gm_packing_model *model,
                  unsigned char *to) {
    struct parser *p = allocate(sizeof *p);
    struct encoder encoder;
    size_t asked = 0;
    *p = (struct parser){.bytes = bytes, .end = end, .model = model};
    p->heads = allocate(sizeof *p->heads << HASH_BITS);
    p->previous = allocate(sizeof *p->previous * end);
    memset(p->heads, 255, sizeof *p->heads << HASH_BITS);
    gm_packing_begin_distances(p->state.distances, start - base);
    pthread_once(&prices_made, make_prices);
    encoder_begin(&encoder, to);
    for (size_t at = start; at < end;) {
        if (at == start || encoder.used > asked + STALE) {
            ask_prices(p);
            asked = encoder.used;
        }
        at = put_plan(p, &encoder, at, plan(p, at));
    }
    encoder_end(&encoder);
    free(p->heads);
    free(p->previous);
    free(p);
    return encoder.used;
}
