/* SPDX-License-Identifier: Apache-2.0 */
/* Runs every unit suite; needs no GPU and no driver. */
#include "unit.h"

#include <stdlib.h>

struct gm_gemm_problem problem_of(int64_t m, int64_t n, int64_t k) {
    return (struct gm_gemm_problem){.size = sizeof(struct gm_gemm_problem), .m = m, .n = n, .k = k};
}

struct gm_device device_of(const char *model) {
    struct gm_device device = {.size = sizeof device};
    ck_assert_int_eq(gm_device_model(model, &device), GM_OK);
    return device;
}

int main(void) {
    Suite *(*const suites[])(void) = {status_suite,
                                      driver_suite,
                                      device_suite,
                                      types_suite,
                                     unpack_suite,
                                      operation_suite,
                                      family_suite,
                                      table_suite,
                                      tile_suite,
                                      problem_suite,
                                      tensor_map_suite,
                                      occupancy_suite,
                                      options_suite,
                                      choose_suite,
                                      explain_suite,
                                      ledger_suite,
                                      ledger_refusals_suite,
                                      ledger_choice_suite,
                                      context_suite,
                                      plan_suite,
                                      check_args_suite,
                                      execute_suite,
                                      launch_graph_suite,
                                      launch_graph_refused_suite,
                                      stream_k_suite,
                                      divide_suite,
                                      threads_suite,
                                      no_memory_suite,
                                      text_suite,
                                      abi_suite,
                                      structs_suite,
                                      smem_tile_suite,
                                      bank_suite,
                                      bank_random_suite,
                                      pad_suite,
                                      swizzle_suite,
                                      swizzle_search_suite,
                                      tensor_map_explain_suite,
                                      gemm_maps_suite,
                                      matrix_descriptor_suite,
                                      descriptor_suggest_suite,
                                      descriptor_compare_suite};
    SRunner *runner = srunner_create(NULL);
    for (size_t i = 0; i < sizeof suites / sizeof *suites; i++)
        srunner_add_suite(runner, suites[i]());
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
