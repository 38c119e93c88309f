/* SPDX-License-Identifier: Apache-2.0 */
/* Normalizers: what is done to the user's text before it is cut into words. */
#ifndef DECODER_NORMALIZE_H
#define DECODER_NORMALIZE_H

#include "tokenizer/text.h"

#include <jansson.h>

struct normalizer;

/* From the field `normalizer` of the file `path`; NULL: it is missing, texts stay as they are. */
struct normalizer *normalizer_open(const char *path, json_t *json);
void normalizer_close(struct normalizer *normalizer);

/* Adds the normalized text, which is UTF-8, to `out`. */
void normalize(const struct normalizer *normalizer, struct span text, struct text *out);

#endif
