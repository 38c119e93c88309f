/* SPDX-License-Identifier: Apache-2.0 */
/* The cluster of hand_made.h. */
#include "hand_made.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/memory/memory.h"
#include "sim/memory/peers.h"
#include "sim/memory/shadow.h"
#include "sim/report/report.h"

enum { SHARED_BYTES = 4096, INSTRUCTIONS_MOST = 256 };

static const char head[] = ".version 8.6\n.target sm_90a\n.address_size 64\n"
                           ".shared .align 8 .b64 full;\n"
                           ".visible .entry by_hand() {\n.reg .pred p, q; .reg .b32 a, b; .reg .b64 s, t;\n"
                           /* uses, so that every register and variable has its place in every module */
                           "setp.eq.u32 p, a, b; setp.eq.u64 q, s, t;\n"
                           "mov.b32 a, full;\n";
enum { HEAD_INSTRUCTIONS = 3 };

struct hand {
    struct sim_machine machine;
    struct sim_cluster cluster;
    struct sim_agents *agents;
    struct sim_options options;
    struct sim_reports reports;
    struct ptx_module *module[INSTRUCTIONS_MOST];
    char *text[INSTRUCTIONS_MOST];
    size_t count;
};

/* ---- instructions ------------------------------------------------------------------------------------------ */

/* The function whose last instruction but one (the `ret`) is `ptx`. Each text is parsed once. */
static struct ptx_function *function_of(struct hand *hand, const char *ptx) {
    char text[2048], message[256] = "";
    for (size_t m = 0; m < hand->count; m++)
        if (strcmp(hand->text[m], ptx) == 0)
            return &hand->module[m]->functions[0];
    ck_assert_uint_lt(hand->count, INSTRUCTIONS_MOST);
    snprintf(text, sizeof text, "%s%s\nret;\n}\n", head, ptx);
    struct ptx_module *module = ptx_parse(text, strlen(text), message, sizeof message);
    ck_assert_msg(module != NULL, "%s: %s", ptx, message);
    hand->text[hand->count] = strdup(ptx);
    hand->module[hand->count++] = module;
    return &module->functions[0];
}

static struct sim_path *path_of(struct hand *hand, uint32_t cta, uint32_t warp) {
    return hand_warp(hand, cta, warp)->paths;
}

enum sim_next hand_run(struct hand *hand, uint32_t cta, uint32_t warp, uint32_t mask, const char *ptx) {
    const struct ptx_function *function = function_of(hand, ptx);
    const struct ptx_instruction *instruction = &function->code[HEAD_INSTRUCTIONS];
    struct sim_warp *runner = hand_warp(hand, cta, warp);
    struct sim_path *path = path_of(hand, cta, warp);
    path->mask = mask;
    path->time = hand->cluster.now = hand->cluster.now + 1;
    const enum sim_next next = instruction->handler(runner, path, instruction, mask);
    if (next != SIM_WAIT) {
        path->stage = 0;
        runner->instructions++;
    }
    return next;
}

/* ---- the cluster ------------------------------------------------------------------------------------------- */

static void begin_warp(struct sim_cta *cta, struct sim_warp *warp, uint32_t index, uint32_t register_bytes) {
    warp->cta = cta;
    warp->cluster = cta->cluster;
    warp->machine = cta->machine;
    warp->index = index;
    warp->lanes = UINT32_MAX;
    warp->registers = calloc(1, register_bytes + 256);
    warp->paths = calloc(1, sizeof *warp->paths);
    warp->paths->stop = PTX_NONE;
    sim_warp_knowledge_begin(warp);
}

static void begin_cta(struct hand *hand, struct sim_cta *cta, uint32_t rank, uint32_t warps) {
    cta->cluster = &hand->cluster;
    cta->machine = &hand->machine;
    cta->rank = cta->id[0] = rank;
    cta->warp_count = cta->live_warps = warps;
    cta->threads = warps * PTX_LANES;
    cta->shared_bytes = SHARED_BYTES;
    cta->shared = calloc(1, SHARED_BYTES);
    cta->shadow = sim_shadow_new(cta, SHARED_BYTES);
    cta->named = sim_named_barriers_new();
    cta->mbarriers = sim_mbarriers_new();
    cta->warps = calloc(warps, sizeof *cta->warps);
    for (uint32_t w = 0; w < warps; w++)
        begin_warp(cta, &cta->warps[w], w, hand->machine.function->register_bytes);
}

struct hand *hand_new(uint32_t ctas, uint32_t warps) {
    struct hand *hand = calloc(1, sizeof *hand);
    hand->agents = calloc(1, sizeof *hand->agents);
    hand->agents->count = 1;
    hand->machine.options = &hand->options;
    hand->machine.reports = &hand->reports;
    hand->machine.function = function_of(hand, "mov.b32 a, 0;");
    hand->cluster.machine = &hand->machine;
    hand->cluster.agents = hand->agents;
    hand->cluster.cta_count = ctas;
    hand->cluster.ctas = calloc(ctas, sizeof *hand->cluster.ctas);
    for (uint32_t c = 0; c < ctas; c++)
        begin_cta(hand, &hand->cluster.ctas[c], c, warps);
    hand->cluster.barrier = sim_cluster_barrier_new(&hand->cluster);
    hand->cluster.peers = sim_peers_new(ctas);
    return hand;
}

