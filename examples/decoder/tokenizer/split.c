/* SPDX-License-Identifier: Apache-2.0 */
/* Regular expressions of tokenizer.json are Oniguruma's, with the syntax of Ruby; PCRE2 runs them. Where they differ:
 *
 * - \s of PCRE2 takes U+180E in, which is no white space since Unicode 6.3. PCRE2 is shown U+200B in its place, which
 *   is of the same category and length.
 * - ^ and $ are the borders of lines in Ruby: PCRE2_MULTILINE.
 * - {1,3}+ is possessive in PCRE2, repeated in Ruby; && and [ inside of [ ] have a meaning in Ruby only; (?m) is
 *   another option; \w, \b, [:alpha:] and \p{Han} take other characters in; \h and \v are other things. Patterns with
 *   one of these are refused.
 * - Categories such as \p{L} and \p{N} are those of the Unicode version that a library was built with: 14 in PCRE2
 *   10.42, 16 in the Oniguruma of `tokenizers` 0.23. Characters that were added in between split in another way.
 */
#define PCRE2_CODE_UNIT_WIDTH 8
#include "tokenizer/split.h"

#include "common.h"

#include <ctype.h>
#include <pcre2.h>
#include <stdlib.h>
#include <string.h>

#define SHOWN(span) (int)((span).bytes < 200 ? (span).bytes : 200), (span).at

enum { JIT_STACK_BYTES = 1 << 15, JIT_STACK_BYTES_MAX = 1 << 26 };

struct split {
    pcre2_code *code;
    enum behavior behavior;
    int is_literal, is_inverted;
};

/* A match, or what lies between two. */
struct range {
    size_t from, to;
    int is_match;
};

/* A pattern at work. */
struct search {
    const struct split *split;
    pcre2_match_data *match;
    pcre2_match_context *context;
    pcre2_jit_stack *stack;
    struct range *ranges;
    size_t count, room;
};

/* ---- opening -------------------------------------------------------------------------------------- */

/* Whether {2}+ or {1,3}+ begins a text. */
static int is_repeated_count(struct span text) {
    size_t at = 1;
    while (at < text.bytes && strchr("0123456789,", text.at[at]))
        at++;
    return text.at[0] == '{' && at > 1 && at + 1 < text.bytes && text.at[at] == '}' && text.at[at + 1] == '+';
}

/* Options such as (?m: or (?i-m). */
static int sets_lines(struct span text) {
    size_t at = 2;
    while (at < text.bytes && strchr("imsx-", text.at[at]) && text.at[at] != 'm')
        at++;
    return text.bytes > 2 && text.at[0] == '(' && text.at[1] == '?' && at < text.bytes && text.at[at] == 'm';
}

/* Bytes of an escape that PCRE2 and Oniguruma agree on; 0: of another one. Of properties those are the general
 * categories. */
static size_t escape_bytes(struct span text) {
    if (text.bytes < 2 || !strchr("pPsSdDrntf", text.at[1]))
        return text.bytes > 1 && ispunct((unsigned char)text.at[1]) ? 2 : 0;
    if (text.at[1] != 'p' && text.at[1] != 'P')
        return 2;
    size_t at = 2;
    at += at < text.bytes && text.at[at] == '{';
    at += at < text.bytes && text.at[at] == '^';
    const size_t begin = at;
    while (at < text.bytes && isalpha((unsigned char)text.at[at]))
        at++;
    return at - begin <= 2 && at < text.bytes && text.at[at] == '}' ? at + 1 : 0;
}

/* What PCRE2 would compile to something else than Oniguruma. NULL: nothing. */
static const char *foreign_syntax(struct span pattern) {
    int in_class = 0;
    for (size_t at = 0, next; at < pattern.bytes; at = next) {
        const struct span rest = {pattern.at + at, pattern.bytes - at};
        next = at + 1;
        if (rest.at[0] == '\\') {
            next = at + escape_bytes(rest);
            if (next == at)
                return "an escape other than \\p{..} of a general category, \\s, \\d, \\r, \\n, \\t and \\f";
        } else if (in_class) {
            if (rest.at[0] == '[')
                return "[ inside of [ ]";
            if (rest.at[0] == '&' && rest.bytes > 1 && rest.at[1] == '&')
                return "&& inside of [ ]";
            in_class = rest.at[0] != ']';
        } else if (rest.at[0] == '[') {
            in_class = 1;
            next += rest.bytes > 1 && rest.at[1] == '^';
            next += next < pattern.bytes && pattern.at[next] == ']';
        } else if (is_repeated_count(rest)) {
            return "{ }+";
        } else if (sets_lines(rest)) {
            return "(?m)";
        }
    }
    return NULL;
}

static pcre2_code *compile(const char *path, struct span pattern, int is_literal) {
    pcre2_compile_context *context = pcre2_compile_context_create(NULL);
    if (!context)
        die("out of host memory for a pattern");
    pcre2_set_newline(context, PCRE2_NEWLINE_LF);
    int error;
    PCRE2_SIZE at;
    pcre2_code *code = pcre2_compile((PCRE2_SPTR)pattern.at, pattern.bytes,
                                     is_literal ? PCRE2_UTF | PCRE2_LITERAL : PCRE2_UTF | PCRE2_UCP | PCRE2_MULTILINE,
                                     &error, &at, context);
    pcre2_compile_context_free(context);
    if (!code) {
        PCRE2_UCHAR sentence[200];
        pcre2_get_error_message(error, sentence, sizeof sentence);
        die("%s: PCRE2 cannot compile the pattern `%.*s`: %s at its byte %zu", path, SHOWN(pattern), (char *)sentence,
            (size_t)at);
    }
    return code;
}

