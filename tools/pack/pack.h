/* SPDX-License-Identifier: Apache-2.0 */
/* Packs the parts of images at build time, as src/host/unpack.h has the format. */
#ifndef GM_PACK_H
#define GM_PACK_H

#include "host/unpack.h"

/* ---- coder.c: tokens as bytes ------------------------------------------------------------------------ */

struct encoder {
    unsigned char *to;
    size_t used;
    uint64_t low; /* of the range; bit 32 carries into the bytes before */
    uint32_t range;
    int held;    /* the byte before `low`, which a carry may still reach; -1: none */
    size_t ones; /* bytes 255 between the two */
};

struct token {
    enum gm_packing_token kind;
    int which; /* distance, of a repeat */
    size_t length, distance;
};

/* What tokens are written with; both change with each. */
struct state {
    unsigned history;
    size_t distances[GM_PACKING_DISTANCES];
};

void encoder_begin(struct encoder *encoder, unsigned char *to);
void encoder_end(struct encoder *encoder);
unsigned number_slot(size_t value);
/* Writes the token of bytes[at] on. */
void put_token(struct encoder *encoder, struct gm_packing_model *model, struct state *state, const unsigned char *bytes,
               size_t at, struct token token);
void next_state(struct state *state, struct token token);
/* The byte at the latest distance. */
unsigned foretold_byte(const struct state *state, const unsigned char *bytes, size_t at);

/* ---- parse.c: bytes as tokens ------------------------------------------------------------------------ */

/* Packs bytes [start, end), behind the chain before them, whose last part began at `base`. The model is that of the
 * chain, and then of this part too. Returns the size of what it wrote, at most 2 * (end - start) + 64 bytes. */
size_t pack_bytes(const unsigned char *bytes, size_t base, size_t start, size_t end, struct gm_packing_model *model,
                  unsigned char *to);

/* ---- bases.c: what is packed behind what ------------------------------------------------------------- */

struct part {
    int target; /* 80: a cubin of compute capability 8.0; 0: PTX */
    unsigned char *bytes, *packed;
    size_t size, packed_size;
    int base; /* a part before it; -1: none */
};

/* Sets every part's base. */
void choose_bases(struct part *parts, int count);

/* ---- images.c ---------------------------------------------------------------------------------------- */

/* Memory of zeros; ends the program where there is none. */
void *allocate(size_t bytes);

#endif
