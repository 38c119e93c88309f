/* SPDX-License-Identifier: Apache-2.0 */
/* Pre-tokenizers: texts -> words, inside of which tokens are looked for. */
#ifndef DECODER_PRETOKENIZE_H
#define DECODER_PRETOKENIZE_H

#include "tokenizer/text.h"

#include <jansson.h>

struct pretokenizer;

/* From the field `pre_tokenizer` of the file `path`; NULL: it is missing, a text is one word. */
struct pretokenizer *pretokenizer_open(const char *path, json_t *json);
void pretokenizer_close(struct pretokenizer *pretokenizer);

/* Puts words in the place of texts. Ids stay where they are. */
void pretokenize(const struct pretokenizer *pretokenizer, struct pieces *pieces);

/* Byte-level BPE writes each byte as a character that is shown: itself, or one of U+0100 to U+0143 in its place. */
uint32_t byte_level_code(unsigned char byte);

#endif
