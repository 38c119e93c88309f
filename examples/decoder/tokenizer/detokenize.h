/* SPDX-License-Identifier: Apache-2.0 */
/* Decoders of tokenizer.json: the texts of tokens -> the text they stand for. */
#ifndef DECODER_DETOKENIZE_H
#define DECODER_DETOKENIZE_H

#include "tokenizer/text.h"

#include <jansson.h>

struct detokenizer;

/* From the field `decoder` of the file `path`. */
struct detokenizer *detokenizer_open(const char *path, json_t *json);
void detokenizer_close(struct detokenizer *detokenizer);

/* Puts what the pieces stand for in their place: all together is the text. */
void detokenize(const struct detokenizer *detokenizer, struct pieces *pieces);

#endif
