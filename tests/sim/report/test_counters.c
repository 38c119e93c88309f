/* SPDX-License-Identifier: Apache-2.0 */
/* What the simulator counts: accesses made by hand, and the numbers that an H200's counters say of the same. */
#include "sim_tests.h"

#include <math.h>
#include <string.h>

#include "sim/report/counters.h"

/* A launch of one warp whose instructions nobody executes: the test calls what their handlers would. */
static struct {
    struct sim_operation operation;
    struct ptx_instruction code[2];
    uint32_t touched[2];
    struct ptx_function function;
    struct ptx_module module;
    struct sim_options options;
    struct sim_machine machine;
    struct sim_warp warp;
    uint64_t executed[2], executed_lanes[2];
} here;

enum { LOADS = 0, OTHERS = 1, ROW_BYTES = 128, SHARED = 0x4000 };

static void set_up(void) {
    memset(&here, 0, sizeof here);
    here.operation = (struct sim_operation){"ld.shared.u32", "da", SIM_CLASS_SHARED_LOAD, NULL};
    for (uint32_t pc = 0; pc < 2; pc++)
        here.code[pc] =
            (struct ptx_instruction){.operation = &here.operation, .line = 2 + pc, .pc = pc, .guard = PTX_NONE};
    here.module.text = (char *)"first\nsecond\nthird";
    here.function = (struct ptx_function){.module = &here.module,
                                          .code = here.code,
                                          .count = 2,
                                          .touched = here.touched,
                                          .register_bytes = 64 * ROW_BYTES};
    here.options.count = 1;
    here.machine = (struct sim_machine){.function = &here.function,
                                        .options = &here.options,
                                        .grid = {1, 1, 1},
                                        .block = {32, 1, 1},
                                        .executed = here.executed,
                                        .executed_lanes = here.executed_lanes};
    here.machine.counters = sim_counters_new(&here.function);
    here.warp.machine = &here.machine;
    here.executed[LOADS] = 3;
    here.executed_lanes[LOADS] = 96;
    ck_assert_ptr_nonnull(here.machine.counters);
}

static void tear_down(void) {
    sim_counters_free(here.machine.counters);
}

/* Lane i at base + i * step. */
static const uint64_t *every(uint64_t base, uint64_t step) {
    static uint64_t addresses[PTX_LANES];
    for (uint32_t lane = 0; lane < PTX_LANES; lane++)
        addresses[lane] = base + lane * step;
    return addresses;
}

static void shared(enum sim_shared_op op, const uint64_t *addresses, uint32_t mask, uint32_t bytes) {
    sim_count_shared(&here.warp, &here.code[LOADS], op, addresses, mask, bytes, false, false);
}

/* The metric of what was counted; NaN: not claimed. */
static double metric(const char *name) {
    double value = 0;
    sim_counters_finish(&here.machine);
    const int status = gm_sim_metric(name, &value);
    ck_assert(status == 0 ? isfinite(value) : isnan(value));
    return value;
}

#define PIPE(what, op)         "l1tex__data_" what "_pipe_lsu_mem_shared_op_" op ".sum"
#define WAVEFRONTS(op)         "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_" op ".sum"
#define CONFLICTS(op)          PIPE("bank_conflicts", op)
#define EXACT(op)              "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_" op ".sum"
#define ck_metric(name, value) ck_assert_double_eq(metric(name), (value))

START_TEST(a_stride_conflicts) {
    for (uint32_t k = 0; k < 3; k++)
        shared(SIM_SHARED_LOAD, every(SHARED + 128 * k, 16), UINT32_MAX, 4);
    ck_metric(WAVEFRONTS("ld"), 12);
    ck_metric(CONFLICTS("ld"), 9);
    ck_metric(EXACT("ld"), 12);
    ck_metric("smsp__sass_inst_executed_op_shared_ld.sum", 3);
    ck_metric("smsp__warps_launched.sum", 1);
    ck_metric(CONFLICTS("ld") "+" CONFLICTS("st"), 9);
}
END_TEST

