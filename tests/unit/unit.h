/* SPDX-License-Identifier: Apache-2.0 */
/* What the unit tests share. One suite for each file test_<name>.c, called <name>_suite();
 * main.c runs them all. */
#ifndef GM_UNIT_H
#define GM_UNIT_H

#include "gristmill/gristmill.h"

#include <check.h>

#define SUITE(name) Suite *name##_suite(void);
#include "unit_suites.def"
#undef SUITE

/* A bf16 "tn" problem with packed operands. */
struct gm_gemm_problem problem_of(int64_t m, int64_t n, int64_t k);
struct gm_device device_of(const char *model);
/* How many kernels of GEMM there are: the table begins with them. */
size_t gemm_count(void);

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
