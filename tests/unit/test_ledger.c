/* SPDX-License-Identifier: Apache-2.0 */
/* Tuning ledgers: from texts and files, by several threads, and the built-in one. */
#include "ledgers.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HEAD "gristmill-ledger 1\ndevice NVIDIA H200\ncc 9.0\nsms 132\nl2_bytes 62914560\ndram_gbs 4814\n"

static gm_ledger *ledger;

static void set_up(void) {
    ledger = NULL;
}

static void tear_down(void) {
    gm_ledger_destroy(ledger);
}

START_TEST(the_head_and_the_entries_are_read) {
    ledger = ledger_of("  gemm\tbf16 bf16 fp32 nt general 1 2147483647 3  *a 1.5 1 2 7  b 2 2 2 1 \r\n"
                       "\n# a remark\n"
                       "gemm fp16 fp16 fp16 tn plain 64 2112 7168 b 11.98 11.9 12.05 7 *a 12.5 12 13.000001 3");
    struct gm_ledger_info info = {.size = sizeof info};
    assert_ok(gm_ledger_get_info(ledger, &info));
    ck_assert_str_eq(info.device, "NVIDIA H200");
    ck_assert_int_eq(info.cc_major, 9);
    ck_assert_int_eq(info.cc_minor, 0);
    ck_assert_int_eq(info.sm_count, 132);
    ck_assert_uint_eq(info.entries, 2);
    ck_assert(ledger->device.l2_bytes == 62914560 && ledger->device.dram_gbs == 4814);
    const struct gm_ledger_entry *first = &ledger->entries[0], *second = &ledger->entries[1];
    struct gm_gemm_problem p = problem_of(1, INT32_MAX, 3);
    p.d_type = GM_FP32, p.a_major = p.b_major = GM_MN_MAJOR, p.activation = GM_ACT_SILU;
    const struct gm_ledger_key key = gm_ledger_key_of(&gm_operation_gemm, &p);
    ck_assert_int_eq(gm_ledger_compare_keys(&first->key, &key), 0);
    ck_assert_int_eq(first->choice.kernel, 0);
    ck_assert(first->choice.us == 1.5 && first->model_us == 1.5);
    ck_assert_int_eq(second->choice.kernel, 1);
    ck_assert(second->choice.us == 11.98 && second->model_us == 12.5);
    ck_assert_int_eq(strncmp(first->line, "gemm\tbf16", 9), 0);
    ck_assert_int_eq(first->line[first->line_bytes - 1], '1');
}
END_TEST

START_TEST(a_head_alone_is_a_ledger) {
    assert_ok(gm_ledger_parse(HEAD, strlen(HEAD), &ledger));
    ck_assert_uint_eq(ledger->count, 0);
}
END_TEST

START_TEST(entries_are_sorted_and_twin_lines_count_once) {
    ledger = ledger_of("gemm bf16 bf16 bf16 tn plain 9 8 7 *a 1 1 1 1\n"
                       "gemm bf16 bf16 bf16 tn plain 10 8 6 *a 1 1 1 1\n"
                       "gemm bf16 bf16 bf16 tn plain 2 9 1 *a 1 1 1 1\n"
                       "gemm bf16 bf16 bf16 tn plain 10 8 7 *a 1 1 1 1\n"
                       "gemm bf16 bf16 bf16 tn plain 9 8 7 *a 1 1 1 1\n");
    static const int64_t expected[][3] = {{10, 8, 6}, {9, 8, 7}, {10, 8, 7}, {2, 9, 1}};
    ck_assert_uint_eq(ledger->count, 4);
    for (size_t i = 0; i < 4; i++) {
        const struct gm_ledger_key *key = &ledger->entries[i].key;
        ck_assert(ledger_value(key, "m") == expected[i][0] && ledger_value(key, "n") == expected[i][1] &&
                  ledger_value(key, "k") == expected[i][2]);
    }
}
END_TEST

