/* SPDX-License-Identifier: Apache-2.0 */
/* Sentences in a host program whose locale has a decimal comma, and sentences that quote what a terminal would obey. */
#include "host/text.h"

#include "ledgers.h"
#include "planned.h"
#include "unit.h"

#include "gristmill/smem.h"

#include <errno.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- what a terminal would obey ------------------------------------------------------------------------- */

static const struct {
    const char *given, *wanted;
} shown[] = {
    {"", ""},
    {"lda 1025 \\ ~", "lda 1025 \\ ~"},
    {"red \x1b[31m, a new\nline, a \ttab", "red \\x1b[31m, a new\\x0aline, a \\x09tab"},
    {"\x7f", "\\x7f"},
    {"\xc2\x9b" "31m", "\\xc2\\x9b31m"},               /* CSI as one character */
    {"\xef\xbb\xbf" "device", "\\xef\\xbb\\xbfdevice"}, /* a byte order mark */
    {"\xe2\x80\xae" "gpj", "\\xe2\\x80\\xaegpj"},       /* from right to left from here on */
    {"\xe2\x80\x8b", "\\xe2\\x80\\x8b"},               /* a space of no width */
    {"\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80", "\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80"},
    {"\x9b\xff\xc3", "\\x9b\\xff\\xc3"},               /* no UTF-8 */
    {"\xc0\x8a \xe0\x80\x8a", "\\xc0\\x8a \\xe0\\x80\\x8a"}, /* a line end, in more bytes than it needs */
    {"\xed\xa0\x80", "\\xed\\xa0\\x80"},
};
#define SHOWN (sizeof shown / sizeof *shown)

START_TEST(what_a_terminal_would_obey_is_written_out) {
    char text[128];
    ck_assert_uint_eq(gm_print(text, sizeof text, "%s", shown[_i].given), strlen(shown[_i].wanted));
    ck_assert_str_eq(text, shown[_i].wanted);
    ck_assert_int_eq(gm_is_shown(shown[_i].given), strcmp(shown[_i].given, shown[_i].wanted) == 0);
    ck_assert_uint_eq(gm_print(text, sizeof text, "%s", shown[_i].wanted), strlen(shown[_i].wanted));
    ck_assert_str_eq(text, shown[_i].wanted); /* a sentence in a sentence is written out once */
}
END_TEST

START_TEST(a_cut_falls_between_characters) {
    for (size_t bytes = 1; bytes <= 16; bytes++) {
        char text[16];
        memset(text, 'x', sizeof text);
        const size_t length = gm_print(text, bytes, "%s", "ab\xe2\x82\xac\x1b" "c");
        static const size_t lengths[] = {0, 1, 2, 2, 2, 5, 5, 5, 5, 9, 10}; /* with 1 byte, 2 bytes ... */
        ck_assert_uint_eq(length, lengths[bytes > 11 ? 10 : bytes - 1]);
        ck_assert_uint_eq(strlen(text), length);
    }
}
END_TEST

START_TEST(quoted_files_and_arguments_reach_no_terminal_raw) {
    static const char *const texts[] = {HEAD "\x1b[2J 1\n", "\x1b]0;title\x07\n", HEAD "gemm \x1b[1m\n",
                                        HEAD "cc \x1b[1m\n"};
    struct gm_gemm_problem p = problem_of(64, 64, 64);
    struct gm_plan_options options = {.size = sizeof options, .kernel = "\x1b[5mkernel"};
    struct gm_device h200 = device_of("h200");
    gm_ledger *ledger = NULL;
    size_t count = 0;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        assert_fails(ledger_try(texts[i], &ledger), GM_ERROR_LEDGER, "\\x1b");
    assert_fails(gm_ledger_read("no\nsuch\x1b" "file", &ledger), GM_ERROR_LEDGER, "no\\x0asuch\\x1bfile");
    assert_fails(gm_gemm_explain(&h200, &p, &options, NULL, 0, &count), GM_ERROR_UNKNOWN_KERNEL, "\\x1b[5mkernel");
    assert_fails(gm_device_model("a100\r", &h200), GM_ERROR_INVALID_ARGUMENT, "'a100\\x0d'");
}
END_TEST

