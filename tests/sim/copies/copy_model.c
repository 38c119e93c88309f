/* SPDX-License-Identifier: Apache-2.0 */
/* The model of copy_model.h. */
#include "copy_model.h"

#include "gristmill/smem.h"
#include "sim/copies/tensor_map.h"

#include <string.h>

uint8_t tensor[TENSOR_BYTES], predicted[IMAGE_BYTES];

uint32_t shot_element_bytes(int type) {
    return type == U8 ? 1 : type == F16 || type == BF16 ? 2 : type == U64 || type == F64 ? 8 : 4;
}

void shot_begin(void) {
    kernel_begin();
    for (uint32_t at = 0; at < TENSOR_BYTES; at += 4) {
        const uint32_t word = (at / 4 + 1) * 2654435761u;
        memcpy(tensor + at, &word, 4);
    }
}

void shot_complete(struct shot *s) {
    for (unsigned d = 0; d < 5; d++)
        s->steps[d] = s->steps[d] ? s->steps[d] : 1;
    for (unsigned d = 0; d + 1 < s->rank; d++)
        if (!s->strides[d])
            s->strides[d] = (d ? s->strides[d - 1] * s->dims[d] : s->dims[0] * shot_element_bytes(s->type));
}

struct map shot_encode(const struct shot *s, uint64_t address) {
    struct map map;
    ck_assert_int_eq(sim_tensor_map_encode_tiled(&map, s->type, s->rank, address, s->dims, s->strides, s->box, s->steps,
                                                 0, s->swizzle, 0, s->fill),
                     0);
    return map;
}

static uint32_t delivered(const struct shot *s, unsigned d) {
    return d == 0 ? s->box[0] : (s->box[d] + s->steps[d] - 1) / s->steps[d];
}

uint32_t shot_rows(const struct shot *s) {
    uint32_t rows = 1;
    for (unsigned d = 1; d < s->rank; d++)
        rows *= delivered(s, d);
    return rows;
}

struct place shot_place(const struct shot *s, uint32_t base, uint32_t row, uint32_t byte) {
    const uint32_t bytes = shot_element_bytes(s->type);
    const struct gm_smem_tile tile = {.size = sizeof tile,
                                      .base = base + s->offset,
                                      .rows = shot_rows(s),
                                      .row_bytes = s->box[0] * bytes,
                                      .pitch_bytes =
                                          s->swizzle ? gm_swizzle_span_bytes((enum gm_swizzle_mode)s->swizzle) : 0,
                                      .swizzle = gm_swizzle_of_mode((enum gm_swizzle_mode)s->swizzle)};
    struct place place = {.inside = true};
    ck_assert_int_eq(gm_smem_tile_address(&tile, row, byte, &place.shared), GM_OK);
    place.shared -= base;
    int64_t at[5] = {s->at[0] + (int64_t)(byte / bytes)};
    for (unsigned d = 1; d < s->rank; d++) {
        at[d] = s->at[d] + (int64_t)(row % delivered(s, d)) * s->steps[d];
        row /= delivered(s, d);
    }
    for (unsigned d = 0; d < s->rank; d++) {
        place.inside &= at[d] >= 0 && at[d] < (int64_t)s->dims[d];
        place.global += (uint64_t)at[d] * (d ? s->strides[d - 1] : bytes);
    }
    place.global += byte % bytes;
    return place;
}

void shot_predict_load(const struct shot *s, uint32_t base) {
    static const uint8_t nan[] = {0xf7, 0x7f};
    memset(predicted, POISON, sizeof predicted);
    for (uint32_t row = 0; row < shot_rows(s); row++) {
        for (uint32_t byte = 0; byte < s->box[0] * shot_element_bytes(s->type); byte++) {
            const struct place place = shot_place(s, base, row, byte);
            predicted[place.shared] = place.inside ? tensor[place.global] : s->fill ? nan[byte % 2] : 0;
        }
    }
}

