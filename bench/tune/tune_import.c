/* SPDX-License-Identifier: Apache-2.0 */
/* gristmill tune --import: entries of a ledger from what `bench --all-kernels` timed, without a GPU. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "host/ledger.h"
#include "program/commands.h"
#include "bench/report/results_read.h"
#include "program/base/shared_file.h"
#include "host/family.h"
#include "bench/tune/tune.h"

/* A row of a results file that may be chosen. Sorted, those of one problem and one kernel stand together, the latest
 * last. */
struct timed {
    struct gm_ledger_key key; /* of its problem */
    int kernel;
    int division;
    size_t file, row;
};

enum loss { NO_KERNEL, NO_PROBLEM, TEST_ROW, NOT_A_CANDIDATE, LOSSES };

struct import {
    struct tune tune;
    struct tune_options all; /* the caller's, but every row is a candidate, however divided */
    struct import_file {
        const char *path;
        struct bench_results results;
        bool used; /* an entry has numbers of it */
    } *files;
    size_t file_count, lost[LOSSES];
    struct timed *timed;
    size_t count;
    struct tune_sample *samples; /* of one problem; room for the table */
    int known, alone;            /* problems: in the ledger already; with nothing to choose between */
};

/* ---- files ---------------------------------------------------------------------------------------- */

static int read_files(struct import *import, const struct args_list *paths) {
    import->files = calloc(paths->count, sizeof *import->files);
    if (!import->files)
        return complain("out of host memory");
    for (size_t i = 0; i < paths->count; i++) {
        struct import_file *file = &import->files[import->file_count];
        file->path = paths->items[i];
        if (results_read_json(&file->results, file->path) != 0)
            return -1;
        import->file_count++;
    }
    return 0;
}

/* The first file's, for the model: what --device says, or the built-in one of this name. */
static int find_device(struct import *import) {
    const struct bench_meta *meta = &import->files[0].results.meta;
    struct gm_device *device = &import->tune.gpu.device;
    char why[256];
    *device = (struct gm_device){.size = sizeof *device};
    if (import->all.device)
        return device_from_option(import->all.device, device, why, sizeof why);
    if (gm_device_model(meta->slug, device) == GM_OK)
        return 0;
    return complain("%s was measured on %s; `--device MODEL` says which device to predict for (%s)",
                    import->files[0].path, meta->gpu, gm_last_error());
}

/* tune's own times are of a cold L2, all SMs and the launches that a plan makes unasked. */
static int check_file(const struct import_file *file, const struct gm_device *device) {
    static const char *const others[] = {"--sm-budget", "--no-overlap", "--constant-b", "--batch-invariant"};
    const struct bench_meta *meta = &file->results.meta;
    if (strcmp(meta->gpu, device->name) != 0 || meta->device.sm_count != device->sm_count)
        return complain("%s was measured on another device: %s, %d SMs; this is %s, %d SMs", file->path, meta->gpu,
                        meta->device.sm_count, device->name, device->sm_count);
    if (meta->rotate_l2 <= 0)
        return complain("%s was measured with operands in L2; the times of a ledger are of a cold one", file->path);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strstr(meta->command, others[i]))
            return complain("%s was measured with %s; the times of a ledger are without", file->path, others[i]);
    return 0;
}

/* ---- rows ----------------------------------------------------------------------------------------- */

static void take_row(struct import *import, size_t file, size_t index) {
    const struct bench_row *row = &import->files[file].results.rows[index];
    struct timed timed = {.file = file, .row = index};
    struct bench_case problem = row->problem;
    struct gm_ledger_candidate candidate = {.name = row->kernel, .name_bytes = strlen(row->kernel)};
    const struct gm_kernel *kernel = gm_ledger_kernel(&candidate, gm_kernels, gm_kernel_count());
    timed.kernel = candidate.kernel;
    timed.division = candidate.division;
    if (!kernel)
        import->lost[NO_KERNEL]++;
    else if (!kernel->production)
        import->lost[TEST_ROW]++;
    else if (!tune_key(&problem, false, &timed.key))
        import->lost[NO_PROBLEM]++;
    else
        import->timed[import->count++] = timed;
}

static int compare_timed(const void *left, const void *right) {
    const struct timed *x = left, *y = right;
    const int order = gm_ledger_compare_keys(&x->key, &y->key);
    if (order != 0 || x->kernel != y->kernel)
        return order != 0 ? order : x->kernel - y->kernel;
    if (x->division != y->division)
        return x->division - y->division;
    if (x->file != y->file)
        return x->file < y->file ? -1 : 1;
    return x->row < y->row ? -1 : x->row > y->row;
}

static bool is_superseded(const struct timed *timed) {
    return timed[0].kernel == timed[1].kernel && timed[0].division == timed[1].division &&
           gm_ledger_compare_keys(&timed[0].key, &timed[1].key) == 0;
}

static int take_rows(struct import *import) {
    size_t rows = 0, last = 0;
    for (size_t i = 0; i < import->file_count; i++)
        rows += import->files[i].results.count;
    import->timed = calloc(rows + 1, sizeof *import->timed);
    import->samples = calloc(tune_most_candidates() + 1, sizeof *import->samples);
    if (!import->timed || !import->samples)
        return complain("out of host memory");
    for (size_t i = 0; i < import->file_count; i++)
        for (size_t row = 0; row < import->files[i].results.count; row++)
            take_row(import, i, row);
    qsort(import->timed, import->count, sizeof *import->timed, compare_timed);
    for (size_t i = 0; i < import->count; i++)
        if (i + 1 == import->count || !is_superseded(&import->timed[i]))
            import->timed[last++] = import->timed[i];
    import->count = last;
    return 0;
}

/* ---- problems ------------------------------------------------------------------------------------- */

