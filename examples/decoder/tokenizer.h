/* SPDX-License-Identifier: Apache-2.0 */
/* The tokenizer of a model's folder, from tokenizer.json: byte-pair encoding, as Hugging Face's `tokenizers`
 * computes it. */
#ifndef DECODER_TOKENIZER_H
#define DECODER_TOKENIZER_H

#include <stddef.h>
#include <stdint.h>

struct tokenizer;

/* Reads folder/tokenizer.json. What it has no code for (a model, normalizer, pre-tokenizer, decoder or pattern) is
 * refused by die() with its name: a text that is split another way gives worse answers, and nobody notices. */
struct tokenizer *tokenizer_open(const char *folder);
void tokenizer_close(struct tokenizer *tokenizer);

/* Ids of the text, behind those that the post-processor puts first if `adds_special`. Texts of added tokens, such as
 * <|eot_id|>, become their ids. Returns their number; *ids is to be freed, also where there are none. Of bytes that
 * are no UTF-8, each longest beginning of a character becomes one U+FFFD. */
size_t tokenizer_encode(const struct tokenizer *tokenizer, const char *text, size_t bytes, int adds_special,
                        int32_t **ids);

/* The text of ids, to be freed, with a 0 behind it: whole, as decode() of `tokenizers` makes it. Special tokens are
 * left out if `skips_special`, and ids of no token always. Bytes that are no UTF-8 become U+FFFD: of the last tokens
 * of a text that still grows, they may be the beginning of a character. */
char *tokenizer_decode(const struct tokenizer *tokenizer, const int32_t *ids, size_t count, int skips_special);

/* One more than the largest id, those of added tokens included: so many rows must embeddings have at least. */
int64_t tokenizer_size(const struct tokenizer *tokenizer);
/* The id of a token's text, -1 if there is none. */
int32_t tokenizer_id(const struct tokenizer *tokenizer, const char *token);

#endif
