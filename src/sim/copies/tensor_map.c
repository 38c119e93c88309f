/* SPDX-License-Identifier: Apache-2.0 */
/* Tensor maps: 128 bytes of the simulator's own. The rules of tiled maps are those that the host library explains
 * (src/host/tensor_map_rules.c, as measured on an H200); im2col maps obey them for a box of one pixel, and their own.
 */
#include "sim/copies/tensor_map.h"

#include "host/tensor_map.h"

#include <string.h>

/* The address stands at byte 8: cuTensorMapReplaceAddress() and a debugger find it there. */
struct encoded {
    uint64_t magic, address;
    uint64_t strides[4]; /* of dimensions 1 .. 4 */
    uint32_t last[5];    /* dimension - 1: up to 2^32 elements */
    uint16_t box[5];
    int16_t lower_corner[3], upper_corner[3];
    uint16_t channels, pixels;
    uint8_t element_strides[5], type, rank, interleave, swizzle, l2_promotion, oob_fill, im2col;
    uint8_t spare[14];
    uint64_t check; /* of all before it: no other 128 bytes pass for a map */
};
_Static_assert(sizeof(struct encoded) == 128, "a tensor map has 128 bytes");
_Static_assert(offsetof(struct encoded, address) == 8, "the address stands at byte 8");

#define MAGIC         UINT64_C(0x70616d2d6d697367) /* "gsim-map" */
#define MAP_ALIGN     64
#define CHANNELS_MAX  256
#define PIXELS_MAX    1024
#define CHECKED_WORDS (offsetof(struct encoded, check) / sizeof(uint64_t))

static uint64_t check_of(const struct encoded *encoded) {
    uint64_t words[CHECKED_WORDS], sum = MAGIC;
    memcpy(words, encoded, sizeof words);
    for (size_t i = 0; i < CHECKED_WORDS; i++) {
        sum = (sum ^ words[i]) * UINT64_C(0x9e3779b97f4a7c15);
        sum ^= sum >> 29;
    }
    return sum;
}

static unsigned alignment_of(int interleave) {
    return interleave == CU_TENSOR_MAP_INTERLEAVE_32B ? 32 : 16;
}

/* ---- encoding --------------------------------------------------------------------------------------------------- */

/* Everything but the box. False: an array that counts is missing, or the map is not aligned. */
static bool describe(struct gm_map_desc *d, const void *map, const uint64_t *dims, const uint64_t *strides,
                     const uint32_t *element_strides) {
    if (!map || (uintptr_t)map % MAP_ALIGN || d->rank < 1 || d->rank > SIM_TENSOR_RANK_MAX || !dims ||
        !element_strides || (d->rank > 1 && !strides))
        return false;
    for (unsigned i = 0; i < d->rank; i++) {
        d->dims[i] = dims[i];
        d->element_strides[i] = element_strides[i];
        if (i > 0)
            d->strides[i - 1] = strides[i - 1];
    }
    return true;
}

static bool is_legal(const struct gm_map_desc *d) {
    char sentence[sizeof((struct gm_rule *)0)->sentence];
    return gm_tensor_map_check(d, sentence, sizeof sentence) != 0;
}

/* A legal description, as bytes. */
static struct encoded encode(const struct gm_map_desc *d) {
    struct encoded encoded = {.magic = MAGIC,
                              .address = d->address,
                              .type = (uint8_t)d->type,
                              .rank = (uint8_t)d->rank,
                              .interleave = (uint8_t)d->interleave,
                              .swizzle = (uint8_t)d->swizzle,
                              .l2_promotion = (uint8_t)d->l2_promotion,
                              .oob_fill = (uint8_t)d->oob_fill};
    for (unsigned i = 0; i < d->rank; i++) {
        encoded.last[i] = (uint32_t)(d->dims[i] - 1);
        encoded.box[i] = (uint16_t)d->box[i];
        encoded.element_strides[i] = (uint8_t)d->element_strides[i];
        if (i > 0)
            encoded.strides[i - 1] = d->strides[i - 1];
    }
    return encoded;
}

static void finish(void *map, struct encoded *encoded) {
    encoded->check = check_of(encoded);
    memcpy(map, encoded, sizeof *encoded);
}

int sim_tensor_map_encode_tiled(void *map, int type, unsigned rank, uint64_t address, const uint64_t *dims,
                                const uint64_t *strides, const uint32_t *box, const uint32_t *element_strides,
                                int interleave, int swizzle, int l2_promotion, int oob_fill) {
    struct gm_map_desc d = {.type = type,
                            .rank = rank,
                            .address = address,
                            .interleave = interleave,
                            .swizzle = swizzle,
                            .l2_promotion = l2_promotion,
                            .oob_fill = oob_fill};
    if (!box || !describe(&d, map, dims, strides, element_strides))
        return CUDA_ERROR_INVALID_VALUE;
    memcpy(d.box, box, rank * sizeof *box);
    if (!is_legal(&d))
        return CUDA_ERROR_INVALID_VALUE;
    struct encoded encoded = encode(&d);
    finish(map, &encoded);
    return CUDA_SUCCESS;
}

/* Corners are offsets of the bounding box from the near and the far corner of the image, W first: as measured, against
 * the header's comment. Their range shrinks with the rank, since the hardware keeps all of them in 32 bits. */
