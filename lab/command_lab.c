/* SPDX-License-Identifier: Apache-2.0 */
/* gristmill lab: list, run, profile, count, report, figure, play, exercise, and the hidden launch, count-launch and simulate. */
#include <stdlib.h>
#include <string.h>

#include "program/base/args.h"
#include "program/commands.h"
#include "program/base/text_table.h"
#include "lab/command_count.h"
#include "lab/command_exercise.h"
#include "lab/lab_profile.h"
#include "lab/lab_report.h"
#include "lab/lab_run.h"
#include "lab/play.h"
#include "bench/report/results.h"

#define TIMEOUT_SECONDS  240.0
#define SIMULATE_SECONDS 60.0
#define SAVED            "bench/results/{gpu}/lab/{experiment}.json"
#define SAVED_PROFILE    "bench/results/{gpu}/profile/{experiment}.json"

/* ---- list ----------------------------------------------------------------------------------------- */

static int lab_list(int argc, char **argv) {
    const struct args_command command = {"gristmill lab list", "Every experiment, and the question it answers.", NULL,
                                         0};
    struct args_list words = {0};
    enum args_outcome outcome = args_parse(&command, argc, argv, &words);
    if (outcome == ARGS_GO && words.count) {
        complain("`gristmill lab list` takes no `%s`", words.items[0]);
        outcome = ARGS_WRONG;
    }
    if (outcome != ARGS_GO)
        return outcome == ARGS_HELP ? EXIT_CODE_OK : EXIT_CODE_USAGE;
    struct text_table table;
    text_table_start(&table, "<name|<title|<needs|<question");
    for (const struct lab_experiment *const *at = lab_registry(); *at; at++)
        text_table_add(&table, "%s|%s|%s|%s", (*at)->name, (*at)->title, (*at)->hopper ? "9.0" : "8.0+",
                       (*at)->question);
    text_table_print(&table, stdout);
    text_table_free(&table);
    return EXIT_CODE_OK;
}

/* ---- run ------------------------------------------------------------------------------------------ */

static const struct lab_experiment *find(const char *name) {
    char near[512];
    const struct lab_experiment *experiment = lab_experiment_find(name);
    if (experiment)
        return experiment;
    lab_experiments_near(name, near, sizeof near);
    if (near[0])
        complain("there is no experiment %s; perhaps %s", name, near);
    else
        complain("there is no experiment %s; `gristmill lab list` lists them", name);
    return NULL;
}

/* The experiments that the words name; all of them for "all". Their count, or -1 with a printed sentence. */
static int choose(const struct args_list *words, const struct lab_experiment **chosen, size_t capacity) {
    size_t count = 0;
    for (size_t i = 0; i < words->count; i++) {
        bool all = strcmp(words->items[i], "all") == 0;
        const struct lab_experiment *const *one = all ? lab_registry() : NULL;
        if (!all && !(chosen[count] = find(words->items[i])))
            return -1;
        count += !all;
        for (; one && *one && count < capacity; one++)
            chosen[count++] = *one;
        if (count == capacity)
            return complain("more experiments than %zu", capacity - 1);
    }
    return count ? (int)count : complain("which experiment? `gristmill lab list` lists them; `all` takes them all");
}

static int check_files(const char *json, bool save, int count) {
    if (json && save)
        return complain("--json and --save both say where the results go: give one of them");
    if (json && count > 1 && !strstr(json, "{experiment}"))
        return complain("--json %s would be written by %d experiments in turn: put {experiment} into it", json, count);
    return 0;
}

static int check_request(const struct lab_request *request, bool save, int count) {
    if (request->rounds > MAX_ROUNDS)
        return complain("--rounds is at most %d, not %d", MAX_ROUNDS, request->rounds);
    if (request->timeout_s <= 0)
        return complain("--timeout wants more than 0 seconds");
    return check_files(request->json, save, count);
}

