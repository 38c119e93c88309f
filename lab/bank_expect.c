/* SPDX-License-Identifier: Apache-2.0 */
/* What an access leaves behind: what each lane reads, and which bytes may lie in memory afterwards. */
#include <stdio.h>
#include <string.h>

#include "lab/bank_access.h"
#include "lab/bank_kernels.h"

#define MATRIX_ROWS 8u

static uint32_t active_lanes(const struct gm_access *access) {
    const uint32_t lanes = access->matrices ? MATRIX_ROWS * access->matrices : GM_LANES;
    return ~access->inactive & (UINT32_MAX >> (GM_LANES - lanes));
}

/* ---- reads ---------------------------------------------------------------------------------------- */

static uint32_t filled_byte(uint32_t at) {
    return (at / 4 * BANK_FILL) >> at % 4 * 8 & 0xff;
}

static uint32_t filled_half(uint32_t at) {
    return filled_byte(at) | filled_byte(at + 1) << 8;
}

/* Register `matrix` of ldmatrix: two elements of row lane / 4, or, transposed, of column lane / 4. */
static uint32_t matrix_register(const struct bank_shot *shot, uint32_t lane, uint32_t matrix, uint32_t offset) {
    const uint32_t *rows = &shot->access.address[MATRIX_ROWS * matrix];
    const uint32_t long_way = lane / 4, short_way = lane % 4 * 2;
    if (shot->instruction == LDMATRIX_X4_TRANS)
        return filled_half(rows[short_way] + offset + 2 * long_way) |
               filled_half(rows[short_way + 1] + offset + 2 * long_way) << 16;
    return filled_half(rows[long_way] + offset + 2 * short_way) |
           filled_half(rows[long_way] + offset + 2 * short_way + 2) << 16;
}

/* What the lane reads at one repetition, its registers folded by exclusive or. */
static uint32_t read_of(const struct bank_shot *shot, uint32_t lane, uint32_t offset) {
    uint32_t sum = 0;
    if (shot->access.kind == GM_ACCESS_LDMATRIX) {
        for (uint32_t matrix = 0; matrix < shot->access.matrices; matrix++)
            sum ^= matrix_register(shot, lane, matrix, offset);
        return sum;
    }
    for (uint32_t byte = 0; byte < shot->access.width; byte++)
        sum ^= filled_byte(shot->access.address[lane] + offset + byte) << byte % 4 * 8;
    return sum;
}

int bank_sums_right(const struct bank_shot *shot, const struct bank_result *result, char *sentence, size_t bytes) {
    for (uint32_t lane = 0; lane < GM_LANES; lane++) {
        const bool reads = shot->access.kind == GM_ACCESS_LDMATRIX || !(shot->access.inactive >> lane & 1);
        uint32_t sum = 0;
        for (uint32_t i = 0; reads && i < BANK_REPEATS; i++)
            sum ^= read_of(shot, lane, i * BANK_STEP);
        for (uint32_t thread = lane; thread < shot->warps * GM_LANES; thread += GM_LANES) {
            if (result->sum[thread] != sum) {
                snprintf(sentence, bytes, "thread %u read 0x%08x in all, not 0x%08x", thread, result->sum[thread], sum);
                return 0;
            }
        }
    }
    return 1;
}

/* ---- writes --------------------------------------------------------------------------------------- */

unsigned char bank_source_byte(uint32_t at) {
    return (unsigned char)(at * 37 + at / 256 * 11 + 5);
}

/* Byte `byte` of the row whose address lane `row` gives to stmatrix; ptx/stmatrix.ptx says what the registers hold. */
static unsigned char stmatrix_byte(const struct bank_shot *shot, uint32_t row, uint32_t byte) {
    const uint32_t matrix = row / MATRIX_ROWS, r = row % MATRIX_ROWS, column = byte / 2;
    const bool transposed = shot->instruction == STMATRIX_X4_TRANS;
    const uint32_t lane = transposed ? column * 4 + r / 2 : r * 4 + column / 2;
    const uint32_t half = transposed ? r % 2 : column % 2;
    const uint32_t value = lane * 0x010101 + matrix * 0x01202020;
    return (unsigned char)(value >> (half * 16 + byte % 2 * 8));
}