static bool corners_are_legal(const struct gm_map_desc *d, const int *lower, const int *upper) {
    static const int reach_of_rank[] = {[3] = 32768, [4] = 128, [5] = 16};
    const int reach = reach_of_rank[d->rank];
    for (unsigned i = 0; i + 2 < d->rank; i++) {
        if (lower[i] < -reach || lower[i] >= reach || upper[i] < -reach || upper[i] >= reach)
            return false;
        if ((int64_t)d->dims[i + 1] + upper[i] - lower[i] < 1) /* an empty bounding box */
            return false;
    }
    return true;
}

int sim_tensor_map_encode_im2col(void *map, int type, unsigned rank, uint64_t address, const uint64_t *dims,
                                 const uint64_t *strides, const int *lower_corner, const int *upper_corner,
                                 uint32_t channels, uint32_t pixels, const uint32_t *element_strides, int interleave,
                                 int swizzle, int l2_promotion, int oob_fill) {
    struct gm_map_desc d = {.type = type,
                            .rank = rank,
                            .address = address,
                            .interleave = interleave,
                            .swizzle = swizzle,
                            .l2_promotion = l2_promotion,
                            .oob_fill = oob_fill};
    if (rank < 3 || !lower_corner || !upper_corner || !describe(&d, map, dims, strides, element_strides))
        return CUDA_ERROR_INVALID_VALUE;
    for (unsigned i = 1; i < rank; i++)
        d.box[i] = 1;
    d.box[0] = channels;
    if (channels > CHANNELS_MAX || pixels < 1 || pixels > PIXELS_MAX || !is_legal(&d) ||
        !corners_are_legal(&d, lower_corner, upper_corner))
        return CUDA_ERROR_INVALID_VALUE;
    struct encoded encoded = encode(&d);
    encoded.im2col = 1;
    encoded.channels = (uint16_t)channels;
    encoded.pixels = (uint16_t)pixels;
    for (unsigned i = 0; i + 2 < rank; i++) {
        encoded.lower_corner[i] = (int16_t)lower_corner[i];
        encoded.upper_corner[i] = (int16_t)upper_corner[i];
    }
    finish(map, &encoded);
    return CUDA_SUCCESS;
}

/* ---- decoding --------------------------------------------------------------------------------------------------- */

/* The check is no secret, so that a forged map may pass it: nothing in it may lead the copies astray. */
static bool is_sane(const struct encoded *encoded) {
    if (encoded->magic != MAGIC || encoded->check != check_of(encoded) || encoded->rank < 1 ||
        encoded->rank > SIM_TENSOR_RANK_MAX || !gm_tensor_map_element_bytes(encoded->type) || encoded->swizzle > 3 ||
        encoded->interleave > 2 || encoded->oob_fill > 1)
        return false;
    for (unsigned i = 0; i < encoded->rank; i++) {
        const unsigned step = encoded->element_strides[i];
        if (step < 1 || step > 8 || encoded->box[i] < 1 || encoded->box[i] > 256)
            return false;
    }
    const unsigned row_bytes = encoded->box[0] * gm_tensor_map_element_bytes(encoded->type);
    if (row_bytes % 16 || (encoded->swizzle && encoded->interleave == 0 && row_bytes > 16u << encoded->swizzle))
        return false;
    return encoded->im2col == 0 ||
           (encoded->im2col == 1 && encoded->rank >= 3 && encoded->channels == encoded->box[0] &&
            encoded->pixels >= 1 && encoded->pixels <= PIXELS_MAX);
}

bool sim_tensor_map_decode(const void *map, struct sim_tensor_map *decoded) {
    struct encoded encoded;
    memcpy(&encoded, map, sizeof encoded);
    if (!is_sane(&encoded))
        return false;
    *decoded = (struct sim_tensor_map){.address = encoded.address,
                                       .type = encoded.type,
                                       .rank = encoded.rank,
                                       .element_bytes = gm_tensor_map_element_bytes(encoded.type),
                                       .interleave = encoded.interleave,
                                       .swizzle = encoded.swizzle,
                                       .l2_promotion = encoded.l2_promotion,
                                       .oob_fill = encoded.oob_fill,
                                       .im2col = encoded.im2col,
                                       .channels = encoded.channels,
                                       .pixels = encoded.pixels};
    for (unsigned i = 0; i < encoded.rank; i++) {
        decoded->dims[i] = (uint64_t)encoded.last[i] + 1;
        decoded->strides[i] = i > 0 ? encoded.strides[i - 1] : decoded->element_bytes;
        decoded->box[i] = encoded.box[i];
        decoded->element_strides[i] = encoded.element_strides[i];
    }
    for (unsigned i = 0; i < 3; i++) {
        decoded->lower_corner[i] = encoded.lower_corner[i];
        decoded->upper_corner[i] = encoded.upper_corner[i];
    }
    return true;
}

int sim_tensor_map_replace_address(void *map, uint64_t address) {
    struct encoded encoded;
    if (!map || (uintptr_t)map % MAP_ALIGN)
        return CUDA_ERROR_INVALID_VALUE;
    memcpy(&encoded, map, sizeof encoded);
    if (!is_sane(&encoded) || address % alignment_of(encoded.interleave))
        return CUDA_ERROR_INVALID_VALUE;
    encoded.address = address;
    finish(map, &encoded);
    return CUDA_SUCCESS;
}