struct split *split_open(const char *path, struct span pattern, int is_literal, enum behavior behavior,
                         int is_inverted) {
    const char *foreign = is_literal ? NULL : foreign_syntax(pattern);
    if (foreign)
        die("%s: the pattern `%.*s` has %s, which PCRE2 reads in its own way", path, SHOWN(pattern), foreign);
    struct split *split = grab(1, sizeof *split);
    *split = (struct split){compile(path, pattern, is_literal), behavior, is_literal, is_inverted};
    uint32_t matches_nothing;
    pcre2_pattern_info(split->code, PCRE2_INFO_MATCHEMPTY, &matches_nothing);
    if (matches_nothing)
        die("%s: the pattern `%.*s` matches the empty text", path, SHOWN(pattern));
    pcre2_jit_compile(split->code, PCRE2_JIT_COMPLETE); /* where it is not to be had, matching is slower */
    return split;
}

void split_close(struct split *split) {
    pcre2_code_free(split->code);
    free(split);
}

/* ---- matching ------------------------------------------------------------------------------------- */

static void search_begin(struct search *search, const struct split *split) {
    *search = (struct search){.split = split};
    search->match = pcre2_match_data_create_from_pattern(split->code, NULL);
    search->context = pcre2_match_context_create(NULL);
    search->stack = pcre2_jit_stack_create(JIT_STACK_BYTES, JIT_STACK_BYTES_MAX, NULL); /* NULL without JIT */
    if (!search->match || !search->context)
        die("out of host memory for a pattern");
    if (search->stack)
        pcre2_jit_stack_assign(search->context, NULL, search->stack);
    pcre2_set_match_limit(search->context, UINT32_MAX);
    pcre2_set_depth_limit(search->context, UINT32_MAX);
    pcre2_set_heap_limit(search->context, UINT32_MAX);
}

static void search_end(struct search *search) {
    pcre2_match_data_free(search->match);
    pcre2_match_context_free(search->context);
    pcre2_jit_stack_free(search->stack);
    free(search->ranges);
}

static void add_range(struct search *search, size_t from, size_t to, int is_match) {
    if (from == to)
        return;
    search->ranges = grown(search->ranges, search->count, &search->room, sizeof *search->ranges);
    search->ranges[search->count++] = (struct range){from, to, is_match != search->split->is_inverted};
}

/* All ranges of a text, from left to right. */
static void find_ranges(struct search *search, struct span text) {
    const PCRE2_SIZE *at = pcre2_get_ovector_pointer(search->match);
    size_t done = 0;
    search->count = 0;
    while (done < text.bytes) {
        const int found = pcre2_match(search->split->code, (PCRE2_SPTR)text.at, text.bytes, done, PCRE2_NO_UTF_CHECK,
                                      search->match, search->context);
        if (found == PCRE2_ERROR_NOMATCH)
            break;
        if (found < 0) {
            PCRE2_UCHAR sentence[200];
            pcre2_get_error_message(found, sentence, sizeof sentence);
            die("a text of %zu bytes cannot be split: %s", text.bytes, (char *)sentence);
        }
        if (at[0] < done || at[1] <= at[0])
            die("a match of a pattern is empty or goes back");
        add_range(search, done, at[0], 0);
        add_range(search, at[0], at[1], 1);
        done = at[1];
    }
    add_range(search, done, text.bytes, 0);
}

/* ---- what becomes of matches ---------------------------------------------------------------------- */

/* One more than the last range of the piece that begins with the range `from`. */
static size_t joined(const struct search *search, size_t from) {
    const struct range *ranges = search->ranges;
    const enum behavior behavior = search->split->behavior;
    size_t to = from + 1;
    if (behavior == CONTIGUOUS)
        while (to < search->count && ranges[to].is_match == ranges[from].is_match)
            to++;
    if (behavior == MERGED_WITH_PREVIOUS && !ranges[from].is_match && to < search->count && ranges[to].is_match)
        to++;
    if (behavior == MERGED_WITH_NEXT && ranges[from].is_match && to < search->count && !ranges[to].is_match)
        to++;
    return to;
}

/* Text in which U+180E is U+200B, or the text itself where it has none. `copy` is to be freed. */
static struct span matched_text(const struct split *split, struct span text, struct text *copy) {
    static const struct span vowel_separator = {"\xE1\xA0\x8E", 3}, zero_width_space = {"\xE2\x80\x8B", 3};
    if (split->is_literal || !memchr(text.at, vowel_separator.at[0], text.bytes))
        return text;
    copy->bytes = 0;
    text_add_replaced(copy, text, vowel_separator, zero_width_space);
    return (struct span){copy->at, copy->bytes};
}

void split_all(const struct split *split, const struct pieces *in, struct pieces *out) {
    struct search search;
    struct text copy = {0};
    search_begin(&search, split);
    for (size_t i = 0; i < in->count; i++) {
        if (in->list[i].id != NO_ID) {
            pieces_add_id(out, in->list[i].id);
            continue;
        }
        const struct span text = piece_span(in, i);
        find_ranges(&search, matched_text(split, text, &copy));
        for (size_t from = 0, to; from < search.count; from = to) {
            to = joined(&search, from);
            if (split->behavior == REMOVED && search.ranges[from].is_match)
                continue;
            const size_t begin = search.ranges[from].from, end = search.ranges[to - 1].to;
            pieces_add(out, (struct span){text.at + begin, end - begin}, in->list[i].first && begin == 0);
        }
    }
    search_end(&search);
    free(copy.at);
}
