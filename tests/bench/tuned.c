/* SPDX-License-Identifier: Apache-2.0 */
/* gristmill tune on a GPU that is not there. */
#include "tuned.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench_tests.h"
#include "run_command.h"

static void remove_files(void) {
    unlink(BOOK);
    unlink(OTHER);
}

void tuned_set_up(void) {
    remove_files();
    fake_gpu_install((struct fake_gpu){.m = 40, .n = 48, .k = 64, .ours_us = 10, .refused_heuristic = -1});
}

void tuned_tear_down(void) {
    fake_gpu_remove();
    remove_files();
}

void write_text(const char *path, const char *text) {
    FILE *file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    ck_assert_int_ge(fputs(text, file), 0);
    ck_assert_int_eq(fclose(file), 0);
}

void expect_run(const char *line, int code, const char *out, const char *err) {
    struct outcome got = run_command(command_tune, line);
    ck_assert_msg(got.code == code, "%s: exit code %d, %s", line, got.code, got.err);
    ck_assert_msg(strstr(got.out, out) != NULL, "%s: \"%s\" is not in %s", line, out, got.out);
    ck_assert_msg(strstr(got.err, err) != NULL, "%s: \"%s\" is not in %s", line, err, got.err);
    forget_outcome(&got);
}

void expect_in(const char *path, const char *words, bool there) {
    char *text = read_all(path);
    ck_assert_msg((strstr(text, words) != NULL) == there, "\"%s\" in %s", words, text);
    free(text);
}
