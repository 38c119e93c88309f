/* SPDX-License-Identifier: Apache-2.0 */
/* Byte-pair encoding: a word -> ids of the vocabulary. Of neighbours that may merge, those whose merge was learnt
 * first do. */
#ifndef DECODER_BPE_H
#define DECODER_BPE_H

#include "tokenizer/text.h"

#include <jansson.h>

struct bpe;

/* From the object `model` of the file `path`. */
struct bpe *bpe_open(const char *path, json_t *model);
void bpe_close(struct bpe *bpe);

void bpe_encode(const struct bpe *bpe, struct span word, struct ids *ids);

/* NO_ID: no such token. */
int32_t bpe_id(const struct bpe *bpe, struct span text);
/* at == NULL: no such token. */
struct span bpe_text(const struct bpe *bpe, int32_t id);
/* One more than the largest id. */
int32_t bpe_end(const struct bpe *bpe);

#endif
