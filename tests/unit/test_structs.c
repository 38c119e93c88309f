/* SPDX-License-Identifier: Apache-2.0 */
/* Callers' structs of other versions: every public struct with a size, smaller, exact and larger. The structs lie in
 * blocks of the heap that are exactly as large, so that a sanitizer or valgrind sees a byte too many. */
#include "host/structs.h"

#include "planned.h"
#include "questions.h"
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- what the calls need beside the struct in question ------------------------------------------------ */

static struct gm_gemm_problem problem;
static struct gm_device h200;
static struct gm_access access;
static struct gm_smem_tile tile;
static struct gm_tile_access walk;
static struct gm_pad_question pad;
static struct gm_descriptor_question descriptor;
static struct gm_matrix_descriptor fields;
static gm_ledger *ledger;
static gm_plan *plan;

static const char ledger_text[] =
    "gristmill-ledger 1\ndevice NVIDIA H200\ncc 9.0\nsms 132\nl2_bytes 62914560\ndram_gbs 4814\n";

static void set_up(void) {
    planned_set_up();
    problem = problem_of(256, 256, 256);
    h200 = device_of("h200");
    access = (struct gm_access){.size = sizeof access, .kind = GM_ACCESS_LOAD, .width = 4};
    tile = (struct gm_smem_tile){.size = sizeof tile, .rows = 32, .row_bytes = 128};
    walk = (struct gm_tile_access){.size = sizeof walk, .kind = GM_ACCESS_LOAD, .width = 4};
    for (uint32_t lane = 0; lane < GM_LANES; lane++)
        walk.row[lane] = lane;
    pad = (struct gm_pad_question){.size = sizeof pad, .tile = tile};
    descriptor = question_of(GM_SWIZZLE_128B, GM_K_MAJOR, 2, 64);
    suggest(&descriptor);
    fields = (struct gm_matrix_descriptor){.size = sizeof fields};
    assert_ok(gm_matrix_descriptor_decode(descriptor.descriptor, &fields));
    assert_ok(gm_ledger_parse(ledger_text, sizeof ledger_text - 1, &ledger));
    assert_ok(gm_gemm_plan_create(context, &problem, NULL, &plan));
}

static void tear_down(void) {
    gm_plan_destroy(plan);
    gm_ledger_destroy(ledger);
    planned_tear_down();
}

/* ---- structs that are read ---------------------------------------------------------------------------- */

static enum gm_status explain_on(const void *device) {
    size_t count;
    return gm_gemm_explain(device, &problem, NULL, NULL, 0, &count);
}
static enum gm_status find_builtin(const void *device) {
    return gm_ledger_builtin(device) ? GM_OK : gm_last_status(); /* OK too: a build without a ledger */
}
static enum gm_status pad_on(const void *device) {
    struct gm_pad_advice advice = {.size = sizeof advice};
    return gm_pad_advise(&pad, &walk, 1, device, &advice);
}
static enum gm_status explain_problem(const void *given) {
    size_t count;
    return gm_gemm_explain(&h200, given, NULL, NULL, 0, &count);
}
static enum gm_status plan_problem(const void *given) {
    gm_plan *made = NULL;
    const enum gm_status status = gm_gemm_plan_create(context, given, NULL, &made);
    gm_plan_destroy(made);
    return status;
}
static enum gm_status explain_options(const void *options) {
    size_t count;
    return gm_gemm_explain(&h200, &problem, options, NULL, 0, &count);
}
static enum gm_status plan_options(const void *options) {
    gm_plan *made = NULL;
    const enum gm_status status = gm_gemm_plan_create(context, &problem, options, &made);
    gm_plan_destroy(made);
    return status;
}
static enum gm_status execute(const void *args) {
    return gm_gemm_execute(plan, args, NULL);
}
static enum gm_status cost_of(const void *given) {
    struct gm_bank_cost cost = {.size = sizeof cost};
    return gm_bank_cost(given, &cost);
}
static enum gm_status map_of(const void *given) {
    struct gm_bank_map map = {.size = sizeof map};
    return gm_bank_map(given, &map);
}
static enum gm_status address_in(const void *given) {
    uint32_t address;
    return gm_smem_tile_address(given, 1, 1, &address);
}
static enum gm_status place_in(const void *given) {
    struct gm_access placed = {.size = sizeof placed};
    return gm_tile_access_place(given, &walk, &placed);
}
static enum gm_status prove(const void *given) {
    struct gm_swizzle_proof proof = {.size = sizeof proof};
    return gm_swizzle_prove(given, &proof);
}
static enum gm_status search_in(const void *given) {
    struct gm_swizzle swizzle;
    int found;
    return gm_swizzle_search(given, &walk, 1, &swizzle, &found);
}
static enum gm_status place(const void *given) {
    struct gm_access placed = {.size = sizeof placed};
    return gm_tile_access_place(&tile, given, &placed);
}
static enum gm_status search_for(const void *walks) {
    struct gm_swizzle swizzle;
    int found;
    return gm_swizzle_search(&tile, walks, 1, &swizzle, &found);
}
static enum gm_status pad_for(const void *walks) {
    struct gm_pad_advice advice = {.size = sizeof advice};
    return gm_pad_advise(&pad, walks, 1, &h200, &advice);
}
static enum gm_status advise(const void *question) {
    struct gm_pad_advice advice = {.size = sizeof advice};
    return gm_pad_advise(question, &walk, 1, &h200, &advice);
}
static enum gm_status explain_map(const void *request) {
    size_t count;
    int legal;
    return gm_tensor_map_explain(request, NULL, 0, &count, &legal);
}
static enum gm_status bytes_of_box(const void *request) {
    return gm_tensor_map_box_bytes(request) ? GM_OK : gm_last_status();
}
static enum gm_status encode(const void *given) {
    uint64_t bits;
    return gm_matrix_descriptor_encode(given, &bits);
}
static enum gm_status address_by(const void *given) {
    uint32_t address;
    return gm_wgmma_address(given, &descriptor.operand, 0, 0, &address);
}
static enum gm_status address_of_operand(const void *operand) {
    uint32_t address;
    return gm_wgmma_address(&fields, operand, 0, 0, &address);
}
static enum gm_status compare(const void *question) {
    struct gm_descriptor_answer answer = {.size = sizeof answer};
    return gm_descriptor_compare(question, &answer);
}
static enum gm_status suggest_for(const void *question) {
    uint64_t bits;
    uint32_t step;
    return gm_descriptor_suggest(question, &bits, &step);
}

