/* SPDX-License-Identifier: Apache-2.0 */
/* What the simulator's tests share. One suite per file; main.c runs them all. */
#ifndef SIM_TESTS_H
#define SIM_TESTS_H

#include <check.h>

/* name_suite() of test_name.c, in alphabetical order */
#define SIM_SUITES(SUITE)                                                                                              \
    SUITE(atomics)                                                                                                     \
    SUITE(barrier_kernels)                                                                                             \
    SUITE(calls)                                                                                                       \
    SUITE(clocks)                                                                                                      \
    SUITE(cluster_barrier)                                                                                             \
    SUITE(convert)                                                                                                     \
    SUITE(copy_async)                                                                                                  \
    SUITE(copy_bulk)                                                                                                   \
    SUITE(copy_im2col)                                                                                                 \
    SUITE(copy_tensor)                                                                                                 \
    SUITE(copy_tensor_store)                                                                                           \
    SUITE(counters)                                                                                                    \
    SUITE(counters_join)                                                                                               \
    SUITE(driver_capture)                                                                                              \
    SUITE(driver_context)                                                                                              \
    SUITE(driver_graph)                                                                                                \
    SUITE(driver_launch)                                                                                               \
    SUITE(driver_library)                                                                                              \
    SUITE(driver_occupancy)                                                                                            \
    SUITE(driver_ptx)                                                                                                  \
    SUITE(driver_start)                                                                                                \
    SUITE(driver_stream)                                                                                               \
    SUITE(lanewise)                                                                                                    \
    SUITE(ldmatrix)                                                                                                    \
    SUITE(loads)                                                                                                       \
    SUITE(mbarrier)                                                                                                    \
    SUITE(mbarrier_misuse)                                                                                             \
    SUITE(memory)                                                                                                      \
    SUITE(mma)                                                                                                         \
    SUITE(named_barriers)                                                                                              \
    SUITE(numbers)                                                                                                     \
    SUITE(out_of_memory)                                                                                               \
    SUITE(paths)                                                                                                       \
    SUITE(pipeline)                                                                                                    \
    SUITE(programs)                                                                                                    \
    SUITE(ptx_flow)                                                                                                    \
    SUITE(ptx_lexer)                                                                                                   \
    SUITE(ptx_module)                                                                                                  \
    SUITE(ptx_notes)                                                                                                   \
    SUITE(ptx_parse)                                                                                                   \
    SUITE(ptx_rows)                                                                                                    \
    SUITE(shadow)                                                                                                      \
    SUITE(shadow_copies)                                                                                               \
    SUITE(taint)                                                                                                       \
    SUITE(tensor_map)                                                                                                  \
    SUITE(warp)                                                                                                        \
    SUITE(wgmma)                                                                                                       \
    SUITE(wgmma_origin)                                                                                                \
    SUITE(wgmma_reports)                                                                                               \
    SUITE(wmma)

#define DECLARE(name) Suite *name##_suite(void);
SIM_SUITES(DECLARE)
#undef DECLARE

#endif
