/* SPDX-License-Identifier: Apache-2.0 */
/* Allocations that fail: the call returns CUDA_ERROR_OUT_OF_MEMORY, has done nothing, and works the next time. */
#include "copy_kernel.h"
#include "driver_kit.h"
#include "failing_memory.h"
#include "sim_tests.h"

#include <string.h>

/* A call, on the variables below. Check's macros allocate as well: none in here. */
typedef CUresult step_fn(void);

/* Calls it once for each of its allocations, which fails, alone or (`others`) with all after it. Then, without a
 * failure, it gives what is expected. */
static void check_step(const char *name, step_fn *step, CUresult expected, bool others) {
    for (size_t n = 1;; n++) {
        failing_memory_begin(n, others);
        const CUresult result = step();
        const bool failed = failing_memory_end();
        const CUresult right = failed ? CUDA_ERROR_OUT_OF_MEMORY : expected;
        ck_assert_msg(result == right, "%s, allocation %zu %s: %s, expected %s", name, n, failed ? "fails" : "is none",
                      sim_error_name(result), sim_error_name(right));
        if (!failed)
            return;
        ck_assert_msg(gm_sim_report_count() == 0, "%s, allocation %zu: reports", name, n);
    }
}

/* ---- the calls of the driver ----------------------------------------------------------------------------------- */

static CUcontext context;
static CUlibrary text, code;
static CUkernel kernel, of_code;
static CUmodule module;
static CUfunction fill, of_module;
static CUdeviceptr memory, cell;
static CUstream stream;
static CUevent event;
static CUgraph captured, graph;
static CUgraphNode node;
static CUgraphExec captured_exec, exec;

/* The kernels of this build, by the names of their compressed PTX. */
#define PTX(symbol) #symbol,
static const char *const symbols[] = {
#include "sim_kernels.def"
};
#undef PTX

static CUresult retain(void) {
    return cuDevicePrimaryCtxRetain(&context, 0);
}
static CUresult load_text(void) {
    return cuLibraryLoadData(&text, kit_ptx, NULL, NULL, 0, NULL, NULL, 0);
}
static CUresult load_code(void) {
    static const unsigned char elf[] = {0x7f, 'E', 'L', 'F', 2, 1, 1, 0};
    return cuLibraryLoadData(&code, elf, NULL, NULL, 0, NULL, NULL, 0);
}
static CUresult load_module(void) {
    return cuModuleLoadData(&module, kit_ptx);
}
static CUresult get_kernel(void) {
    return cuLibraryGetKernel(&kernel, text, "fill");
}
static CUresult get_kernel_of_code(void) {
    return cuLibraryGetKernel(&of_code, code, symbols[0] + strlen("ptx_"));
}
static CUresult get_no_kernel(void) { /* every module of the laboratory is looked through */
    CUkernel none;
    return cuLibraryGetKernel(&none, code, "no such kernel");
}
static CUresult get_registers_of_code(void) { /* a kernel's handle becomes a function */
    int registers;
    return cuFuncGetAttribute(&registers, CU_FUNC_ATTRIBUTE_NUM_REGS, (CUfunction)of_code);
}
static CUresult get_function(void) {
    return cuKernelGetFunction(&fill, kernel);
}
static CUresult get_function_of_module(void) {
    return cuModuleGetFunction(&of_module, module, "fill");
}
static CUresult get_variable(void) {
    return cuModuleGetGlobal(&cell, NULL, module, "cell");
}
static CUresult allocate(void) {
    return cuMemAlloc(&memory, 4096);
}
static CUresult make_stream(void) {
    return cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING);
}
static CUresult make_event(void) {
    return cuEventCreate(&event, 0);
}
static CUresult launch_fill(void) {
    return kit_fill(fill, NULL, memory, 7, 64);
}
static CUresult begin_capture(void) {
    return cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED);
}
static CUresult capture_fill(void) {
    return kit_fill(fill, stream, memory, 8, 64);
}
static CUresult end_capture(void) {
    return cuStreamEndCapture(stream, &captured);
}
static CUresult instantiate_captured(void) {
    return cuGraphInstantiateWithFlags(&captured_exec, captured, 0);
}
static CUresult launch_captured(void) {
    return cuGraphLaunch(captured_exec, stream);
}
static CUresult make_graph(void) {
    return cuGraphCreate(&graph, 0);
}