static const struct bench_row *row_of(const struct import *import, const struct timed *timed) {
    return &import->files[timed->file].results.rows[timed->row];
}

/* Gives the candidates their times, and drops those that have none. Returns how many are left. */
static size_t join(struct import *import, const struct timed *timed, size_t rows, size_t candidates) {
    size_t joined = 0;
    for (size_t i = 0; i < candidates; i++) {
        size_t at = 0;
        while (at < rows &&
               (timed[at].kernel != import->samples[i].kernel || timed[at].division != import->samples[i].division))
            at++;
        if (at == rows)
            continue;
        import->samples[joined] = import->samples[i];
        import->samples[joined++].samples = row_of(import, &timed[at])->ours;
    }
    import->lost[NOT_A_CANDIDATE] += rows - joined;
    return joined;
}

/* `timed` are all rows of one problem. */
static int import_problem(struct import *import, const struct timed *timed, size_t rows) {
    struct tune *tune = &import->tune;
    if (!import->all.again && ledger_writer_find(&tune->writer, &timed->key)) {
        import->known++;
        return 0;
    }
    /* The model picks among what was timed: divided rows only where there are some. */
    bool any_divided = false;
    for (size_t i = 0; i < rows; i++)
        any_divided |= timed[i].division != GM_DIVISION_NONE;
    import->all.workspace_mib = any_divided ? import->tune.options->workspace_mib : 0;
    const int candidates =
        tune_candidates(&import->all, &tune->gpu.device, &row_of(import, timed)->problem, import->samples);
    if (candidates < 0)
        return -1;
    size_t count = join(import, timed, rows, (size_t)candidates);
    if (count < 2 && candidates != 1) {
        import->alone++;
        return 0;
    }
    tune_select(import->samples, count, count);
    for (size_t i = 0; i < count; i++)
        import->samples[i].first_us = 0; /* there are no other rounds than these */
    count = tune_keep(import->samples, count, tune->options->top);
    const int before = tune->measured;
    const int status = tune_put_entry(tune, &row_of(import, timed)->problem, &timed->key, import->samples, count);
    for (size_t i = 0; i < rows && tune->measured > before; i++)
        import->files[timed[i].file].used = true;
    return status;
}

static int import_problems(struct import *import) {
    int status = 0;
    for (size_t first = 0, next; first < import->count && status == 0; first = next) {
        for (next = first + 1; next < import->count; next++)
            if (gm_ledger_compare_keys(&import->timed[first].key, &import->timed[next].key) != 0)
                break;
        status = import_problem(import, &import->timed[first], next - first);
    }
    return status;
}

/* ---- the whole ------------------------------------------------------------------------------------ */

/* Results do not say of which table they are, but those of this very revision are of this program's. */
static int put_origins(struct import *import) {
    char ours[64];
    int status = 0;
    build_fact("revision", ours, sizeof ours);
    for (size_t i = 0; i < import->file_count && status == 0; i++) {
        const struct bench_meta *meta = &import->files[i].results.meta;
        const bool same = strcmp(meta->revision, ours) == 0 && ours[strspn(ours, "0123456789abcdef")] == 0;
        const uint64_t table = same && ours[0] ? gm_ledger_table_hash(gm_kernels, gm_kernel_count()) : 0;
        if (import->files[i].used)
            status = tune_put_origin(&import->tune, table, meta->revision[0] ? meta->revision : "unknown",
                                     meta->driver[0] ? meta->driver : "unknown");
    }
    return status;
}

static void tell_losses(const struct import *import) {
    static const char *const of[LOSSES] = {[NO_KERNEL] = "of kernels that the table does not have",
                                           [NO_PROBLEM] = "of problems that no kernel takes",
                                           [TEST_ROW] = "of kernels that are built for tests only",
                                           [NOT_A_CANDIDATE] = "that the planner or the options do not allow"};
    for (int i = 0; i < LOSSES; i++)
        if (import->lost[i])
            note("left out: %zu rows %s", import->lost[i], of[i]);
    if (import->alone)
        note("left out: %d problems of which fewer than two rows were timed that may be chosen", import->alone);
}

/* With the ledger's lock held. */
static int import_all(struct import *import) {
    struct tune *tune = &import->tune;
    const char *path = tune->options->file;
    if (read_files(import, &tune->options->words) != 0 || find_device(import) != 0)
        return -1;
    for (size_t i = 0; i < import->file_count; i++)
        if (check_file(&import->files[i], &tune->gpu.device) != 0)
            return -1;
    if (ledger_writer_open(&tune->writer, path, &tune->gpu.device) != 0 || take_rows(import) != 0 ||
        import_problems(import) != 0)
        return -1;
    tell_losses(import);
    if (tune->measured + import->known == 0)
        return complain("there is nothing to import: %s was not written", path);
    if (tune->measured && (put_origins(import) != 0 || ledger_writer_write(&tune->writer, path) != 0))
        return -1;
    printf("%d imported, %d already there; %s has %zu entries\n", tune->measured, import->known, path,
           ledger_writer_entries(&tune->writer));
    return 0;
}

int tune_import(const struct tune_options *options) {
    struct import import = {.tune = {.options = options}, .all = *options};
    import.all.top = INT_MAX;
    import.all.all_divisions = true;
    struct file_lock lock;
    int status = file_lock(&lock, options->file);
    if (status == 0)
        status = import_all(&import);
    file_unlock(&lock);
    for (size_t i = 0; i < import.file_count; i++)
        results_free(&import.files[i].results);
    free(import.files);
    free(import.timed);
    free(import.samples);
    ledger_writer_free(&import.tune.writer);
    return status == 0 ? EXIT_CODE_OK : EXIT_CODE_FAILURE;
}
