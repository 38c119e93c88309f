/* SPDX-License-Identifier: Apache-2.0 */
/* Barriers in whole kernels, as the scheduler runs them: clean ones under many seeds, and the same with one mistake. */
#include "sim_tests.h"

#include "run_ptx.h"

#include <stdio.h>
#include <string.h>

enum { SEEDS = 8 };

/* Warp 0 puts 100 rounds of numbers into a ring of two stages, warp 1 adds up what lane ^ 1 put there. The marks are
 * what mistakes replace. */
static const char ring[] = PTX_HEAD
    ".shared .align 8 .b64 full[2];\n.shared .align 8 .b64 empty[2];\n.shared .align 16 .b32 data[64];\n" PTX_KERNEL
    ".reg .pred p, done; .reg .b32 t, lane, i, phase, f, e, d, v, sum, x; .reg .b64 o;\n"
    "mov.u32 t, %tid.x; and.b32 lane, t, 31;\n"
    "setp.ne.u32 p, t, 0;\n"
    "@p bra READY;\n"
    "mbarrier.init.shared::cta.b64 [full], 32;\n"
    "mbarrier.init.shared::cta.b64 [full+8], 32;\n"
    "mbarrier.init.shared::cta.b64 [empty], 1;\n"
    "mbarrier.init.shared::cta.b64 [empty+8], 1;\n"
    "READY:\n"
    "bar.sync 0;\n"
    "mov.u32 i, 0; mov.u32 sum, 0;\n"
    "ROUND:\n"
    "shr.u32 phase, i, 1; and.b32 phase, phase, 1; xor.b32 x, phase, 1;\n"
    "and.b32 d, i, 1; shl.b32 v, d, 3; mov.u32 f, full; add.u32 f, f, v; mov.u32 e, empty; add.u32 e, e, v;\n"
    "shl.b32 d, d, 7; mov.u32 v, data; add.u32 d, d, v;\n"
    "setp.ge.u32 p, t, 32;\n"
    "@p bra CONSUME;\n"
    "EMPTY: mbarrier.try_wait.parity.shared::cta.b64 done, [e], x;\n"
    "@!done bra EMPTY;\n"
    "shl.b32 v, lane, 2; add.u32 d, d, v; add.u32 v, i, lane;\n"
    "st.shared.b32 [d], v;\n"
    "mbarrier.arrive.shared::cta.b64 _, [f];\n"
    "bra NEXT;\n"
    "CONSUME: mbarrier.try_wait.parity.shared::cta.b64 done, [f], phase;\n"
    "@!done bra CONSUME;\n"
    "xor.b32 v, lane, 1; shl.b32 v, v, 2; add.u32 d, d, v;\n"
    "ld.shared.b32 v, [d];\n"
    "add.u32 sum, sum, v;\n"
    "bar.warp.sync -1;\n"
    "setp.eq.u32 p, lane, 0;\n"
    "@p mbarrier.arrive.shared::cta.b64 _, [e];\n"
    "NEXT: add.u32 i, i, 1; setp.lt.u32 p, i, 100; @p bra ROUND;\n"
    "ld.param.u64 o, [buffer]; cvta.to.global.u64 o, o;\n"
    "setp.eq.u32 p, t, 32;\n"
    "@p st.global.u32 [o], sum;\n"
    "ret;\n}\n";

/* `from` with its first `what` replaced. */
static void replace(char *to, size_t bytes, const char *from, const char *what, const char *with) {
    const char *at = strstr(from, what);
    ck_assert_msg(at != NULL, "no \"%s\" in the kernel", what);
    snprintf(to, bytes, "%.*s%s%s", (int)(at - from), from, with, at + strlen(what));
}

START_TEST(test_ring) {
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        uint32_t sum = 0;
        struct run_ptx run = {.text = ring, .block = {64}, .buffer = &sum, .bytes = sizeof sum, .seed = seed};
        run_ptx_clean(&run);
        ck_assert_uint_eq(sum, 5050);
    }
}
END_TEST

