/* SPDX-License-Identifier: Apache-2.0 */
/* gristmill tune: what becomes of one problem's samples, and the line that says where they are from. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "bench/tune/tune.h"
#include "program/base/utf8.h"

static void report(const struct bench_case *problem, const struct tune_sample *samples, size_t count) {
    const struct tune_sample *choice = &samples[tune_choose(samples, count)], *model = choice;
    for (size_t i = 0; i < count; i++)
        model = samples[i].is_model ? &samples[i] : model;
    const double us = tune_median(choice), model_us = tune_median(model);
    char name[DIVIDED_NAME_BYTES], label[CASE_TEXT_BYTES];
    utf8_print(stdout, "%s: %s %.2f us", case_label(problem, label), tune_name(choice, name), us);
    if (model == choice)
        puts(", the model's pick");
    else
        printf("; the model's pick %s %.2f us, %+.1f %%\n", tune_name(model, name), model_us,
               100 * (model_us / us - 1));
    fflush(stdout);
}

/* An entry compares with the model's pick: without it there is none. */
int tune_put_entry(struct tune *tune, const struct bench_case *problem, const struct gm_ledger_key *key,
                   const struct tune_sample *samples, size_t count) {
    char label[CASE_TEXT_BYTES];
    bool compares = false;
    for (size_t i = 0; i < count; i++)
        compares |= samples[i].is_model && samples[i].samples.count > 0;
    if (!compares) {
        note("%s: no entry, since the model's pick was not timed", case_label(problem, label));
        return 0;
    }
    char *line = tune_line(key, samples, count);
    const int status =
        line ? ledger_writer_put(&tune->writer, key, line, strlen(line)) : complain("out of host memory");
    free(line);
    tune->measured += status == 0;
    if (!tune->options->quiet)
        report(problem, samples, count);
    return status;
}

int tune_put_origin(struct tune *tune, uint64_t table, const char *library, const char *driver) {
    char text[320];
    const int bytes =
        snprintf(text, sizeof text, "measured table %016" PRIx64 " library %s driver %s", table, library, driver);
    return ledger_writer_put_origin(&tune->writer, text, (size_t)bytes);
}