static int lab_run(int argc, char **argv) {
    struct lab_request request = {.timeout_s = TIMEOUT_SECONDS, .simulate_s = SIMULATE_SECONDS};
    bool save = false;
    const struct args_option options[] = {
        {"verify", NULL, ARGS_FLAG, &request.verify, "exit 1 when anything disagrees"},
        {"no-counters", NULL, ARGS_FLAG, &request.no_counters, "without Nsight Compute"},
        {"no-time", NULL, ARGS_FLAG, &request.no_time, "without times and clocks"},
        {"quick", NULL, ARGS_FLAG, &request.quick, "3 rounds of 3 ms instead of 7 of 10 ms; not for publication"},
        {"rounds", "N", ARGS_POSITIVE, &request.rounds, "interleaved rounds"},
        {"json", "FILE", ARGS_TEXT, &request.json, "write the results; {gpu} and {experiment} are replaced"},
        {"save", NULL, ARGS_FLAG, &save, "write them to " SAVED},
        {"timeout", "SECONDS", ARGS_SECONDS, &request.timeout_s, "of one experiment (default: 240)"},
        {"simulate-budget", "SECONDS", ARGS_SECONDS, &request.simulate_s,
         "for the simulated GPU beside the real one: 60, and at most a quarter of the timeout; 0: without it"},
        {"device", "N", ARGS_COUNT, &request.device, "device number (default: 0)"},
    };
    const struct args_command command = {"gristmill lab run NAME ... | all [options]",
                                         "Runs experiments: predicted, counted and timed side by side, and whether "
                                         "they agree.",
                                         options, sizeof options / sizeof *options};
    const struct lab_experiment *chosen[ARGS_LIST_MAX + 256];
    struct args_list words = {0};
    enum args_outcome outcome = args_parse(&command, argc, argv, &words);
    if (outcome != ARGS_GO)
        return outcome == ARGS_HELP ? EXIT_CODE_OK : EXIT_CODE_USAGE;
    int count = choose(&words, chosen, sizeof chosen / sizeof *chosen);
    if (count < 0 || check_request(&request, save, count) != 0)
        return EXIT_CODE_USAGE;
    if (save)
        request.json = SAVED;
    return lab_run_all(chosen, (size_t)count, &request);
}

/* ---- profile -------------------------------------------------------------------------------------- */

static int lab_profile(int argc, char **argv) {
    struct profile_request request = {.timeout_s = TIMEOUT_SECONDS};
    bool save = false;
    const struct args_option options[] = {
        {"json", "FILE", ARGS_TEXT, &request.json, "write the results; {gpu} and {experiment} are replaced"},
        {"save", NULL, ARGS_FLAG, &save, "write them to " SAVED_PROFILE},
        {"timeout", "SECONDS", ARGS_SECONDS, &request.timeout_s, "of one experiment (default: 240)"},
        {"device", "N", ARGS_COUNT, &request.device, "device number (default: 0)"},
    };
    const struct args_command command = {
        "gristmill lab profile NAME ... | all [options]",
        "Has Nsight Compute say of every timed launch of an experiment how busy the GPU's parts are, and what its "
        "warps wait for.\nIt launches each once, with cold caches; docs/course/profiler.md says what the numbers mean.",
        options, sizeof options / sizeof *options};
    const struct lab_experiment *chosen[ARGS_LIST_MAX + 256];
    struct args_list words = {0};
    const enum args_outcome outcome = args_parse(&command, argc, argv, &words);
    if (outcome != ARGS_GO)
        return outcome == ARGS_HELP ? EXIT_CODE_OK : EXIT_CODE_USAGE;
    const int count = choose(&words, chosen, sizeof chosen / sizeof *chosen);
    if (count < 0 || check_files(request.json, save, count) != 0)
        return EXIT_CODE_USAGE;
    request.json = save ? SAVED_PROFILE : request.json;
    int status = 0;
    for (int i = 0; i < count; i++)
        status |= profile_one(chosen[i], &request);
    return status == 0 ? EXIT_CODE_OK : EXIT_CODE_FAILURE;
}

