/* SPDX-License-Identifier: Apache-2.0 */
/* What the unit tests share. One suite per file; main.c runs them all. */
#ifndef GM_UNIT_H
#define GM_UNIT_H

#include "gristmill/gristmill.h"

#include <check.h>

Suite *abi_suite(void);
Suite *bank_suite(void);
Suite *bank_random_suite(void);
Suite *check_args_suite(void);
Suite *choose_suite(void);
Suite *context_suite(void);
Suite *descriptor_compare_suite(void);
Suite *descriptor_suggest_suite(void);
Suite *device_suite(void);
Suite *divide_suite(void);
Suite *driver_suite(void);
Suite *execute_suite(void);
Suite *explain_suite(void);
Suite *family_suite(void);
Suite *gemm_maps_suite(void);
Suite *launch_graph_suite(void);
Suite *launch_graph_refused_suite(void);
Suite *ledger_suite(void);
Suite *ledger_choice_suite(void);
Suite *ledger_refusals_suite(void);
Suite *matrix_descriptor_suite(void);
Suite *no_memory_suite(void);
Suite *occupancy_suite(void);
Suite *operation_suite(void);
Suite *options_suite(void);
Suite *pad_suite(void);
Suite *plan_suite(void);
Suite *problem_suite(void);
Suite *smem_tile_suite(void);
Suite *status_suite(void);
Suite *stream_k_suite(void);
Suite *structs_suite(void);
Suite *swizzle_suite(void);
Suite *swizzle_search_suite(void);
Suite *table_suite(void);
Suite *tensor_map_suite(void);
Suite *tensor_map_explain_suite(void);
Suite *text_suite(void);
Suite *threads_suite(void);
Suite *tile_suite(void);
Suite *types_suite(void);
Suite *unpack_suite(void);

/* A bf16 "tn" problem with packed operands. */
struct gm_gemm_problem problem_of(int64_t m, int64_t n, int64_t k);
struct gm_device device_of(const char *model);

/* The status is as expected and the thread's sentence contains `words`. */
#define assert_fails(call, expected, words)                                                                            \
    do {                                                                                                               \
        enum gm_status got_ = (call);                                                                                  \
        ck_assert_msg(got_ == (expected), "%s: %s, expected %s (%s)", #call, gm_status_name(got_),                     \
                      gm_status_name(expected), gm_last_error());                                                      \
        ck_assert_msg(strstr(gm_last_error(), (words)) != NULL, "%s: the sentence \"%s\" lacks \"%s\"", #call,         \
                      gm_last_error(), (words));                                                                       \
    } while (0)
#define assert_ok(call)                                                                                                \
    do {                                                                                                               \
        enum gm_status got_ = (call);                                                                                  \
        ck_assert_msg(got_ == GM_OK, "%s: %s: %s", #call, gm_status_name(got_), gm_last_error());                      \
    } while (0)

#endif