/* Where the first lane lies does not matter, and lanes that lie before it are told from those behind. */
START_TEST(patterns_are_told_apart) {
    uint64_t addresses[PTX_LANES];
    shared(SIM_SHARED_LOAD, every(SHARED + 8, 4), UINT32_MAX, 4);
    ck_metric(WAVEFRONTS("ld"), 1);
    for (uint32_t lane = 0; lane < PTX_LANES; lane++)
        addresses[lane] = SHARED + 4096 - 128 * lane;
    shared(SIM_SHARED_LOAD, addresses, UINT32_MAX, 4);
    ck_metric(WAVEFRONTS("ld"), 1 + 32);
    shared(SIM_SHARED_LOAD, addresses, 0x0f00, 4);
    ck_metric(WAVEFRONTS("ld"), 1 + 32 + 4);
    shared(SIM_SHARED_LOAD, addresses, 1, 4);
    ck_metric(WAVEFRONTS("ld"), 1 + 32 + 4 + 1);
    shared(SIM_SHARED_LOAD, addresses, 0, 4);
    ck_metric(EXACT("ld"), 1 + 32 + 4 + 1);
}
END_TEST

START_TEST(matrices_are_counted_with_loads_and_stores_by_the_pipe_alone) {
    shared(SIM_SHARED_LDMATRIX, every(SHARED, 128), UINT32_MAX, 16);
    shared(SIM_SHARED_LDMATRIX, every(SHARED, 16), 0xff, 16);
    shared(SIM_SHARED_STMATRIX, every(SHARED, 16), 0xffff, 16);
    ck_metric(WAVEFRONTS("ld"), 32 + 1);
    ck_metric(EXACT("ld"), 0);
    ck_metric(EXACT("ldsm"), 33);
    ck_metric(EXACT("stsm"), 2);
    ck_metric(WAVEFRONTS("st"), 2);
}
END_TEST

/* Phases that merge and conflict: the instruction's counter says one wavefront more for each conflict. */
START_TEST(merged_phases) {
    uint64_t addresses[PTX_LANES];
    for (uint32_t lane = 0; lane < PTX_LANES; lane++)
        addresses[lane] = SHARED + lane / 2 * 8;
    shared(SIM_SHARED_LOAD, addresses, UINT32_MAX, 8);
    ck_metric(EXACT("ld"), 1);
    for (uint32_t lane = 0; lane < PTX_LANES; lane++)
        addresses[lane] = SHARED + lane / 2 * 16;
    shared(SIM_SHARED_LOAD, addresses, UINT32_MAX, 8);
    ck_metric(WAVEFRONTS("ld"), 1 + 2);
    ck_metric(EXACT("ld"), 1 + 3);
}
END_TEST

START_TEST(atomics) {
    const struct ptx_instruction *i = &here.code[OTHERS];
    sim_count_shared(&here.warp, i, SIM_SHARED_ATOMIC, every(SHARED, 0), 0xff, 4, false, false);
    ck_metric(EXACT("atom"), 8);
    sim_count_shared(&here.warp, i, SIM_SHARED_ATOMIC, every(SHARED, 0), 0xff, 4, false, true);
    ck_metric(EXACT("atom"), 8 + 16);
    ck_metric(CONFLICTS("atom"), 7 + 7);
    sim_count_shared(&here.warp, i, SIM_SHARED_ATOMIC, every(SHARED, 0), 0xff, 4, true, false);
    ck_metric(EXACT("atom"), 8 + 16 + 1);
    sim_count_shared(&here.warp, i, SIM_SHARED_ATOMIC, every(SHARED, 8), 0xff, 8, false, false);
    ck_assert(isnan(metric(EXACT("atom")))); /* 64 bits: never compared with hardware */
}
END_TEST

/* An increment whose old value is used shares no word. */
START_TEST(an_increment_that_is_read) {
    here.touched[0] = here.touched[1] = 50 * ROW_BYTES;
    here.code[OTHERS].writes_count = 1;
    here.code[LOADS].reads_first = 1;
    here.code[LOADS].reads_count = 1;
    sim_count_shared(&here.warp, &here.code[OTHERS], SIM_SHARED_ATOMIC, every(SHARED, 0), 0xff, 4, true, false);
    ck_metric(EXACT("atom"), 8);
}
END_TEST

