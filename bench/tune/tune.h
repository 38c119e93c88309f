/* SPDX-License-Identifier: Apache-2.0 */
/* gristmill tune: its options, the run they describe, and how a choice is made from times. */
#ifndef BENCH_TUNE_H
#define BENCH_TUNE_H

#include "program/base/args.h"
#include "program/commands.h"
#include "bench/measure/timing.h"
#include "bench/tune/ledger_writer.h"

#define TUNE_TOP_MAX (GM_LEDGER_CANDIDATES_MAX - 1) /* and the model's pick */

struct tune_options {
    struct args_list words, shapes, sets; /* suites; with --merge, ledgers; with --import, results */
    const char *operation, *dtype, *out, *layout, *epilogue, *kernel, *arch, *device, *file, *check, *cublaslt;
    uint32_t arch_mask;
    bool general, again, no_baseline, quiet, merge, import;
    bool all_divisions; /* of each row, not only those that are predicted to be the fastest of their sort */
    int top, rounds;
    int workspace_mib;
    double warmup_s, round_ms;
    double settle_ms; /* untimed, before each of the last rounds of a candidate; 0: they share one clock */
};

struct tune {
    const struct tune_options *options;
    struct gpu gpu;
    struct baselines baselines;
    struct noise noise;
    struct clock_meter meter;
    struct ledger_writer writer;
    int measured, failures; /* problems that have an entry now; kernels or problems */
};

/* One candidate on one problem, as it was timed. */
struct tune_sample {
    int kernel;
    int division; /* of its work, GM_DIVISION_NONE or a number of its family: through a workspace */
    double predicted_us;
    bool is_model;   /* what the model picks */
    bool is_final;   /* it took part in the last rounds, which are paired */
    double first_us; /* median of the first rounds, at one clock; set by tune_select; 0: the last alone count */
    struct bench_samples samples;
};

double tune_median(const struct tune_sample *sample); /* microseconds; NaN: not timed */
const char *tune_name(const struct tune_sample *sample, char name[DIVIDED_NAME_BYTES]); /* as in a ledger */

/* The times of short rounds, as they were at one clock. The power limit moves the clock of the SMs by some per cent
 * within seconds, and who is timed when is chance; so each time is scaled by the clock of its own round, to the median
 * of all rounds. Rounds whose clock was not read stay as they are. Not for settled rounds: that a kernel draws less
 * power than another, and so has the higher clock, is part of its time alone. */
void tune_at_one_clock(struct tune_sample *samples, size_t count);

/* Whether a problem's time follows the clock of the SMs: not where DRAM, which no power limit slows, needs more than twice
 * the time of the tensor cores by the datasheet. Times of such problems stay as they are. */
bool tune_follows_clock(const struct gm_device *device, const struct bench_case *problem);

/* Measures one problem and puts its line in the ledger. -1: the GPU or the driver is in error and the run must end. */
int tune_case_run(struct tune *tune, const struct bench_case *problem);

/* What to time, by predicted time: at most `top` of the rows that the options allow, with a workspace each divided too,
 * anywhere and evenly, where that is predicted to pay; and the model's pick. Writes kernel, division, predicted_us and
 * is_model; `samples` has room for `top` + 1, or for tune_most_candidates(). Returns how many, 0 when no row takes
 * the problem, -1 with a printed sentence on an error. */
size_t tune_most_candidates(void);
int tune_candidates(const struct tune_options *options, const struct gm_device *device,
                    const struct bench_case *problem, struct tune_sample *samples);

/* Who goes on after the first rounds: the `most` fastest, of those within 6 % of the fastest, and the model's pick, to
 * compare with. Pure. */
void tune_select(struct tune_sample *samples, size_t count, size_t most);

/* Puts the times of who was left behind on the scale of the last rounds, which ran at other clocks: each is multiplied
 * by what became of the finalists' first times there, the median of all. Readers take a line's times for comparable.
 * Pure. */
void tune_carry_over(struct tune_sample *samples, size_t count);

/* Index of the choice: the finalist with the least geometric mean of its time alone and its time at one clock (of the
 * last rounds only, where there were no first ones), or one that cannot be told from it (no slower than 1 % by the
 * median of the rounds' ratios, and faster in one of ten) and that the model prefers; of equals the first of the table.
 * Pure. */
size_t tune_choose(const struct tune_sample *samples, size_t count);

/* Sorts the samples from fast to slow and keeps the `top` fastest, of which the choice is one, and the model's pick;
 * with a `top` of 1 the choice may be a second. At most TUNE_TOP_MAX + 1, and tune_choose() says of them what it said
 * of all. Returns how many. */
size_t tune_keep(struct tune_sample *samples, size_t count, int top);

/* The problem as a ledger's key; with `general`, it is first made one of the operation's other class. False: not one that
 * the library computes. */
bool tune_key(struct bench_case *problem, bool general, struct gm_ledger_key *key);

/* The line of the ledger: the choice, then the others from fast to slow. The same samples give the same text. The
 * caller frees it; NULL: out of memory. */
char *tune_line(const struct gm_ledger_key *key, const struct tune_sample *samples, size_t count);

/* Puts the line in the ledger and reports it; without a time of the model's pick there is only a note. */
int tune_put_entry(struct tune *tune, const struct bench_case *problem, const struct gm_ledger_key *key,
                   const struct tune_sample *samples, size_t count);
/* "measured table ... library ... driver ...": where numbers are from; 0: of an unknown table. */
int tune_put_origin(struct tune *tune, uint64_t table, const char *library, const char *driver);

/* `gristmill tune --import RESULT ... -o FILE`: an exit code. */
int tune_import(const struct tune_options *options);
/* `gristmill tune --merge A B -o C` and `--check FILE`: exit codes. */
int tune_merge(const struct tune_options *options);
int tune_check(const struct tune_options *options);

#endif
