/* SPDX-License-Identifier: Apache-2.0 */
/* Two processes that write one file: ledgers, results, and the locks and drafts behind them. */
#include "bench_tests.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "imported.h"
#include "bench/report/results_read.h"
#include "run_command.h"
#include "program/base/shared_file.h"

#define COUNTER "bench-tests-out.counter"
#define FIFO    "bench-tests-out.fifo"
#define PARTS   "bench-tests-out-parts.json"

enum { ROUNDS = 30, PROCESSES = 4, STEPS = 200 };

/* Runs `work` in a process of its own. */
static pid_t begin(int (*work)(int argument), int argument) {
    fflush(NULL);
    const pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0)
        _exit(work(argument));
    return child;
}

static void expect_success(pid_t child) {
    int status = -1;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 0, "status 0x%x", status);
}

static void expect_gone(const char *path) {
    ck_assert_msg(access(path, F_OK) != 0, "%s is still there", path);
}

/* ---- locks and drafts ---------------------------------------------------------------------------------- */

/* Reads a number and writes the next one, under the lock. */
static int count_up(int steps) {
    if (!freopen("/dev/null", "w", stderr)) /* who waits says so */
        return 5;
    for (int i = 0; i < steps; i++) {
        struct file_lock lock;
        struct draft draft;
        int number = 0;
        if (file_lock(&lock, COUNTER) != 0)
            return 1;
        FILE *in = fopen(COUNTER, "r");
        if (in) {
            if (fscanf(in, "%d", &number) != 1)
                return 2;
            fclose(in);
        }
        if (draft_begin(&draft, COUNTER) != 0)
            return 3;
        fprintf(draft.out, "%d", number + 1);
        if (draft_end(&draft) != 0)
            return 4;
        file_unlock(&lock);
    }
    return 0;
}

START_TEST(no_step_of_many_processes_is_lost) {
    pid_t children[PROCESSES];
    char wanted[16];
    unlink(COUNTER);
    for (int i = 0; i < PROCESSES; i++)
        children[i] = begin(count_up, STEPS);
    for (int i = 0; i < PROCESSES; i++)
        expect_success(children[i]);
    char *text = read_all(COUNTER);
    snprintf(wanted, sizeof wanted, "%d", PROCESSES * STEPS);
    ck_assert_str_eq(text, wanted);
    free(text);
    expect_gone(COUNTER ".lock");
    unlink(COUNTER);
}
END_TEST

static FILE *said;

/* Until the other process has said that it waits; then ends without file_unlock(). */
static int hold_and_die(int ready) {
    struct file_lock lock;
    struct stat stat = {0};
    if (file_lock(&lock, COUNTER) != 0)
        return 1;
    if (write(ready, "x", 1) != 1)
        return 2;
    for (int i = 0; i < 3000 && stat.st_size == 0; i++) {
        usleep(10000);
        fstat(fileno(said), &stat);
    }
    return 0;
}

START_TEST(who_waits_says_so_and_the_dead_hold_nothing) {
    struct file_lock lock;
    int ready[2];
    char byte;
    ck_assert_int_eq(pipe(ready), 0);
    said = tmpfile();
    ck_assert_ptr_nonnull(said);
    const pid_t child = begin(hold_and_die, ready[1]);
    ck_assert_int_eq((int)read(ready[0], &byte, 1), 1);
    const int saved = dup(STDERR_FILENO);
    dup2(fileno(said), STDERR_FILENO);
    ck_assert_int_eq(file_lock(&lock, COUNTER), 0);
    dup2(saved, STDERR_FILENO);
    close(saved);
    expect_success(child);
    char text[128] = "";
    rewind(said);
    ck_assert_ptr_nonnull(fgets(text, sizeof text, said));
    fclose(said);
    ck_assert_str_eq(text, "Another process is writing " COUNTER ": this one waits for it.\n");
    file_unlock(&lock);
    file_unlock(&lock); /* nothing more */
    expect_gone(COUNTER ".lock");
    close(ready[0]);
    close(ready[1]);
}
END_TEST