static CUresult with_node(CUresult (*call)(const CUDA_KERNEL_NODE_PARAMS *params)) {
    uint32_t value = 9;
    void *pointers[] = {&memory, &value};
    const CUDA_KERNEL_NODE_PARAMS params = {.func = fill,
                                            .gridDimX = 1,
                                            .gridDimY = 1,
                                            .gridDimZ = 1,
                                            .blockDimX = 32,
                                            .blockDimY = 1,
                                            .blockDimZ = 1,
                                            .kernelParams = pointers};
    return call(&params);
}
static CUresult add_with(const CUDA_KERNEL_NODE_PARAMS *params) {
    return cuGraphAddKernelNode(&node, graph, NULL, 0, params);
}
static CUresult set_with(const CUDA_KERNEL_NODE_PARAMS *params) {
    return cuGraphExecKernelNodeSetParams(exec, node, params);
}
static CUresult add_node(void) {
    return with_node(add_with);
}
static CUresult set_node(void) {
    return with_node(set_with);
}
static CUresult set_attribute(void) {
    const CUlaunchAttributeValue value = {.clusterDim = {1, 1, 1}};
    return cuGraphKernelNodeSetAttribute(node, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, &value);
}
static CUresult instantiate(void) {
    return cuGraphInstantiateWithFlags(&exec, graph, 0);
}
/* In this order; each expects CUDA_SUCCESS but where it says otherwise. */
static const struct {
    const char *name;
    step_fn *step;
    CUresult expected;
} steps[] = {
#define STEP(step) {#step, step, CUDA_SUCCESS}
    STEP(retain), STEP(load_text), STEP(load_code), STEP(load_module), STEP(get_kernel), STEP(get_kernel_of_code),
    {"get_no_kernel", get_no_kernel, CUDA_ERROR_NOT_FOUND}, STEP(get_registers_of_code), STEP(get_function),
    STEP(get_function_of_module), STEP(get_variable), STEP(allocate), STEP(make_stream), STEP(make_event),
    STEP(launch_fill), STEP(begin_capture), STEP(capture_fill), STEP(capture_fill), STEP(end_capture),
    STEP(instantiate_captured), STEP(launch_captured),
    /* the graph of two launches becomes part of a capture, whole or not at all */
    STEP(begin_capture), STEP(launch_captured), STEP(end_capture), STEP(make_graph), STEP(add_node), STEP(instantiate),
    STEP(set_attribute), STEP(set_node)
#undef STEP
};

START_TEST(every_call_says_so_and_works_the_next_time) {
    gm_sim_set_reports("quiet");
    kit_ok(cuInit(0));
    for (size_t s = 0; s < sizeof steps / sizeof *steps; s++) {
        check_step(steps[s].name, steps[s].step, steps[s].expected, _i);
        if (steps[s].step == retain)
            kit_ok(cuCtxSetCurrent(context));
        if (steps[s].step == end_capture)
            ck_assert_uint_eq(captured->works->count, 2);
        if (steps[s].step == instantiate_captured)
            kit_ok(cuGraphDestroy(captured));
    }
    kit_ok(cuMemsetD8(memory, 0, 4096));
    kit_ok(cuGraphLaunch(exec, NULL));
    ck_assert_uint_eq(kit_word(memory + 124), 9);
    ck_assert_uint_eq(kit_word(cell), 77);
    kit_ok(cuGraphExecDestroy(exec));
    kit_ok(cuGraphExecDestroy(captured_exec));
    kit_ok(cuGraphDestroy(graph));
    kit_ok(cuGraphDestroy(captured));
    kit_ok(cuLibraryUnload(text));
    kit_ok(cuLibraryUnload(code));
    kit_ok(cuCtxSetCurrent(NULL));
    kit_ok(cuDevicePrimaryCtxRelease(0));
}
END_TEST

/* ---- the machine ----------------------------------------------------------------------------------------------- */

/* Kernels of 128 threads on two clusters of two CTAs, with 16 KB of shared memory, `from` the address of a buffer of
 * zeros, and the tensor `map` over it. Between them they make the machine allocate all that it ever does. */
#define BEGIN                                                                                                          \
    "ld.param.u64 from, [buffer]; shl.b32 at, thread, 2; add.u32 at, at, base;\n"                                      \
    "@!leader bra INITIAL; mbarrier.init.shared::cta.b64 [bar], 1; fence.mbarrier_init.release.cluster;\n"             \
    "INITIAL: st.shared.u32 [at], thread; fence.proxy.async; barrier.cluster.arrive; barrier.cluster.wait;\n"
