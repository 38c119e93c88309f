/* SPDX-License-Identifier: Apache-2.0 */
/* gristmill lab report: which results there are, read, put in order, made into one page. */
#include "lab/lab_report.h"

#include <errno.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>

#include "program/base/args.h"
#include "lab/lab_pairs.h"
#include "lab/lab_profile.h"
#include "lab/modules.h"
#include "program/base/shared_file.h"

struct report {
    const char *folder, *gpu, *out; /* what was asked for; NULL: not said */
    char path[4096];                /* of the page */
    struct records {
        struct record **each;
        size_t count;
    } results, profiles;
};

/* ---- which GPU ------------------------------------------------------------------------------------ */

/* The name of the folder that holds "lab": "bench/results/h200/lab" -> "h200". */
static void gpu_of(const char *lab_folder, char *gpu, size_t bytes) {
    size_t end = strlen(lab_folder) - strlen("/lab"), start = end;
    while (start && lab_folder[start - 1] != '/')
        start--;
    snprintf(gpu, bytes, "%.*s", (int)(end - start), lab_folder + start);
}

/* The one GPU of the folder that has results of the laboratory. */
static int find_gpu(const struct report *report, char *gpu, size_t bytes) {
    char pattern[4096], names[512] = "";
    glob_t found = {0};
    snprintf(pattern, sizeof pattern, "%s/*/lab", report->folder);
    glob(pattern, 0, NULL, &found);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        gpu_of(found.gl_pathv[i], gpu, bytes);
        size_t used = strlen(names);
        snprintf(names + used, sizeof names - used, "%s%s", used ? ", " : "", gpu);
    }
    size_t count = found.gl_pathc;
    globfree(&found);
    if (count == 0)
        return complain("there are no results in %s/*/lab; `gristmill lab run all --save` makes them", report->folder);
    if (count > 1)
        return complain("%s has results of %s: say which with --gpu", report->folder, names);
    return 0;
}

/* ---- reading -------------------------------------------------------------------------------------- */

/* Where the experiment stands in the program's own order; what is not in it comes last. */
static size_t place_of(const struct record *record) {
    size_t place = 0;
    for (const struct lab_experiment *const *at = lab_registry(); *at; at++, place++) {
        if (strcmp((*at)->name, record->meta.experiment) == 0)
            break;
    }
    return place;
}

static int compare_records(const void *left, const void *right) {
    const struct record *a = *(struct record *const *)left, *b = *(struct record *const *)right;
    size_t place_a = place_of(a), place_b = place_of(b);
    if (place_a != place_b)
        return place_a < place_b ? -1 : 1;
    return strcmp(a->meta.experiment, b->meta.experiment);
}

static int read_records(struct records *records, const glob_t *found) {
    records->each = calloc(found->gl_pathc + 1, sizeof *records->each);
    for (size_t i = 0; records->each && i < found->gl_pathc; i++) {
        struct record *record = calloc(1, sizeof *record);
        if (!record)
            return complain("out of host memory");
        records->each[records->count++] = record;
        if (record_read(record, found->gl_pathv[i]) != 0)
            return -1;
    }
    if (!records->each)
        return complain("out of host memory");
    qsort(records->each, records->count, sizeof *records->each, compare_records);
    return 0;
}

/* All of a folder of the GPU's. */
static int load_folder(const struct report *report, const char *gpu, const char *folder, bool needed,
                       struct records *records) {
    char pattern[4096];
    glob_t found = {0};
    snprintf(pattern, sizeof pattern, "%s/%s/%s/*.json", report->folder, gpu, folder);
    int status = glob(pattern, 0, NULL, &found) == 0 || !needed ? 0 : complain("there is no file %s", pattern);
    if (status == 0)
        status = read_records(records, &found);
    globfree(&found);
    return status;
}

static int load(struct report *report, const char *gpu) {
    return load_folder(report, gpu, "lab", true, &report->results) == 0
               ? load_folder(report, gpu, "profile", false, &report->profiles)
               : -1;
}

static void drop(struct report *report) {
    struct records *const all[] = {&report->results, &report->profiles};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        for (size_t j = 0; j < all[i]->count; j++)
            free(all[i]->each[j]);
        free(all[i]->each);
    }
}

/* ---- links ---------------------------------------------------------------------------------------- */

