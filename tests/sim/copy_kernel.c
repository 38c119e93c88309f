/* SPDX-License-Identifier: Apache-2.0 */
/* The machine of copy_kernel.h. */
#include "copy_kernel.h"

#include "sim/machine/devices.h"
#include "sim/memory/memory.h"
#include "sim/report/counters.h"
#include "sim/report/report.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MEMORY_BYTES = 64 << 20, TEXTS_MAX = 1024 };

static struct sim_memory *memory;
static struct sim_reports reports;
static char *texts[TEXTS_MAX];
static size_t text_count;

void kernel_begin(void) {
    memory = sim_memory_new(MEMORY_BYTES);
    ck_assert_ptr_nonnull(memory);
}

void kernel_end(void) {
    sim_memory_free(memory);
    sim_reports_free(&reports);
    memset(&reports, 0, sizeof reports);
    while (text_count)
        free(texts[--text_count]);
}

uint64_t kernel_memory(const void *bytes, uint64_t count) {
    const uint64_t address = sim_memory_allocate(memory, count);
    ck_assert_uint_ne(address, 0);
    if (bytes) {
        memcpy(kernel_view(address, count), bytes, count);
        sim_memory_mark(memory, address, count);
    }
    return address;
}

void *kernel_view(uint64_t address, uint64_t count) {
    void *view = sim_memory_view(memory, address, count);
    ck_assert_ptr_nonnull(view);
    return view;
}

const char *kernel_text(const char *format, ...) {
    char *text = NULL;
    va_list arguments;
    va_start(arguments, format);
    ck_assert_int_ge(vasprintf(&text, format, arguments), 0);
    va_end(arguments);
    ck_assert_uint_lt(text_count, TEXTS_MAX);
    return texts[text_count++] = text;
}

static struct ptx_module *parse(const struct kernel_launch *launch) {
    char message[256] = "";
    const char *text = kernel_text(".version 8.6\n.target sm_90a\n.address_size 64\n"
                                   ".extern .shared .align 1024 .b8 dynamic[];\n.shared .align 8 .b64 barrier;\n"
                                   ".visible .entry kernel(%s)\n{\n" KERNEL_REGISTERS "%s\nret;\n}\n",
                                   launch->parameters, launch->body);
    struct ptx_module *module = ptx_parse(text, strlen(text), message, sizeof message);
    ck_assert_msg(module != NULL, "%s", message);
    return module;
}

static uint8_t *pack(const struct kernel_launch *launch, const struct ptx_function *function) {
    const size_t bytes = (function->parameter_bytes + 127) / 128 * 128;
    uint8_t *params = aligned_alloc(128, bytes ? bytes : 128);
    for (uint32_t p = 0; p < function->parameter_count; p++)
        memcpy(params + function->parameters[p].offset, launch->arguments[p], function->parameters[p].bytes);
    return params;
}

int kernel_run(const struct kernel_launch *launch) {
    struct ptx_module *module = parse(launch);
    struct ptx_function *function = ptx_find_function(module, "kernel");
    const struct sim_options options = {.seed = launch->seed, .count = launch->count};
    struct sim_machine machine = {.device = sim_device_find("h100"),
                                  .resident_clusters = 132,
                                  .memory = memory,
                                  .function = function,
                                  .options = &options,
                                  .grid = {launch->ctas, 1, 1},
                                  .block = {launch->threads, 1, 1},
                                  .cluster_dims = {launch->ctas, 1, 1},
                                  .dynamic_shared_bytes = launch->shared_bytes,
                                  .params = pack(launch, function),
                                  .counters = sim_counters_new(function),
                                  .reports = &reports,
                                  .executed = calloc(function->count, sizeof(uint64_t)),
                                  .executed_lanes = calloc(function->count, sizeof(uint64_t)),
                                  .serial = 1};
    const int result = sim_machine_run(&machine);
    sim_counters_finish(&machine);
    sim_counters_free(machine.counters);
    free(machine.params);
    free(machine.executed);
    free(machine.executed_lanes);
    ptx_free(module);
    return result;
}

static void forget_reports(void) {
    sim_reports_free(&reports);
    memset(&reports, 0, sizeof reports);
}

void kernel_clean(void) {
    ck_assert_msg(reports.count == 0, "%s: %s", gm_sim_report_kind_name(reports.count ? reports.report[0].kind : 0),
                  reports.count ? reports.report[0].sentence : "");
}

void kernel_reported(enum gm_sim_report_kind kind, const char *words) {
    size_t found = 0;
    while (found < reports.count &&
           (reports.report[found].kind != kind || !strstr(reports.report[found].sentence, words)))
        found++;
    ck_assert_msg(found < reports.count, "no report \"%s\" with \"%s\", but %s: %s", gm_sim_report_kind_name(kind),
                  words, gm_sim_report_kind_name(reports.count ? reports.report[0].kind : 0),
                  reports.count ? reports.report[0].sentence : "none");
    forget_reports();
}
