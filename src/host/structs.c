/* SPDX-License-Identifier: Apache-2.0 */
/* Reads and writes callers' structs of other versions. Every one of them begins with its size. */
#include "host/structs.h"

#include <string.h>

#define NO_SMALLER(name, bytes) _Static_assert(sizeof(struct name) >= (bytes), #name " has shrunk");
GM_FIRST_SIZES(NO_SMALLER)

static size_t size_of(const void *pointer) {
    return *(const size_t *)pointer;
}

static enum gm_status check_size(const void *pointer, size_t first, size_t known, const char *what) {
    if (!pointer)
        return gm_fail(GM_ERROR_INVALID_ARGUMENT, "%s is NULL", what);
    const size_t size = size_of(pointer);
    if (size < first || size > known + GM_NEWER_BYTES_MAX)
        return gm_fail(GM_ERROR_SIZE, "%s.size is %zu; this library knows %zu (set .size = sizeof the struct)", what,
                       size, known);
    return GM_OK;
}

/* Members that this library does not know must ask for nothing. */
static enum gm_status check_newer(const unsigned char *bytes, size_t known, const char *what) {
    for (size_t i = known; i < size_of(bytes); i++)
        if (bytes[i])
            return gm_fail(GM_ERROR_SIZE,
                           "%s.size is %zu and byte %zu is not 0; this library knows %zu bytes: the program was built "
                           "for a newer one and asks for what this one lacks",
                           what, size_of(bytes), i, known);
    return GM_OK;
}

const void *gm_struct_take(const void *from, void *today, size_t first, size_t known, const char *what) {
    if (check_size(from, first, known, what) != GM_OK || check_newer(from, known, what) != GM_OK)
        return NULL;
    const size_t size = size_of(from);
    memset(today, 0, known);
    memcpy(today, from, size < known ? size : known);
    *(size_t *)today = known;
    return today;
}

const void *gm_struct_take_at(const void *array, size_t index, void *today, size_t first, size_t known,
                              const char *what) {
    if (check_size(array, first, known, what) != GM_OK)
        return NULL;
    const size_t size = size_of(array);
    const unsigned char *element = (const unsigned char *)array + index * size;
    if (size_of(element) != size) {
        gm_fail(GM_ERROR_SIZE, "%s %zu has the size %zu, and the first one %zu: they are one array", what, index,
                size_of(element), size);
        return NULL;
    }
    return size == known ? element : gm_struct_take(element, today, first, known, what);
}

enum gm_status gm_struct_check_output(const void *to, size_t first, size_t known, const char *what) {
    return check_size(to, first, known, what);
}

void gm_struct_output(void *to, const void *from, size_t known) {
    const size_t size = size_of(to), common = size < known ? size : known;
    memcpy((char *)to + sizeof size, (const char *)from + sizeof size, common - sizeof size);
    memset((char *)to + common, 0, size - common);
}

enum gm_status gm_struct_check_within(size_t size, size_t known, const char *what) {
    if (size != known)
        return gm_fail(GM_ERROR_SIZE, "%s.size is %zu; it is %zu in every version (set .size = sizeof the struct)",
                       what, size, known);
    return GM_OK;
}