/* How much of two absolute paths is the same folders. */
static size_t common_folders(const char *a, const char *b) {
    size_t same = 0, whole = 0;
    for (; a[same] && a[same] == b[same]; same++)
        whole = a[same] == '/' ? same : whole;
    const bool ends = (!a[same] || a[same] == '/') && (!b[same] || b[same] == '/');
    return ends ? same : whole;
}

/* The way from one absolute folder to another, "" or with a slash at its end: "../../". */
static void way_between(const char *from, const char *to, char *way, size_t bytes) {
    const size_t common = common_folders(from, to);
    size_t used = 0;
    for (const char *at = from + common; *at && used < bytes; at++)
        used += *at == '/' && at[1] ? (size_t)snprintf(way + used, bytes - used, "../") : 0;
    const char *rest = to + common + (to[common] == '/');
    if (used < bytes)
        snprintf(way + used, bytes - used, "%s%s", rest, *rest ? "/" : "");
}

/* From the page to the current folder, where the project is. */
static int find_root(const char *page, char *root, size_t bytes) {
    char folder[4096];
    snprintf(folder, sizeof folder, "%s", page);
    char *slash = strrchr(folder, '/');
    if (slash)
        slash[slash == folder] = 0;
    char *from = realpath(slash ? folder : ".", NULL), *to = realpath(".", NULL);
    root[0] = 0;
    if (from && to)
        way_between(from, to, root, bytes);
    const int status = from && to ? 0 : complain("cannot write %s: %s", page, strerror(errno));
    free(from);
    free(to);
    return status;
}

/* ---- writing -------------------------------------------------------------------------------------- */

static int write_page(struct report *report, const char *gpu) {
    if (report->out)
        snprintf(report->path, sizeof report->path, "%s", report->out);
    else
        snprintf(report->path, sizeof report->path, "%s/%s/lab.html", report->folder, gpu);
    char root[4096];
    if (find_root(report->path, root, sizeof root) != 0)
        return -1;
    FILE *out = fopen(report->path, "w");
    if (!out)
        return complain("cannot write %s: %s", report->path, strerror(errno));
    const struct report_input input = {(const struct record *const *)report->results.each,
                                       (const struct record *const *)report->profiles.each, report->results.count,
                                       report->profiles.count, root};
    report_page(out, &input);
    if (file_finish(out, report->path) != 0)
        return -1;
    printf("%s: %zu experiment%s on %s\n", report->path, input.count, input.count == 1 ? "" : "s",
           input.records[0]->meta.gpu);
    return 0;
}

/* The name of the GPU's folder: as asked for, or the only one. */
static int choose_gpu(const struct report *report, char *gpu, size_t bytes) {
    if (!report->gpu)
        return find_gpu(report, gpu, bytes);
    snprintf(gpu, bytes, "%s", report->gpu);
    return 0;
}

static int make(struct report *report) {
    char gpu[64];
    return choose_gpu(report, gpu, sizeof gpu) == 0 && load(report, gpu) == 0 ? write_page(report, gpu) : -1;
}

int lab_report(int argc, char **argv) {
    struct report report = {.folder = "bench/results"};
    const struct args_option options[] = {
        {"results", "DIR", ARGS_TEXT, &report.folder, "where the results are, DIR/GPU/lab/*.json (bench/results)"},
        {"gpu", "NAME", ARGS_TEXT, &report.gpu, "the folder's name, where there are several: h200"},
        {"out", "FILE", ARGS_TEXT, &report.out, "the page (default: DIR/GPU/lab.html)"},
    };
    const struct args_command command = {
        "gristmill lab report [options]",
        "Writes one HTML page from the saved results of one GPU: what agreed, and by topic "
        "every experiment's figures and claims.\nIts links lead to the current folder, "
        "where docs/ and lab/ are. Needs no GPU.",
        options, sizeof options / sizeof *options};
    struct args_list words = {0};
    enum args_outcome outcome = args_parse(&command, argc, argv, &words);
    if (outcome == ARGS_GO && words.count) {
        complain("`gristmill lab report` takes no `%s`", words.items[0]);
        outcome = ARGS_WRONG;
    }
    if (outcome != ARGS_GO)
        return outcome == ARGS_HELP ? EXIT_CODE_OK : EXIT_CODE_USAGE;
    int status = make(&report);
    drop(&report);
    return status == 0 ? EXIT_CODE_OK : EXIT_CODE_FAILURE;
}

/* ---- one figure ----------------------------------------------------------------------------------- */

