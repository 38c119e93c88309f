/* SPDX-License-Identifier: Apache-2.0 */
/* The list of operations, and their fields as numbers and as text. */
#include "host/operation.h"

#include "host/text.h"
#include "host/types.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

const struct gm_operation *const gm_operations[] = {
#define OPERATION(name, computes) &gm_operation_##name,
#include "operations.def"
#undef OPERATION
};

size_t gm_operation_count(void) {
    return sizeof gm_operations / sizeof *gm_operations;
}

const struct gm_operation *gm_operation_named(const char *name) {
    for (size_t i = 0; i < gm_operation_count(); i++)
        if (strcmp(gm_operations[i]->name, name) == 0)
            return gm_operations[i];
    return NULL;
}

enum gm_type gm_kernel_type_of(const struct gm_operation *operation, const void *problem) {
    return operation->kernel_type ? operation->kernel_type(problem)
                                  : (enum gm_type)gm_field_get(&operation->fields[operation->type], problem);
}

int gm_field_named(const struct gm_operation *operation, const char *name) {
    for (int i = 0; i < operation->field_count; i++)
        if (strcmp(operation->fields[i].name, name) == 0)
            return i;
    return -1;
}

const char *const gm_rounding_words[] = {"late", "early", NULL};

/* ---- as numbers ----------------------------------------------------------------------------------- */

int64_t gm_field_get(const struct gm_field *field, const void *problem) {
    const void *member = (const char *)problem + field->offset;
    int32_t word;
    int64_t size;
    if (field->get)
        return field->get(problem);
    if (field->kind == GM_FIELD_SIZE) {
        memcpy(&size, member, sizeof size);
        return size;
    }
    memcpy(&word, member, sizeof word); /* an enum, or a float's bits */
    return word;
}

int gm_field_set(const struct gm_field *field, void *problem, int64_t value) {
    void *member = (char *)problem + field->offset;
    const int32_t word = (int32_t)value;
    if (field->get)
        return field->set && field->set(problem, value);
    if (field->kind == GM_FIELD_SIZE)
        memcpy(member, &value, sizeof value);
    else
        memcpy(member, &word, sizeof word);
    return 1;
}

/* ---- as text --------------------------------------------------------------------------------------- */

static int parse_size(const char *text, size_t bytes, int64_t *value) {
    *value = 0;
    for (size_t i = 0; i < bytes; i++) {
        if (text[i] < '0' || text[i] > '9')
            return 0;
        *value = 10 * *value + (text[i] - '0');
        if (*value > INT32_MAX)
            return 0;
    }
    return bytes > 0;
}

static int parse_word(const struct gm_field *field, const char *text, size_t bytes, int64_t *value) {
    for (*value = 0; field->words[*value]; ++*value)
        if (strlen(field->words[*value]) == bytes && memcmp(field->words[*value], text, bytes) == 0)
            return 1;
    return 0;
}

/* "1e-5": decimal and finite. */
static int parse_real(const char *text, size_t bytes, int64_t *value) {
    char copy[GM_FIELD_TEXT_BYTES], *end;
    int32_t bits;
    if (bytes == 0 || bytes >= sizeof copy)
        return 0;
    memcpy(copy, text, bytes);
    copy[bytes] = 0;
    if (strspn(copy, "0123456789+-.e") != bytes) /* strtof() skips blanks, and reads "nan" and "0x1p3" as well */
        return 0;
    const float real = gm_text_to_real(copy, &end);
    if (end == copy || *end || !isfinite(real))
        return 0;
    memcpy(&bits, &real, sizeof bits);
    *value = bits;
    return 1;
}

int gm_field_parse(const struct gm_field *field, const char *text, size_t bytes, int64_t *value) {
    int type;
    switch (field->kind) {
    case GM_FIELD_SIZE:
        return parse_size(text, bytes, value);
    case GM_FIELD_WORD:
        return parse_word(field, text, bytes, value);
    case GM_FIELD_REAL:
        return parse_real(text, bytes, value);
    case GM_FIELD_TYPE:
        type = gm_type_named(text, bytes);
        *value = type;
        return type >= 0 && field->types & GM_TYPE_SET(type);
    }
    return 0;
}

/* With as few digits as parse_real() needs to find the same float again. */
static void print_real(int64_t value, char text[GM_FIELD_TEXT_BYTES]) {
    const int32_t bits = (int32_t)value;
    int64_t again;
    float real;
    memcpy(&real, &bits, sizeof real);
    for (int digits = 6; digits <= FLT_DECIMAL_DIG; digits++) {
        gm_print(text, GM_FIELD_TEXT_BYTES, "%.*g", digits, (double)real);
        if (parse_real(text, strlen(text), &again) && again == bits)
            return;
    }
}

const char *gm_field_print(const struct gm_field *field, int64_t value, char text[GM_FIELD_TEXT_BYTES]) {
    switch (field->kind) {
    case GM_FIELD_TYPE:
        return gm_type_name((enum gm_type)value);
    case GM_FIELD_WORD:
        return field->words[value];
    case GM_FIELD_REAL:
        print_real(value, text);
        return text;
    case GM_FIELD_SIZE:
        break;
    }
    gm_print(text, GM_FIELD_TEXT_BYTES, "%" PRId64, value);
    return text;
}

void gm_problem_print(const struct gm_operation *operation, const void *problem, char *text, size_t bytes) {
    char number[GM_FIELD_TEXT_BYTES];
    size_t used = gm_print(text, bytes, "%s", operation->name);
    for (int i = 0; i < operation->field_count; i++) {
        const struct gm_field *field = &operation->fields[i];
        if (field->uses & GM_IN_SUITES)
            used +=
                gm_print(text + used, bytes - used, " %s", gm_field_print(field, gm_field_get(field, problem), number));
    }
}
