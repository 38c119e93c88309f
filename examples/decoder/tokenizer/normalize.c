/* SPDX-License-Identifier: Apache-2.0 */
#include "tokenizer/normalize.h"

#include "common.h"
#include "tokenizer/fields.h"

#include <stdlib.h>
#include <string.h>
#include <utf8proc.h>

enum { STEPS_MAX = 16 };
enum kind { NFC, PREPEND, REPLACE };

struct step {
    enum kind kind;
    struct text pattern, content; /* REPLACE; PREPEND: content */
};

struct normalizer {
    struct step steps[STEPS_MAX];
    size_t count;
};

static void read_step(struct normalizer *normalizer, const char *path, json_t *json) {
    const char *type = type_field(path, json, "normalizer");
    if (strcmp(type, "Sequence") == 0) {
        json_t *list = array_field(path, json, "normalizers");
        for (size_t i = 0; i < json_array_size(list); i++)
            read_step(normalizer, path, json_array_get(list, i));
        return;
    }
    if (normalizer->count == STEPS_MAX)
        die("%s: more than %d normalizers", path, STEPS_MAX);
    struct step *step = &normalizer->steps[normalizer->count++];
    if (strcmp(type, "NFC") == 0) {
        step->kind = NFC;
    } else if (strcmp(type, "Prepend") == 0) {
        step->kind = PREPEND;
        text_add(&step->content, text_field(path, json, "prepend"));
    } else if (strcmp(type, "Replace") == 0) {
        step->kind = REPLACE;
        text_add(&step->pattern, replaced_field(path, json));
        text_add(&step->content, text_field(path, json, "content"));
    } else {
        die("%s: the normalizer `%s` is not supported", path, type);
    }
}

struct normalizer *normalizer_open(const char *path, json_t *json) {
    struct normalizer *normalizer = grab(1, sizeof *normalizer);
    if (json)
        read_step(normalizer, path, json);
    return normalizer;
}

void normalizer_close(struct normalizer *normalizer) {
    for (size_t i = 0; i < normalizer->count; i++) {
        free(normalizer->steps[i].pattern.at);
        free(normalizer->steps[i].content.at);
    }
    free(normalizer);
}

static int is_ascii(struct span text) {
    for (size_t i = 0; i < text.bytes; i++)
        if ((unsigned char)text.at[i] >= 0x80)
            return 0;
    return 1;
}

/* What composes is of Unicode for ever; only characters newer than utf8proc's tables are left as they are. */
static void compose(struct span text, struct text *out) {
    if (is_ascii(text)) {
        text_add(out, text);
        return;
    }
    utf8proc_uint8_t *composed = NULL;
    const utf8proc_ssize_t bytes = utf8proc_map((const utf8proc_uint8_t *)text.at, (utf8proc_ssize_t)text.bytes,
                                                &composed, UTF8PROC_STABLE | UTF8PROC_COMPOSE);
    if (bytes < 0)
        die("a text has no NFC: %s", utf8proc_errmsg(bytes));
    text_add(out, (struct span){(const char *)composed, (size_t)bytes});
    free(composed);
}

static void take_step(const struct step *step, struct span text, struct text *out) {
    const struct span content = {step->content.at, step->content.bytes};
    if (step->kind == NFC) {
        compose(text, out);
    } else if (step->kind == PREPEND) {
        if (text.bytes)
            text_add(out, content);
        text_add(out, text);
    } else {
        text_add_replaced(out, text, (struct span){step->pattern.at, step->pattern.bytes}, content);
    }
}

void normalize(const struct normalizer *normalizer, struct span text, struct text *out) {
    struct text now = {0};
    for (size_t i = 0; i < normalizer->count; i++) {
        struct text next = {0};
        take_step(&normalizer->steps[i], text, &next);
        free(now.at);
        now = next;
        text = (struct span){now.at, now.bytes};
    }
    text_add(out, text);
    free(now.at);
}
