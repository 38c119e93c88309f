/* SPDX-License-Identifier: Apache-2.0 */
/* Added tokens, such as <|eot_id|>: texts that become one id wherever they are, before words are looked for. */
#ifndef DECODER_ADDED_TOKENS_H
#define DECODER_ADDED_TOKENS_H

#include "tokenizer/bpe.h"
#include "tokenizer/normalize.h"
#include "tokenizer/text.h"

struct added_tokens;

/* From the field `added_tokens` of the file `path`; NULL: it is missing. */
struct added_tokens *added_open(const char *path, json_t *json, const struct bpe *bpe,
                                const struct normalizer *normalizer);
void added_close(struct added_tokens *added);

/* Adds the pieces of a text to `out`: added tokens, of which the longest at the leftmost place counts, and what is
 * between them. is_normalized: those that are looked for in the normalized text; otherwise those looked for in the
 * user's. */
void added_find(const struct added_tokens *added, int is_normalized, struct span text, int is_first,
                struct pieces *out);

/* NO_ID: no such token. */
int32_t added_id(const struct added_tokens *added, struct span text);
/* The text it is found as: normalized where it is looked for in the normalized text. at == NULL: no such token. */
struct span added_text(const struct added_tokens *added, int32_t id);
int added_is_special(const struct added_tokens *added, int32_t id);
/* One more than the largest id. */
int32_t added_end(const struct added_tokens *added);

#endif