static int write_picture(const struct record *record, size_t number, const char *path) {
    struct draft draft;
    if (draft_begin(&draft, path) != 0)
        return -1;
    if (report_picture(draft.out, record, number) == 0)
        return draft_end(&draft);
    draft_drop(&draft);
    return -1;
}

/* What to draw of an experiment's profile. */
enum profile_part { PROFILE_NONE, PROFILE_PART_STALLS, PROFILE_PART_MEMORY, PROFILE_PART_SHARED };

static int write_profile(const struct record *record, enum profile_part part, const char *path) {
    struct draft draft;
    if (draft_begin(&draft, path) != 0)
        return -1;
    if ((part == PROFILE_PART_STALLS ? profile_stalls_picture(draft.out, record)
                                     : profile_roofline_picture(draft.out, record, part == PROFILE_PART_MEMORY)) == 0)
        return draft_end(&draft);
    draft_drop(&draft);
    return -1;
}

static int draw_one(const struct report *report, const char *experiment, size_t number, enum profile_part part) {
    char gpu[64], path[4096];
    if (choose_gpu(report, gpu, sizeof gpu) != 0)
        return -1;
    struct record *record = calloc(1, sizeof *record);
    if (!record)
        return complain("out of host memory");
    snprintf(path, sizeof path, "%s/%s/%s/%s.json", report->folder, gpu, part ? "profile" : "lab", experiment);
    int status = record_read(record, path);
    if (status == 0)
        status = part ? write_profile(record, part, report->out) : write_picture(record, number, report->out);
    free(record);
    return status;
}

static int draw_pairs(struct report *report) {
    struct draft draft;
    char gpu[64];
    if (choose_gpu(report, gpu, sizeof gpu) != 0 || load(report, gpu) != 0 || draft_begin(&draft, report->out) != 0)
        return -1;
    if (pairs_picture(draft.out, (const struct record *const *)report->results.each, report->results.count, false) == 0)
        return draft_end(&draft);
    draft_drop(&draft);
    return -1;
}

int lab_figure(int argc, char **argv) {
    struct report report = {.folder = "bench/results"};
    int number = 1;
    bool stalls = false;
    const char *roofline = NULL;
    const struct args_option options[] = {
        {"svg", "FILE", ARGS_TEXT, &report.out, "where it goes"},
        {"stalls", NULL, ARGS_FLAG, &stalls, "what warps wait for, by `gristmill lab profile`"},
        {"roofline", "OF", ARGS_TEXT, &roofline, "memory, or shared for its pipe, by `gristmill lab profile`"},
        {"figure", "N", ARGS_POSITIVE, &number, "which, where the experiment has several (default: 1)"},
        {"results", "DIR", ARGS_TEXT, &report.folder,
         "where they are, DIR/GPU/lab and DIR/GPU/profile (bench/results)"},
        {"gpu", "NAME", ARGS_TEXT, &report.gpu, "the folder's name, where there are several: h200"},
    };
    const struct args_command command = {
        "gristmill lab figure EXPERIMENT | " LAB_PAIRS " --svg FILE [options]",
        "Draws one figure of `gristmill lab report` as a picture of its own; or, of several experiments, " LAB_PAIRS
        ": kernels without\nshared memory and with it, beside an article's. Needs no GPU.",
        options, sizeof options / sizeof *options};
    struct args_list words = {0};
    const enum args_outcome outcome = args_parse(&command, argc, argv, &words);
    if (outcome != ARGS_GO)
        return outcome == ARGS_HELP ? EXIT_CODE_OK : EXIT_CODE_USAGE;
    if (words.count != 1 || !report.out) {
        complain("`gristmill lab figure` takes one experiment, and --svg FILE");
        return EXIT_CODE_USAGE;
    }
    const bool memory = roofline && strcmp(roofline, "memory") == 0,
               shared = roofline && strcmp(roofline, "shared") == 0;
    if (roofline && (stalls || !(memory || shared))) {
        complain("--roofline is of memory or of shared, and without --stalls");
        return EXIT_CODE_USAGE;
    }
    const enum profile_part part = stalls   ? PROFILE_PART_STALLS
                                   : memory ? PROFILE_PART_MEMORY
                                   : shared ? PROFILE_PART_SHARED
                                            : PROFILE_NONE;
    const bool pairs = strcmp(words.items[0], LAB_PAIRS) == 0;
    const int status = pairs ? draw_pairs(&report) : draw_one(&report, words.items[0], (size_t)number - 1, part);
    drop(&report);
    return status == 0 ? EXIT_CODE_OK : EXIT_CODE_FAILURE;
}
