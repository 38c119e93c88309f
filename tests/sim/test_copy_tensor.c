/* SPDX-License-Identifier: Apache-2.0 */
/* Tensor copies, against a plain model: element by element, every place in shared memory by gm_smem_tile_address(). */
#include "sim_tests.h"

#include "copy_kernel.h"
#include "gristmill/smem.h"
#include "tensor_map.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ILLEGAL_INSTRUCTION = 715, POISON = 0xa5, IMAGE_BYTES = 16384, THREADS = 64, TENSOR_BYTES = 65536 };
enum { U8 = 0, U32 = 2, S32 = 3, U64 = 4, F16 = 6, F32 = 7, F64 = 8, BF16 = 9, F32_FTZ = 10 };

struct map {
    _Alignas(128) uint8_t bytes[128];
};

/* A copy between a tensor and a box in shared memory. Strides in bytes; those not given are packed. */
struct shot {
    int type, swizzle, fill;
    unsigned rank;
    uint64_t dims[5], strides[4];
    uint32_t box[5], steps[5];
    int at[5];
    uint32_t offset; /* of the box in the image of shared memory, a multiple of 128 */
};

static uint8_t tensor[TENSOR_BYTES], image[IMAGE_BYTES], predicted[IMAGE_BYTES];

static uint32_t bytes_of(int type) {
    return type == U8 ? 1 : type == F16 || type == BF16 ? 2 : type == U64 || type == F64 ? 8 : 4;
}

static void begin(void) {
    kernel_begin();
    for (uint32_t at = 0; at < TENSOR_BYTES; at += 4) {
        const uint32_t word = (at / 4 + 1) * 2654435761u;
        memcpy(tensor + at, &word, 4);
    }
}

static void complete(struct shot *s) {
    for (unsigned d = 0; d < 5; d++)
        s->steps[d] = s->steps[d] ? s->steps[d] : 1;
    for (unsigned d = 0; d + 1 < s->rank; d++)
        if (!s->strides[d])
            s->strides[d] = (d ? s->strides[d - 1] * s->dims[d] : s->dims[0] * bytes_of(s->type));
}

static struct map encode(const struct shot *s, uint64_t address) {
    struct map map;
    ck_assert_int_eq(sim_tensor_map_encode_tiled(&map, s->type, s->rank, address, s->dims, s->strides, s->box, s->steps,
                                                 0, s->swizzle, 0, s->fill),
                     0);
    return map;
}

/* ---- the model -----------------------------------------------------------------------------------------------------
 */

struct place {
    uint32_t shared; /* in the image */
    bool inside;
    uint64_t global; /* in the tensor */
};

static uint32_t delivered(const struct shot *s, unsigned d) {
    return d == 0 ? s->box[0] : (s->box[d] + s->steps[d] - 1) / s->steps[d];
}

static uint32_t rows_of(const struct shot *s) {
    uint32_t rows = 1;
    for (unsigned d = 1; d < s->rank; d++)
        rows *= delivered(s, d);
    return rows;
}