/* The pipe's counters are claimed only where nothing else delays it. */
START_TEST(arbitration) {
    here.machine.block[0] = 800;
    shared(SIM_SHARED_STORE, every(SHARED, 4), UINT32_MAX, 4);
    ck_metric(WAVEFRONTS("st"), 1);
    shared(SIM_SHARED_STORE, every(SHARED, 4), 0x77777777, 4);
    ck_assert(isnan(metric(WAVEFRONTS("st"))));
    ck_metric(EXACT("st"), 2);
    ck_metric(WAVEFRONTS("ld"), 0);
    shared(SIM_SHARED_LOAD, every(SHARED, 4), 0x77777777, 4);
    ck_metric(WAVEFRONTS("ld"), 1);
    for (int k = 0; k < 1000; k++)
        sim_count_global(&here.warp, &here.code[OTHERS], false, every(0, 4), UINT32_MAX, 4);
    ck_assert(isnan(metric(WAVEFRONTS("ld"))));
    here.machine.block[0] = 32;
    ck_metric(WAVEFRONTS("st"), 2);
}
END_TEST

START_TEST(wgmma_and_cp_async) {
    shared(SIM_SHARED_CP_ASYNC, every(SHARED, 0), UINT32_MAX, 4);
    sim_count_wgmma(&here.warp, &here.code[OTHERS], 16);
    ck_metric(EXACT("ldgsts"), 32);
    ck_metric(CONFLICTS("ldgsts"), 31);
    ck_metric(WAVEFRONTS("gmma"), 16);
    ck_metric(CONFLICTS("gmma"), 0);
    ck_metric("l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum", 31);
    here.operation.class = SIM_CLASS_CP_ASYNC;
    sim_count_global(&here.warp, &here.code[OTHERS], false, every(0, 4), UINT32_MAX, 4);
    ck_metric(CONFLICTS("ldgsts"), 31);
    sim_count_global(&here.warp, &here.code[OTHERS], false, every(0, 64), UINT32_MAX, 4);
    ck_assert(isnan(metric(CONFLICTS("ldgsts"))));
    ck_metric("l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", 0);
}
END_TEST

START_TEST(sectors) {
    static const struct {
        uint64_t base, step;
        uint32_t mask, bytes, sectors;
    } cases[] = {{0, 4, UINT32_MAX, 4, 4},
                 {16, 4, UINT32_MAX, 4, 5},
                 {0, 16, UINT32_MAX, 16, 16},
                 {0, 128, UINT32_MAX, 4, 32},
                 {0, 0, UINT32_MAX, 4, 1},
                 {28, 32, 3, 8, 3},
                 {1 << 20, (uint64_t)-128, UINT32_MAX, 4, 32},
                 {1 << 20, (uint64_t)-4, UINT32_MAX, 4, 5}};
    double sum = 0;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        sim_count_global(&here.warp, &here.code[OTHERS], k % 2, every(cases[k].base, cases[k].step), cases[k].mask,
                         cases[k].bytes);
        sum += cases[k].sectors;
        ck_metric("l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum+l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum", sum);
    }
    ck_metric("l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", 4);
    ck_metric("l1tex__t_requests_pipe_lsu_mem_global_op_st.sum", 4);
}
END_TEST

START_TEST(peers_and_bulk_copies) {
    sim_count_peer(&here.warp, &here.code[OTHERS], false, 512);
    sim_count_peer(&here.warp, &here.code[OTHERS], true, 64);
    sim_count_bulk(&here.warp, &here.code[OTHERS], false, 4096, 128, 4);
    sim_count_bulk(&here.warp, &here.code[OTHERS], true, 1024, 32, 0);
    ck_metric("l1tex__t_bytes_pipe_lsu_mem_dshared_op_ld.sum", 512);
    ck_metric("l1tex__m_xbar2l1tex_read_sectors_mem_global_op_tma_ld.sum", 512);
    ck_metric("sim__l2_sectors_saved_by_multicast.sum", 384);
    ck_metric("sim__bulk_bytes_loaded.sum", 4096);
    ck_metric("sim__bulk_bytes_stored.sum", 1024);
}
END_TEST

START_TEST(names) {
    ck_metric("sim__instructions.sum", 3);
    ck_metric("sim__thread_instructions_shared_load.sum", 96);
    ck_metric("sim__instructions_shared_load.sum", 3);
    static const char *const unknown[] = {"",
                                          "+",
                                          "x",
                                          ".sum",
                                          "dram__bytes_read.sum",
                                          "smsp__warps_launched",
                                          "smsp__warps_launched.avg",
                                          "smsp__warps_launched.sum+lts__t_sectors.sum",
                                          "sim__instructions_.sum",
                                          "sim__instructions_x.sum"};
    for (size_t k = 0; k < sizeof unknown / sizeof *unknown; k++)
        ck_assert_msg(isnan(metric(unknown[k])), "%s", unknown[k]);
    double value;
    ck_assert_int_eq(gm_sim_metric(NULL, &value), -1);
    ck_assert_int_eq(gm_sim_metric("smsp__warps_launched.sum", NULL), 0);
    here.options.count = 0;
    ck_assert(isnan(metric("smsp__warps_launched.sum")));
}
END_TEST

