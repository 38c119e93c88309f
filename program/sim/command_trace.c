/* SPDX-License-Identifier: Apache-2.0 */
/* gristmill sim trace: the timeline of one GEMM. */
#include <inttypes.h>
#include <stdio.h>

#include "program/sim/simulator.h"
#include "program/smem/picture.h"
#include "program/sim/timeline.h"

struct trace_options {
    struct sim_request request;
    const char *svg, *html;
    int events;
};

static int trace(const struct trace_options *given) {
    struct gm_kernel_info info = {.size = sizeof info};
    struct simulator simulator;
    struct timeline timeline = {.listed = (size_t)given->events};
    char sentence[240], title[240];
    if (simulator_open(&simulator, &given->request) != 0)
        return EXIT_CODE_FAILURE;
    simulator.set_trace(timeline_note, &timeline);
    const enum sim_outcome outcome = sim_gemm_run(&simulator, &given->request, sentence, sizeof sentence);
    simulator.set_trace(NULL, NULL);
    gm_kernel_get((size_t)given->request.row, &info);
    snprintf(title, sizeof title, "%s, %d x %d x %d on a simulated %s", info.name, given->request.m, given->request.n,
             given->request.k, given->request.device);
    timeline.title = title;
    const struct picture picture = {timeline_draw, &timeline, given->svg, given->html};
    int code = outcome == SIM_FAILED || timeline_arrange(&timeline) != 0 || picture_put(&picture) != 0
                   ? EXIT_CODE_FAILURE
                   : EXIT_CODE_OK;
    if (outcome != SIM_FAILED && simulator_print_reports(&simulator) > 0)
        code = EXIT_CODE_FAILURE;
    if (outcome == SIM_WRONG || outcome == SIM_ENDED) {
        printf("%s\n", sentence);
        code = EXIT_CODE_FAILURE;
    }
    timeline_free(&timeline);
    simulator_close(&simulator);
    return code;
}

static const char about[] =
    "Runs one GEMM on the simulated GPU and draws what happened when: the copies of the producer, the waits and\n"
    "wgmmas of the consumers, the phases of the mbarriers between them.\n\n"
    "examples:\n"
    "  gristmill sim trace gemm_sm90_bf16_tn_128x128x64_s6_c1x1_w2_sw128 --m 256 --n 128 --k 512\n"
    "  gristmill sim trace gemm_sm90_bf16_tn_128x192x64_s4_c2x1_p2_sw128 --svg pingpong.svg";

int command_sim_trace(int argc, char **argv) {
    enum { OWN = 3 };
    struct trace_options given = {.events = 0};
    struct args_option options[SIM_REQUEST_OPTIONS + OWN] = {
        {"svg", "FILE", ARGS_TEXT, &given.svg, "the timeline as SVG"},
        {"html", "FILE", ARGS_TEXT, &given.html, "the same as one HTML page"},
        {"events", "N", ARGS_COUNT, &given.events, "also list the first N events"},
    };
    sim_request_options(&given.request, options + OWN);
    const struct args_command command = {"gristmill sim trace KERNEL [options]", about, options,
                                         sizeof options / sizeof *options};
    const int code = sim_request_read(&given.request, &command, argc, argv);
    return code == SIM_GO ? trace(&given) : code;
}