#define EXPECT(bytes) "@leader mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], " #bytes ";\n"
#define WAIT          "AGAIN: mbarrier.try_wait.parity.shared::cta.b64 done, [bar], 0; @!done bra AGAIN;\n"
#define STORED        "@leader cp.async.bulk.commit_group; @leader cp.async.bulk.wait_group 0;\n"
#define END           "barrier.cluster.arrive; barrier.cluster.wait;\n"
static const struct {
    const char *name, *body;
    bool reports;
} kernels[] = {
    {"bulk copies",
     BEGIN EXPECT(256) "@leader cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [base], [from], 256, "
                       "[bar];\n" WAIT
                       "@leader cp.async.bulk.global.shared::cta.bulk_group [from], [base], 256;\n" STORED END,
     false},
    {"tensor copies",
     BEGIN EXPECT(512) "mov.b64 map_at, map; cvta.param.u64 map_at, map_at; mov.b32 a, 0;\n"
                       "@leader cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
                       "[base], [map_at, {a, a}], [bar];\n" WAIT
                       "@leader cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [map_at, {a, a}], [base];\n"
         STORED END,
     false},
    {"cp.async",
     BEGIN "bar.sync 0; cp.async.ca.shared.global [at], [from], 4; cp.async.mbarrier.arrive.shared.b64 [bar];\n"
           "cp.async.commit_group; cp.async.wait_group 0;\n" END,
     false},
    {"st.async",
     BEGIN EXPECT(4) "xor.b32 a, rank, 1; mapa.shared::cluster.u32 b, base, a; mapa.shared::cluster.u32 c, bar, a;\n"
                     "@leader st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [b], a, [c];\n" WAIT END,
     false},
    {"barriers and readers",
     BEGIN "ld.shared.u32 a, [base]; bar.sync 1, 128; ld.shared.u32 a, [base+4]; bar.red.popc.u32 b, 2, 128, leader;\n"
           "fence.acq_rel.cluster; barrier.cluster.arrive.relaxed; barrier.cluster.wait; fence.acq_rel.cluster;\n" END,
     false},
    {"wgmma",
     BEGIN "mov.b64 to, 0x0000001000080040; mov.b32 a, 0; mov.b32 b, 0; mov.b32 c, 0; mov.b32 d, 0;\n"
           "FILL: st.shared.u32 [at], a; add.u32 at, at, step; add.u32 a, a, 1;\n"
           "setp.lt.u32 more, a, 16; @more bra FILL;\n"
           "mov.b32 a, 0; fence.proxy.async; bar.sync 0; setp.ne.u32 more, a, 0; wgmma.fence.sync.aligned;\n"
           "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {a, b, c, d}, to, to, more, 1, 1, 0, 0;\n"
           "wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;\n" END,
     false},
    {"waits for global memory",
     BEGIN "mov.b32 a, 3000; @!leader bra LOOK;\n"
           "COUNT: sub.u32 a, a, 1; setp.ne.u32 more, a, 0; @more bra COUNT; st.global.u32 [from], 1;\n"
           "LOOK: ld.relaxed.gpu.global.u32 b, [from]; setp.eq.u32 more, b, 0; @more bra LOOK;\n" END,
     false},
    {"what was never written", BEGIN "ld.shared.u32 a, [base+8192]; add.u32 a, a, 1; st.global.u32 [from], a;\n" END,
     true}};

enum { KERNELS = sizeof kernels / sizeof *kernels, BUFFER_BYTES = 4096, SHARED_BYTES = 16384 };

static CUfunction busy;
static struct {
    _Alignas(128) uint8_t bytes[128];
} map;

static void load_kernel(const char *body) {
    const char *head = ".version 8.6\n.target sm_90a\n.address_size 64\n"
                       ".extern .shared .align 1024 .b8 dynamic[];\n.shared .align 8 .b64 barrier;\n"
                       ".visible .entry busy(.param .u64 buffer, .param .align 128 .b8 map[128])\n{\n";
    text = kit_library(kernel_text("%s" KERNEL_REGISTERS "%s\nret;\n}\n", head, body));
    busy = kit_function(text, "busy");
    kit_ok(cuMemAlloc(&memory, BUFFER_BYTES));
    const uint64_t dims[] = {64, 8}, strides[] = {64};
    const uint32_t box[] = {64, 8}, steps_of_map[] = {1, 1};
    kit_ok(cuTensorMapEncodeTiled(&map, 0, 2, (void *)(uintptr_t)memory, dims, strides, box, steps_of_map, 0, 0, 0, 0));
}

static CUresult launch_busy(void) {
    CUlaunchAttribute cluster = {.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, .value.clusterDim = {2, 1, 1}};
    CUlaunchConfig config = kit_config(128);
    void *params[] = {&memory, &map};
    config.gridDimX = 4;
    config.sharedMemBytes = SHARED_BYTES;
    config.attrs = &cluster;
    config.numAttrs = 1;
    gm_sim_reports_clear();
    const CUresult result = cuMemsetD8(memory, 0, BUFFER_BYTES);
    return result == CUDA_SUCCESS ? cuLaunchKernelEx(&config, busy, params, NULL) : result;
}

START_TEST(a_launch_says_so_and_works_the_next_time) {
    const int k = _i / 2;
    struct gm_sim_report report = {.sentence = "none"};
    load_kernel(kernels[k].body);
    gm_sim_set_counting(1);
    check_step(kernels[k].name, launch_busy, CUDA_SUCCESS, _i % 2);
    gm_sim_report_get(0, &report);
    ck_assert_msg(kernels[k].reports == (gm_sim_report_count() > 0), "%s: %s", kernels[k].name, report.sentence);
    gm_sim_set_counting(0);
    kit_ok(cuMemFree(memory));
    kit_ok(cuLibraryUnload(text));
}
END_TEST

Suite *out_of_memory_suite(void) {
    Suite *suite = suite_create("out of memory");
    TCase *calls = tcase_create("calls");
    tcase_add_loop_test(calls, every_call_says_so_and_works_the_next_time, 0, 2);
    suite_add_tcase(suite, calls);
    TCase *launches = tcase_create("launches");
    tcase_add_checked_fixture(launches, kit_start, kit_stop);
    tcase_add_checked_fixture(launches, kernel_begin, kernel_end);
    tcase_add_loop_test(launches, a_launch_says_so_and_works_the_next_time, 0, 2 * KERNELS);
    suite_add_tcase(suite, launches);
    return suite;
}
