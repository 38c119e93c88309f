/* SPDX-License-Identifier: Apache-2.0 */
/* Cuts texts at the matches of a pattern. */
#ifndef DECODER_SPLIT_H
#define DECODER_SPLIT_H

#include "tokenizer/text.h"

/* What a match becomes: a piece of its own, nothing, a part of its neighbour, or of one piece with other matches
 * beside it. */
enum behavior { ISOLATED, REMOVED, MERGED_WITH_PREVIOUS, MERGED_WITH_NEXT, CONTIGUOUS, BEHAVIORS };

struct split;

/* is_literal: the pattern is a text, not a regular expression. is_inverted: what lies between matches counts as
 * match, and the matches as what lies between. `path` is for sentences. */
struct split *split_open(const char *path, struct span pattern, int is_literal, enum behavior behavior,
                         int is_inverted);
void split_close(struct split *split);

/* Adds the pieces of all texts of `in` to `out`, and its ids. Each text is matched by itself. */
void split_all(const struct split *split, const struct pieces *in, struct pieces *out);

#endif
