/* SPDX-License-Identifier: Apache-2.0 */
#include "tokenizer/fields.h"

#include "common.h"

json_t *need_field(const char *path, json_t *object, const char *name) {
    json_t *value = field(object, name);
    if (!value)
        die("%s: `%s` is missing", path, name);
    return value;
}

json_t *array_field(const char *path, json_t *object, const char *name) {
    json_t *value = need_field(path, object, name);
    if (!json_is_array(value))
        die("%s: `%s` is no array", path, name);
    return value;
}

struct span text_of(const char *path, json_t *value, const char *name) {
    if (!json_is_string(value))
        die("%s: `%s` is no text", path, name);
    return (struct span){json_string_value(value), json_string_length(value)};
}

struct span text_field(const char *path, json_t *object, const char *name) {
    return text_of(path, need_field(path, object, name), name);
}

struct span full_field(const char *path, json_t *object, const char *name) {
    const struct span text = text_field(path, object, name);
    if (text.bytes == 0)
        die("%s: `%s` is empty", path, name);
    return text;
}

int flag_field(const char *path, json_t *object, const char *name, int otherwise) {
    json_t *value = field(object, name);
    if (value && !json_is_boolean(value))
        die("%s: `%s` is neither true nor false", path, name);
    return value ? json_is_true(value) : otherwise;
}

int32_t whole_of(const char *path, json_t *value, const char *name, int32_t most) {
    if (!json_is_integer(value) || json_integer_value(value) < 0 || json_integer_value(value) > most)
        die("%s: `%s` is no number of 0 to %d", path, name, (int)most);
    return (int32_t)json_integer_value(value);
}

const char *type_field(const char *path, json_t *object, const char *what) {
    if (!json_is_object(object))
        die("%s: the %s is no object", path, what);
    const char *type = json_string_value(json_object_get(object, "type"));
    if (!type)
        die("%s: the %s has no `type`", path, what);
    return type;
}

struct span replaced_field(const char *path, json_t *object) {
    json_t *pattern = need_field(path, object, "pattern");
    if (!field(pattern, "String"))
        die("%s: the pattern of a `Replace` is no `String`", path);
    return full_field(path, pattern, "String");
}
