/* SPDX-License-Identifier: Apache-2.0 */
/* Global memory: allocations, their bounds, and which of their bytes were written. */
#include "sim_tests.h"

#include "sim/memory/memory.h"

#include <string.h>

static struct sim_memory *memory;

static void begin(void) {
    memory = sim_memory_new(UINT64_C(80) << 30);
}

static void end(void) {
    sim_memory_free(memory);
}

START_TEST(allocations_are_aligned_and_apart) {
    uint64_t at[200];
    for (uint64_t n = 0; n < 200; n++) {
        at[n] = sim_memory_allocate(memory, 1 + 997 * n);
        ck_assert_uint_ne(at[n], 0);
        ck_assert_uint_eq(at[n] % 256, 0);
    }
    for (uint64_t n = 0; n < 200; n++) {
        const uint64_t bytes = 1 + 997 * n;
        ck_assert_ptr_eq(sim_memory_view(memory, at[n], bytes), (void *)(uintptr_t)at[n]);
        ck_assert_ptr_nonnull(sim_memory_view(memory, at[n] + bytes - 1, 1));
        ck_assert_ptr_null(sim_memory_view(memory, at[n], bytes + 1));
        ck_assert_ptr_null(sim_memory_view(memory, at[n] + bytes, 1));
        ck_assert_ptr_null(sim_memory_view(memory, at[n] + bytes + 1024, 1)); /* nobody's neighbour */
        ck_assert_ptr_null(sim_memory_view(memory, at[n] - 1, 1));
        ck_assert_ptr_null(sim_memory_view(memory, at[n], UINT64_MAX));
    }
}
END_TEST

START_TEST(released_memory_is_gone) {
    const uint64_t a = sim_memory_allocate(memory, 4096), b = sim_memory_allocate(memory, 4096);
    ck_assert(!sim_memory_release(memory, a + 1));
    ck_assert(sim_memory_release(memory, a));
    ck_assert(!sim_memory_release(memory, a));
    ck_assert_ptr_null(sim_memory_view(memory, a, 1));
    ck_assert_ptr_nonnull(sim_memory_view(memory, b, 4096));
}
END_TEST

START_TEST(the_device_has_an_end) {
    uint64_t free_bytes, total;
    ck_assert_uint_eq(sim_memory_allocate(memory, 0), 0);
    ck_assert_uint_eq(sim_memory_allocate(memory, (UINT64_C(80) << 30) + 1), 0);
    ck_assert_uint_eq(sim_memory_allocate(memory, UINT64_MAX), 0);
    const uint64_t most = sim_memory_allocate(memory, UINT64_C(70) << 30); /* costs nothing until it is touched */
    ck_assert_uint_ne(most, 0);
    ck_assert_uint_eq(sim_memory_allocate(memory, UINT64_C(11) << 30), 0);
    sim_memory_info(memory, &free_bytes, &total);
    ck_assert_uint_eq(free_bytes, UINT64_C(10) << 30);
    ck_assert_uint_eq(total, UINT64_C(80) << 30);
    memset(sim_memory_view(memory, most + (UINT64_C(69) << 30), 8), 1, 8);
    ck_assert(sim_memory_release(memory, most));
    sim_memory_info(memory, &free_bytes, &total);
    ck_assert_uint_eq(free_bytes, total);
}
END_TEST

START_TEST(bytes_are_marked_one_by_one) {
    const uint64_t at = sim_memory_allocate(memory, 1000);
    ck_assert(!sim_memory_is_initialised(memory, at, 1));
    for (uint64_t first = 0; first < 130; first += 13) {
        for (uint64_t bytes = 1; bytes < 300; bytes += 31) {
            const uint64_t fresh = sim_memory_allocate(memory, 1000);
            sim_memory_mark(memory, fresh + first, bytes);
            ck_assert(sim_memory_is_initialised(memory, fresh + first, bytes));
            ck_assert(!sim_memory_is_initialised(memory, fresh + first, bytes + 1));
            ck_assert(first == 0 || !sim_memory_is_initialised(memory, fresh + first - 1, 2));
        }
    }
    sim_memory_mark(memory, at, 1000);
    ck_assert(sim_memory_is_initialised(memory, at, 1000));
    ck_assert(!sim_memory_is_initialised(memory, at, 1001));
    sim_memory_mark(memory, at + 999, 2); /* outside: nothing happens */
}
END_TEST

Suite *memory_suite(void) {
    Suite *suite = suite_create("memory");
    TCase *tests = tcase_create("allocations");
    tcase_add_checked_fixture(tests, begin, end);
    tcase_add_test(tests, allocations_are_aligned_and_apart);
    tcase_add_test(tests, released_memory_is_gone);
    tcase_add_test(tests, the_device_has_an_end);
    tcase_add_test(tests, bytes_are_marked_one_by_one);
    suite_add_tcase(suite, tests);
    return suite;
}