/* ---- a decimal comma -------------------------------------------------------------------------------------- */

static char locale_folder[32];

/* Compiles a locale of its own, where the machine has none: 1 when it is in force. */
static int compile_comma(void) {
    char command[512];
    strcpy(locale_folder, "/tmp/gm-locale-XXXXXX");
    if (!mkdtemp(locale_folder))
        return 0;
    snprintf(command, sizeof command,
             "cd %s && printf 'LC_NUMERIC\\ndecimal_point \",\"\\nthousands_sep \".\"\\ngrouping 3\\nEND LC_NUMERIC\\n' "
             ">comma && localedef -c -i ./comma -f UTF-8 ./xx_XX.UTF-8 >/dev/null 2>&1",
             locale_folder);
    if (system(command) == -1 || setenv("LOCPATH", locale_folder, 1) != 0)
        return 0;
    return setlocale(LC_NUMERIC, "xx_XX.UTF-8") != NULL;
}

static int has_comma;

static void set_up_comma(void) {
    static const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "nl_NL.UTF-8", "de_DE"};
    planned_set_up();
    has_comma = 0;
    for (size_t i = 0; i < sizeof names / sizeof *names && !has_comma; i++)
        has_comma = setlocale(LC_NUMERIC, names[i]) != NULL;
    has_comma = has_comma || compile_comma();
    char text[16];
    snprintf(text, sizeof text, "%.2f", 1.5);
    if (has_comma)
        ck_assert_str_eq(text, "1,50");
    else
        printf("no locale with a decimal comma, and no localedef: sentences were formatted in C only\n");
}

static void tear_down_comma(void) {
    char text[96];
    snprintf(text, sizeof text, "%.2f", 1.5);
    ck_assert_str_eq(text, has_comma ? "1,50" : "1.50"); /* the program's locale is as it was */
    setlocale(LC_NUMERIC, "C");
    if (locale_folder[0]) {
        snprintf(text, sizeof text, "rm -rf %s", locale_folder);
        ck_assert_int_ne(system(text), -1);
        unsetenv("LOCPATH");
    }
    locale_folder[0] = 0;
    planned_tear_down();
}

START_TEST(numbers_have_a_point) {
    char text[64];
    gm_print(text, sizeof text, "%.2f us, %g, %'d", 106.2, 0.001, 1234567);
    ck_assert_str_eq(text, "106.20 us, 0.001, 1234567");
}
END_TEST

static char heard[640];

static void hear(enum gm_log_level level, const char *message, void *user) {
    (void)level, (void)user;
    if (strstr(message, "predicted"))
        snprintf(heard, sizeof heard, "%s", message);
}

static int has_decimal_comma(const char *text) {
    for (const char *at = strchr(text, ','); at; at = strchr(at + 1, ','))
        if (at > text && at[-1] >= '0' && at[-1] <= '9' && at[1] >= '0' && at[1] <= '9')
            return 1;
    return 0;
}