/* ---- launch: what `ncu` runs ----------------------------------------------------------------------- */

static int lab_launch_one(int argc, char **argv) {
    int device = 0;
    bool timed = false;
    const struct args_option options[] = {{"device", "N", ARGS_COUNT, &device, "device number"},
                                          {"timed", NULL, ARGS_FLAG, &timed, "what is timed, instead"}};
    const struct args_command command = {"gristmill lab launch NAME",
                                         "Launches what the profiler counts of one experiment, once, in order.",
                                         options, sizeof options / sizeof *options};
    struct args_list words = {0};
    enum args_outcome outcome = args_parse(&command, argc, argv, &words);
    if (outcome == ARGS_HELP)
        return EXIT_CODE_OK;
    const struct lab_experiment *experiment = outcome == ARGS_GO && words.count == 1 ? find(words.items[0]) : NULL;
    if (outcome == ARGS_GO && words.count != 1)
        complain("`gristmill lab launch` takes one experiment");
    return experiment ? lab_launch(experiment, device, timed) : EXIT_CODE_USAGE;
}

/* ---- simulate: what a run on a real GPU starts beside it -------------------------------------------- */

static int lab_simulate_one(int argc, char **argv) {
    double budget = SIMULATE_SECONDS;
    const struct args_option options[] = {{"budget", "SECONDS", ARGS_SECONDS, &budget, "that it may take"}};
    const struct args_command command = {"gristmill lab simulate NAME",
                                         "Launches what is counted of one experiment, once, on the simulated GPU, and "
                                         "prints its counters.",
                                         options, 1};
    struct args_list words = {0};
    enum args_outcome outcome = args_parse(&command, argc, argv, &words);
    if (outcome == ARGS_HELP)
        return EXIT_CODE_OK;
    const struct lab_experiment *experiment = outcome == ARGS_GO && words.count == 1 ? find(words.items[0]) : NULL;
    if (outcome == ARGS_GO && words.count != 1)
        complain("`gristmill lab simulate` takes one experiment");
    return experiment ? lab_simulate(experiment, budget) : EXIT_CODE_USAGE;
}

/* ---- the command ----------------------------------------------------------------------------------- */

static void print_help(FILE *out) {
    fputs("usage: gristmill lab list | run | profile | count | report | figure | play | exercise [arguments]\n\n"
          "  list      every experiment, and the question it answers\n"
          "  run       predicted, counted and timed side by side, and whether they agree\n"
          "  profile   how busy the GPU's parts are under an experiment's kernels, and what warps wait for\n"
          "  count     a kernel of your own: the simulated GPU's counts beside Nsight Compute's\n"
          "  report    one HTML page from the saved results of one GPU\n"
          "  figure    one figure of that page as SVG\n"
          "  play      an interactive HTML page on bank conflicts\n"
          "  exercise  the course's exercises: a question, and whether an answer is right\n\n"
          "`gristmill lab run --help` says more\n",
          out);
}

int command_lab(int argc, char **argv) {
    static const struct command parts[] = {
        {"list", lab_list, NULL},
        {"run", lab_run, NULL},
        {"profile", lab_profile, NULL},
        {"launch", lab_launch_one, NULL},
        {"simulate", lab_simulate_one, NULL},
        {"report", lab_report, NULL},
        {"play", lab_play, NULL},
        {"figure", lab_figure, NULL},
        {"exercise", lab_exercise, NULL},
        {"count", lab_count, NULL},
        {"count-launch", lab_count_launch, NULL},
    };
    int code = command_dispatch(parts, sizeof parts / sizeof *parts, print_help, argc, argv);
    if (code != COMMAND_UNKNOWN)
        return code;
    complain("there is no `gristmill lab %s`; there are list, run, profile, count, report, figure, play and exercise",
             argv[0]);
    return EXIT_CODE_USAGE;
}
