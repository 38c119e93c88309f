/* SPDX-License-Identifier: Apache-2.0 */
/* The words of a tensor map on the command line: element types, modes, lists of sizes. */
#include "program/smem/tensor_words.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "program/smem/numbers.h"
#include "program/base/messages.h"

/* ---- numbers ------------------------------------------------------------------------------------ */

int words_read_number(const char *option, const char *text, uint64_t limit, uint64_t *value) {
    const char *end = text;
    uint64_t number;
    if (!number_take_64(&end, limit, &number) || *end)
        return complain("%s wants a whole number from 0 to %" PRIu64 ", not `%.40s`", option, limit, text);
    *value = number;
    return 0;
}

int words_read_list(const char *option, const char *text, uint64_t limit, size_t most, uint64_t *values,
                    size_t *count) {
    const char *at = text;
    for (*count = 0;; at++) {
        if (*count == most)
            return complain("%s has more than %zu numbers", option, most);
        if (!number_take_64(&at, limit, &values[*count]))
            return complain("%s wants whole numbers up to %" PRIu64
                            " with commas between, innermost first, not `%.40s`",
                            option, limit, text);
        ++*count;
        if (*at != ',' && *at != 'x')
            break;
    }
    if (*at)
        return complain("%s: `%.20s` follows number %zu where a comma must be", option, at, *count);
    return 0;
}

/* ---- words -------------------------------------------------------------------------------------- */

struct word {
    const char *text;
    int32_t value;
};

/* `choices` is what the sentence lists; a small number is taken as it is. */
static int read_word(const char *option, const char *text, const struct word *words, size_t count, const char *choices,
                     int32_t *value) {
    const char *end = text;
    uint64_t number;
    for (size_t i = 0; i < count; i++)
        if (strcmp(text, words[i].text) == 0) {
            *value = words[i].value;
            return 0;
        }
    if (!number_take_64(&end, 1000, &number) || *end)
        return complain("%s is %s, or a number of the driver's enum, not `%.40s`", option, choices, text);
    *value = (int32_t)number;
    return 0;
}
#define READ_WORD(words, choices) read_word(option, text, words, sizeof words / sizeof *words, choices, value)

/* CUtensorMapDataType; fp8 and int8 go as u8. */
int words_read_type(const char *option, const char *text, int32_t *value) {
    static const struct word words[] = {{"u8", 0},       {"s8", 0},    {"e4m3", 0},     {"e5m2", 0}, {"u16", 1},
                                        {"u32", 2},      {"s32", 3},   {"u64", 4},      {"s64", 5},  {"f16", 6},
                                        {"fp16", 6},     {"f32", 7},   {"fp32", 7},     {"f64", 8},  {"bf16", 9},
                                        {"f32_ftz", 10}, {"tf32", 11}, {"tf32_ftz", 12}};
    return READ_WORD(words, "u8, u16, u32, s32, u64, s64, f16, bf16, f32, f64, tf32, e4m3, e5m2");
}

int words_read_swizzle(const char *option, const char *text, int32_t *value) {
    static const struct word words[] = {{"none", 0}, {"32B", 1}, {"64B", 2}, {"128B", 3}};
    return READ_WORD(words, "none, 32B, 64B, 128B");
}

int words_read_interleave(const char *option, const char *text, int32_t *value) {
    static const struct word words[] = {{"none", 0}, {"16B", 1}, {"32B", 2}};
    return READ_WORD(words, "none, 16B, 32B");
}

int words_read_promotion(const char *option, const char *text, int32_t *value) {
    static const struct word words[] = {{"none", 0}, {"64B", 1}, {"128B", 2}, {"256B", 3}};
    return READ_WORD(words, "none, 64B, 128B, 256B");
}

int words_read_fill(const char *option, const char *text, int32_t *value) {
    static const struct word words[] = {{"zero", 0}, {"nan", 1}};
    return READ_WORD(words, "zero, nan");
}