START_TEST(every_sentence_of_the_library_has_a_point) {
    const size_t rows = gemm_count();
    struct gm_candidate *candidates = calloc(rows, sizeof *candidates);
    struct gm_gemm_problem p = problem_of(64, 2112, 7168); /* the built-in ledger has it */
    struct gm_device h200 = device_of("h200");
    gm_plan *plan = NULL;
    size_t count = 0;
    assert_ok(gm_gemm_explain(&h200, &p, NULL, candidates, rows, &count));
    for (size_t i = 0; i < count; i++) {
        ck_assert_msg(!has_decimal_comma(candidates[i].sentence), "%s", candidates[i].sentence);
        ck_assert(!candidates[i].chosen || strchr(candidates[i].sentence, '.'));
    }
    free(candidates);
    gm_set_log_callback(hear, GM_LOG_INFO, NULL);
    assert_ok(gm_gemm_plan_create(context, &p, NULL, &plan));
    gm_plan_destroy(plan);
    gm_set_log_callback(NULL, GM_LOG_OFF, NULL);
    ck_assert_msg(strchr(heard, '.') && !has_decimal_comma(heard), "%s", heard);
    h200.dram_gbs = 0.0001;
    assert_fails(gm_gemm_explain(&h200, &p, NULL, NULL, 0, &count), GM_ERROR_INVALID_ARGUMENT, "is 0.0001; it may");
}
END_TEST

START_TEST(ledgers_and_advice_have_a_point) {
    struct gm_device h200 = device_of("h200");
    const struct gm_pad_question question = {.size = sizeof question,
                                             .tile = {.size = sizeof question.tile, .rows = 32, .row_bytes = 128}};
    struct gm_tile_access walk = {.size = sizeof walk, .kind = GM_ACCESS_LOAD, .width = 4};
    struct gm_pad_advice advice = {.size = sizeof advice};
    gm_ledger *ledger = ledger_of(SHAPE "a 11.980 11.900 12.050 7 *b 12.410 12.300 12.500 7\n");
    ck_assert_double_eq(ledger->entries[0].choice.us, 11.98);
    gm_ledger_destroy(ledger);
    assert_fails(ledger_try(HEAD SHAPE "a 13.980 11.900 12.050 7 *b 12.410 12.300 12.500 7\n", &ledger),
                 GM_ERROR_LEDGER, "a median of 13.980 us outside p10 11.900 to p90 12.050");
    assert_fails(ledger_try(HEAD SHAPE "a 11,980 11,900 12,050 7\n", &ledger), GM_ERROR_LEDGER, "`11,980`");
    for (uint32_t lane = 0; lane < GM_LANES; lane++)
        walk.row[lane] = lane;
    assert_ok(gm_pad_advise(&question, &walk, 1, &h200, &advice));
    ck_assert_msg(strstr(advice.sentence, "3.1 %") != NULL, "%s", advice.sentence);
}
END_TEST

/* A thread may have a locale of its own. */
START_TEST(the_threads_own_locale_is_put_back) {
    char text[16];
    const locale_t own = duplocale(LC_GLOBAL_LOCALE), before = uselocale(own);
    gm_print(text, sizeof text, "%.1f", 1.5);
    ck_assert_str_eq(text, "1.5");
    ck_assert_ptr_eq(uselocale(before), own);
    freelocale(own);
}
END_TEST

START_TEST(errors_of_the_system_have_their_english_text) {
    ck_assert_str_eq(gm_error_text(ENOENT), "No such file or directory");
}
END_TEST

Suite *text_suite(void) {
    Suite *suite = suite_create("text");
    TCase *terminal = tcase_create("terminal");
    tcase_add_loop_test(terminal, what_a_terminal_would_obey_is_written_out, 0, SHOWN);
    tcase_add_test(terminal, a_cut_falls_between_characters);
    tcase_add_test(terminal, quoted_files_and_arguments_reach_no_terminal_raw);
    suite_add_tcase(suite, terminal);
    TCase *locale = tcase_create("locale");
    tcase_add_checked_fixture(locale, set_up_comma, tear_down_comma);
    tcase_add_test(locale, numbers_have_a_point);
    tcase_add_test(locale, every_sentence_of_the_library_has_a_point);
    tcase_add_test(locale, ledgers_and_advice_have_a_point);
    tcase_add_test(locale, the_threads_own_locale_is_put_back);
    tcase_add_test(locale, errors_of_the_system_have_their_english_text);
    suite_add_tcase(suite, locale);
    return suite;
}