/* What one mistake in the ring leads to. */
static const struct mistake {
    const char *what, *with;
    enum gm_sim_report_kind kind;
} mistakes[] = {
    {"bar.sync 0;", "", SIM_REPORT_BARRIER},
    {"bar.sync 0;", "bar.warp.sync -1;", SIM_REPORT_BARRIER},
    {"bar.sync 0;", "bar.sync 0, 48;", SIM_REPORT_BARRIER},
    {"bar.sync 0;", "@!p bar.sync 0;", SIM_REPORT_DIVERGED},
    {"[full], 32", "[full], 33", SIM_REPORT_DEADLOCK},
    {"[full], 32", "[full], 31", SIM_REPORT_DEADLOCK},
    {"[empty], 1", "[empty], 2", SIM_REPORT_DEADLOCK},
    {"[full+8], 32", "[full], 32", SIM_REPORT_BARRIER},
    {"done, [e], x", "done, [e], phase", SIM_REPORT_DEADLOCK},
    {"@!done bra EMPTY;", "", SIM_REPORT_WRITE_BEFORE_READ},
    {"EMPTY: mbarrier.try_wait.parity.shared::cta.b64 done, [e], x;\n@!done bra EMPTY;", "",
     SIM_REPORT_WRITE_BEFORE_READ},
    {"@!done bra CONSUME;", "", SIM_REPORT_READ_BEFORE_WRITTEN},
    {"mbarrier.arrive.shared::cta.b64 _, [f];", "mbarrier.arrive.relaxed.cta.shared::cta.b64 _, [f];",
     SIM_REPORT_READ_BEFORE_WRITTEN},
    {"mbarrier.arrive.shared::cta.b64 _, [f];", "mbarrier.arrive.shared::cta.b64 _, [f], 2;", SIM_REPORT_DEADLOCK},
    {"@p mbarrier.arrive.shared::cta.b64 _, [e];", "mbarrier.arrive.shared::cta.b64 _, [e];", SIM_REPORT_DEADLOCK},
};

/* Under some seed at least. */
START_TEST(test_mistake) {
    const struct mistake *mistake = &mistakes[_i];
    char text[sizeof ring + 256], seen[512] = "nothing";
    replace(text, sizeof text, ring, mistake->what, mistake->with);
    for (uint64_t seed = 0; seed < 4 * SEEDS; seed++) {
        uint32_t sum = 0;
        struct run_ptx run = {.text = text, .block = {64}, .buffer = &sum, .bytes = sizeof sum, .seed = seed};
        run_ptx(&run);
        ck_assert_str_eq(run.message, "");
        for (size_t r = 0; r < run.reports; r++) {
            if (run.report[r].kind == mistake->kind)
                return;
            snprintf(seen, sizeof seen, "%s", run.report[r].sentence);
        }
    }
    ck_abort_msg("%s -> %s: %s", mistake->what, mistake->with, seen);
}
END_TEST

/* ---- a cluster --------------------------------------------------------------------------------------------- */

/* Each of four CTAs sends its rank to its neighbour, by a store and an arrive. */
static const char neighbours[] =
    PTX_HEAD ".shared .align 8 .b64 inbox;\n.shared .align 4 .b32 word;\n" PTX_KERNEL
             ".reg .pred p, done; .reg .b32 t, rank, peer, a, v; .reg .b64 o, at;\n"
             "mov.u32 t, %tid.x; mov.u32 rank, %cluster_ctarank; add.u32 peer, rank, 1; and.b32 peer, peer, 3;\n"
             "setp.ne.u32 p, t, 0;\n"
             "@p bra READY;\n"
             "mbarrier.init.shared::cta.b64 [inbox], 1;\n"
             "fence.mbarrier_init.release.cluster;\n"
             "READY:\n"
             "barrier.cluster.arrive.relaxed;\n"
             "barrier.cluster.wait.acquire;\n"
             "@p bra DONE;\n"
             "mov.u32 a, word; mapa.shared::cluster.u32 a, a, peer;\n"
             "st.shared::cluster.u32 [a], rank;\n"
             "mov.u32 a, inbox; mapa.shared::cluster.u32 a, a, peer;\n"
             "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [a];\n"
             "WAIT: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 done, [inbox], 0;\n"
             "@!done bra WAIT;\n"
             "ld.shared.u32 v, [word];\n"
             "ld.param.u64 o, [buffer]; cvta.to.global.u64 o, o; mul.wide.u32 at, rank, 4; add.u64 o, o, at;\n"
             "st.global.u32 [o], v;\n"
             "DONE:\n"
             "ret;\n}\n";