static unsigned char written_byte(const struct bank_shot *shot, uint32_t lane, uint32_t byte) {
    switch (shot->access.kind) {
    case GM_ACCESS_STMATRIX:
        return stmatrix_byte(shot, lane, byte);
    case GM_ACCESS_CP_ASYNC:
        return bank_source_byte(lane * shot->access.width + byte);
    default:
        return (unsigned char)lane;
    }
}

enum { WRITTEN = 1, EXPLAINED = 2 };

/* Every byte that some lane writes must be as one of its writers leaves it. */
static int bytes_right(const struct bank_shot *shot, const unsigned char *image, char *sentence, size_t bytes) {
    static unsigned char state[BANK_IMAGE_BYTES];
    memset(state, 0, sizeof state);
    for (uint32_t lanes = active_lanes(&shot->access); lanes; lanes &= lanes - 1) {
        const uint32_t lane = (uint32_t)__builtin_ctz(lanes);
        for (uint32_t at = 0; at < BANK_REPEATS * shot->access.width; at++) {
            const uint32_t byte = at % shot->access.width;
            const uint32_t address = shot->access.address[lane] + at / shot->access.width * BANK_STEP + byte;
            state[address] |= image[address] == written_byte(shot, lane, byte) ? WRITTEN | EXPLAINED : WRITTEN;
        }
    }
    for (uint32_t at = 0; at < BANK_IMAGE_BYTES; at++) {
        if (state[at] == WRITTEN) {
            snprintf(sentence, bytes, "byte %u of shared memory is 0x%02x, which no lane writes there", at, image[at]);
            return 0;
        }
    }
    return 1;
}

/* What the atomics of all warps and rounds leave in a word that was 0. */
struct word {
    uint32_t times, sum, most; /* how often a lane came; lane + 1, summed up and the most, of a round of one warp */
    bool is_one_of_them;
};

static bool word_right(enum bank_instruction instruction, const struct word *word, uint32_t found) {
    const uint32_t rounds = BANK_ACCESSES / BANK_REPEATS;
    switch (instruction) {
    case RED_ADD:
    case ATOM_ADD:
        return found == word->sum * rounds;
    case RED_INCREMENT:
        return found == word->times * rounds;
    case RED_MAX:
        return found == word->most;
    default:
        return word->times ? word->is_one_of_them : found == 0;
    }
}

static int words_right(const struct bank_shot *shot, const unsigned char *image, char *sentence, size_t bytes) {
    static struct word words[BANK_IMAGE_BYTES / 4];
    memset(words, 0, sizeof words);
    for (uint32_t at = 0; at < BANK_REPEATS * GM_LANES; at++) {
        const uint32_t lane = at % GM_LANES, address = shot->access.address[lane] + at / GM_LANES * BANK_STEP;
        uint32_t found;
        if (shot->access.inactive >> lane & 1)
            continue;
        memcpy(&found, image + address, 4);
        struct word *word = &words[address / 4];
        word->times++;
        word->sum += lane + 1;
        word->most = lane + 1 > word->most ? lane + 1 : word->most;
        word->is_one_of_them |= found == lane + 1;
    }
    for (uint32_t at = 0; at < BANK_IMAGE_BYTES; at += 4) {
        uint32_t found;
        memcpy(&found, image + at, 4);
        if (!word_right(shot->instruction, &words[at / 4], found)) {
            snprintf(sentence, bytes, "the word at %u of shared memory is %u, after %u atomics a round", at, found,
                     words[at / 4].times);
            return 0;
        }
    }
    return 1;
}

int bank_image_right(const struct bank_shot *shot, const struct bank_result *result, char *sentence, size_t bytes) {
    if (shot->access.kind >= GM_ACCESS_ATOMIC)
        return words_right(shot, result->image, sentence, bytes);
    return bytes_right(shot, result->image, sentence, bytes);
}