/* Byte `byte` of row `row` of the box. `base`: absolute shared address of the image. */
static struct place place_of(const struct shot *s, uint32_t base, uint32_t row, uint32_t byte) {
    const uint32_t bytes = bytes_of(s->type);
    const struct gm_smem_tile tile = {.size = sizeof tile,
                                      .base = base + s->offset,
                                      .rows = rows_of(s),
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

static void predict_load(const struct shot *s, uint32_t base) {
    static const uint8_t nan[] = {0xf7, 0x7f};
    memset(predicted, POISON, sizeof predicted);
    for (uint32_t row = 0; row < rows_of(s); row++) {
        for (uint32_t byte = 0; byte < s->box[0] * bytes_of(s->type); byte++) {
            const struct place place = place_of(s, base, row, byte);
            predicted[place.shared] = place.inside ? tensor[place.global] : s->fill ? nan[byte % 2] : 0;
        }
    }
}

/* ---- loads
 * ------------------------------------------------------------------------------------------------------------ */

/* Poison, load, wait, dump: every CTA its own image. %s: what the leader issues. */
static const char load_parameters[] = ".param .align 128 .b8 map[128], .param .u64 image, .param .u32 report_base, "
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

static const char *const coordinates[] = {"", "{a}", "{a,b}", "{a,b,c}", "{a,b,c,at}", "{a,b,c,at,e}"};

static const char *load_instruction(unsigned rank) {
    return kernel_text(
        "cp.async.bulk.tensor.%ud.shared::cluster.global.tile.mbarrier::complete_tx::bytes.L2::cache_hint "
        "[d], [map_at, %s], [bar], policy;",
        rank, coordinates[rank]);
}

/* The CUresult; the images of all CTAs are where `images` says. */
static int run_load(const struct shot *s, const struct map *map, const char *instruction, uint32_t ctas, uint64_t seed,
                    uint64_t *images) {
    const uint32_t expected = rows_of(s) * s->box[0] * bytes_of(s->type), unused = 0;
    *images = kernel_memory(NULL, (uint64_t)IMAGE_BYTES * ctas);
    const struct kernel_launch launch = {.body = kernel_text(load_body, instruction),
                                         .parameters = load_parameters,
                                         .arguments = {map, images, &unused, &s->offset, &expected, &s->at[0],
                                                       &s->at[1], &s->at[2], &s->at[3], &s->at[4]},
                                         .threads = THREADS,
                                         .ctas = ctas,
                                         .shared_bytes = IMAGE_BYTES,
                                         .seed = seed};
    return kernel_run(&launch);
}

enum { IMAGE_BASE = 2048 }; /* 1024 reserved bytes, the barrier, and up to the next multiple of 1024 */

static void compare_image(uint64_t address, const char *what) {
    memcpy(image, kernel_view(address, IMAGE_BYTES), IMAGE_BYTES);
    for (uint32_t at = 0; at < IMAGE_BYTES; at++)
        ck_assert_msg(image[at] == predicted[at], "%s: byte %u is 0x%02x, not 0x%02x", what, at, image[at],
                      predicted[at]);
}

static void check_load(struct shot s, uint64_t seed) {
    char what[128];
    uint64_t images;
    complete(&s);
    snprintf(what, sizeof what, "type %d, swizzle %d, rank %u, box %u x %u at %d,%d, offset %u", s.type, s.swizzle,
             s.rank, s.box[0], s.box[1], s.at[0], s.at[1], s.offset);
    const struct map map = encode(&s, kernel_memory(tensor, TENSOR_BYTES));
    ck_assert_msg(run_load(&s, &map, load_instruction(s.rank), 1, seed, &images) == 0, "%s: fails", what);
    kernel_clean();
    predict_load(&s, IMAGE_BASE);
    compare_image(images, what);
}

START_TEST(boxes_lie_where_the_swizzle_says) {
    for (int swizzle = 0; swizzle <= 3; swizzle++) {
        const uint32_t row = swizzle ? 16u << swizzle : 64;
        for (uint32_t offset = 0; offset <= 1024; offset += 128)
            check_load((struct shot){.type = U8,
                                     .swizzle = swizzle,
                                     .rank = 2,
                                     .dims = {256, 200},
                                     .box = {row, 40},
                                     .at = {32, 5},
                                     .offset = offset},
                       offset / 128);
    }
}
END_TEST

START_TEST(narrow_boxes_have_rows_a_span_apart) {
    for (int swizzle = 1; swizzle <= 3; swizzle++)
        for (uint32_t row = 16; row < 16u << swizzle; row += 16)
            check_load((struct shot){.type = BF16,
                                     .swizzle = swizzle,
                                     .rank = 2,
                                     .dims = {128, 100},
                                     .box = {row / 2, 20},
                                     .at = {8, 90},
                                     .offset = 256},
                       row);
}
END_TEST

START_TEST(what_lies_outside_is_filled) {
    static const struct { int type, fill; } types[] = {{U8, 0}, {F32, 0}, {F16, 1}, {BF16, 1}, {F32, 1}, {F64, 1}};
    static const int places[][2] = {{16, 4},    {-16, 4}, {80, 4},  {16, -3},    {16, 48},
                                    {-48, -15}, {96, 49}, {112, 4}, {-304, -300}};
    for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
        const uint32_t bytes = bytes_of(types[t].type);
        for (size_t p = 0; p < sizeof places / sizeof *places; p++)
            check_load((struct shot){.type = types[t].type,
                                     .fill = types[t].fill,
                                     .swizzle = 2,
                                     .rank = 2,
                                     .dims = {104 / bytes - (bytes < 4), 50},
                                     .strides = {112},
                                     .box = {64 / bytes, 16},
                                     .at = {places[p][0] / (int)bytes, places[p][1]}},
                       p);
    }
}
END_TEST

START_TEST(boxes_of_every_rank) {
    check_load((struct shot){.type = F32, .rank = 1, .dims = {100}, .box = {64}, .at = {60}}, 0);
    check_load(
        (struct shot){.type = F32, .rank = 3, .dims = {32, 9, 11}, .box = {32, 4, 5}, .at = {0, 7, -2}, .swizzle = 3},
        1);
    check_load(
        (struct shot){
            .type = BF16, .rank = 4, .dims = {16, 5, 4, 7}, .box = {16, 3, 4, 5}, .at = {0, -1, 1, 4}, .swizzle = 1},
        2);
    check_load(
        (struct shot){.type = U8, .rank = 5, .dims = {32, 3, 4, 5, 6}, .box = {32, 3, 2, 2, 4}, .at = {0, 1, 1, -1, 3}},
        3);
}
END_TEST

START_TEST(element_strides_skip) {
    check_load((struct shot){.type = F32,
                             .rank = 3,
                             .dims = {32, 40, 9},
                             .box = {32, 15, 8},
                             .steps = {5, 4, 3},
                             .at = {0, -4, 1},
                             .swizzle = 3},
               0);
}
END_TEST

START_TEST(maps_lie_in_global_memory_too) {
    struct shot s = {.type = U8, .rank = 2, .dims = {64, 64}, .box = {64, 8}};
    complete(&s);
    const struct map map = encode(&s, kernel_memory(tensor, TENSOR_BYTES)), nothing = {{0}};
    const uint64_t map_address = kernel_memory(&map, sizeof map);
    uint64_t images;
    const char *there =
        kernel_text("mov.b64 map_at, 0x%llx;\n%s", (unsigned long long)map_address, load_instruction(2));
    ck_assert_int_eq(run_load(&s, &nothing, there, 1, 0, &images), 0);
    kernel_clean();
    predict_load(&s, IMAGE_BASE);
    compare_image(images, "a map in global memory");
    ck_assert_int_ne(run_load(&s, &nothing, load_instruction(2), 1, 0, &images), 0);
    kernel_reported(SIM_REPORT_DESCRIPTOR, "no tensor map");
}
END_TEST

/* ---- loads that are refused
 * -------------------------------------------------------------------------------------------- */

static void check_refused(struct shot s, const char *instruction, enum gm_sim_report_kind kind, const char *words) {
    uint64_t images;
    complete(&s);
    const struct map map = encode(&s, kernel_memory(tensor, TENSOR_BYTES));
    ck_assert_int_ne(run_load(&s, &map, instruction, 1, 0, &images), 0);
    kernel_reported(kind, words);
}

START_TEST(illegal_loads_are_refused) {
    struct shot s = {.type = U8, .rank = 2, .dims = {256, 64}, .box = {64, 8}, .at = {8, 0}};
    check_refused(s, load_instruction(2), SIM_REPORT_ILLEGAL, "multiple of 16 bytes");
    s.at[0] = -4;
    check_refused(s, load_instruction(2), SIM_REPORT_ILLEGAL, "multiple of 16 bytes");
    s.at[0] = 0;
    check_refused(s, load_instruction(3), SIM_REPORT_ILLEGAL, "dimensions");
    s.offset = 64;
    check_refused(s, load_instruction(2), SIM_REPORT_MISALIGNED, "128");
    s.offset = IMAGE_BYTES - 128;
    check_refused(s, load_instruction(2), SIM_REPORT_OUT_OF_BOUNDS, "");
    s.offset = 0;
    s.dims[1] = 100000;
    s.at[1] = 1020;
    s.box[1] = 16; /* the tensor ends after 1024 rows in truth */
    check_refused(s, load_instruction(2), SIM_REPORT_OUT_OF_BOUNDS, "");
}
END_TEST

START_TEST(a_wrong_total_is_found) {
    struct shot s = {.type = U8, .rank = 2, .dims = {64, 64}, .box = {64, 8}};
    uint64_t images;
    complete(&s);
    const struct map map = encode(&s, kernel_memory(tensor, TENSOR_BYTES));
    const char *twice = kernel_text("%s add.u32 d, d, 8192; %s", load_instruction(2), load_instruction(2));
    run_load(&s, &map, twice, 1, 0, &images);
    kernel_reported(SIM_REPORT_TRANSACTIONS, "");
}
END_TEST

/* ---- multicast
 * ------------------------------------------------------------------------------------------------------------ */

START_TEST(multicast_reaches_the_ctas_of_the_mask) {
    struct shot s = {.type = BF16, .swizzle = 3, .rank = 2, .dims = {64, 64}, .box = {64, 32}, .offset = 1024};
    complete(&s);
    const struct map map = encode(&s, kernel_memory(tensor, TENSOR_BYTES));
    const char *sends = "setp.eq.u32 more, rank, %d; @more "
                        "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
                        ".multicast::cluster [d], [map_at, {a, b}], [bar], h0;\n";
    char first[512], second[512];
    snprintf(first, sizeof first, sends, 1);
    snprintf(second, sizeof second, sends, 3);
    /* CTA 1 sends to 0 and 2, CTA 3 to itself and 1. */
    const char *both = kernel_text("mov.b16 h0, 5; %s mov.b16 h0, 10; %s", first, second);
    for (uint64_t seed = 0; seed < 4; seed++) {
        uint64_t images;
        ck_assert_int_eq(run_load(&s, &map, both, 4, seed, &images), 0);
        kernel_clean();
        predict_load(&s, IMAGE_BASE);
        for (uint64_t cta = 0; cta < 4; cta++)
            compare_image(images + cta * IMAGE_BYTES, "multicast");
    }
    uint64_t images;
    ck_assert_int_ne(run_load(&s, &map, kernel_text("mov.b16 h0, 18; %s", first), 4, 0, &images), 0);
    kernel_reported(SIM_REPORT_ILLEGAL, "names CTA 4 of a cluster of 4");
}
END_TEST

/* ---- im2col
 * ---------------------------------------------------------------------------------------------------------------- */

enum { CHANNELS = 64, WIDTH = 7, HEIGHT = 5, IMAGES = 3, PIXELS = 64 };

struct filter {
    int lower[2], upper[2], w, h, n, offset_w, offset_h, step_w;
};

static uint8_t pixel_byte(int c, int w, int h, int n) {
    if (c >= CHANNELS || w < 0 || w >= WIDTH || h < 0 || h >= HEIGHT || n >= IMAGES)
        return 0;
    return tensor[((n * HEIGHT + h) * WIDTH + w) * CHANNELS + c];
}

static void predict_im2col(const struct filter *f, int channels, int first, int swizzle) {
    const struct gm_swizzle xor = gm_swizzle_of_mode((enum gm_swizzle_mode)swizzle);
    int w = f->w, h = f->h, n = f->n;
    memset(predicted, POISON, sizeof predicted);
    for (int pixel = 0; pixel < PIXELS; pixel++) {
        for (int c = 0; c < channels; c++)
            predicted[gm_swizzle_apply(xor, (uint32_t)(IMAGE_BASE + pixel * channels + c)) - IMAGE_BASE] =
                pixel_byte(first + c, w + f->offset_w, h + f->offset_h, n);
        w += f->step_w;
        if (w > WIDTH - 1 + f->upper[0]) {
            w = f->lower[0];
            if (++h > HEIGHT - 1 + f->upper[1]) {
                h = f->lower[1];
                n++;
            }
        }
    }
}

static void check_im2col(const struct filter *f, uint32_t channels, int first, int swizzle) {
    struct shot s = {.type = U8, .rank = 4, .dims = {CHANNELS, WIDTH, HEIGHT, IMAGES}};
    const uint32_t steps[] = {1, (uint32_t)f->step_w, 1, 1};
    struct map map;
    uint64_t images;
    complete(&s);
    ck_assert_int_eq(sim_tensor_map_encode_im2col(&map, U8, 4, kernel_memory(tensor, TENSOR_BYTES), s.dims, s.strides,
                                                  f->lower, f->upper, channels, PIXELS, steps, 0, swizzle, 0, 0),
                     0);
    s.box[0] = channels * PIXELS; /* what the barrier expects */
    s.box[1] = s.box[2] = s.box[3] = 1;
    const int at[] = {first, f->w, f->h, f->n};
    memcpy(s.at, at, sizeof at);
    const char *loads =
        kernel_text("mov.b16 h0, %d; mov.b16 h1, %d; "
                    "cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes "
                    "[d], [map_at, {a,b,c,at}], [bar], {h0, h1};",
                    f->offset_w, f->offset_h);
    ck_assert_int_eq(run_load(&s, &map, loads, 1, 0, &images), 0);
    kernel_clean();
    predict_im2col(f, (int)channels, first, swizzle);
    compare_image(images, "im2col");
}

START_TEST(im2col_walks_along_w_first) {
    static const struct filter filters[] = {
        {{-2, -1}, {-1, 0}, 0, 0, 0, 0, 0, 1},   {{-2, -1}, {-1, 0}, -1, -1, 0, 0, 0, 1},
        {{-2, -1}, {-1, 0}, -1, -1, 0, 2, 0, 1}, {{-2, -1}, {-1, 0}, 3, 2, 1, 2, 1, 1},
        {{-1, -3}, {1, -2}, 0, 0, 0, 0, 0, 1},   {{-1, -3}, {1, -2}, 2, 1, 1, 1, 3, 1},
        {{0, 0}, {-2, -1}, 0, 0, 0, 2, 1, 1},    {{-1, -1}, {0, 0}, -1, -1, 0, 1, 1, 2}};
    for (size_t i = 0; i < sizeof filters / sizeof *filters; i++) {
        check_im2col(&filters[i], CHANNELS, 0, 2);
        check_im2col(&filters[i], 16, 32, 0);
    }
}
END_TEST

/* ---- stores
 * ------------------------------------------------------------------------------------------------------------------ */

static const char store_parameters[] = ".param .align 128 .b8 map[128], .param .u64 source, .param .u32 offset, "
                                       ".param .s32 c0, .param .s32 c1, .param .s32 c2";
static const char store_body[] =
    "ld.param.u64 source_at, [source]; shl.b32 at, thread, 2;\n"
    "FILL: setp.lt.u32 more, at, 16384; @!more bra FILLED;\n"
    "cvt.u64.u32 from, at; add.u64 from, from, source_at; ld.global.u32 a, [from];\n"
    "add.u32 b, base, at; st.shared.u32 [b], a; add.u32 at, at, step; bra FILL;\n"
    "FILLED: fence.proxy.async.shared::cta; bar.sync 0; @!leader bra FINISHED;\n"
    "mov.b64 map_at, map; cvta.param.u64 map_at, map_at; ld.param.u32 d, [offset]; add.u32 d, d, base;\n"
    "ld.param.u32 a, [c0]; ld.param.u32 b, [c1]; ld.param.u32 c, [c2];\n"
    "%s\n"
    "cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;\n"
    "FINISHED:\n";

static uint8_t out[TENSOR_BYTES], wanted[TENSOR_BYTES];

/* Runs a store of `source` into `out`, which lies behind 4096 bytes of guard. */
enum { GUARD = 4096 };
static int run_store(struct shot *s, const char *instruction, const uint8_t source[IMAGE_BYTES]) {
    complete(s);
    const uint64_t out_address = kernel_memory(out, TENSOR_BYTES), source_address = kernel_memory(source, IMAGE_BYTES);
    const struct map map = encode(s, out_address + GUARD);
    const struct kernel_launch launch = {
        .body = kernel_text(store_body, instruction),
        .parameters = store_parameters,
        .arguments = {&map, &source_address, &s->offset, &s->at[0], &s->at[1], &s->at[2]},
        .threads = THREADS,
        .ctas = 1,
        .shared_bytes = IMAGE_BYTES};
    const int result = kernel_run(&launch);
    memcpy(out, kernel_view(out_address, TENSOR_BYTES), TENSOR_BYTES);
    return result;
}

static const char *store_instruction(unsigned rank) {
    return kernel_text("cp.async.bulk.tensor.%ud.global.shared::cta.tile.bulk_group [map_at, %s], [d];", rank,
                       coordinates[rank]);
}

/* Rows end where they do in the tensor, rounded up to 16 bytes from the row's start. */
static void predict_store(const struct shot *s, const uint8_t *source) {
    const uint32_t bytes = bytes_of(s->type);
    const int64_t end = (int64_t)((s->dims[0] * bytes + 15) / 16 * 16);
    for (uint32_t row = 0; row < rows_of(s); row++) {
        for (uint32_t byte = 0; byte < s->box[0] * bytes; byte++) {
            struct place place = place_of(s, IMAGE_BASE, row, byte), start = place_of(s, IMAGE_BASE, row, 0);
            const bool padding = start.inside && !place.inside && s->at[0] * (int64_t)bytes + byte < end;
            if (place.inside || padding)
                wanted[GUARD + place.global] = source[place.shared];
        }
    }
}

static void check_store(struct shot s) {
    memset(out, 0xee, sizeof out);
    memset(wanted, 0xee, sizeof wanted);
    ck_assert_int_eq(run_store(&s, store_instruction(s.rank), tensor), 0);
    kernel_clean();
    predict_store(&s, tensor);
    for (uint32_t at = 0; at < TENSOR_BYTES; at++)
        ck_assert_msg(out[at] == wanted[at], "type %d, %u columns, at %d,%d: byte %d is 0x%02x, not 0x%02x", s.type,
                      (unsigned)s.dims[0], s.at[0], s.at[1], (int)at - GUARD, out[at], wanted[at]);
}

START_TEST(stores_round_ragged_rows_up) {
    for (uint32_t tail = 0; tail <= 16; tail += 2)
        check_store(
            (struct shot){.type = BF16, .rank = 2, .dims = {(32 + tail) / 2, 12}, .strides = {128}, .box = {32, 8}});
    check_store(
        (struct shot){.type = BF16, .rank = 2, .dims = {257, 12}, .strides = {544}, .box = {32, 8}, .at = {256}});
    check_store(
        (struct shot){.type = U8, .rank = 2, .dims = {96, 12}, .strides = {128}, .box = {64, 8}, .at = {48, 9}});
    check_store(
        (struct shot){.type = U8, .rank = 2, .dims = {96, 12}, .strides = {128}, .box = {64, 8}, .at = {208, 0}});
}
END_TEST

START_TEST(stores_of_swizzled_boxes) {
    for (int swizzle = 0; swizzle <= 3; swizzle++)
        for (uint32_t row = 32; row <= (swizzle ? 16u << swizzle : 128); row += 16)
            check_store((struct shot){.type = F32,
                                      .swizzle = swizzle,
                                      .rank = 3,
                                      .dims = {40, 9, 5},
                                      .box = {row / 4, 4, 3},
                                      .at = {16, 7, 3},
                                      .offset = 384});
}
END_TEST

START_TEST(illegal_stores_are_refused) {
    struct shot s = {.type = U8, .rank = 2, .dims = {96, 12}, .strides = {128}, .box = {64, 8}, .at = {-16, 0}};
    ck_assert_int_eq(run_store(&s, store_instruction(2), tensor), ILLEGAL_INSTRUCTION);
    kernel_reported(SIM_REPORT_ILLEGAL, "before its tensor");
    s.at[0] = 0;
    s.at[1] = -3;
    ck_assert_int_eq(run_store(&s, store_instruction(2), tensor), ILLEGAL_INSTRUCTION);
    kernel_reported(SIM_REPORT_ILLEGAL, "before its tensor");
    s.at[1] = 0;
    s.at[0] = 4;
    ck_assert_int_eq(run_store(&s, store_instruction(2), tensor), ILLEGAL_INSTRUCTION);
    kernel_reported(SIM_REPORT_ILLEGAL, "multiple of 16 bytes");
}
END_TEST

/* ---- reductions
 * ---------------------------------------------------------------------------------------------------------------- */

/* One element of 8 bytes at most, twice in memory and the outcome. */
struct sum {
    const char *operation;
    int type;
    uint64_t old, operand, result;
};

static void check_sum(const struct sum *sum) {
    const uint32_t bytes = bytes_of(sum->type);
    uint8_t source[IMAGE_BYTES];
    struct shot s = {
        .type = sum->type, .rank = 2, .dims = {32 / bytes - 1, 3}, .strides = {32}, .box = {32 / bytes, 4}};
    for (uint32_t at = 0; at < sizeof source; at += bytes)
        memcpy(source + at, &sum->operand, bytes);
    for (uint32_t at = 0; at < TENSOR_BYTES; at += bytes)
        memcpy(out + at, &sum->old, bytes);
    memcpy(wanted, out, sizeof wanted);
    for (uint32_t row = 0; row < 3; row++)
        for (uint32_t e = 0; e + 1 < 32 / bytes; e++)
            memcpy(wanted + GUARD + row * 32 + e * bytes, &sum->result, bytes);
    const char *reduces = kernel_text(
        "cp.reduce.async.bulk.tensor.2d.global.shared::cta.%s.tile.bulk_group [map_at, {a, b}], [d];", sum->operation);
    ck_assert_int_eq(run_store(&s, reduces, source), 0);
    kernel_clean();
    uint64_t got = 0;
    memcpy(&got, out + GUARD, bytes);
    ck_assert_msg(memcmp(out, wanted, sizeof out) == 0, "%s of type %d: 0x%llx and 0x%llx gave 0x%llx", sum->operation,
                  sum->type, (unsigned long long)sum->old, (unsigned long long)sum->operand, (unsigned long long)got);
}

START_TEST(reductions_compute) {
    static const struct sum sums[] = {
        {"add", U32, 0xffffffff, 3, 2},
        {"add", S32, 5, 0xfffffff0, 0xfffffff5},
        {"add", U64, UINT64_C(0xffffffffffffffff), 1, 0},
        {"add", F16, 0x3c00, 0x4000, 0x4200},
        {"add", BF16, 0x3f80, 0x4000, 0x4040},
        {"add", BF16, 0x3f80, 0x7fc0, 0x7fff},
        {"add", F32, 0x3f800000, 0x40000000, 0x40400000},
        {"add", F32, 0x00000001, 0x00000001, 0x00000002},
        {"add", F32_FTZ, 0x00000001, 0x80000001, 0x00000000},
        {"add", F64, 0x3ff0000000000000, 0x4000000000000000, 0x4008000000000000},
        {"min", U32, 1, 0x80000000, 1},
        {"min", S32, 1, 0x80000000, 0x80000000},
        {"max", S32, 1, 0x80000000, 1},
        {"max", U64, 1, UINT64_C(0x8000000000000000), UINT64_C(0x8000000000000000)},
        {"max", 5, 1, UINT64_C(0x8000000000000000), 1},
        {"min", F16, 0x3c00, 0xbc00, 0xbc00},
        {"max", BF16, 0x7fc0, 0x3f80, 0x3f80},
        {"min", F16, 0x0000, 0x8000, 0x8000},
        {"inc", U32, 3, 3, 0},
        {"inc", U32, 2, 3, 3},
        {"dec", U32, 0, 3, 3},
        {"dec", U32, 9, 3, 3},
        {"dec", U32, 2, 3, 1},
        {"and", U32, 12, 10, 8},
        {"or", S32, 12, 10, 14},
        {"xor", U64, 12, 10, 6},
    };
    for (size_t i = 0; i < sizeof sums / sizeof *sums; i++)
        check_sum(&sums[i]);
}
END_TEST

START_TEST(pairs_that_hardware_refuses_are_refused) {
    static const struct {
        const char *operation;
        int type;
    } pairs[] = {{"add", 5},   {"add", U8},  {"min", F32}, {"max", F64},
                 {"inc", S32}, {"dec", U64}, {"and", 5},   {"xor", U8}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        struct shot s = {.type = pairs[i].type, .rank = 2, .dims = {32, 3}, .box = {16, 4}};
        const char *reduces =
            kernel_text("cp.reduce.async.bulk.tensor.2d.global.shared::cta.%s.bulk_group [map_at, {a, b}], [d];",
                        pairs[i].operation);
        ck_assert_int_eq(run_store(&s, reduces, tensor), ILLEGAL_INSTRUCTION);
        kernel_reported(SIM_REPORT_ILLEGAL, "no reduction");
    }
}
END_TEST

Suite *copy_tensor_suite(void) {
    Suite *suite = suite_create("tensor copies");
    TCase *tests = tcase_create("tensor copies");
    tcase_add_checked_fixture(tests, begin, kernel_end);
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, boxes_lie_where_the_swizzle_says);
    tcase_add_test(tests, narrow_boxes_have_rows_a_span_apart);
    tcase_add_test(tests, what_lies_outside_is_filled);
    tcase_add_test(tests, boxes_of_every_rank);
    tcase_add_test(tests, element_strides_skip);
    tcase_add_test(tests, maps_lie_in_global_memory_too);
    tcase_add_test(tests, illegal_loads_are_refused);
    tcase_add_test(tests, a_wrong_total_is_found);
    tcase_add_test(tests, multicast_reaches_the_ctas_of_the_mask);
    tcase_add_test(tests, im2col_walks_along_w_first);
    tcase_add_test(tests, stores_round_ragged_rows_up);
    tcase_add_test(tests, stores_of_swizzled_boxes);
    tcase_add_test(tests, illegal_stores_are_refused);
    tcase_add_test(tests, reductions_compute);
    tcase_add_test(tests, pairs_that_hardware_refuses_are_refused);
    suite_add_tcase(suite, tests);
    return suite;
}