static struct gm_plan_options no_options = {.size = sizeof no_options};
static struct gm_gemm_args args;

#define READ(type, example, call) {#type " by " #call, sizeof(struct type), sizeof(struct type), &(example), call}
/* Of a struct that has grown since its first version, which had so many bytes. */
#define READ_GROWN(type, first, example, call) {#type " by " #call, sizeof(struct type), first, &(example), call}
static const struct reader {
    const char *name;
    size_t size, first;
    const void *example;
    enum gm_status (*call)(const void *given);
} readers[] = {
    READ(gm_device, h200, explain_on),
    READ(gm_device, h200, find_builtin),
    READ(gm_device, h200, pad_on),
    READ_GROWN(gm_gemm_problem, 104, problem, explain_problem),
    READ_GROWN(gm_gemm_problem, 104, problem, plan_problem),
    READ(gm_plan_options, no_options, explain_options),
    READ(gm_plan_options, no_options, plan_options),
    READ_GROWN(gm_gemm_args, 80, args, execute),
    READ(gm_access, access, cost_of),
    READ(gm_access, access, map_of),
    READ(gm_smem_tile, tile, address_in),
    READ(gm_smem_tile, tile, place_in),
    READ(gm_smem_tile, tile, prove),
    READ(gm_smem_tile, tile, search_in),
    READ(gm_tile_access, walk, place),
    READ(gm_tile_access, walk, search_for),
    READ(gm_tile_access, walk, pad_for),
    READ(gm_pad_question, pad, advise),
    READ(gm_tensor_map_request, descriptor.map, explain_map),
    READ(gm_tensor_map_request, descriptor.map, bytes_of_box),
    READ(gm_matrix_descriptor, fields, encode),
    READ(gm_matrix_descriptor, fields, address_by),
    READ(gm_wgmma_operand, descriptor.operand, address_of_operand),
    READ(gm_descriptor_question, descriptor, compare),
    READ(gm_descriptor_question, descriptor, suggest_for),
};
#define READERS (sizeof readers / sizeof *readers)

/* A block of `bytes` with as much of the example as fits, `tail` behind it, and this size in front. */
static void *block_of(const void *example, size_t known, size_t bytes, size_t size, unsigned char tail) {
    unsigned char *block = malloc(bytes);
    ck_assert_ptr_nonnull(block);
    memset(block, tail, bytes);
    memcpy(block, example, bytes < known ? bytes : known);
    memcpy(block, &size, sizeof size);
    return block;
}