START_TEST(a_table_without_the_row_can_leave_it_out) {
    static const char text[] = HEAD SHAPE "gone 1 1 1 1 *a 2 2 2 1\ngemm bf16 bf16 bf16 tn plain 1 2 3 *b 1 1 1 1\n";
    assert_ok(gm_ledger_parse_with("it", text, strlen(text), ledger_rows, LEDGER_ROWS, GM_STALE_LEFT_OUT, &ledger));
    ck_assert_uint_eq(ledger->count, 1);
    ck_assert_uint_eq(ledger->left_out, 1);
    ck_assert_int_eq(ledger->entries[0].choice.kernel, 1);
}
END_TEST

START_TEST(a_byte_order_mark_before_the_text_says_nothing) {
    static const char text[] = "\xef\xbb\xbf" HEAD SHAPE "*a 2 2 2 1\n";
    assert_ok(ledger_try(text, &ledger));
    ck_assert_uint_eq(ledger->count, 1);
    ck_assert_str_eq(ledger->device.name, "NVIDIA H200");
    gm_ledger *other = NULL;
    assert_fails(ledger_try("\xef\xbb\xbf" HEAD "nonsense\n", &other), GM_ERROR_LEDGER, "the text:7: `nonsense`");
    assert_fails(ledger_try("\xef\xbb\xbf", &other), GM_ERROR_LEDGER, "no line `gristmill-ledger`");
}
END_TEST

START_TEST(files_are_read_and_what_cannot_be_is_said) {
    char path[] = "/tmp/gm_ledger_XXXXXX";
    const int file = mkstemp(path);
    ck_assert_int_ge(file, 0);
    ck_assert_int_eq((int)write(file, HEAD, strlen(HEAD)), (int)strlen(HEAD));
    assert_ok(gm_ledger_read(path, &ledger));
    gm_ledger_destroy(ledger);
    ledger = NULL;
    ck_assert_int_eq((int)write(file, "nonsense\n", 9), 9);
    char words[64];
    snprintf(words, sizeof words, "%s:7: `nonsense`", path);
    assert_fails(gm_ledger_read(path, &ledger), GM_ERROR_LEDGER, words);
    ck_assert_int_eq(ftruncate(file, (64 << 20) + 1), 0);
    assert_fails(gm_ledger_read(path, &ledger), GM_ERROR_LEDGER, "File too large");
    ck_assert_int_eq(ftruncate(file, 0), 0);
    assert_fails(gm_ledger_read(path, &ledger), GM_ERROR_LEDGER, "no line `gristmill-ledger`");
    close(file);
    unlink(path);
    assert_fails(gm_ledger_read(path, &ledger), GM_ERROR_LEDGER, "No such file");
    assert_fails(gm_ledger_read("/tmp", &ledger), GM_ERROR_LEDGER, "cannot read the ledger /tmp: Is a directory");
}
END_TEST

START_TEST(null_arguments_are_refused) {
    struct gm_ledger_info info = {.size = sizeof info};
    assert_fails(gm_ledger_parse(NULL, 0, &ledger), GM_ERROR_INVALID_ARGUMENT, "text is NULL");
    assert_fails(gm_ledger_parse("", 0, NULL), GM_ERROR_INVALID_ARGUMENT, "ledger is NULL");
    assert_fails(gm_ledger_read(NULL, &ledger), GM_ERROR_INVALID_ARGUMENT, "path is NULL");
    assert_fails(gm_ledger_read("x", NULL), GM_ERROR_INVALID_ARGUMENT, "ledger is NULL");
    assert_fails(gm_ledger_get_info(NULL, &info), GM_ERROR_INVALID_ARGUMENT, "ledger is NULL");
    assert_ok(gm_ledger_parse(HEAD, strlen(HEAD), &ledger));
    assert_fails(gm_ledger_get_info(ledger, NULL), GM_ERROR_INVALID_ARGUMENT, "info is NULL");
    info.size = 1;
    assert_fails(gm_ledger_get_info(ledger, &info), GM_ERROR_SIZE, "info.size is 1");
    gm_ledger_destroy(NULL);
    ck_assert_ptr_null(gm_ledger_builtin(NULL));
}
END_TEST