START_TEST(what_cannot_be_written_leaves_nothing) {
    struct file_lock lock = {0};
    struct draft draft;
    char path[SHARED_PATH_BYTES], name[64];
    ck_assert_int_eq(file_lock(&lock, "no/such/folder/file"), -1);
    ck_assert(!lock.held);
    ck_assert_int_eq(draft_begin(&draft, "no/such/folder/file"), -1);
    memset(path, 'x', sizeof path);
    path[sizeof path - 1] = 0;
    ck_assert_int_eq(file_lock(&lock, path), -1);
    ck_assert_int_eq(draft_begin(&draft, path), -1);
    ck_assert_int_eq(draft_begin(&draft, "/tmp"), -1); /* a folder's place cannot be taken */
    snprintf(name, sizeof name, "/tmp.%ld.tmp", (long)getpid());
    expect_gone(name);
}
END_TEST

START_TEST(what_is_no_file_is_written_to) {
    struct draft draft;
    struct stat there;
    char text[8] = "";
    unlink(FIFO);
    ck_assert_int_eq(mkfifo(FIFO, 0600), 0);
    const int reader = open(FIFO, O_RDWR | O_NONBLOCK);
    ck_assert_int_ge(reader, 0);
    ck_assert_int_eq(draft_begin(&draft, FIFO), 0);
    fputs("read me", draft.out);
    ck_assert_int_eq(draft_end(&draft), 0);
    ck_assert_int_eq(read(reader, text, sizeof text), 7);
    ck_assert_int_eq(stat(FIFO, &there), 0);
    ck_assert(S_ISFIFO(there.st_mode));
    close(reader);
    unlink(FIFO);
    ck_assert_int_eq(draft_begin(&draft, "/dev/full"), 0);
    fputs("lost", draft.out);
    ck_assert_int_eq(draft_end(&draft), -1);
}
END_TEST

/* ---- ledgers ------------------------------------------------------------------------------------------- */

static int import(int which) {
    static const char *const lines[] = {"--import " FIRST " -o " BOOK, "--import " SECOND " -o " BOOK};
    struct outcome got = run_command(command_tune, lines[which]);
    const int code = got.code;
    forget_outcome(&got);
    return code;
}

/* Of `problems` problems, from this M on. */
static void write_results(const char *path, int m, int problems) {
    for (int i = 0; i < problems; i++) {
        for (int row = 0; row < likes; row++) {
            add_flat(row, 10 + row);
            gemm_of(&results.rows[results.count - 1].problem)->m = m + 64 * i;
        }
    }
    write_to(path);
}

START_TEST(of_two_imports_into_one_ledger_nothing_is_lost) {
    write_results(FIRST, 64, 3);
    write_results(SECOND, 64 * 4, 3);
    for (int round = 0; round < ROUNDS; round++) {
        gm_ledger *ledger = NULL;
        unlink(BOOK);
        const pid_t first = begin(import, 0), second = begin(import, 1);
        expect_success(first);
        expect_success(second);
        ck_assert_int_eq(gm_ledger_read(BOOK, &ledger), GM_OK);
        ck_assert_msg(ledger->count == 6, "round %d: %zu of 6 entries", round, ledger->count);
        gm_ledger_destroy(ledger);
    }
    expect_gone(BOOK ".lock");
}
END_TEST

static struct gm_ledger_key key_of(int64_t m) {
    const struct gm_gemm_problem problem = {.size = sizeof problem, .m = m, .n = 64, .k = 64};
    return gm_ledger_key_of(&gm_operation_gemm, &problem);
}

static int put_entry(struct ledger_writer *writer, int64_t m, const char *us) {
    char line[256];
    const struct gm_ledger_key key = key_of(m);
    snprintf(line, sizeof line, "gemm bf16 bf16 bf16 tn plain %d 64 64 *%s %s %s %s 3", (int)m, gm_kernels[0].name, us,
             us, us);
    return ledger_writer_put(writer, &key, line, strlen(line));
}

static bool has(const struct ledger_writer *writer, int64_t m, const char *us) {
    const struct gm_ledger_key key = key_of(m);
    const char *line = ledger_writer_find(writer, &key);
    return line && strstr(line, us);
}