static void expect(const struct reader *r, size_t bytes, size_t size, unsigned char tail, enum gm_status status,
                   const char *words) {
    void *const block = block_of(r->example, r->size, bytes, size, tail);
    const enum gm_status got = r->call(block);
    ck_assert_msg(got == status, "%s, size %zu, tail %d: %s: %s", r->name, size, tail, gm_status_name(got),
                  gm_last_error());
    ck_assert_msg(status == GM_OK || strstr(gm_last_error(), words), "%s: \"%s\" lacks \"%s\"", r->name,
                  gm_last_error(), words);
    free(block);
}

START_TEST(every_struct_that_is_read) {
    const struct reader *r = &readers[_i];
    char words[64];
    args = args_apart();
    expect(r, r->size, r->size, 0, GM_OK, NULL);
    expect(r, r->size + 24, r->size + 24, 0, GM_OK, NULL);
    expect(r, r->size + GM_NEWER_BYTES_MAX, r->size + GM_NEWER_BYTES_MAX, 0, GM_OK, NULL);
    snprintf(words, sizeof words, "byte %zu is not 0; this library knows %zu", r->size, r->size);
    expect(r, r->size + 1, r->size + 1, 7, GM_ERROR_SIZE, words);
    expect(r, r->size + 24, r->size + 24, 7, GM_ERROR_SIZE, words);
    /* Of what was never set nothing but the size is read. */
    snprintf(words, sizeof words, "this library knows %zu", r->size);
    expect(r, sizeof(size_t), 0, 0, GM_ERROR_SIZE, words);
    expect(r, sizeof(size_t), sizeof(size_t), 0, GM_ERROR_SIZE, words);
    expect(r, sizeof(size_t), r->first - 1, 0, GM_ERROR_SIZE, words);
    expect(r, r->first, r->first, 0, GM_OK, NULL);
    expect(r, sizeof(size_t), r->size + GM_NEWER_BYTES_MAX + 1, 0, GM_ERROR_SIZE, words);
    expect(r, sizeof(size_t), SIZE_MAX, 0, GM_ERROR_SIZE, words);
}
END_TEST

/* ---- structs that are written ------------------------------------------------------------------------- */

static enum gm_status model(void *device) {
    return gm_device_model("h200", device);
}
static enum gm_status query(void *device) {
    return gm_device_query(0, device);
}
static enum gm_status device_of_context(void *device) {
    return gm_context_device(context, device);
}
static enum gm_status kernel(void *info) {
    return gm_kernel_get(0, info);
}
static enum gm_status gemm_kernel(void *info) {
    return gm_gemm_kernel_get(0, info);
}
static enum gm_status ledger_info(void *info) {
    return gm_ledger_get_info(ledger, info);
}
static enum gm_status cost_into(void *cost) {
    return gm_bank_cost(&access, cost);
}
static enum gm_status map_into(void *map) {
    return gm_bank_map(&access, map);
}
static enum gm_status place_into(void *placed) {
    return gm_tile_access_place(&tile, &walk, placed);
}
static enum gm_status prove_into(void *proof) {
    return gm_swizzle_prove(&tile, proof);
}
static enum gm_status advise_into(void *advice) {
    return gm_pad_advise(&pad, &walk, 1, &h200, advice);
}
static enum gm_status rule_into(void *rule) {
    size_t count;
    int legal;
    return gm_tensor_map_explain(&descriptor.map, rule, 1, &count, &legal);
}
static enum gm_status decode_into(void *into) {
    return gm_matrix_descriptor_decode(descriptor.descriptor, into);
}
static enum gm_status compare_into(void *answer) {
    return gm_descriptor_compare(&descriptor, answer);
}