/* Well-formed, and of the devices that the models of them name. */
START_TEST(the_built_in_ledgers_are_the_h200s_and_the_h100s) {
    static const char *const measured[] = {"h200", "h100"}, *const others[] = {"a100", "a10", "rtx4090"};
    for (size_t i = 0; i < 2; i++) {
        struct gm_device device = device_of(measured[i]);
        const gm_ledger *built_in = gm_ledger_builtin(&device);
        ck_assert_ptr_nonnull(built_in);
        ck_assert_ptr_eq(built_in, gm_ledger_builtin(&device));
        ck_assert_int_eq(gm_ledger_is_of(built_in, &device), 1);
        device.sm_count = 66;
        ck_assert_ptr_null(gm_ledger_builtin(&device));
    }
    for (size_t i = 0; i < 3; i++) {
        const struct gm_device device = device_of(others[i]);
        ck_assert_ptr_null(gm_ledger_builtin(&device));
    }
}
END_TEST

START_TEST(the_hash_changes_with_every_fact_of_a_row) {
    struct gm_kernel rows[LEDGER_ROWS];
    memcpy(rows, ledger_rows, sizeof rows);
    const uint64_t before = gm_ledger_table_hash(rows, LEDGER_ROWS);
    ck_assert(before == gm_ledger_table_hash(ledger_rows, LEDGER_ROWS));
    ck_assert(before != gm_ledger_table_hash(rows, LEDGER_ROWS - 1));
    int *const facts[] = {&rows[1].production, &rows[1].smem_bytes, &rows[1].threads, &rows[1].registers};
    for (size_t i = 0; i < 4; i++) {
        ++*facts[i];
        ck_assert(before != gm_ledger_table_hash(rows, LEDGER_ROWS));
        --*facts[i];
    }
    rows[0].name = "c";
    ck_assert(before != gm_ledger_table_hash(rows, LEDGER_ROWS));
}
END_TEST

#define THREADS 8
static const gm_ledger *built_in[THREADS];

static void *read_often(void *at) {
    static const char good[] = HEAD, bad[] = HEAD "nonsense\n";
    const struct gm_device h200 = device_of("h200");
    built_in[(const gm_ledger **)at - built_in] = gm_ledger_builtin(&h200);
    for (int i = 0; i < 200; i++) {
        gm_ledger *mine = NULL;
        if (gm_ledger_parse(good, strlen(good), &mine) != GM_OK)
            return at;
        gm_ledger_destroy(mine);
        if (gm_ledger_parse(bad, strlen(bad), &mine) != GM_ERROR_LEDGER || !strstr(gm_last_error(), "nonsense"))
            return at;
    }
    return NULL;
}

START_TEST(threads_read_at_once) {
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, read_often, &built_in[i]), 0);
    for (int i = 0; i < THREADS; i++) {
        void *failed = NULL;
        pthread_join(threads[i], &failed);
        ck_assert_ptr_null(failed);
        ck_assert_ptr_eq(built_in[i], built_in[0]);
    }
}
END_TEST

Suite *ledger_suite(void) {
    Suite *suite = suite_create("ledger");
    TCase *cases = tcase_create("text");
    tcase_add_checked_fixture(cases, set_up, tear_down);
    tcase_add_test(cases, the_head_and_the_entries_are_read);
    tcase_add_test(cases, a_head_alone_is_a_ledger);
    tcase_add_test(cases, entries_are_sorted_and_twin_lines_count_once);
    tcase_add_test(cases, a_table_without_the_row_can_leave_it_out);
    tcase_add_test(cases, a_byte_order_mark_before_the_text_says_nothing);
    tcase_add_test(cases, files_are_read_and_what_cannot_be_is_said);
    tcase_add_test(cases, null_arguments_are_refused);
    tcase_add_test(cases, the_built_in_ledgers_are_the_h200s_and_the_h100s);
    tcase_add_test(cases, the_hash_changes_with_every_fact_of_a_row);
    tcase_add_test(cases, threads_read_at_once);
    suite_add_tcase(suite, cases);
    return suite;
}
