/* SPDX-License-Identifier: Apache-2.0 */
/* gristmill tune without measuring: two ledgers made one, and what is to be said of one. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "program/commands.h"
#include "program/base/shared_file.h"
#include "program/base/stats.h"
#include "bench/tune/tune.h"

int tune_merge(const struct tune_options *options) {
    struct ledger_writer first = {0}, second = {0};
    struct file_lock lock; /* the ledger that is written may be one of the two */
    int status = file_lock(&lock, options->file);
    if (status == 0)
        status = ledger_writer_read(&first, options->words.items[0]);
    if (status == 0)
        status = ledger_writer_read(&second, options->words.items[1]);
    if (status == 0)
        status = ledger_writer_merge(&first, &second);
    if (status == 0)
        status = ledger_writer_write(&first, options->file);
    file_unlock(&lock);
    if (status == 0)
        printf("%s: %zu entries\n", options->file, ledger_writer_entries(&first));
    ledger_writer_free(&first);
    ledger_writer_free(&second);
    return status == 0 ? EXIT_CODE_OK : EXIT_CODE_FAILURE;
}

/* Lines `measured` that were made with another table than this program's. */
static size_t count_other_tables(const gm_ledger *ledger) {
    size_t others = 0;
    const uint64_t ours = gm_ledger_table_hash(gm_kernels, gm_kernel_count());
    for (size_t i = 0; i < ledger->origin_count; i++) {
        uint64_t hash = 0;
        others += sscanf(ledger->origins[i].line, "measured table %" SCNx64, &hash) != 1 || hash != ours;
    }
    return others;
}

static void print_entries(const gm_ledger *ledger) {
    double *gains = calloc(ledger->count + 1, sizeof *gains);
    size_t same = 0;
    for (size_t i = 0; i < ledger->count; i++) {
        const struct gm_ledger_entry *entry = &ledger->entries[i];
        same += entry->choice.us == entry->model_us;
        if (gains)
            gains[i] = entry->model_us / entry->choice.us;
    }
    if (gains && ledger->count)
        printf("the model's pick is the choice in %zu of them; the choices are %.2f %% faster (geometric mean)\n", same,
               100 * (stats_geomean(gains, ledger->count) - 1));
    free(gains);
}

/* Against the device that was asked for, or the GPU that is there; without either, only the text counts. */
static int check_device(const struct tune_options *options, const gm_ledger *ledger) {
    struct gm_device device;
    char why[256];
    if (device_from_option(options->device, &device, why, sizeof why) != 0)
        return -1;
    const struct gm_plan_options with = {.size = sizeof with, .ledger = ledger};
    if (!why[0] && gm_ledger_check(&with, &device) != GM_OK)
        return complain("%s: %s", options->check, gm_last_error());
    return 0;
}

int tune_check(const struct tune_options *options) {
    gm_ledger *ledger = NULL;
    if (gm_ledger_read(options->check, &ledger) != GM_OK) {
        complain("%s", gm_last_error());
        return EXIT_CODE_FAILURE;
    }
    int status = check_device(options, ledger);
    if (status == 0) {
        printf("%s: %zu entries for %s, compute capability %d.%d, %d SMs\n", options->check, ledger->count,
               ledger->device.name, ledger->device.cc_major, ledger->device.cc_minor, ledger->device.sm_count);
        print_entries(ledger);
        const size_t others = count_other_tables(ledger);
        if (others)
            printf("%zu of %zu runs that measured it had another, or an unknown, table of kernels: --again looks at "
                   "the new rows too\n",
                   others, ledger->origin_count);
    }
    gm_ledger_destroy(ledger);
    return status == 0 ? EXIT_CODE_OK : EXIT_CODE_FAILURE;
}