/* `member`: one that is written with something other than POISON. */
#define WRITE(type, member, call)                                                                                      \
    {#type " by " #call, sizeof(struct type), sizeof(struct type), offsetof(struct type, member), call}
/* Of a struct that has grown since its first version, which had so many bytes. */
#define WRITE_GROWN(type, first, member, call)                                                                         \
    {#type " by " #call, sizeof(struct type), first, offsetof(struct type, member), call}
static const struct writer {
    const char *name;
    size_t size, first, member;
    enum gm_status (*call)(void *into);
} writers[] = {
    WRITE(gm_device, driver_version, model),
    WRITE(gm_device, sm_count, query),
    WRITE(gm_device, dram_gbs, device_of_context),
    WRITE(gm_kernel_info, cluster_ctas, kernel),
    WRITE_GROWN(gm_gemm_kernel_info, 80, tile_k, gemm_kernel),
    WRITE(gm_ledger_info, entries, ledger_info),
    WRITE(gm_bank_cost, words, cost_into),
    WRITE(gm_bank_map, cost.words, map_into),
    WRITE(gm_access, width, place_into),
    WRITE(gm_swizzle_proof, ldmatrix_worst, prove_into),
    WRITE(gm_pad_advice, sentence, advise_into),
    WRITE(gm_rule, holds, rule_into),
    WRITE(gm_matrix_descriptor, stride_bytes, decode_into),
    WRITE(gm_descriptor_answer, elements, compare_into),
};
#define WRITERS (sizeof writers / sizeof *writers)
#define POISON  0xe5

static void expect_written(const struct writer *w, size_t size) {
    unsigned char *const block = malloc(size);
    size_t kept;
    memset(block, POISON, size);
    memcpy(block, &size, sizeof size);
    ck_assert_msg(w->call(block) == GM_OK, "%s, size %zu: %s", w->name, size, gm_last_error());
    memcpy(&kept, block, sizeof kept);
    ck_assert_msg(kept == size, "%s: the size became %zu", w->name, kept);
    ck_assert_msg(block[w->member] != POISON, "%s: nothing was written", w->name);
    for (size_t i = w->size; i < size; i++)
        ck_assert_msg(block[i] == 0, "%s: byte %zu of %zu is %d", w->name, i, size, block[i]);
    free(block);
}

static void expect_refused(const struct writer *w, size_t size) {
    size_t *const block = malloc(sizeof size);
    *block = size;
    ck_assert_msg(w->call(block) == GM_ERROR_SIZE, "%s, size %zu", w->name, size);
    ck_assert_uint_eq(*block, size);
    free(block);
}

START_TEST(every_struct_that_is_written) {
    const struct writer *w = &writers[_i];
    expect_written(w, w->size);
    expect_written(w, w->size + 1);
    expect_written(w, w->size + 24);
    expect_written(w, w->size + GM_NEWER_BYTES_MAX);
    expect_refused(w, 0);
    expect_refused(w, sizeof(size_t));
    expect_written(w, w->first);
    expect_refused(w, w->first - 1);
    expect_refused(w, w->size + GM_NEWER_BYTES_MAX + 1);
    expect_refused(w, SIZE_MAX);
}
END_TEST

/* ---- a struct that has grown -------------------------------------------------------------------------- */

struct grown {
    size_t size;
    int32_t old, added; /* version 0.1 ended behind `old` */
    double more;
};
#define FIRST offsetof(struct grown, added)

START_TEST(an_older_callers_struct_is_filled_up) {
    const struct grown now = {sizeof now, 5, 6, 7};
    for (size_t size = FIRST; size < sizeof now; size++) {
        void *const block = block_of(&now, sizeof now, size, size, 0);
        unsigned char wanted[sizeof now] = {0};
        struct grown today = {.added = 8, .more = 9};
        memcpy(wanted, &now, size);
        ck_assert_ptr_eq(gm_struct_take(block, &today, FIRST, sizeof today, "it"), &today);
        ck_assert_int_eq(memcmp(&today, wanted, sizeof wanted), 0);
        free(block);
    }
    struct grown today;
    const size_t too_small = FIRST - 1;
    ck_assert_ptr_null(gm_struct_take(&too_small, &today, FIRST, sizeof today, "it"));
    ck_assert_str_eq(gm_last_error(), "it.size is 11; this library knows 24 (set .size = sizeof the struct)");
    ck_assert_ptr_null(gm_struct_take(NULL, &today, FIRST, sizeof today, "it"));
    ck_assert_str_eq(gm_last_error(), "it is NULL");
}
END_TEST

START_TEST(an_older_callers_struct_is_written_as_far_as_it_goes) {
    const struct grown now = {sizeof now, 5, 6, 7};
    for (size_t size = FIRST; size <= sizeof now; size++) {
        unsigned char *const block = block_of(&(struct grown){0}, sizeof now, size, size, 0);
        ck_assert_int_eq(gm_struct_check_output(block, FIRST, sizeof now, "it"), GM_OK);
        gm_struct_output(block, &now, sizeof now);
        ck_assert_int_eq(memcmp(block + sizeof size, (const char *)&now + sizeof size, size - sizeof size), 0);
        ck_assert_int_eq(memcmp(block, &size, sizeof size), 0);
        free(block);
    }
}
END_TEST

/* ---- arrays -------------------------------------------------------------------------------------------- */

/* Two walks, `size` bytes apart. */
static unsigned char *two_walks(size_t size, size_t second_size) {
    unsigned char *const block = calloc(2, size);
    memcpy(block, &walk, sizeof walk);
    memcpy(block + size, &walk, sizeof walk);
    memcpy(block, &size, sizeof size);
    memcpy(block + size, &second_size, sizeof size);
    return block;
}

START_TEST(elements_are_as_far_apart_as_the_first_ones_size) {
    const size_t size = sizeof walk + 16;
    struct gm_pad_advice advice = {.size = sizeof advice}, once = advice;
    struct gm_swizzle swizzle;
    int found = 0;
    unsigned char *walks = two_walks(size, size);
    assert_ok(gm_pad_advise(&pad, &walk, 1, &h200, &once));
    assert_ok(gm_pad_advise(&pad, (void *)walks, 2, &h200, &advice));
    ck_assert_uint_eq(advice.wavefronts, 2 * once.wavefronts);
    assert_ok(gm_swizzle_search(&tile, (void *)walks, 2, &swizzle, &found));
    ck_assert_int_eq(found, 1);
    pad.hardware_swizzle = 1;
    assert_ok(gm_pad_advise(&pad, (void *)walks, 2, &h200, &advice));
    walks[2 * size - 1] = 1;
    assert_fails(gm_pad_advise(&pad, (void *)walks, 2, &h200, &advice), GM_ERROR_SIZE, "is not 0");
    assert_fails(gm_swizzle_search(&tile, (void *)walks, 2, &swizzle, &found), GM_ERROR_SIZE, "is not 0");
    free(walks);
    walks = two_walks(size, sizeof walk);
    assert_fails(gm_pad_advise(&pad, (void *)walks, 2, &h200, &advice), GM_ERROR_SIZE,
                 "walk 1 has the size 280, and the first one 296");
    assert_fails(gm_swizzle_search(&tile, (void *)walks, 2, &swizzle, &found), GM_ERROR_SIZE, "walk 1");
    free(walks);
}
END_TEST

START_TEST(rules_are_written_as_far_apart_as_the_first_ones_size) {
    const size_t size = sizeof(struct gm_rule) + 40;
    size_t count = 0;
    int legal = 0;
    assert_ok(gm_tensor_map_explain(&descriptor.map, NULL, 0, &count, &legal));
    unsigned char *const rules = malloc(count * size);
    memset(rules, POISON, count * size);
    memcpy(rules, &size, sizeof size);
    assert_ok(gm_tensor_map_explain(&descriptor.map, (void *)rules, count, &count, &legal));
    for (size_t i = 0; i < count; i++) {
        struct gm_rule rule;
        memcpy(&rule, rules + i * size, sizeof rule);
        ck_assert_uint_eq(rule.size, size);
        ck_assert_int_ne(rule.holds, 0);
        ck_assert_uint_gt(strlen(rule.sentence), 8);
        ck_assert_int_eq(rules[(i + 1) * size - 1], 0);
    }
    free(rules);
}
END_TEST

/* What stands within another struct moves what follows, so it never grows. */
START_TEST(structs_within_structs_have_one_size) {
    struct gm_pad_advice advice = {.size = sizeof advice};
    struct gm_descriptor_answer answer = {.size = sizeof answer};
    pad.tile.size += 8;
    assert_fails(gm_pad_advise(&pad, &walk, 1, &h200, &advice), GM_ERROR_SIZE,
                 "question.tile.size is 48; it is 40 in every version");
    descriptor.operand.size += 8;
    assert_fails(gm_descriptor_compare(&descriptor, &answer), GM_ERROR_SIZE, "question.operand.size is 32; it is 24");
    descriptor.map.size -= 8;
    assert_fails(gm_descriptor_compare(&descriptor, &answer), GM_ERROR_SIZE, "question.map.size is 144; it is 152");
}
END_TEST

Suite *structs_suite(void) {
    Suite *suite = suite_create("structs");
    TCase *public = tcase_create("public structs");
    tcase_add_checked_fixture(public, set_up, tear_down);
    tcase_add_loop_test(public, every_struct_that_is_read, 0, READERS);
    tcase_add_loop_test(public, every_struct_that_is_written, 0, WRITERS);
    tcase_add_test(public, elements_are_as_far_apart_as_the_first_ones_size);
    tcase_add_test(public, rules_are_written_as_far_apart_as_the_first_ones_size);
    tcase_add_test(public, structs_within_structs_have_one_size);
    suite_add_tcase(suite, public);
    TCase *grown = tcase_create("a struct that has grown");
    tcase_add_test(grown, an_older_callers_struct_is_filled_up);
    tcase_add_test(grown, an_older_callers_struct_is_written_as_far_as_it_goes);
    suite_add_tcase(suite, grown);
    return suite;
}
