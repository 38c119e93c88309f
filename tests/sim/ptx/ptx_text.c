/* SPDX-License-Identifier: Apache-2.0 */
/* PTX in tests. */
#include "ptx_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char frame[] = ".version 8.0\n.target sm_90a\n.address_size 64\n%s\n"
                            ".visible .entry k(.param .u64 p, .param .align 16 .b8 q[16])\n{\n"
                            ".reg .pred p<8>; .reg .b16 h<8>; .reg .b32 r<8>; .reg .f32 f<8>; .reg .b64 d<8>;\n%s\n}\n";

static struct ptx_module *parse(const char *before, const char *body, char *message, size_t message_bytes) {
    const size_t room = sizeof frame + strlen(before) + strlen(body);
    char *text = malloc(room);
    ck_assert_ptr_nonnull(text);
    const int length = snprintf(text, room, frame, before, body);
    struct ptx_module *module = ptx_parse(text, (size_t)length, message, message_bytes);
    free(text);
    return module;
}

struct ptx_module *ptx_text_parse(const char *before, const char *body) {
    char message[200] = "";
    struct ptx_module *module = parse(before, body, message, sizeof message);
    ck_assert_msg(module != NULL, "%s: %s", body, message);
    return module;
}

struct ptx_function *ptx_text_kernel(const char *body) {
    struct ptx_function *function = ptx_find_function(ptx_text_parse("", body), "k");
    ck_assert_ptr_nonnull(function);
    return function;
}

void ptx_text_refused(const char *before, const char *body, const char *words) {
    char message[200] = "";
    ck_assert_msg(parse(before, body, message, sizeof message) == NULL, "%s %.80s: accepted", before, body);
    ck_assert_msg(strstr(message, words) != NULL, "%s %.80s: \"%s\" lacks \"%s\"", before, body, message, words);
}
