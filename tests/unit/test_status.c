/* SPDX-License-Identifier: Apache-2.0 */
/* Status names, sentences, versions, build info and the log. */
#include "host/log.h"
#include "unit.h"

#include <stdio.h>
#include <string.h>

START_TEST(every_status_has_its_own_name_and_a_sentence) {
    for (int i = GM_OK; i <= GM_ERROR_LEDGER; i++) {
        ck_assert_int_eq(strncmp(gm_status_name((enum gm_status)i), "GM_", 3), 0);
        ck_assert_uint_gt(strlen(gm_status_string((enum gm_status)i)), 5);
        for (int j = 0; j < i; j++)
            ck_assert_str_ne(gm_status_name((enum gm_status)i), gm_status_name((enum gm_status)j));
    }
    ck_assert_str_eq(gm_status_name(GM_ERROR_OVERLAP), "GM_ERROR_OVERLAP");
}
END_TEST

START_TEST(unknown_statuses_have_a_name_too) {
    ck_assert_str_eq(gm_status_name((enum gm_status)99), "GM_STATUS_UNKNOWN");
    ck_assert_str_eq(gm_status_name((enum gm_status) - 1), "GM_STATUS_UNKNOWN");
    ck_assert_ptr_nonnull(gm_status_string((enum gm_status)99));
}
END_TEST

START_TEST(the_version_is_the_headers) {
    char text[32];
    ck_assert_int_eq(gm_version(), GM_VERSION);
    snprintf(text, sizeof text, "%d.%d.%d", GM_VERSION_MAJOR, GM_VERSION_MINOR, GM_VERSION_PATCH);
    ck_assert_str_eq(gm_version_string(), text);
}
END_TEST

START_TEST(build_info_is_one_json_object_with_every_key) {
    const char *info = gm_build_info();
    static const char *const keys[] = {"version",    "revision", "toolkit",    "targets",
                                       "min_driver", "kernels",  "image_bytes"};
    ck_assert_int_eq(info[0], '{');
    ck_assert_int_eq(info[strlen(info) - 1], '}');
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        char key[32];
        snprintf(key, sizeof key, "\"%s\": ", keys[i]);
        ck_assert_msg(strstr(info, key) != NULL, "%s lacks %s", info, key);
    }
    ck_assert_ptr_eq(info, gm_build_info());
}
END_TEST

struct heard {
    int messages;
    enum gm_log_level level;
    char last[640];
};

static void hear(enum gm_log_level level, const char *message, void *user) {
    struct heard *heard = user;
    heard->messages++;
    heard->level = level;
    snprintf(heard->last, sizeof heard->last, "%s", message);
}

START_TEST(the_log_callback_hears_failures) {
    struct heard heard = {0};
    gm_set_log_callback(hear, GM_LOG_ERROR, &heard);
    struct gm_device device = {.size = sizeof device};
    ck_assert_int_eq(gm_device_model("abacus", &device), GM_ERROR_INVALID_ARGUMENT);
    ck_assert_int_eq(heard.messages, 1);
    ck_assert_int_eq(heard.level, GM_LOG_ERROR);
    ck_assert_ptr_nonnull(strstr(heard.last, "GM_ERROR_INVALID_ARGUMENT"));
    ck_assert_ptr_nonnull(strstr(heard.last, "abacus"));
    gm_set_log_callback(NULL, GM_LOG_OFF, NULL);
    gm_device_model("abacus", &device);
    ck_assert_int_eq(heard.messages, 1);
}
END_TEST

START_TEST(the_log_callback_hears_no_more_than_its_level) {
    struct heard heard = {0};
    gm_set_log_callback(hear, GM_LOG_INFO, &heard);
    gm_log(GM_LOG_TRACE, "too much");
    ck_assert_int_eq(heard.messages, 0);
    gm_log(GM_LOG_INFO, "row %d", 7);
    ck_assert_str_eq(heard.last, "row 7");
    gm_set_log_callback(hear, GM_LOG_OFF, &heard);
    gm_log(GM_LOG_ERROR, "nobody wants it");
    ck_assert_int_eq(heard.messages, 1);
    gm_set_log_callback(NULL, GM_LOG_OFF, NULL);
}
END_TEST

START_TEST(a_success_leaves_the_last_sentence_alone) {
    struct gm_device device = {.size = sizeof device};
    assert_fails(gm_device_model(NULL, &device), GM_ERROR_INVALID_ARGUMENT, "NULL");
    assert_ok(gm_device_model("h200", &device));
    ck_assert_int_eq(gm_last_cuda_result(), 0);
    ck_assert_ptr_nonnull(strstr(gm_last_error(), "NULL"));
}
END_TEST

Suite *status_suite(void) {
    Suite *suite = suite_create("status");
    TCase *cases = tcase_create("status, version, log");
    tcase_add_test(cases, every_status_has_its_own_name_and_a_sentence);
    tcase_add_test(cases, unknown_statuses_have_a_name_too);
    tcase_add_test(cases, the_version_is_the_headers);
    tcase_add_test(cases, build_info_is_one_json_object_with_every_key);
    tcase_add_test(cases, the_log_callback_hears_failures);
    tcase_add_test(cases, the_log_callback_hears_no_more_than_its_level);
    tcase_add_test(cases, a_success_leaves_the_last_sentence_alone);
    suite_add_tcase(suite, cases);
    return suite;
}