START_TEST(lines) {
    struct gm_sim_line line;
    shared(SIM_SHARED_LOAD, every(SHARED, 8), UINT32_MAX, 4);
    sim_count_bulk(&here.warp, &here.code[OTHERS], false, 64, 2, 1);
    here.executed[OTHERS] = here.executed_lanes[OTHERS] = 1;
    sim_counters_finish(&here.machine);
    ck_assert_uint_eq(gm_sim_line_count(), 2);
    ck_assert_int_eq(gm_sim_line_get(0, &line), 0);
    ck_assert(line.line == 2 && line.instructions == 3 && line.lanes == 96 && line.wavefronts == 2 &&
              line.conflicts == 1);
    ck_assert(line.accesses == 1 && line.ideal_wavefronts == 1 && line.width == 4 && line.requests == 0);
    ck_assert_str_eq(line.access, "ld.shared");
    ck_assert_int_eq(gm_sim_line_get(1, &line), 0);
    ck_assert(line.line == 3 && line.bytes == 64 && line.sectors == 2);
    ck_assert_int_eq(gm_sim_line_get(2, &line), -1);
    here.code[OTHERS].line = 2;
    sim_counters_finish(&here.machine);
    ck_assert_uint_eq(gm_sim_line_count(), 1);
    ck_assert_int_eq(gm_sim_line_get(0, &line), 0);
    ck_assert(line.instructions == 4 && line.wavefronts == 2 && line.bytes == 64);
    ck_assert_str_eq(gm_sim_line_text(1), "first");
    ck_assert_str_eq(gm_sim_line_text(3), "third");
    ck_assert_ptr_null(gm_sim_line_text(0));
    ck_assert_ptr_null(gm_sim_line_text(4));
}
END_TEST

/* Few sectors hold the bytes that are asked for, however far the lanes lie apart and in whatever order. */
START_TEST(ideal_sectors) {
    struct gm_sim_line line;
    uint64_t backwards[PTX_LANES];
    for (uint32_t lane = 0; lane < PTX_LANES; lane++)
        backwards[lane] = 0x1000 + 4 * (31 - lane);
    here.operation.class = SIM_CLASS_GLOBAL_LOAD;
    sim_count_global(&here.warp, &here.code[LOADS], false, every(0x1000, 128), UINT32_MAX, 4); /* 4 for 32 */
    sim_count_global(&here.warp, &here.code[LOADS], false, backwards, UINT32_MAX, 4);          /* 4 for 4 */
    sim_count_global(&here.warp, &here.code[LOADS], false, every(0x1000, 0), UINT32_MAX, 8);   /* 1 for 1 */
    sim_count_global(&here.warp, &here.code[LOADS], false, every(0x1010, 4), 0xff, 4);         /* 1 for 2 */
    sim_counters_finish(&here.machine);
    ck_assert_int_eq(gm_sim_line_get(0, &line), 0);
    ck_assert_uint_eq(line.sectors, 32 + 4 + 1 + 2);
    ck_assert_uint_eq(line.ideal_sectors, 4 + 4 + 1 + 1);
    ck_assert(line.requests == 4 && line.accesses == 0 && line.width == 8);
    ck_assert_str_eq(line.access, "ld.global");
}
END_TEST

Suite *counters_suite(void) {
    Suite *suite = suite_create("counters");
    TCase *tests = tcase_create("counters");
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, a_stride_conflicts);
    tcase_add_test(tests, patterns_are_told_apart);
    tcase_add_test(tests, matrices_are_counted_with_loads_and_stores_by_the_pipe_alone);
    tcase_add_test(tests, merged_phases);
    tcase_add_test(tests, atomics);
    tcase_add_test(tests, an_increment_that_is_read);
    tcase_add_test(tests, arbitration);
    tcase_add_test(tests, wgmma_and_cp_async);
    tcase_add_test(tests, sectors);
    tcase_add_test(tests, peers_and_bulk_copies);
    tcase_add_test(tests, names);
    tcase_add_test(tests, lines);
    tcase_add_test(tests, ideal_sectors);
    suite_add_tcase(suite, tests);
    return suite;
}
