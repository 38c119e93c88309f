/* SPDX-License-Identifier: Apache-2.0 */
/* Opening the simulated GPU, and what every part of `gristmill sim` asks. */
#include "program/sim/simulator.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/family.h"
#include "program/smem/numbers.h"

void sim_request_options(struct sim_request *request, struct args_option *options) {
    const struct args_option all[SIM_REQUEST_OPTIONS] = {
        {"m", "M", ARGS_POSITIVE, &request->m, "rows of D (default: two tiles and three rows)"},
        {"n", "N", ARGS_POSITIVE, &request->n, "columns of D (default: a tile and sixteen columns)"},
        {"k", "K", ARGS_POSITIVE, &request->k, "(default: two trips around the ring of stages)"},
        {"bias", NULL, ARGS_FLAG, &request->bias, "with bias: the general epilogue instead of the plain one"},
        {"fp32", NULL, ARGS_FLAG, &request->fp32, "D in fp32 instead of the operands' type"},
        {"device", "DEVICE", ARGS_TEXT, &request->device, "a100, h100, h200, rtx4090"},
        {"sms", "N", ARGS_POSITIVE, &request->sms, "SMs of the device (default: 2, so that CTAs come round again)"},
        {"schedule", "seed=N", ARGS_TEXT, &request->schedule, "random run lengths and latencies (default: plain)"},
        {"kernel", "NAME", ARGS_TEXT, &request->kernel, "the kernel, instead of the first word"},
    };
    memcpy(options, all, sizeof all);
}

static int find_row(struct sim_request *request) {
    struct gm_kernel_info info = {.size = sizeof info};
    int found = 0;
    for (size_t i = 0; i < gm_kernel_count(); i++)
        if (gm_kernel_get(i, &info) == GM_OK && fnmatch(request->kernel, info.name, 0) == 0) {
            request->row = (int)i;
            found++;
        }
    if (found == 1 && gm_kernels[request->row].family->operation != &gm_operation_gemm)
        return complain("%s is no kernel of gemm; `gpu_tests --kernel=%s` runs it here with GM_DRIVER=sim",
                        request->kernel, request->kernel);
    if (found == 1)
        return 0;
    return complain("%d kernels are named %s; `gristmill info` lists them", found, request->kernel);
}

int sim_request_read_schedule(struct sim_request *request) {
    const char *text = request->schedule;
    if (!text)
        return 0;
    if (strncmp(text, "seed=", 5) == 0) {
        text += 5;
        if (number_take_64(&text, UINT64_MAX, &request->seed) && *text == '\0')
            return 0;
    }
    return complain("--schedule is seed=N with a whole number N, not %s", request->schedule);
}

static void fill_sizes(struct sim_request *request) {
    struct gm_kernel_info info = {.size = sizeof info};
    struct gm_gemm_kernel_info gemm = {.size = sizeof gemm};
    gm_kernel_get((size_t)request->row, &info);
    gm_gemm_kernel_get((size_t)request->row, &gemm);
    if (!request->m)
        request->m = 2 * gemm.tile_m * gemm.cluster_m + 3;
    if (!request->n)
        request->n = gemm.tile_n * gemm.cluster_n + 16;
    if (!request->k)
        request->k = 2 * gemm.stages * gemm.tile_k;
    if (!request->device)
        request->device = info.arch == GM_ARCH_SM90 ? "h100" : "a100";
    if (!request->sms)
        request->sms = 2;
}

int sim_request_read(struct sim_request *request, const struct args_command *command, int argc, char **argv) {
    struct args_list words = {0};
    const enum args_outcome outcome = args_parse(command, argc, argv, &words);
    if (outcome != ARGS_GO)
        return outcome == ARGS_HELP ? EXIT_CODE_OK : EXIT_CODE_USAGE;
    const bool named = request->kernel != NULL;
    if (!named && words.count)
        request->kernel = words.items[0];
    if (words.count > !named)
        complain("one kernel at a time, not %s as well", words.items[!named]);
    else if (!request->kernel)
        complain("say which kernel: `gristmill info` lists them");
    else if (find_row(request) == 0 && sim_request_read_schedule(request) == 0) {
        fill_sizes(request);
        return SIM_GO;
    }
    return EXIT_CODE_USAGE;
}

static int find_functions(struct simulator *s) {
    const struct {
        const char *name;
        void **function;
    } wanted[] = {
        {"gm_sim_report_count", (void **)&s->report_count},
        {"gm_sim_report_get", (void **)&s->report_get},
        {"gm_sim_report_kind_name", (void **)&s->report_kind_name},
        {"gm_sim_reports_clear", (void **)&s->reports_clear},
        {"gm_sim_set_seed", (void **)&s->set_seed},
        {"gm_sim_set_counting", (void **)&s->set_counting},
        {"gm_sim_set_reports", (void **)&s->set_reports},
        {"gm_sim_metric", (void **)&s->metric},
        {"gm_sim_line_count", (void **)&s->line_count},
        {"gm_sim_line_get", (void **)&s->line_get},
        {"gm_sim_line_text", (void **)&s->line_text},
        {"gm_sim_line_source", (void **)&s->line_source},
        {"gm_sim_set_access", (void **)&s->set_access},
        {"gm_sim_ptx_read", (void **)&s->ptx_read},
        {"gm_sim_ptx_free", (void **)&s->ptx_free},
        {"gm_sim_ptx_kernel", (void **)&s->ptx_kernel},
        {"gm_sim_ptx_parameter", (void **)&s->ptx_parameter},
        {"gm_sim_ptx_variable", (void **)&s->ptx_variable},
        {"gm_sim_set_trace", (void **)&s->set_trace},
        {"gm_sim_set_step", (void **)&s->set_step},
        {"gm_sim_view_line", (void **)&s->view_line},
        {"gm_sim_view_text", (void **)&s->view_text},
        {"gm_sim_view_source", (void **)&s->view_source},
        {"gm_sim_view_line_from", (void **)&s->view_line_from},
        {"gm_sim_view_where", (void **)&s->view_where},
        {"gm_sim_view_register", (void **)&s->view_register},
        {"gm_sim_view_operand", (void **)&s->view_operand},
        {"gm_sim_view_shared", (void **)&s->view_shared},
        {"gm_sim_view_mbarrier", (void **)&s->view_mbarrier},
    };
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        *wanted[i].function = gm_driver_symbol(wanted[i].name);
        if (!*wanted[i].function)
            return complain("the driver that was opened is not the simulated GPU: it has no %s", wanted[i].name);
    }
    return 0;
}

