/* SPDX-License-Identifier: Apache-2.0 */
/* gristmill tune without measuring: --merge and --check. */
#include "bench_tests.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tuned.h"

/* The entry of a problem with this M, chosen with this time. */
static const char *entry_of(int m, double us) {
    static char line[256];
    snprintf(line, sizeof line, "gemm bf16 bf16 bf16 tn plain %d 48 64 *%s %.3f 1.000 99.000 7\n", m,
             gm_kernels[0].name, us);
    return line;
}

START_TEST(merging_takes_the_second_ones_word) {
    char text[2048];
    snprintf(text, sizeof text, "%smeasured table 00000000000000ff second\n%s", HEAD, entry_of(100, 5));
    strcat(text, entry_of(8, 6));
    write_text(BOOK, text);
    snprintf(text, sizeof text, "%smeasured table 00000000000000aa first\nmeasured table 00000000000000ff second\n%s",
             HEAD, entry_of(8, 7));
    write_text(OTHER, text);
    expect_run("--merge " BOOK " " OTHER " -o " BOOK, 0, "2 entries", "");
    snprintf(text, sizeof text,
             "%smeasured table 00000000000000aa first\nmeasured table 00000000000000ff second\n"
             "# op A B D layout epilogue M N K, then kernel median p10 p90 rounds: the choice first, the model's pick "
             "with a star\n%s",
             HEAD, entry_of(8, 7));
    strcat(text, entry_of(100, 5));
    char *merged = read_all(BOOK);
    ck_assert_str_eq(merged, text);
    free(merged);
    expect_run("--merge " BOOK " " BOOK " -o " OTHER, 0, "2 entries", "");
    merged = read_all(OTHER);
    ck_assert_str_eq(merged, text);
    free(merged);
}
END_TEST

START_TEST(merging_refuses_two_devices_and_leaves_stale_entries_out) {
    char text[2048];
    snprintf(text, sizeof text, "%sgemm bf16 bf16 bf16 tn plain 8 48 64 *gone 1 1 1 1\n%s", HEAD, entry_of(9, 2));
    write_text(BOOK, text);
    write_text(OTHER, "gristmill-ledger 1\ndevice NVIDIA FAKE 8\ncc 8.0\nsms 4\nl2_bytes 65536\ndram_gbs 250000\n");
    expect_run("--merge " BOOK " " OTHER " -o " BOOK, 1, "",
               "two devices: NVIDIA FAKE 9, 9.0, 4 SMs, and NVIDIA FAKE 8");
    expect_run("--merge " BOOK " " BOOK " -o " OTHER, 0, "1 entries",
               "1 entries name kernels that the table no longer");
    expect_in(OTHER, "gone", false);
    expect_run("--merge " BOOK " nowhere -o " OTHER, 1, "", "cannot read the ledger nowhere");
    expect_run("--merge " BOOK " " BOOK " -o no/such/folder", 1, "", "cannot write no/such/folder: No such file");
}
END_TEST

START_TEST(checking_tells_what_a_ledger_is) {
    char text[2048];
    snprintf(text, sizeof text,
             "%smeasured table 00000000000000aa first\n"
             "gemm bf16 bf16 bf16 tn plain 8 48 64 %s 10 10 10 7 *gone 11 11 11 7\n%s",
             HEAD, gm_kernels[0].name, entry_of(9, 2));
    write_text(BOOK, text);
    expect_run("--check " BOOK, 0,
               "2 entries for NVIDIA FAKE 9, compute capability 9.0, 4 SMs\n"
               "the model's pick is the choice in 1 of them; the choices are 4.88 % faster",
               "");
    expect_run("--check " BOOK, 0, "1 of 1 runs that measured it had another, or an unknown, table", "");
    expect_run("--check " BOOK " --device h200", 1, "", "another device: NVIDIA FAKE 9");
    expect_run("--check " BOOK " --device v100", 1, "", "neither a device number nor");
    strcat(text, "gemm bf16 bf16 bf16 tn plain 10 48 64 *gone 1 1 1 1\n");
    write_text(BOOK, text);
    expect_run("--check " BOOK, 1, "", BOOK ":10: the ledger is stale: the table has no kernel named gone");
}
END_TEST

TCase *tune_files_tests(void) {
    TCase *tests = tcase_create("tune files");
    tcase_add_checked_fixture(tests, tuned_set_up, tuned_tear_down);
    tcase_add_test(tests, merging_takes_the_second_ones_word);
    tcase_add_test(tests, merging_refuses_two_devices_and_leaves_stale_entries_out);
    tcase_add_test(tests, checking_tells_what_a_ledger_is);
    return tests;
}
