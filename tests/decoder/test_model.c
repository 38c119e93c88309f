/* SPDX-License-Identifier: Apache-2.0 */
/* How much memory models take, by the parameters that they are known to have. Needs no GPU. */
#include "model.h"

#include "engine.h"

#include <check.h>
#include <math.h>
#include <stdio.h>

Suite *model_suite(void);

static struct config shape(const char *name) {
    char folder[500];
    snprintf(folder, sizeof folder, "%s/../../examples/decoder/shapes/%s", FIXTURES, name);
    return config_read(folder);
}

/* Matrices begin at multiples of 256 bytes, which takes less than a millionth more. */
static void assert_near(double bytes, double parameters) {
    ck_assert_msg(bytes >= 2 * parameters && bytes < 2 * parameters * 1.000001, "%.0f bytes of %.0f parameters", bytes,
                  parameters);
}

START_TEST(weights_are_counted) {
    const struct config llama = shape("llama-3.1-8b"), qwen = shape("qwen3-30b-a3b");
    assert_near((double)model_bytes(&llama, 0), 8030261248.);
    assert_near((double)model_bytes(&qwen, 0), 30532122624.);
}
END_TEST

/* 8 of 128 experts for one row, nearly all for many; never the table of embeddings. */
START_TEST(a_step_reads_the_experts_that_are_chosen) {
    const struct config llama = shape("llama-3.1-8b"), qwen = shape("qwen3-30b-a3b");
    const double table = 151936. * 2048, expert = 3. * 768 * 2048;
    assert_near(model_step_bytes(&llama, 1), 8030261248. - 128256. * 4096);
    assert_near(model_step_bytes(&llama, 64), 8030261248. - 128256. * 4096);
    assert_near(model_step_bytes(&qwen, 1), 30532122624. - table - 48 * 120 * expert);
    assert_near(model_step_bytes(&qwen, 1 << 20), 30532122624. - table);
}
END_TEST

/* Of 8B 6979 million weights of layers are a byte each, and their 1376256 rows have scales. */
START_TEST(weights_of_e4m3_take_half) {
    const struct config llama = shape("llama-3.1-8b"), fp8 = shape("llama-3.1-8b-fp8");
    const struct engine_options options = {.context = 64, .max_requests = 1, .chunk = 2048, .page_size = 64};
    const double bytes = (double)model_bytes(&llama, 0),
                 weights = 32 * (6144. * 4096 + 4096. * 4096 + 3 * 4096. * 14336);
    const double rows = 32 * (6144. + 4096 + 2 * 14336 + 4096), steps = (double)engine_bytes(&llama, &options);
    ck_assert(fabs(bytes - weights + 4 * rows - (double)model_bytes(&fp8, 0)) < 1e5);
    /* Rows of what attention made, gates and ups where there was room in the workspace, and a scale. */
    ck_assert_msg((double)engine_bytes(&fp8, &options) == steps + 2048. * (4096 + 4), "%.0f", steps);
}
END_TEST

/* The same weights, and a scale for each 128 x 128. */
START_TEST(scales_of_blocks_are_few) {
    const struct config fp8 = shape("llama-3.1-8b-fp8"), blocks = shape("llama-3.1-8b-fp8-blocks");
    const struct engine_options options = {.context = 64, .max_requests = 1, .chunk = 2048, .page_size = 64};
    const double rows = 32 * (6144. + 4096 + 2 * 14336 + 4096);
    const double scales = 32 * (6144. * 4096 + 4096. * 4096 + 3 * 4096. * 14336) / (128 * 128);
    const double more = (double)(engine_bytes(&blocks, &options) - engine_bytes(&fp8, &options));
    ck_assert(fabs((double)model_bytes(&fp8, 0) - 4 * rows + 4 * scales - (double)model_bytes(&blocks, 0)) < 1e5);
    ck_assert_msg(more == 2048. * 4 * (14336. / 128 - 1), "%.0f", more); /* of the longest rows of e4m3 */
}
END_TEST

/* Rows of up that do not begin with a block of the whole: each row has the scales of its block, of gate and up. */
START_TEST(blocks_that_do_not_line_up_have_scales_for_each_row) {
    struct config config = shape("llama-3.1-8b-fp8-blocks");
    config.layers = 1;
    const double before = (double)model_bytes(&config, 0);
    config.intermediate -= 8;
    const double after = (double)model_bytes(&config, 0), rows = 2 * 14328., columns = 4096;
    const double scales = 4 * (rows * 32 - 2 * 112 * 32.);
    ck_assert_msg(fabs(after - before - scales + 3 * 8 * columns) < 2000, "%.0f", after - before);
}
END_TEST

START_TEST(steps_have_room_for_experts) {
    struct config qwen = shape("qwen3-30b-a3b");
    const struct engine_options options = {.context = 64, .max_requests = 1, .chunk = 2048, .page_size = 64};
    const size_t with = engine_bytes(&qwen, &options);
    qwen.experts = 0;
    const double more = (double)(with - engine_bytes(&qwen, &options)), elements = 2048. * 8 * (2048 + 3 * 768);
    ck_assert_msg(more > 2 * elements && more < 2.1 * elements, "%.0f bytes", more);
}
END_TEST

Suite *model_suite(void) {
    Suite *suite = suite_create("model");
    TCase *memory = tcase_create("memory");
    tcase_add_test(memory, weights_are_counted);
    tcase_add_test(memory, a_step_reads_the_experts_that_are_chosen);
    tcase_add_test(memory, weights_of_e4m3_take_half);
    tcase_add_test(memory, scales_of_blocks_are_few);
    tcase_add_test(memory, blocks_that_do_not_line_up_have_scales_for_each_row);
    tcase_add_test(memory, steps_have_room_for_experts);
    suite_add_tcase(suite, memory);
    return suite;
}
