/* SPDX-License-Identifier: Apache-2.0 */
/* Fields of the objects of tokenizer.json. What is missing or of another type ends in die() with `path` and the
 * field's name. */
#ifndef DECODER_FIELDS_H
#define DECODER_FIELDS_H

#include "json.h"
#include "tokenizer/text.h"

json_t *need_field(const char *path, json_t *object, const char *name);
json_t *array_field(const char *path, json_t *object, const char *name);
struct span text_of(const char *path, json_t *value, const char *name);
struct span text_field(const char *path, json_t *object, const char *name);
/* A text that is not empty. */
struct span full_field(const char *path, json_t *object, const char *name);
int flag_field(const char *path, json_t *object, const char *name, int otherwise);
/* A number of 0 up to `most`. */
int32_t whole_of(const char *path, json_t *value, const char *name, int32_t most);
/* The `type` of an object, which `what` names in sentences. */
const char *type_field(const char *path, json_t *object, const char *what);
/* {"String": "..."} of a `Replace`. */
struct span replaced_field(const char *path, json_t *object);

enum { TOKEN_ID_MAX = 1 << 24 };

#endif