int simulator_open(struct simulator *simulator, const struct sim_request *request) {
    char sms[16];
    snprintf(sms, sizeof sms, "%d", request->sms);
    if (request->sms)
        setenv("GM_SIM_SMS", sms, 1);
    *simulator = (struct simulator){0};
    if (gpu_simulate(request->device) != 0 || gpu_open(&simulator->gpu, 0) != 0)
        return -1;
    if (find_functions(simulator) != 0) {
        gpu_close(&simulator->gpu);
        return -1;
    }
    simulator->set_seed(request->seed);
    simulator->set_reports("quiet");
    return 0;
}

void simulator_close(struct simulator *simulator) {
    gpu_close(&simulator->gpu);
    source_files_free(&simulator->files);
}

/* ---- reports ----------------------------------------------------------------------------------------------------- */

const char *simulator_line_text(struct simulator *simulator, uint32_t line) {
    const char *file, *text = NULL;
    uint32_t source_line;
    if (simulator->line_source(line, &file, &source_line) == 0)
        text = source_text(&simulator->files, file, source_line, simulator->folder);
    if (!text)
        text = simulator->line_text(line);
    return text ? text + strspn(text, " \t") : "";
}

/* "copy.cu:12 (PTX line 88)", or "PTX line 88". */
static void print_place(const struct simulator *simulator, uint32_t line) {
    const char *file;
    uint32_t source_line;
    if (simulator->line_source(line, &file, &source_line) == 0)
        printf("%s:%u (PTX line %u)", source_base(file), source_line, line);
    else
        printf("PTX line %u", line);
}

/* A report's sentence, with a source line for each line of the PTX that it names: "... at line 210 ...". */
static void print_sentence(const struct simulator *simulator, const char *sentence) {
    static const char word[] = "line ";
    const char *file, *at;
    uint32_t source_line;
    while ((at = strstr(sentence, word)) != NULL) {
        char *end;
        const unsigned long line = strtoul(at + strlen(word), &end, 10);
        const bool known = end != at + strlen(word) && (at == sentence || at[-1] == ' ' || at[-1] == '(') &&
                           line <= UINT32_MAX && simulator->line_source((uint32_t)line, &file, &source_line) == 0;
        printf("%.*s", (int)(at - sentence), sentence);
        if (known)
            print_place(simulator, (uint32_t)line);
        else
            printf("%.*s", (int)(end - at), at);
        sentence = end; /* behind the word at least */
    }
    printf("%.*s", (int)strcspn(sentence, "\n"), sentence);
}

static bool same_fault(const struct gm_sim_report *a, const struct gm_sim_report *b) {
    return a->kind == b->kind && a->source_line && a->source_line == b->source_line &&
           strcmp(a->source_file, b->source_file) == 0;
}

/* Whether no report before is of this kind and source line: of a loop that is unrolled many lines of PTX have one fault.
 * Then `times` and `lines` are those of all of them. */
static bool is_first(const struct simulator *simulator, size_t index, uint64_t *times, size_t *lines) {
    struct gm_sim_report report, other;
    simulator->report_get(index, &report);
    *times = *lines = 0;
    for (size_t i = 0; simulator->report_get(i, &other) == 0; i++) {
        if (i != index && !same_fault(&report, &other))
            continue;
        if (i < index)
            return false;
        *times += other.times;
        ++*lines;
    }
    return true;
}

size_t simulator_count_reports(const struct simulator *simulator) {
    uint64_t times;
    size_t lines, count = 0;
    for (size_t i = 0; i < simulator->report_count(); i++)
        count += is_first(simulator, i, &times, &lines);
    return count;
}

static void print_report(struct simulator *simulator, const struct gm_sim_report *report, uint64_t times,
                         size_t lines) {
    printf("%s", simulator->report_kind_name(report->kind));
    if (report->line) {
        printf(", ");
        print_place(simulator, report->line);
    }
    printf(", CTA %u,%u,%u", report->cta[0], report->cta[1], report->cta[2]);
    if (report->warp >= 0)
        printf(", warp %d", report->warp);
    if (report->lane >= 0)
        printf(", lane %d", report->lane);
    printf(": ");
    print_sentence(simulator, report->sentence);
    if (lines > 1)
        printf(" (%llu times, in %zu lines of PTX)", (unsigned long long)times, lines);
    else if (times > 1)
        printf(" (%llu times)", (unsigned long long)times);
    printf("\n");
    if (report->line)
        printf("    %.110s\n", simulator_line_text(simulator, report->line));
}

size_t simulator_print_reports(struct simulator *simulator) {
    struct gm_sim_report report;
    uint64_t times;
    size_t lines;
    for (size_t i = 0; simulator->report_get(i, &report) == 0; i++)
        if (is_first(simulator, i, &times, &lines))
            print_report(simulator, &report, times, lines);
    return simulator->report_count();
}
