/* SPDX-License-Identifier: Apache-2.0 */
#include "signature.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static void skip_blanks(const char **at) {
    while (**at == ' ') {
        ++*at;
    }
}

static bool took(const char **at, const char *word) {
    size_t length = strlen(word);
    if (strncmp(*at, word, length) != 0) {
        return false;
    }
    *at += length;
    return true;
}

/* Letters, digits and underscores. */
static bool took_name(const char **at, char *name, size_t bytes) {
    size_t length = 0;
    while (isalnum((unsigned char)(*at)[length]) || (*at)[length] == '_') {
        length++;
    }
    if (length == 0 || length >= bytes) {
        return false;
    }
    memcpy(name, *at, length);
    name[length] = '\0';
    *at += length;
    return true;
}

static bool took_kind(const char **at, enum value_kind *kind) {
    static const struct {
        const char *word;
        enum value_kind kind;
    } kinds[] = {{"Tensor?", VALUE_MAYBE_TENSOR},  {"Tensor", VALUE_TENSOR}, {"int", VALUE_INT},
                 {"float", VALUE_FLOAT},           {"bool", VALUE_BOOL},     {"str", VALUE_STRING},
                 {"ScalarType?", VALUE_MAYBE_TYPE}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (took(at, kinds[i].word)) {
            *kind = kinds[i].kind;
            if (**at == '(') { /* (a!): written to */
                *at = strchr(*at, ')');
                return *at && *(*at)++ == ')';
            }
            return true;
        }
    }
    return false;
}

static bool took_default(const char **at, struct argument *argument) {
    char *end;
    argument->has_default = true;
    if (took(at, "None") || took(at, "False")) {
        return true;
    }
    if (took(at, "True")) {
        argument->integer = 1;
        return true;
    }
    if (took(at, "\"")) {
        return took_name(at, argument->text, sizeof argument->text) && took(at, "\"");
    }
    argument->real = strtod(*at, &end);
    argument->integer = (int64_t)argument->real;
    bool read = end != *at;
    *at = end;
    return read;
}

static bool took_argument(const char **at, struct argument *argument) {
    memset(argument, 0, sizeof *argument);
    skip_blanks(at);
    if (took(at, "*,")) { /* those behind it are given by name */
        skip_blanks(at);
    }
    if (!took_kind(at, &argument->kind)) {
        return false;
    }
    skip_blanks(at);
    return took_name(at, argument->name, sizeof argument->name) && (!took(at, "=") || took_default(at, argument));
}

static bool took_outputs(const char **at, int32_t *count) {
    *count = 0;
    if (took(at, "()")) {
        return true;
    }
    bool several = took(at, "(");
    do {
        skip_blanks(at);
        if (!took(at, "Tensor")) {
            return false;
        }
        ++*count;
    } while (several && took(at, ","));
    return *count <= OUTPUTS_MAX && (!several || took(at, ")"));
}

bool signature_parse(const char *schema, struct signature *signature) {
    const char *at = schema;
    signature->arguments_count = 0;
    if (!took_name(&at, signature->name, sizeof signature->name) || !took(&at, "(")) {
        return false;
    }
    do {
        if (signature->arguments_count == ARGUMENTS_MAX ||
            !took_argument(&at, &signature->arguments[signature->arguments_count++])) {
            return false;
        }
    } while (took(&at, ","));
    return took(&at, ") -> ") && took_outputs(&at, &signature->outputs_count) && *at == '\0';
}

void argument_default(const struct argument *argument, struct value *value) {
    value->given = false;
    value->integer = argument->integer;
    value->real = argument->real;
    memcpy(value->text, argument->text, sizeof value->text);
}
