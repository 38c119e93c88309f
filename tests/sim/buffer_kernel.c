/* SPDX-License-Identifier: Apache-2.0 */
/* The kernels of buffer_kernel.h. */
#include "buffer_kernel.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

#define REGISTERS                                                                                                      \
    ".reg .pred p, q; .reg .b16 h, i; .reg .b32 a, b, c, d, lane, at; .reg .f32 f; .reg .f64 g;\n"                     \
    ".reg .b64 to, mine, s, t, u;\n"                                                                                   \
    "ld.param.u64 to, [buffer]; cvta.to.global.u64 to, to; mov.u32 lane, %tid.x;\n"                                    \
    "mul.wide.u32 mine, lane, 32; add.u64 mine, mine, to;\n"

uint8_t buffer[4096];
static char text[8192];

static struct run_ptx run_of(const char *before, const char *body, uint32_t threads, uint32_t ctas) {
    snprintf(text, sizeof text, "%s%s%s%s%s\nret;\n}\n", PTX_HEAD, before, PTX_KERNEL, REGISTERS, body);
    return (struct run_ptx){
        .text = text, .block = {threads}, .grid = {ctas}, .cluster = {ctas}, .buffer = buffer, .bytes = sizeof buffer};
}

void buffer_kernel_runs(const char *before, const char *body, uint32_t threads, uint32_t ctas) {
    struct run_ptx run = run_of(before, body, threads, ctas);
    run_ptx_clean(&run);
}

void buffer_kernel_reports(const char *body, uint32_t threads, enum gm_sim_report_kind kind, const char *words) {
    struct run_ptx run = run_of("", body, threads, 1);
    run_ptx(&run);
    ck_assert_msg(run.message[0] == '\0', "%s", run.message);
    ck_assert_msg(run.reports == 1, "%zu reports of %s: %s", run.reports, body,
                  run.reports ? run.report[0].sentence : "");
    ck_assert_msg(run.report[0].kind == kind && strstr(run.report[0].sentence, words), "%s: \"%s\" lacks \"%s\"",
                  gm_sim_report_kind_name(run.report[0].kind), run.report[0].sentence, words);
}

uint64_t buffer_word(size_t index) {
    uint64_t value;
    memcpy(&value, buffer + 8 * index, 8);
    return value;
}

void buffer_set(size_t index, uint64_t value) {
    memcpy(buffer + 8 * index, &value, 8);
}
