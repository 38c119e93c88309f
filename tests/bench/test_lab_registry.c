/* SPDX-License-Identifier: Apache-2.0 */
/* The program's own experiments and device code: complete, and built for the architectures that modules.def says. */
#include "bench_tests.h"

#include <ctype.h>
#include <string.h>

#include "lab/modules.h"

/* ---- experiments ------------------------------------------------------------------------------------ */

START_TEST(every_experiment_says_what_it_is) {
    for (size_t i = 0; lab_experiments[i]; i++) {
        const struct lab_experiment *experiment = lab_experiments[i];
        const char *name = experiment->name;
        for (const char *c = name; *c; c++)
            ck_assert_msg(islower((unsigned char)*c) || isdigit((unsigned char)*c) || *c == '-', "the name `%s`", name);
        ck_assert_msg(experiment->title && *experiment->title && experiment->setup, "%s lacks a title or a setup",
                      name);
        const char *question = experiment->question;
        ck_assert_msg(question && *question && question[strlen(question) - 1] == '?', "%s asks nothing", name);
        ck_assert_msg(lab_experiment_find(name) == experiment, "there are two called %s", name);
    }
}
END_TEST

START_TEST(every_experiment_has_a_topic_and_a_source) {
    static const struct lab_experiment unknown = {.name = "unknown"};
    ck_assert_str_eq(lab_topic_of(lab_experiments[0])->heading, "Banks");
    for (size_t i = 0; lab_experiments[i]; i++) {
        const char *name = lab_experiments[i]->name, *source = lab_experiment_source(lab_experiments[i]);
        ck_assert_msg(strcmp(lab_topic_of(lab_experiments[i])->id, "topic-other") != 0, "%s has no topic", name);
        ck_assert_msg(source && strncmp(source, "lab/", 4) == 0, "%s has no source", name);
        ck_assert_msg(lab_experiments[i]->page, "%s has no page", name);
    }
    ck_assert_str_eq(lab_topic_of(NULL)->id, "topic-other");
    ck_assert_str_eq(lab_topic_of(&unknown)->id, "topic-other");
    ck_assert_ptr_null(lab_experiment_source(&unknown));
    ck_assert_ptr_null(lab_experiment_source(NULL));
}
END_TEST

START_TEST(near_names) {
    static const struct lab_experiment one = {.name = "strided-reads"}, two = {.name = "strided-writes"};
    char names[64], few[20];
    lab_registry_install((const struct lab_experiment *const[]){&one, &two, NULL}, NULL);
    lab_experiments_near("strided", names, sizeof names);
    ck_assert_str_eq(names, "strided-reads, strided-writes");
    lab_experiments_near("strided", few, sizeof few);
    ck_assert_str_eq(few, "strided-reads");
    lab_experiments_near("stridedreads", names, sizeof names);
    ck_assert_str_eq(names, "strided-reads");
    lab_experiments_near("", names, sizeof names);
    ck_assert_str_eq(names, "");
    lab_registry_install(NULL, NULL);
}
END_TEST

/* ---- device code ------------------------------------------------------------------------------------ */

/*  A fatbin: 16 bytes { magic, version, header bytes, size of all parts }, then the parts, each
 *  { u16 kind, u16, u32 header bytes, u64 size, 12 bytes, u32 architecture, ... }.  */
enum { PART_KIND = 0, PART_HEADER = 4, PART_SIZE = 8, PART_ARCH = 28 };
enum { KIND_PTX = 1, KIND_CODE = 2 };

struct parts {
    bool ptx_80, code_80, code_90;
    int count;
};

static struct parts parts_of(const struct lab_module *module) {
    struct parts parts = {0};
    const unsigned char magic[4] = {0x50, 0xed, 0x55, 0xba};
    ck_assert_msg(memcmp(module->image, magic, sizeof magic) == 0, "%s is no fatbin", module->name);
    for (const unsigned char *at = module->image + 16; at < module->image_end; parts.count++) {
        uint16_t kind;
        uint32_t header, arch;
        uint64_t size;
        memcpy(&kind, at + PART_KIND, sizeof kind);
        memcpy(&header, at + PART_HEADER, sizeof header);
        memcpy(&size, at + PART_SIZE, sizeof size);
        memcpy(&arch, at + PART_ARCH, sizeof arch);
        parts.ptx_80 |= kind == KIND_PTX && arch == 80;
        parts.code_80 |= kind == KIND_CODE && arch == 80;
        parts.code_90 |= kind == KIND_CODE && arch == 90;
        ck_assert_uint_gt(size, 0);
        at += header + size;
    }
    return parts;
}

START_TEST(every_module_is_built_for_its_architectures) {
    static const struct {
        const char *name;
        bool any_gpu;
    } rows[] = {
#define sm80                       true
#define sm90                       false
#define MODULE(name, source, arch) {#name, arch},
#include "lab_modules.def"
#undef MODULE
#undef sm80
#undef sm90
        {0}};
    for (size_t i = 0; rows[i].name; i++) {
        const struct lab_module *module = lab_module_find(rows[i].name);
        ck_assert_ptr_nonnull(module);
        struct parts parts = parts_of(module);
        ck_assert_msg(parts.code_90, "%s has no code for 9.0", module->name);
        ck_assert_msg(parts.code_80 == rows[i].any_gpu && parts.ptx_80 == rows[i].any_gpu, "%s: code or PTX for 8.0",
                      module->name);
        ck_assert_int_eq(parts.count, rows[i].any_gpu ? 3 : 1);
    }
    ck_assert_ptr_null(lab_module_find("no-such-module"));
}
END_TEST

TCase *lab_registry_tests(void) {
    TCase *tests = tcase_create("lab registry");
    tcase_set_tags(tests, "lab");
    tcase_add_test(tests, every_experiment_says_what_it_is);
    tcase_add_test(tests, every_experiment_has_a_topic_and_a_source);
    tcase_add_test(tests, near_names);
    tcase_add_test(tests, every_module_is_built_for_its_architectures);
    return tests;
}
