/* SPDX-License-Identifier: Apache-2.0 */
#include "json.h"

#include "common.h"

#include <stdlib.h>
#include <string.h>

enum { VALUE_SHOWN = 80 /* bytes of a value that a sentence quotes */ };

json_t *parse_object(const char *path, const char *text, size_t bytes, size_t flags) {
    json_error_t error;
    json_t *root = json_loadb(text, bytes, JSON_REJECT_DUPLICATES | flags, &error);
    if (!root)
        die("%s: line %d, column %d of its JSON: %s", path, error.line, error.column, printable(error.text));
    if (!json_is_object(root))
        die("%s: its JSON is no object", path);
    return root;
}

json_t *read_object(const char *path, size_t flags) {
    size_t bytes;
    char *text = read_file(path, &bytes);
    json_t *root = parse_object(path, text, bytes, flags);
    free(text);
    return root;
}

json_t *field(const json_t *object, const char *name) {
    json_t *value = json_object_get(object, name);
    return json_is_null(value) ? NULL : value;
}

/* A value, for a sentence that ends the process. */
static const char *shown(const json_t *value) {
    char *text = value ? json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT | JSON_ENSURE_ASCII) : NULL;
    if (text && strlen(text) > VALUE_SHOWN)
        memcpy(text + VALUE_SHOWN - 3, "...", 4);
    return text ? text : "missing";
}

void refuse_value(const char *path, const char *key, const json_t *value, const char *wanted) {
    die("%s: `%s` is %s; %s", path, key, shown(value), wanted);
}
