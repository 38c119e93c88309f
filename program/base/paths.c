/* SPDX-License-Identifier: Apache-2.0 */
/* Names of result files made from patterns. */
#include "program/base/paths.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "program/base/messages.h"

static int make_folders(char *path) {
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = 0;
        int made = mkdir(path, 0777);
        if (made != 0 && errno != EEXIST)
            return complain("cannot make the folder %s: %s", path, strerror(errno));
        *slash = '/';
    }
    return 0;
}

/* The word whose {name} the pattern begins with; NULL: none. */
static const struct path_word *word_at(const char *pattern, const struct path_word *words, size_t count) {
    for (size_t i = 0; *pattern == '{' && i < count; i++) {
        size_t length = strlen(words[i].name);
        if (strncmp(pattern + 1, words[i].name, length) == 0 && pattern[length + 1] == '}')
            return &words[i];
    }
    return NULL;
}

int path_fill(char *path, size_t bytes, const char *pattern, const struct path_word *words, size_t count) {
    size_t used = 0;
    while (*pattern) {
        const struct path_word *word = word_at(pattern, words, count);
        size_t length = word ? strlen(word->text) : 1;
        if (used + length + 1 > bytes)
            return complain("the path made from a results pattern is longer than %zu characters", bytes - 1);
        memcpy(path + used, word ? word->text : pattern, length);
        used += length;
        pattern += word ? strlen(word->name) + 2 : 1;
    }
    path[used] = 0;
    return make_folders(path);
}
