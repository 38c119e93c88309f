/* SPDX-License-Identifier: Apache-2.0 */
/* What the simulated driver says fits the device. */
#include "driver_kit.h"
#include "sim_tests.h"

/* What cuOccupancyMaxActiveClusters() of an H200 says, for clusters of 1 to 16 CTAs of 32 threads with so many KB
 * (bench/results/h200/lab/cluster-limits.json). */
static const struct {
    unsigned kb;
    int clusters[16];
} measured[] = {{1, {1056, 528, 327, 248, 193, 163, 139, 124, 102, 88, 81, 74, 67, 65, 58, 58}},
                {56, {528, 264, 163, 124, 94, 79, 69, 62, 51, 44, 37, 37, 30, 30, 28, 28}},
                {113, {264, 132, 79, 62, 47, 39, 32, 30, 23, 21, 16, 16, 14, 14, 14, 14}},
                {227, {132, 66, 39, 30, 22, 17, 15, 15, 9, 7, 7, 7, 7, 7, 7, 7}}};

START_TEST(as_many_clusters_fit_as_on_an_h200) {
    CUfunction nothing = kit_function(kit_module, "nothing");
    kit_ok(cuFuncSetAttribute(nothing, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 232448));
    kit_ok(cuFuncSetAttribute(nothing, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1));
    for (unsigned size = 1; size <= 16; size++) {
        CUlaunchAttribute cluster = {.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, .value.clusterDim = {size, 1, 1}};
        CUlaunchConfig config = kit_config(32);
        int clusters = -1;
        config.gridDimX = size;
        config.sharedMemBytes = measured[_i].kb * 1024;
        config.attrs = &cluster;
        config.numAttrs = 1;
        kit_ok(cuOccupancyMaxActiveClusters(&clusters, nothing, &config));
        ck_assert_msg(clusters == measured[_i].clusters[size - 1], "%u KB, clusters of %u: %d, measured %d",
                      measured[_i].kb, size, clusters, measured[_i].clusters[size - 1]);
    }
}
END_TEST

START_TEST(senseless_questions_of_what_fits_are_refused) {
    CUfunction nothing = kit_function(kit_module, "nothing");
    CUlaunchConfig config = kit_config(32);
    int number = -1;
    kit_gives(cuOccupancyMaxActiveClusters(NULL, nothing, &config), CUDA_ERROR_INVALID_VALUE);
    kit_gives(cuOccupancyMaxActiveClusters(&number, nothing, NULL), CUDA_ERROR_INVALID_VALUE);
    kit_gives(cuOccupancyMaxActiveClusters(&number, KIT_GARBAGE, &config), CUDA_ERROR_INVALID_HANDLE);
    config.blockDimX = 5000;
    kit_gives(cuOccupancyMaxActiveClusters(&number, nothing, &config), CUDA_ERROR_INVALID_VALUE);
    kit_ok(cuOccupancyMaxActiveBlocksPerMultiprocessor(&number, nothing, 1024, 0));
    ck_assert_int_eq(number, 2);
    kit_ok(cuOccupancyMaxActiveBlocksPerMultiprocessor(&number, nothing, 32, 0));
    ck_assert_int_eq(number, 32);
    kit_ok(cuOccupancyMaxActiveBlocksPerMultiprocessor(&number, nothing, 32, 100 * 1024));
    ck_assert_int_eq(number, 2);
    kit_ok(cuOccupancyMaxActiveBlocksPerMultiprocessor(&number, nothing, 32, SIZE_MAX));
    ck_assert_int_eq(number, 0);
    kit_ok(cuOccupancyMaxActiveBlocksPerMultiprocessor(&number, nothing, 5000, 0));
    ck_assert_int_eq(number, 0);
    kit_gives(cuOccupancyMaxActiveBlocksPerMultiprocessor(&number, nothing, 0, 0), CUDA_ERROR_INVALID_VALUE);
    kit_gives(cuOccupancyMaxActiveBlocksPerMultiprocessor(NULL, nothing, 32, 0), CUDA_ERROR_INVALID_VALUE);
    kit_gives(cuOccupancyMaxActiveBlocksPerMultiprocessor(&number, KIT_GARBAGE, 32, 0), CUDA_ERROR_INVALID_HANDLE);
}
END_TEST

Suite *driver_occupancy_suite(void) {
    Suite *suite = suite_create("driver occupancy");
    TCase *cases = tcase_create("occupancy");
    tcase_add_checked_fixture(cases, kit_start_module, kit_stop_module);
    tcase_add_loop_test(cases, as_many_clusters_fit_as_on_an_h200, 0, sizeof measured / sizeof *measured);
    tcase_add_test(cases, senseless_questions_of_what_fits_are_refused);
    suite_add_tcase(suite, cases);
    return suite;
}