/* Poison, load, wait, dump: every CTA its own image. %s: what the leader issues. */
static const char load_parameters[] = ".param .align 128 .b8 map[128], .param .u64 image, "
                                      ".param .u32 offset, .param .u32 expected, .param .s32 c0, .param .s32 c1, "
                                      ".param .s32 c2, .param .s32 c3, .param .s32 c4";
static const char load_body[] =
    "mov.u32 a, 0xa5a5a5a5; shl.b32 at, thread, 2;\n"
    "POISON: setp.lt.u32 more, at, 16384; @!more bra POISONED;\n"
    "add.u32 b, base, at; st.shared.u32 [b], a; add.u32 at, at, step; bra POISON;\n"
    "POISONED: fence.proxy.async.shared::cta; @!leader bra READY;\n"
    "mbarrier.init.shared::cta.b64 [bar], 1; fence.mbarrier_init.release.cluster;\n"
    "READY: barrier.cluster.arrive; barrier.cluster.wait;\n"
    "@!leader bra ISSUED; ld.param.u32 a, [expected];\n"
    "mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], a;\n"
    "mov.b64 map_at, map; cvta.param.u64 map_at, map_at; ld.param.u32 d, [offset]; add.u32 d, d, base;\n"
    "ld.param.u32 a, [c0]; ld.param.u32 b, [c1]; ld.param.u32 c, [c2]; ld.param.u32 at, [c3];\n"
    ".reg .b32 e; ld.param.u32 e, [c4];\n"
    "%s\n"
    "ISSUED: mbarrier.try_wait.parity.shared::cta.b64 done, [bar], 0; @!done bra ISSUED;\n"
    "ld.param.u64 image_at, [image]; mul.wide.u32 to, rank, 16384; add.u64 image_at, image_at, to;\n"
    "shl.b32 at, thread, 2;\n"
    "DUMP: setp.lt.u32 more, at, 16384; @!more bra DUMPED;\n"
    "add.u32 b, base, at; ld.shared.u32 a, [b]; cvt.u64.u32 to, at; add.u64 to, to, image_at;\n"
    "st.global.u32 [to], a; add.u32 at, at, step; bra DUMP;\n"
    "DUMPED: barrier.cluster.arrive; barrier.cluster.wait;\n";

const char *const coordinates[] = {"", "{a}", "{a,b}", "{a,b,c}", "{a,b,c,at}", "{a,b,c,at,e}"};

const char *shot_load_instruction(unsigned rank) {
    return kernel_text(
        "cp.async.bulk.tensor.%ud.shared::cluster.global.tile.mbarrier::complete_tx::bytes.L2::cache_hint "
        "[d], [map_at, %s], [bar], policy;",
        rank, coordinates[rank]);
}

int shot_load(const struct shot *s, const struct map *map, const char *instruction, uint32_t ctas, uint64_t seed,
              uint64_t *images) {
    const uint32_t expected = shot_rows(s) * s->box[0] * shot_element_bytes(s->type);
    *images = kernel_memory(NULL, (uint64_t)IMAGE_BYTES * ctas);
    const struct kernel_launch launch = {
        .body = kernel_text(load_body, instruction),
        .parameters = load_parameters,
        .arguments = {map, images, &s->offset, &expected, &s->at[0], &s->at[1], &s->at[2], &s->at[3], &s->at[4]},
        .threads = THREADS,
        .ctas = ctas,
        .shared_bytes = IMAGE_BYTES,
        .seed = seed};
    return kernel_run(&launch);
}

void shot_compare(uint64_t address, const char *what) {
    const uint8_t *image = kernel_view(address, IMAGE_BYTES);
    for (uint32_t at = 0; at < IMAGE_BYTES; at++)
        ck_assert_msg(image[at] == predicted[at], "%s: byte %u is 0x%02x, not 0x%02x", what, at, image[at],
                      predicted[at]);
}