/* A run that measures writes after every problem, for hours; what others have written in between stays. */
START_TEST(a_ledger_is_put_into_the_file_as_it_is_by_now) {
    struct gm_device h200 = {.size = sizeof h200};
    struct ledger_writer first = {0}, second = {0};
    ck_assert_int_eq(gm_device_model("h200", &h200), GM_OK);
    ck_assert_int_eq(ledger_writer_open(&first, BOOK, &h200), 0);
    ck_assert_int_eq(ledger_writer_open(&second, BOOK, &h200), 0);
    ck_assert_int_eq(put_entry(&first, 1, "1.5"), 0);
    ck_assert_int_eq(ledger_writer_extend(&first, BOOK), 0);
    ck_assert_int_eq(put_entry(&second, 2, "2.5"), 0);
    ck_assert_int_eq(ledger_writer_put_origin(&second, "measured table 0123456789abcdef", 31), 0);
    ck_assert_int_eq(ledger_writer_extend(&second, BOOK), 0);
    ck_assert(has(&second, 1, "1.5") && has(&second, 2, "2.5"));
    ck_assert_int_eq(put_entry(&second, 1, "7.5"), 0); /* measured again by the other one */
    ck_assert_int_eq(ledger_writer_extend(&second, BOOK), 0);
    ck_assert_int_eq(put_entry(&first, 3, "3.5"), 0);
    ck_assert_int_eq(ledger_writer_extend(&first, BOOK), 0);
    ck_assert(has(&first, 1, "7.5") && has(&first, 2, "2.5") && has(&first, 3, "3.5"));
    ck_assert_uint_eq(ledger_writer_entries(&first), 3);
    expect_in(BOOK, "measured table 0123456789abcdef\n", true);
    ledger_writer_free(&first);
    ledger_writer_free(&second);
}
END_TEST

START_TEST(a_file_that_has_become_another_devices_is_not_extended) {
    struct gm_device h200 = {.size = sizeof h200};
    struct ledger_writer writer = {0};
    ck_assert_int_eq(gm_device_model("h200", &h200), GM_OK);
    ck_assert_int_eq(ledger_writer_open(&writer, BOOK, &h200), 0);
    ck_assert_int_eq(put_entry(&writer, 1, "1.5"), 0);
    write_text(BOOK, HEAD);
    ck_assert_int_eq(ledger_writer_extend(&writer, BOOK), -1);
    expect_in(BOOK, "*gemm", false);
    ck_assert(has(&writer, 1, "1.5"));
    write_text(BOOK, "nonsense\n");
    ck_assert_int_eq(ledger_writer_extend(&writer, BOOK), -1);
    expect_in(BOOK, "nonsense", true);
    expect_gone(BOOK ".lock");
    ledger_writer_free(&writer);
}
END_TEST

/* ---- results ------------------------------------------------------------------------------------------- */

static int bench(int m) {
    char line[256];
    snprintf(line, sizeof line, "--shape %dx48x64 --no-baseline --quick --append --json " PARTS, m);
    struct outcome got = run_command(command_bench, line);
    const int code = got.code;
    forget_outcome(&got);
    return code;
}

START_TEST(of_two_runs_that_append_to_one_file_nothing_is_lost) {
    for (int round = 0; round < 5; round++) {
        struct bench_results both;
        unlink(PARTS);
        const pid_t first = begin(bench, 40), second = begin(bench, 80);
        expect_success(first);
        expect_success(second);
        ck_assert_int_eq(results_read_json(&both, PARTS), 0);
        ck_assert_msg(both.count == 2, "round %d: %zu of 2 rows", round, both.count);
        results_free(&both);
    }
    expect_gone(PARTS ".lock");
    unlink(PARTS);
}
END_TEST

TCase *shared_file_tests(void) {
    TCase *tests = tcase_create("files of several processes");
    tcase_add_checked_fixture(tests, import_set_up, import_tear_down);
    tcase_add_test(tests, no_step_of_many_processes_is_lost);
    tcase_add_test(tests, who_waits_says_so_and_the_dead_hold_nothing);
    tcase_add_test(tests, what_cannot_be_written_leaves_nothing);
    tcase_add_test(tests, what_is_no_file_is_written_to);
    tcase_add_test(tests, of_two_imports_into_one_ledger_nothing_is_lost);
    tcase_add_test(tests, a_ledger_is_put_into_the_file_as_it_is_by_now);
    tcase_add_test(tests, a_file_that_has_become_another_devices_is_not_extended);
    tcase_add_test(tests, of_two_runs_that_append_to_one_file_nothing_is_lost);
    return tests;
}
