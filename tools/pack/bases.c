/* SPDX-License-Identifier: Apache-2.0 */
/* Which part is packed behind which. Sizes are estimated by words of 8 bytes: how many of a part's the base has not.
 *
 * A deep chain packs well and unpacks slowly, by the packed bytes of all its parts, so those have a limit. So a byte
 * of a base's chain has a price too. In some sweeps over all parts each takes the base that is cheapest, and that price
 * falls from a packed byte's to nothing. */
#include "pack.h"

#include <stdlib.h>
#include <string.h>

#define CHAIN_MOST    24000  /* packed bytes, or so many more than the part alone has: */
#define CHAIN_PTX     150000 /* of PTX, which the driver then compiles for far longer than it unpacks */
#define CHAIN_PERCENT 120
#define SWEEPS        40
#define SAMPLED_BITS  3  /* one of 8 words, by its hash */
#define WORD_BEHIND   21 /* packed bytes of a sampled word that the base has not */
#define WORD_ALONE    28
#define PART_LEAST    200

struct sketch {
    uint32_t *words; /* hashes, rising */
    size_t count;
};

struct forest {
    struct part *parts;
    int count;
    uint32_t *sizes; /* [part][base]; [part][part]: without one */
    long *chains;    /* packed bytes of each part's chain, */
    long *rooms;     /* and how many more it may get, with all that are behind it */
};

static int compare_words(const void *x, const void *y) {
    const uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;
    return (a > b) - (a < b);
}

static struct sketch make_sketch(const struct part *part) {
    struct sketch sketch = {allocate(sizeof *sketch.words * (part->size / 8 + 1)), 0};
    size_t hashes = 0;
    for (size_t i = 0; i + 8 <= part->size; i += 8) {
        uint64_t word;
        memcpy(&word, part->bytes + i, sizeof word);
        word *= 0x9e3779b97f4a7c15u;
        if (word >> (64 - SAMPLED_BITS) == 0)
            sketch.words[hashes++] = (uint32_t)(word >> 20);
    }
    qsort(sketch.words, hashes, sizeof *sketch.words, compare_words);
    for (size_t i = 0; i < hashes; i++)
        if (i == 0 || sketch.words[i] != sketch.words[sketch.count - 1])
            sketch.words[sketch.count++] = sketch.words[i];
    return sketch;
}

/* Words that x has and y has not. */
static size_t words_missing(struct sketch x, struct sketch y) {
    size_t missing = 0;
    for (size_t i = 0, j = 0; i < x.count; i++) {
        while (j < y.count && y.words[j] < x.words[i])
            j++;
        missing += j == y.count || y.words[j] != x.words[i];
    }
    return missing;
}

static void estimate_sizes(struct forest *f) {
    struct sketch *sketches = allocate(sizeof *sketches * (size_t)f->count);
    for (int i = 0; i < f->count; i++) {
        uint32_t *sizes = f->sizes + (size_t)i * (size_t)f->count;
        sketches[i] = make_sketch(&f->parts[i]);
        for (int j = 0; j < i; j++)
            sizes[j] = (uint32_t)(PART_LEAST + WORD_BEHIND * words_missing(sketches[i], sketches[j]));
        sizes[i] = (uint32_t)(PART_LEAST + WORD_ALONE * sketches[i].count);
    }
    for (int i = 0; i < f->count; i++)
        free(sketches[i].words);
    free(sketches);
}

static long size_behind(const struct forest *f, int part, int base) {
    return f->sizes[(size_t)part * (size_t)f->count + (size_t)(base < 0 ? part : base)];
}

static long chain_most(const struct forest *f, int part) {
    const long most = f->parts[part].target ? CHAIN_MOST : CHAIN_PTX;
    const long alone = size_behind(f, part, -1) * CHAIN_PERCENT / 100;
    return most > alone ? most : alone;
}

static void measure(struct forest *f) {
    for (int i = 0; i < f->count; i++) {
        const int base = f->parts[i].base;
        f->chains[i] = size_behind(f, i, base) + (base < 0 ? 0 : f->chains[base]);
        f->rooms[i] = chain_most(f, i) - f->chains[i];
    }
    for (int i = f->count - 1; i >= 0; i--) {
        const int base = f->parts[i].base;
        if (base >= 0 && f->rooms[base] > f->rooms[i])
            f->rooms[base] = f->rooms[i];
    }
}

/* The cheapest base whose chain has room for the part, and for all that are behind it. */
static int cheapest_base(const struct forest *f, int part, int sweep) {
    const long weight = SWEEPS - 1 - sweep;
    long least = SWEEPS * size_behind(f, part, -1);
    int best = -1;
    for (int i = 0; i < part; i++) {
        const long size = size_behind(f, part, i), price = SWEEPS * size + weight * f->chains[i];
        if (price < least && f->chains[i] + size <= f->chains[part] + f->rooms[part]) {
            least = price;
            best = i;
        }
    }
    return best;
}

void choose_bases(struct part *parts, int count) {
    struct forest f = {parts, count, allocate(sizeof *f.sizes * (size_t)count * (size_t)count),
                       allocate(sizeof *f.chains * (size_t)count), allocate(sizeof *f.rooms * (size_t)count)};
    estimate_sizes(&f);
    for (int i = 0; i < count; i++)
        parts[i].base = -1;
    measure(&f);
    for (int sweep = 0; sweep < SWEEPS; sweep++)
        for (int i = 0; i < count; i++) {
            const int base = cheapest_base(&f, i, sweep);
            if (base == parts[i].base)
                continue;
            parts[i].base = base;
            measure(&f);
        }
    free(f.sizes);
    free(f.chains);
    free(f.rooms);
}
