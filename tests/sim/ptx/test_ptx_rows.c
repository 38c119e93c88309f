/* SPDX-License-Identifier: Apache-2.0 */
/* Every PTX that the build makes of our sources, and every file of ptx/, is PTX that the simulator knows. The folders
 * are those of GM_SIM_PTX_DIR, or of GM_PTX_DIRS as compiled in: "one:another". */
#include "sim_tests.h"

#include "sim/ptx/ptx.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef GM_PTX_DIRS
#define GM_PTX_DIRS ""
#endif

static char *read_file(const char *path, size_t *bytes) {
    FILE *file = fopen(path, "rb");
    ck_assert_msg(file != NULL, "%s cannot be read", path);
    char *text = NULL;
    size_t room = 0, got = 0;
    do {
        room = room ? room * 2 : 1 << 16;
        text = realloc(text, room);
        ck_assert_ptr_nonnull(text);
        got += fread(text + got, 1, room - got, file);
    } while (got == room);
    fclose(file);
    *bytes = got;
    return text;
}

/* Returns what is wrong with the file, or an empty string. */
static void check_file(const char *path, char *message, size_t message_bytes) {
    size_t bytes;
    char *text = read_file(path, &bytes);
    struct ptx_module *module = ptx_parse(text, bytes, message, message_bytes);
    free(text);
    if (!module)
        return;
    message[0] = '\0';
    if (module->function_count == 0)
        snprintf(message, message_bytes, "no kernel");
    for (uint32_t f = 0; f < module->function_count; f++)
        for (uint32_t pc = 0; pc < module->functions[f].count; pc++)
            if (!module->functions[f].code[pc].handler)
                snprintf(message, message_bytes, "no handler at line %u", module->functions[f].code[pc].line);
    ptx_free(module);
}

static size_t check_directory(const char *directory, size_t *wrong) {
    DIR *entries = opendir(directory);
    size_t files = 0;
    if (!entries)
        return 0;
    for (const struct dirent *entry; (entry = readdir(entries));) {
        const size_t length = strlen(entry->d_name);
        char path[4096], message[300] = "";
        if (length < 4 || strcmp(entry->d_name + length - 4, ".ptx") != 0)
            continue;
        files++;
        snprintf(path, sizeof path, "%s/%s", directory, entry->d_name);
        check_file(path, message, sizeof message);
        if (message[0])
            fprintf(stderr, "%s: %s\n", path, message);
        *wrong += message[0] != '\0';
    }
    closedir(entries);
    return files;
}

START_TEST(all_our_ptx_is_supported) {
    const char *chosen = getenv("GM_SIM_PTX_DIR"), *list = chosen ? chosen : GM_PTX_DIRS;
    size_t files = 0, wrong = 0;
    while (*list) {
        const size_t length = strcspn(list, ":");
        char directory[2048];
        snprintf(directory, sizeof directory, "%.*s", (int)length, list);
        const size_t here = check_directory(directory, &wrong);
        ck_assert_msg(here > 0, "no .ptx in \"%s\"", directory);
        files += here;
        list += length + (list[length] == ':');
    }
    ck_assert_msg(files > 0, "no folder of PTX is known: set GM_SIM_PTX_DIR");
    ck_assert_msg(wrong == 0, "%zu of %zu files hold something else", wrong, files);
}
END_TEST

Suite *ptx_rows_suite(void) {
    Suite *suite = suite_create("ptx_rows");
    TCase *tests = tcase_create("ptx_rows");
    tcase_add_test(tests, all_our_ptx_is_supported);
    suite_add_tcase(suite, tests);
    return suite;
}