static void run_neighbours(const char *text, uint64_t seed, struct run_ptx *run, uint32_t heard[4]) {
    *run = (struct run_ptx){
        .text = text, .grid = {4}, .block = {64}, .cluster = {4}, .buffer = heard, .bytes = 16, .seed = seed};
    run_ptx(run);
    ck_assert_str_eq(run->message, "");
}

/* Nobody leaves before its neighbour's message has come, and that is the neighbour's last access: clean. */
START_TEST(test_neighbours) {
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        uint32_t heard[4] = {9, 9, 9, 9};
        struct run_ptx run;
        run_neighbours(neighbours, seed, &run, heard);
        ck_assert_msg(run.reports == 0, "seed %llu: %s", (unsigned long long)seed, run.report[0].sentence);
        for (uint32_t rank = 0; rank < 4; rank++)
            ck_assert_uint_eq(heard[rank], (rank + 3) % 4);
    }
}
END_TEST

static const struct mistake cluster_mistakes[] = {
    {"fence.mbarrier_init.release.cluster;", "", SIM_REPORT_BARRIER},
    {"barrier.cluster.wait.acquire;", "", SIM_REPORT_BARRIER},
    {"WAIT: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 done, [inbox], 0;\n@!done bra WAIT;\n"
     "ld.shared.u32 v, [word];",
     "mov.u32 v, 0;", SIM_REPORT_PEER_EXITED},
    {"mbarrier.arrive.release.cluster", "mbarrier.arrive.relaxed.cluster", SIM_REPORT_READ_BEFORE_WRITTEN},
    {"mbarrier.try_wait.parity.acquire", "mbarrier.try_wait.parity.relaxed", SIM_REPORT_READ_BEFORE_WRITTEN},
    {"barrier.cluster.arrive.relaxed;", "barrier.cluster.arrive.relaxed; barrier.cluster.arrive.relaxed;",
     SIM_REPORT_BARRIER},
};

START_TEST(test_cluster_mistake) {
    const struct mistake *mistake = &cluster_mistakes[_i];
    char text[sizeof neighbours + 256], seen[512] = "nothing";
    replace(text, sizeof text, neighbours, mistake->what, mistake->with);
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        uint32_t heard[4] = {0};
        struct run_ptx run;
        run_neighbours(text, seed, &run, heard);
        for (size_t r = 0; r < run.reports; r++) {
            if (run.report[r].kind == mistake->kind)
                return;
            snprintf(seen, sizeof seen, "%s", run.report[r].sentence);
        }
    }
    ck_abort_msg("%s -> %s: %s", mistake->what, mistake->with, seen);
}
END_TEST

Suite *barrier_kernels_suite(void) {
    Suite *suite = suite_create("barrier kernels");
    TCase *tcase = tcase_create("run");
    tcase_add_test(tcase, test_ring);
    tcase_add_loop_test(tcase, test_mistake, 0, sizeof mistakes / sizeof *mistakes);
    tcase_add_test(tcase, test_neighbours);
    tcase_add_loop_test(tcase, test_cluster_mistake, 0, sizeof cluster_mistakes / sizeof *cluster_mistakes);
    suite_add_tcase(suite, tcase);
    return suite;
}
