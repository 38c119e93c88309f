/* SPDX-License-Identifier: Apache-2.0 */
/* The format of packed bytes, which tools/pack/ writes at build time: the parts of images as differences to each other.
 *
 * A part is packed behind its base, that behind its own, and so on: a chain, whose parts are unpacked one after the other
 * into the same memory, each from a multiple of 16 bytes on, with zeros before it. A packed part is a list of tokens:
 *
 *   literal   a byte
 *   match     a length, and a distance back: copies bytes written before, any part's of the chain; may overlap itself
 *   repeat    which of the last four distances, the latest being number 0, and a length
 *
 * A new part's latest distance is the one to its base: a repeat of it copies from the same place of the base.
 *
 * A token is written as bits:
 *
 *   is it a match or a repeat?  is it a repeat?  which distance (2 bits)  length - 1  distance - 1
 *
 * and every bit has a context that foretells it: struct gm_packing_model has a probability for each. They adapt with
 * every bit, and go on from a base to the part behind it. An arithmetic coder turns bits into bytes: of a range of 32
 * bits a zero takes the share that its probability says, from below, and a one the rest. The last four bytes bring the
 * decoder to zero exactly, so broken bytes do not pass. */
#ifndef GM_UNPACK_H
#define GM_UNPACK_H

#include <stddef.h>
#include <stdint.h>

enum {
    GM_PACKING_ALIGN = 16,     /* bytes of an instruction: contexts know the place within one */
    GM_PACKING_DISTANCES = 4,  /* that repeats know */
    GM_PACKING_HISTORIES = 16, /* the last two tokens, the latest in the low two bits */
    GM_PACKING_OWN_SLOTS = 12,
    GM_PACKING_SEEN_MOST = 22
};

enum gm_packing_token { GM_PACKING_LITERAL, GM_PACKING_MATCH, GM_PACKING_REPEAT };

struct gm_packing_bit {
    uint16_t zero; /* the probability of a zero, of 65536: never 0 */
    uint16_t seen; /* bits so far, up to GM_PACKING_SEEN_MOST */
};

/* A number. Its slot says how many bits it has and what the second highest is: 2 * (bits - 1) + that one; below 4 it is
 * the number. The bits below follow, but for the lowest four without a context. */
struct gm_packing_number {
    struct gm_packing_bit slot[64];
    struct gm_packing_bit low[GM_PACKING_OWN_SLOTS + 1][16]; /* the last is for all further slots */
};

/* Where bits are a tree, the context of each is those before it: the first is at [1], the next at [2] or [3]. */
struct gm_packing_model {
    struct gm_packing_bit is_copy[GM_PACKING_HISTORIES][GM_PACKING_ALIGN];
    struct gm_packing_bit is_repeat[GM_PACKING_HISTORIES];
    struct gm_packing_bit which[GM_PACKING_DISTANCES];
    /* As long as a literal is as the byte at the latest distance: [1 + that one's next bit]; then [0]. */
    struct gm_packing_bit literal[GM_PACKING_ALIGN][3][256];
    struct gm_packing_number length[3][GM_PACKING_ALIGN]; /* of a match; of a repeat of number 0; of the others */
    struct gm_packing_number distance;
};

/* A chain, as far as it is unpacked. */
struct gm_unpacker {
    unsigned char *to;
    size_t room;      /* bytes of `to` */
    size_t start, at; /* the last part is in bytes [start, at) */
    struct gm_packing_model model;
};

/* An empty chain, in memory of `room` bytes. */
void gm_unpack_begin(struct gm_unpacker *unpacker, unsigned char *to, size_t room);
/* Unpacks the chain's next part, of so many bytes. 0: there is no room, or the packed bytes are not such a part;
 * the chain ends there. */
int gm_unpack(struct gm_unpacker *unpacker, const unsigned char *packed, size_t packed_bytes, size_t bytes);

/* A model that foretells nothing. */
void gm_packing_begin(struct gm_packing_model *model);
/* The distances that a part begins with, behind a base that is so far back; 0: there is none. */
void gm_packing_begin_distances(size_t distances[GM_PACKING_DISTANCES], size_t to_base);

/* The next part's first byte, behind so many. */
static inline size_t gm_packing_aligned(size_t at) {
    return (at + GM_PACKING_ALIGN - 1) / GM_PACKING_ALIGN * GM_PACKING_ALIGN;
}

static inline unsigned gm_packing_next_history(unsigned history, enum gm_packing_token token) {
    return (4 * history + token) % GM_PACKING_HISTORIES;
}

/* Puts the distance of this number first; the number of distances - 1 for a new one. */
static inline void gm_packing_renew(size_t distances[GM_PACKING_DISTANCES], int number, size_t distance) {
    for (; number > 0; number--)
        distances[number] = distances[number - 1];
    distances[0] = distance;
}

/* A bit was seen: its probability is a mean, to which the first ones add most. */
static inline void gm_packing_learn(struct gm_packing_bit *bit, int one) {
    static const uint16_t share[GM_PACKING_SEEN_MOST + 1] = {/* 65536 / (seen + 1.5) */
                                                             43690, 26214, 18724, 14563, 11915, 10082, 8738, 7710,
                                                             6898,  6241,  5698,  5242,  4854,  4519,  4228, 3971,
                                                             3744,  3542,  3360,  3196,  3048,  2912,  2788};
    if (one)
        bit->zero = (uint16_t)(bit->zero - ((uint32_t)bit->zero * share[bit->seen] >> 16));
    else
        bit->zero = (uint16_t)(bit->zero + ((uint32_t)(65535 - bit->zero) * share[bit->seen] >> 16));
    if (bit->seen < GM_PACKING_SEEN_MOST)
        bit->seen++;
}

#endif