static void end_cta(struct sim_cta *cta) {
    for (uint32_t w = 0; w < cta->warp_count; w++) {
        sim_clocks_free(&cta->warps[w].known);
        sim_clocks_free(&cta->warps[w].flushed);
        free(cta->warps[w].registers);
        free(cta->warps[w].paths);
    }
    free(cta->warps);
    sim_mbarriers_free(cta->mbarriers);
    sim_named_barriers_free(cta->named);
    sim_shadow_free(cta->shadow);
    free(cta->shared);
}

void hand_free(struct hand *hand) {
    sim_cluster_barrier_free(hand->cluster.barrier);
    sim_peers_free(hand->cluster.peers);
    for (uint32_t c = 0; c < hand->cluster.cta_count; c++)
        end_cta(&hand->cluster.ctas[c]);
    free(hand->cluster.ctas);
    for (size_t m = 0; m < hand->count; m++) {
        ptx_free(hand->module[m]);
        free(hand->text[m]);
    }
    sim_reports_free(&hand->reports);
    free(hand->agents);
    free(hand);
}

struct sim_cluster *hand_cluster(struct hand *hand) {
    return &hand->cluster;
}

struct sim_warp *hand_warp(struct hand *hand, uint32_t cta, uint32_t warp) {
    return &hand->cluster.ctas[cta].warps[warp];
}

void hand_exit(struct hand *hand, uint32_t cta, uint32_t warp) {
    struct sim_warp *leaver = hand_warp(hand, cta, warp);
    leaver->exited = leaver->lanes;
    sim_barriers_warp_exited(leaver);
    if (--leaver->cta->live_warps == 0) {
        sim_barriers_cta_exited(leaver->cta, leaver);
        leaver->cta->exited = true;
    }
}

void hand_exit_cta(struct hand *hand, uint32_t cta) {
    for (uint32_t w = 0; w < hand->cluster.ctas[cta].warp_count; w++)
        hand_exit(hand, cta, w);
}

void hand_everybody(struct hand *hand, const char *ptx) {
    for (uint32_t c = 0; c < hand->cluster.cta_count; c++)
        for (uint32_t w = 0; w < hand->cluster.ctas[c].warp_count; w++)
            hand_does(hand, c, w, ptx);
}

void hand_prepare(struct hand *hand, const char *init, bool fenced) {
    for (uint32_t c = 0; c < hand->cluster.cta_count; c++) {
        hand_leads(hand, c, 0, init);
        if (fenced)
            hand_leads(hand, c, 0, "fence.mbarrier_init.release.cluster;");
    }
    hand_everybody(hand, "barrier.cluster.arrive;");
    hand_everybody(hand, "barrier.cluster.wait;");
    hand_clean(hand);
}

/* ---- registers and reports ----------------------------------------------------------------------------------- */

static const struct ptx_register *register_named(struct hand *hand, char name) {
    const struct ptx_function *function = hand->machine.function;
    for (uint32_t r = 0; r < function->register_count; r++)
        if (function->registers[r].name[0] == name && function->registers[r].name[1] == '\0')
            return &function->registers[r];
    ck_abort_msg("no register %c", name);
    return NULL;
}

uint64_t hand_register(struct hand *hand, uint32_t cta, uint32_t warp, char name) {
    const struct ptx_register *where = register_named(hand, name);
    const uint8_t *row = hand_warp(hand, cta, warp)->registers + where->offset;
    uint64_t value = 0;
    memcpy(&value, row, where->bits == 64 ? 8 : 4);
    return where->bits == 1 ? value & 1 : value;
}

void hand_set(struct hand *hand, uint32_t cta, uint32_t warp, char name, uint64_t value) {
    const struct ptx_register *where = register_named(hand, name);
    uint8_t *row = hand_warp(hand, cta, warp)->registers + where->offset;
    const uint32_t lanes = value ? UINT32_MAX : 0;
    if (where->bits == 1)
        memcpy(row, &lanes, 4);
    for (int lane = 0; lane < PTX_LANES && where->bits != 1; lane++)
        memcpy(row + lane * where->bits / 8, &value, where->bits / 8);
}

void hand_clean(struct hand *hand) {
    ck_assert_msg(hand->reports.count == 0, "a report: %s",
                  hand->reports.count ? hand->reports.report[0].sentence : "");
}

void hand_reported(struct hand *hand, enum gm_sim_report_kind kind, const char *words) {
    ck_assert_msg(hand->reports.count == 1, "%zu reports, expected %s: %s", hand->reports.count,
                  gm_sim_report_kind_name(kind), hand->reports.count ? hand->reports.report[1].sentence : words);
    const struct gm_sim_report *report = &hand->reports.report[0];
    ck_assert_msg(report->kind == kind, "%s, expected %s: %s", gm_sim_report_kind_name(report->kind),
                  gm_sim_report_kind_name(kind), report->sentence);
    ck_assert_msg(strstr(report->sentence, words) != NULL, "\"%s\" lacks \"%s\"", report->sentence, words);
    sim_reports_free(&hand->reports);
}
