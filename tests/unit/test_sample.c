/* SPDX-License-Identifier: Apache-2.0 */
/* Sampling on the host: its arithmetic, what a problem may be, what is said of one that may not, what is chosen, what a launch
 * is told. */
#include "common/sample/arithmetic.h"
#include "common/sample/params.h"
#include "gristmill/sample.h"
#include "host/choose.h"
#include "host/options.h"
#include "host/types.h"
#include "planned.h"

#include <math.h>
#include <string.h>

static struct gm_sample_problem rows_of(int64_t rows, int64_t columns) {
    return (struct gm_sample_problem){.size = sizeof(struct gm_sample_problem), .rows = rows, .columns = columns};
}

static enum gm_status read_problem(const struct gm_sample_problem *given, struct gm_sample_problem *read) {
    static const struct gm_plan_options none = {.size = sizeof none};
    return gm_problem_read(&gm_operation_sample, given, &none, read);
}

/* ---- arithmetic ----------------------------------------------------------------------------------------- */

/* The vectors that its authors publish (Random123, kat_vectors). */
START_TEST(philox_gives_the_published_words) {
    static const struct {
        uint32_t counter[4], key[2], words[4];
    } known[] = {
        {{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
        {{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
         {0xffffffff, 0xffffffff},
         {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
        {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
         {0xa4093822, 0x299f31d0},
         {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        uint32_t words[4];
        memcpy(words, known[i].counter, sizeof words);
        sample_philox((uint64_t)known[i].key[1] << 32 | known[i].key[0], words);
        ck_assert(memcmp(words, known[i].words, sizeof words) == 0);
    }
    uint32_t words[4], counter[4] = {7, 0, 0xfffffffe, 0xffffffff};
    sample_noise(3, 7, -2, words);
    sample_philox(3, counter);
    ck_assert(memcmp(words, counter, sizeof words) == 0);
}
END_TEST

START_TEST(logarithm_power_and_noise_are_as_exact_as_fp32) {
    for (uint32_t i = 0; i < 300000; i++) {
        const uint32_t bits = i * 7151u + 0x00800000u;
        const float x = sample_float_of(bits % 0x7f000000u + 0x00800000u), y = -(float)i * 9.5e-5f;
        const double ln = log((double)x), power = exp((double)y) * 0x1p40;
        ck_assert_double_le(fabs((double)sample_ln(x) - ln), 1.5 * 0x1p-23 * fabs(ln) + 1e-12);
        ck_assert_double_le(fabs((double)sample_mass(y) - power), 3e-7 * power + 1);
        const uint32_t word = i * 14317u;
        const float v = fminf(fmaf((float)word, 0x1p-32f, 0x1p-33f), 0x1.fffffep-1f);
        const double gumbel = -log(-log1p(-(double)v));
        ck_assert_double_le(fabs((double)sample_gumbel(word) - gumbel), 5e-7 + 2e-7 * fabs(gumbel));
    }
    ck_assert(sample_mass(0) == UINT64_C(1) << 40 && sample_mass(-28.5f) == 0 && sample_mass(-3e38f) == 0);
    ck_assert(isfinite(sample_gumbel(0)) && sample_gumbel(0) > 22.8f);
    ck_assert(isfinite(sample_gumbel(UINT32_MAX)) && sample_gumbel(UINT32_MAX) > -3);
}
END_TEST

START_TEST(keys_are_in_the_order_of_floats) {
    static const float ordered[] = {-INFINITY, -3e38f, -1, -1e-45f, 0, 1e-45f, 1, 3e38f, INFINITY};
    for (size_t i = 0; i < sizeof ordered / sizeof *ordered; i++) {
        ck_assert(i == 0 || sample_key(ordered[i - 1]) < sample_key(ordered[i]));
        ck_assert(sample_value(sample_key(ordered[i])) == ordered[i]);
    }
    ck_assert_uint_eq(sample_key(-INFINITY), SAMPLE_KEY_OF_NOTHING);
    ck_assert(sample_canonical(NAN) == -INFINITY && !signbit(sample_canonical(-0.0f)));
    ck_assert(sample_shifted(-3e38f, 3e38f, 0) == -3.40282347e38f && sample_shifted(1, 1, 3e38f) == 0);
}
END_TEST

START_TEST(a_quota_is_the_least_mass_of_a_share) {
    static const struct {
        float share;
        uint64_t all, quota;
    } known[] = {{0.5f, 10, 5},
                 {0.5f, 11, 6},
                 {0, 10, 1},
                 {-1, 10, 1},
                 {1e-12f, UINT64_C(1) << 60, 1},
                 {0.25f, UINT64_C(1) << 60, UINT64_C(1) << 58},
                 {0.75f, (UINT64_C(1) << 60) + 1, (UINT64_C(3) << 58) + 1}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        ck_assert_uint_eq(sample_quota(known[i].share, known[i].all), known[i].quota);
    ck_assert(sample_least(0) == -INFINITY && sample_least(NAN) == -INFINITY && sample_least(1) == 0);
    ck_assert_double_le(fabs((double)sample_least(0.1f) - log(0.1)), 3e-7);
}
END_TEST

/* 20,000 draws among 16 columns: the statistic of 15 degrees of freedom is below 37.7 in 999 of 1000 tries. */
static double chi_square(const float *logits, uint64_t seed, int64_t first_step) {
    enum { COLUMNS = 16, DRAWS = 20000 };
    int counts[COLUMNS] = {0};
    double sum = 0, statistic = 0;
    for (int64_t step = first_step; step < first_step + DRAWS; step++) {
        float best = -INFINITY;
        int token = 0;
        for (int i = 0; i < COLUMNS; i++) {
            uint32_t words[4];
            sample_noise(seed, (uint32_t)i / 4, step, words);
            const float score = logits[i] + sample_gumbel(words[i % 4]);
            if (score > best)
                best = score, token = i;
        }
        counts[token]++;
    }
    for (int i = 0; i < COLUMNS; i++)
        sum += exp((double)logits[i]);
    for (int i = 0; i < COLUMNS; i++) {
        const double expected = DRAWS * exp((double)logits[i]) / sum;
        statistic += (counts[i] - expected) * (counts[i] - expected) / expected;
    }
    return statistic;
}

START_TEST(draws_are_distributed_as_the_softmax) {
    float logits[16], flat[16] = {0};
    for (int i = 0; i < 16; i++)
        logits[i] = -(float)(i * 7 % 16) / 4;
    ck_assert_double_lt(chi_square(logits, 1, 0), 37.7);
    ck_assert_double_lt(chi_square(flat, UINT64_MAX, INT64_C(1) << 33), 37.7);
    for (uint64_t seed = 2; seed < 6; seed++)
        ck_assert_double_lt(chi_square(logits, seed << 30, -10000), 37.7);
}
END_TEST

/* ---- a problem ------------------------------------------------------------------------------------------ */

START_TEST(zeros_mean_greedy_packed_and_aligned) {
    struct gm_sample_problem p = rows_of(3, 100), read;
    assert_ok(read_problem(&p, &read));
    ck_assert(read.logits_stride == 100 && read.logits_align == 16 && read.top_p == 1);
    ck_assert(read.temperature == 0 && read.top_k == 0 && read.min_p == 0);
}
END_TEST

static const struct {
    size_t offset;
    int64_t value;
    int bytes;
    const char *words;
} bad[] = {
#define BAD(member, value, words)                                                                                      \
    {offsetof(struct gm_sample_problem, member), value, sizeof(((struct gm_sample_problem *)0)->member), words}
    BAD(rows, -1, "rows is -1; it must be 0 to 2147483647"),
    BAD(columns, 0, "columns is 0; it must be 1 to 4194304"),
    BAD(columns, (1 << 22) + 1, "columns is 4194305"),
    BAD(type, 3, "type is 3; known values are 0 to 2"),
    BAD(temperature, (int32_t)0xbf800000, "temperature is -1; it must be finite and 0 or more"),
    BAD(top_p, 0x7fc00000, "top_p is nan"),
    BAD(min_p, 0x7f800000, "min_p is inf"),
    BAD(top_k, -1, "top_k is -1; it must be 0 to 2147483647"),
    BAD(logits_stride, 63, "logits_stride is 63; a row has 64 elements"),
    BAD(logits_stride, INT64_C(1) << 62, "exceed 2^63 bytes"),
    BAD(logits_align, 3, "logits_align is 3; it must be 16 (or 0), 8, 4 or 2"),
};

START_TEST(every_bad_member_has_its_sentence) {
    struct gm_sample_problem p = rows_of(8, 64), read;
    memcpy((char *)&p + bad[_i].offset, &bad[_i].value, (size_t)bad[_i].bytes);
    assert_fails(read_problem(&p, &read), GM_ERROR_INVALID_ARGUMENT, bad[_i].words);
}
END_TEST

START_TEST(a_problem_is_a_line_of_a_suite) {
    struct gm_sample_problem p = rows_of(16, 4096), read;
    char text[160];
    p.type = GM_FP32;
    p.temperature = 0.5f, p.top_k = 50;
    assert_ok(read_problem(&p, &read));
    gm_problem_print(&gm_operation_sample, &read, text, sizeof text);
    ck_assert_str_eq(text, "sample fp32 0.5 16 4096 50 1");
}
END_TEST

START_TEST(bytes_are_counted) {
    struct gm_sample_problem p = rows_of(10, 100);
    ck_assert(gm_operation_sample.work(&p).least_bytes == 2000 + 40);
    ck_assert(gm_operation_sample.work(&p).flops == 1000);
    p.temperature = 1;
    ck_assert(gm_operation_sample.work(&p).flops == 50000);
}
END_TEST

/* ---- the choice ----------------------------------------------------------------------------------------- */

/* What explain chooses; the sentences of all in `said`, each on a line. */
static const struct gm_kernel *chosen(const struct gm_sample_problem *p, const char *model, char *said, size_t bytes) {
    const struct gm_device device = device_of(model);
    const struct gm_plan_options options = {.size = sizeof options};
    struct explained all = explained_room();
    assert_ok(gm_sample_explain(&device, p, &options, all.candidates, all.count, &all.count));
    return chosen_of(&all, "sample", said, bytes);
}

START_TEST(few_rows_have_more_ctas_each) {
    char said[1 << 14];
    static const struct {
        int64_t rows;
        int ctas;
    } known[] = {{1, 8}, {8, 8}, {256, 1}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const struct gm_sample_problem p = rows_of(known[i].rows, 128256);
        ck_assert_int_eq(chosen(&p, "h200", said, sizeof said)->cluster_ctas, known[i].ctas);
        ck_assert_int_eq(chosen(&p, "a100", said, sizeof said)->arch, GM_ARCH_SM80);
    }
    const struct gm_sample_problem p = rows_of(1, 128256);
    ck_assert_int_eq(chosen(&p, "h200", said, sizeof said)->cluster_ctas, 8);
    ck_assert_ptr_nonnull(strstr(said, "us: 8 CTAs share a row, "));
    ck_assert_ptr_nonnull(strstr(said, "us: 1 CTA shares a row, "));
}
END_TEST

START_TEST(what_is_not_aligned_goes_by_elements) {
    struct gm_sample_problem p = rows_of(16, 4096);
    char said[1 << 14];
    p.logits_align = 8;
    ck_assert_int_eq(chosen(&p, "h200", said, sizeof said)->columns[GM_SAMPLE_VECTOR_BYTES], 2);
    ck_assert_ptr_nonnull(strstr(said, "logits_align promises 8 bytes: it loads 16 at once"));
    p = rows_of(16, 4096);
    p.logits_stride = 4100;
    ck_assert_int_eq(chosen(&p, "h200", said, sizeof said)->columns[GM_SAMPLE_VECTOR_BYTES], 2);
    ck_assert_ptr_nonnull(strstr(said, "logits_stride 4100 x 2 B = 8200 B is not a multiple of the 16"));
    p = rows_of(16, 4099);
    ck_assert_int_eq(chosen(&p, "a100", said, sizeof said)->columns[GM_SAMPLE_VECTOR_BYTES], 2);
    ck_assert_ptr_nonnull(strstr(said, "logits has 4099 columns x 2 B = 8198 B, which is not a multiple of the 16"));
}
END_TEST

/* ---- a launch ------------------------------------------------------------------------------------------- */

#define ARRAY(n) (ADDRESS_C + 4096 * (n))
static struct gm_sample_args all_arguments(void) {
    return (struct gm_sample_args){.size = sizeof(struct gm_sample_args),
                                   .logits = ADDRESS_A,
                                   .ids = ADDRESS_D,
                                   .logprobs = ADDRESS_B,
                                   .temperatures = ARRAY(0),
                                   .top_ks = ARRAY(1),
                                   .top_ps = ARRAY(2),
                                   .min_ps = ARRAY(3),
                                   .seeds = ARRAY(4),
                                   .steps = ARRAY(5),
                                   .step = ARRAY(6),
                                   .row_count = ARRAY(7),
                                   .seed = 11,
                                   .first_step = -12};
}

START_TEST(a_launch_is_told_what_the_call_says) {
    const struct gm_sample_args args = all_arguments();
    struct gm_sample_problem p = rows_of(10, 512);
    struct gm_sample_params bound;
    gm_plan *plan = NULL;
    p.logits_stride = 1024;
    p.temperature = 2, p.top_p = 0.5f, p.min_p = 0.25f, p.top_k = 7;
    assert_ok(gm_sample_plan_create(context, &p, NULL, &plan));
    memcpy(&bound, plan->params, sizeof bound);
    ck_assert_int_eq(gm_family_sample.bind(plan, &args, &bound), CUDA_SUCCESS);
    ck_assert(bound.pitch == 2048 && bound.rows == 10 && bound.columns == 512);
    ck_assert(bound.temperature == 2 && bound.top_p == 0.5f && bound.min_p == 0.25f && bound.top_k == 7);
    ck_assert(bound.logits == args.logits && bound.ids == args.ids && bound.logprobs == args.logprobs);
    ck_assert(bound.temperatures == args.temperatures && bound.top_ks == args.top_ks && bound.top_ps == args.top_ps);
    ck_assert(bound.min_ps == args.min_ps && bound.seeds == args.seeds && bound.steps == args.steps);
    ck_assert(bound.step == args.step && bound.row_count == args.row_count);
    ck_assert(bound.seed == 11 && bound.first_step == -12);
    ck_assert_uint_eq(plan->config.gridDimX, 10u * (unsigned)plan->kernel->cluster_ctas);
    fake_make_current(0);
    fake_clear_counts();
    assert_ok(gm_sample_execute(plan, &args, NULL));
    ck_assert_int_eq(fake_calls(), 1);
    gm_plan_destroy(plan);
}
END_TEST

START_TEST(every_variant_is_launched_by_name) {
    const struct gm_sample_args args = {.size = sizeof args, .logits = ADDRESS_A, .ids = ADDRESS_D};
    for (size_t i = 0; i < gm_kernel_count(); i++) {
        const struct gm_kernel *kernel = &gm_kernels[i];
        if (kernel->family != &gm_family_sample)
            continue;
        struct gm_sample_problem p = rows_of(101, 64);
        const struct gm_plan_options options = {.size = sizeof options, .kernel = kernel->name};
        gm_plan *plan = NULL;
        p.type = kernel->type;
        assert_ok(gm_sample_plan_create(context, &p, &options, &plan));
        fake_make_current(0);
        fake_clear_counts();
        assert_ok(gm_sample_execute(plan, &args, NULL));
        ck_assert_int_eq(fake_calls(), 1);
        ck_assert_int_eq(fake.launch.kernel, (int)i);
        ck_assert_uint_eq(fake.launch.config.blockDimX, (unsigned)kernel->threads);
        ck_assert_uint_eq(fake.launch.config.gridDimX, 101u * (unsigned)kernel->cluster_ctas);
        ck_assert_uint_eq(fake.launch.config.numAttrs,
                          (unsigned)((kernel->arch == GM_ARCH_SM90) + (kernel->cluster_ctas > 1)));
        gm_plan_destroy(plan);
    }
}
END_TEST

/* 10 rows of 64 bf16, 80 apart: nothing is launched where it is refused. */
static enum gm_status execute(struct gm_sample_args args) {
    struct gm_sample_problem p = rows_of(10, 64);
    gm_plan *plan = NULL;
    p.logits_stride = 80;
    assert_ok(gm_sample_plan_create(context, &p, NULL, &plan));
    fake_make_current(0);
    fake_clear_counts();
    const enum gm_status status = gm_sample_execute(plan, &args, NULL);
    ck_assert_int_eq(fake_calls(), status == GM_OK);
    gm_plan_destroy(plan);
    return status;
}

static const struct {
    size_t member;
    gm_device_ptr address;
    enum gm_status status;
    const char *words;
} refused[] = {
#define REFUSED(member, address, status, words) {offsetof(struct gm_sample_args, member), address, status, words}
    REFUSED(size, 111, GM_ERROR_SIZE, "args.size is 111"),
    REFUSED(logits, 0, GM_ERROR_INVALID_ARGUMENT, "logits is NULL"),
    REFUSED(ids, 0, GM_ERROR_INVALID_ARGUMENT, "ids is NULL"),
    REFUSED(logits, ADDRESS_A + 8, GM_ERROR_MISALIGNED, "not a multiple of 16 bytes"),
    REFUSED(ids, ADDRESS_D + 2, GM_ERROR_MISALIGNED, "ids"),
    REFUSED(logprobs, ADDRESS_B + 1, GM_ERROR_MISALIGNED, "logprobs"),
    REFUSED(temperatures, ARRAY(0) + 2, GM_ERROR_MISALIGNED, "temperatures"),
    REFUSED(top_ks, ARRAY(1) + 2, GM_ERROR_MISALIGNED, "top_ks"),
    REFUSED(top_ps, ARRAY(2) + 2, GM_ERROR_MISALIGNED, "top_ps"),
    REFUSED(min_ps, ARRAY(3) + 2, GM_ERROR_MISALIGNED, "min_ps"),
    REFUSED(seeds, ARRAY(4) + 4, GM_ERROR_MISALIGNED, "seeds"),
    REFUSED(steps, ARRAY(5) + 4, GM_ERROR_MISALIGNED, "steps"),
    REFUSED(step, ARRAY(6) + 4, GM_ERROR_MISALIGNED, "step"),
    REFUSED(row_count, ARRAY(7) + 2, GM_ERROR_MISALIGNED, "row_count"),
    REFUSED(ids, ADDRESS_A + 64, GM_ERROR_OVERLAP, "logits"),
    REFUSED(logprobs, ADDRESS_D + 36, GM_ERROR_OVERLAP, "ids"),
    REFUSED(seeds, ADDRESS_D, GM_ERROR_OVERLAP, "seeds"),
    REFUSED(step, ADDRESS_D + 32, GM_ERROR_OVERLAP, "step"),
    REFUSED(row_count, ADDRESS_B, GM_ERROR_OVERLAP, "row_count"),
};

START_TEST(bad_pointers_are_refused_by_name) {
    struct gm_sample_args args = all_arguments();
    memcpy((char *)&args + refused[_i].member, &refused[_i].address, sizeof refused[_i].address);
    assert_fails(execute(args), refused[_i].status, refused[_i].words);
}
END_TEST

START_TEST(what_is_not_given_is_not_checked) {
    const struct gm_sample_args args = {.size = sizeof args, .logits = ADDRESS_A, .ids = ADDRESS_D};
    assert_ok(execute(args));
    assert_ok(execute(all_arguments()));
}
END_TEST

START_TEST(a_budget_of_sms_limits_the_grid) {
    const struct gm_sample_problem p = rows_of(100000, 4096);
    const struct gm_plan_options options = {.size = sizeof options, .sm_budget = 2};
    gm_plan *plan = NULL;
    assert_ok(gm_sample_plan_create(context, &p, &options, &plan));
    ck_assert_uint_le(plan->config.gridDimX, 2 * 4);
    gm_plan_destroy(plan);
}
END_TEST

START_TEST(no_rows_launch_nothing) {
    const struct gm_sample_problem p = rows_of(0, 64);
    const struct gm_sample_args args = {.size = sizeof args};
    const int launches = fake.count[FAKE_cuLaunchKernelEx];
    assert_ok(gm_sample(context, &p, &args, NULL));
    ck_assert_int_eq(fake.count[FAKE_cuLaunchKernelEx], launches);
}
END_TEST

Suite *sample_suite(void) {
    Suite *suite = suite_create("sample");
    TCase *arithmetic = tcase_create("arithmetic"), *problems = tcase_create("problems"),
          *choices = tcase_create("choices"), *launches = tcase_create("launches");
    tcase_set_tags(arithmetic, "long"); /* minutes under valgrind */
    tcase_add_test(arithmetic, philox_gives_the_published_words);
    tcase_add_test(arithmetic, logarithm_power_and_noise_are_as_exact_as_fp32);
    tcase_add_test(arithmetic, keys_are_in_the_order_of_floats);
    tcase_add_test(arithmetic, a_quota_is_the_least_mass_of_a_share);
    tcase_add_test(arithmetic, draws_are_distributed_as_the_softmax);
    tcase_add_test(problems, zeros_mean_greedy_packed_and_aligned);
    tcase_add_loop_test(problems, every_bad_member_has_its_sentence, 0, sizeof bad / sizeof *bad);
    tcase_add_test(problems, a_problem_is_a_line_of_a_suite);
    tcase_add_test(problems, bytes_are_counted);
    tcase_add_test(choices, few_rows_have_more_ctas_each);
    tcase_add_test(choices, what_is_not_aligned_goes_by_elements);
    tcase_add_checked_fixture(launches, planned_set_up, planned_tear_down);
    tcase_add_test(launches, a_launch_is_told_what_the_call_says);
    tcase_add_test(launches, every_variant_is_launched_by_name);
    tcase_add_loop_test(launches, bad_pointers_are_refused_by_name, 0, sizeof refused / sizeof *refused);
    tcase_add_test(launches, what_is_not_given_is_not_checked);
    tcase_add_test(launches, a_budget_of_sms_limits_the_grid);
    tcase_add_test(launches, no_rows_launch_nothing);
    suite_add_tcase(suite, arithmetic);
    suite_add_tcase(suite, problems);
    suite_add_tcase(suite, choices);
    suite_add_tcase(suite, launches);
    return suite;
}
