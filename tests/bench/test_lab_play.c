/* SPDX-License-Identifier: Apache-2.0 */
/* gristmill lab play: the page is whole, holds the program's own facts, and needs nothing from elsewhere. What it computes
 * and shows, tests/play checks. */
#include "bench_tests.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "program/commands.h"
#include "program/draw/palette.h"
#include "run_command.h"
#include "smem/bank.h"

#define PAGE "bench-tests-out/play.html"

static char *page_text(void) {
    mkdir("bench-tests-out", 0777);
    struct outcome got = run_command(command_lab, "play " PAGE);
    ck_assert_msg(got.code == 0, "exit code %d\n%s", got.code, got.err);
    ck_assert_str_eq(got.out, "");
    ck_assert_str_eq(got.err, PAGE ": open it in a browser\n");
    forget_outcome(&got);
    return read_all(PAGE);
}

START_TEST(the_page_is_whole) {
    char *page = page_text();
    ck_assert_int_eq(strncmp(page, "<!DOCTYPE html>\n", 16), 0);
    ck_assert_str_eq(page + strlen(page) - 8, "</html>\n");
    char *script = strstr(page, "<script>");
    ck_assert_ptr_nonnull(script);
    char *last = strstr(script, "// ======== lab/play/page.js\n");
    ck_assert(last && strstr(last, "})();\n</script>"));
    ck_assert_ptr_null(strstr(strstr(script, "</script>") + 1, "</script>"));
    free(page);
}
END_TEST

START_TEST(nothing_comes_from_elsewhere) {
    static const char *const ways[] = {"http:", "https:", " src=", "url(", "@import", "import ", "fetch(", "<link"};
    char *page = page_text();
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        ck_assert_msg(!strstr(page, ways[i]), "the page has `%s`", ways[i]);
    free(page);
}
END_TEST

static void expect_text(const char *page, const char *format, const char *text) {
    char wanted[128];
    snprintf(wanted, sizeof wanted, format, text);
    ck_assert_msg(strstr(page, wanted) != NULL, "no `%s` in the page", wanted);
}

START_TEST(rules_devices_and_colours_are_the_programs) {
    static const char *const devices[] = {"a100", "h100", "h200", "a10", "rtx4090"};
    char colour[16], *page = page_text();
    for (int kind = 0; kind < GM_ACCESS_KINDS; kind++)
        expect_text(page, "{\"name\": \"%s\", \"widths\": ", gm_access_rules[kind].name);
    for (size_t i = 0; i < sizeof devices / sizeof *devices; i++)
        expect_text(page, "{\"key\": \"%s\", \"name\": \"NVIDIA ", devices[i]);
    for (uint32_t bank = 0; bank < GM_BANKS; bank++) {
        snprintf(colour, sizeof colour, "%06x", (unsigned)palette_step(bank, GM_BANKS));
        expect_text(page, "[\"#%s\", ", colour);
    }
    free(page);
}
END_TEST

START_TEST(pages_that_cannot_be_written) {
    struct outcome got = run_command(command_lab, "play bench-tests-out/no-such-folder/play.html");
    ck_assert_int_eq(got.code, 1);
    ck_assert_msg(strstr(got.err, "gristmill: cannot write bench-tests-out/no-such-folder/play.html: "), "%s", got.err);
    forget_outcome(&got);
    got = run_command(command_lab, "play /dev/full");
    ck_assert_int_eq(got.code, 1);
    ck_assert_msg(strstr(got.err, "gristmill: cannot write /dev/full: No space left on device"), "%s", got.err);
    forget_outcome(&got);
    expect_refusal(command_lab, "play one.html two.html", "writes one file, not also two.html");
    expect_refusal(command_lab, "play --open", "there is no option --open");
}
END_TEST

TCase *lab_play_tests(void) {
    TCase *tests = tcase_create("lab play");
    tcase_set_tags(tests, "lab");
    tcase_add_test(tests, the_page_is_whole);
    tcase_add_test(tests, nothing_comes_from_elsewhere);
    tcase_add_test(tests, rules_devices_and_colours_are_the_programs);
    tcase_add_test(tests, pages_that_cannot_be_written);
    return tests;
}
