/* SPDX-License-Identifier: Apache-2.0 */
/* The text of a tuning ledger -> entries, with a sentence for everything that is wrong with it. */
#include "ledger_parse.h"

#include "error.h"
#include "problem.h"
#include "split.h"
#include "text.h"

#include <string.h>

#define WORD_SHOWN 100 /* bytes of a word that a sentence quotes */

/* A word of a line; no bytes: the line has ended. */
struct word {
    const char *at;
    size_t bytes;
};
#define SHOWN(word) (int)((word).bytes < WORD_SHOWN ? (word).bytes : WORD_SHOWN), (word).at

#define FAIL(line, format, ...)                                                                                        \
    gm_fail(GM_ERROR_LEDGER, "%.200s:%d: " format, (line)->source, (line)->number, __VA_ARGS__)

static int is_blank(char c) {
    return c == ' ' || c == '\t';
}

static struct word next_word(struct gm_ledger_line *line) {
    while (line->at < line->end && is_blank(*line->at))
        line->at++;
    struct word word = {line->at, 0};
    while (line->at < line->end && !is_blank(*line->at))
        line->at++;
    word.bytes = (size_t)(line->at - word.at);
    return word;
}

static int is(struct word word, const char *text) {
    return strlen(text) == word.bytes && memcmp(word.at, text, word.bytes) == 0;
}

/* Digits, and a fraction of up to 6 more. Not strtod(), which obeys the locale. False: something else, or beyond 1e12.
 */
static int parse_number(struct word word, double *value) {
    static const double scale[] = {1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6};
    int64_t digits = 0;
    int whole = 0, fraction = -1; /* how many of each; -1: no point yet */
    for (size_t i = 0; i < word.bytes; i++) {
        const char c = word.at[i];
        if (c == '.' && fraction < 0 && whole > 0) {
            fraction = 0;
            continue;
        }
        if (c < '0' || c > '9' || (fraction < 0 ? ++whole > 12 : ++fraction > 6))
            return 0;
        digits = 10 * digits + (c - '0');
    }
    if (whole == 0 || fraction == 0)
        return 0;
    *value = (double)digits / scale[fraction < 0 ? 0 : fraction];
    return 1;
}

static int parse_whole(struct word word, int64_t least, int64_t most, int64_t *value) {
    double number;
    if (memchr(word.at, '.', word.bytes) || !parse_number(word, &number) || number < (double)least ||
        number > (double)most)
        return 0;
    *value = (int64_t)number;
    return 1;
}

static enum gm_status check_end(struct gm_ledger_line *line, const char *what) {
    const struct word more = next_word(line);
    return more.bytes ? FAIL(line, "`%.*s` after %s", SHOWN(more), what) : GM_OK;
}

/* ---- the head ------------------------------------------------------------------------------------- */

static enum gm_status parse_format(struct gm_ledger_line *line) {
    const struct word version = next_word(line);
    if (!is(version, "1"))
        return FAIL(line, "the ledger has format `%.*s`; this library reads format %d", SHOWN(version),
                    GM_LEDGER_FORMAT);
    return check_end(line, "the format");
}

static enum gm_status parse_device(struct gm_ledger_line *line, struct gm_ledger_device *device) {
    while (line->at < line->end && is_blank(*line->at))
        line->at++;
    const size_t bytes = (size_t)(line->end - line->at);
    if (bytes == 0 || bytes >= sizeof device->name)
        return FAIL(line, "the device's name has %zu bytes; 1 to %zu are possible", bytes, sizeof device->name - 1);
    memcpy(device->name, line->at, bytes);
    if (!gm_is_shown(device->name)) /* it is handed on, to be printed */
        return FAIL(line, "the device's name has characters that are not shown: %s", device->name);
    return GM_OK;
}

/* "9.0" */
static enum gm_status parse_cc(struct gm_ledger_line *line, struct gm_ledger_device *device) {
    const struct word word = next_word(line);
    const char *point = memchr(word.at, '.', word.bytes);
    const struct word major = {word.at, point ? (size_t)(point - word.at) : 0};
    const struct word minor = {point ? point + 1 : word.at, point ? word.bytes - major.bytes - 1 : 0};
    int64_t numbers[2];
    if (!parse_whole(major, 1, 99, &numbers[0]) || !parse_whole(minor, 0, 9, &numbers[1]))
        return FAIL(line, "`%.*s` is no compute capability such as 9.0", SHOWN(word));
    device->cc_major = (int)numbers[0];
    device->cc_minor = (int)numbers[1];
    return check_end(line, "the compute capability");
}

static enum gm_status parse_sms(struct gm_ledger_line *line, struct gm_ledger_device *device) {
    const struct word word = next_word(line);
    int64_t number;
    if (!parse_whole(word, 1, INT32_MAX, &number))
        return FAIL(line, "`%.*s` is no number of SMs", SHOWN(word));
    device->sm_count = (int)number;
    return check_end(line, "the number of SMs");
}

static enum gm_status parse_fact(struct gm_ledger_line *line, double *value, const char *what) {
    const struct word word = next_word(line);
    if (!parse_number(word, value))
        return FAIL(line, "`%.*s` is no number of %s", SHOWN(word), what);
    return check_end(line, what);
}

/* "measured table <16 hexadecimal digits>", and whatever else tells where the numbers are from. */
static enum gm_status parse_origin(struct gm_ledger_line *line) {
    const struct word table = next_word(line), hash = next_word(line);
    size_t digits = 0;
    while (digits < hash.bytes && strchr("0123456789abcdef", hash.at[digits]))
        digits++;
    if (!is(table, "table") || digits != 16 || hash.bytes != 16)
        return FAIL(line, "`measured` wants `table` and 16 hexadecimal digits, not `%.*s %.*s`", SHOWN(table),
                    SHOWN(hash));
    return GM_OK;
}

enum gm_status gm_ledger_parse_head(struct gm_ledger_line *line, struct gm_ledger_device *device,
                                    enum gm_ledger_word *found) {
    static const char *const words[GM_LEDGER_WORDS] = {[GM_LEDGER_FORMAT_WORD] = "gristmill-ledger",
                                                       [GM_LEDGER_DEVICE] = "device",
                                                       [GM_LEDGER_CC] = "cc",
                                                       [GM_LEDGER_SMS] = "sms",
                                                       [GM_LEDGER_L2] = "l2_bytes",
                                                       [GM_LEDGER_DRAM] = "dram_gbs",
                                                       [GM_LEDGER_MEASURED] = "measured",
                                                       [GM_LEDGER_ENTRY] = "gemm"};
    const struct word first = next_word(line);
    int word = 0;
    while (word < GM_LEDGER_WORDS && !is(first, words[word]))
        word++;
    *found = (enum gm_ledger_word)word;
    switch (*found) {
    case GM_LEDGER_FORMAT_WORD:
        return parse_format(line);
    case GM_LEDGER_DEVICE:
        return parse_device(line, device);
    case GM_LEDGER_CC:
        return parse_cc(line, device);
    case GM_LEDGER_SMS:
        return parse_sms(line, device);
    case GM_LEDGER_L2:
        return parse_fact(line, &device->l2_bytes, "bytes of L2");
    case GM_LEDGER_DRAM:
        return parse_fact(line, &device->dram_gbs, "GB/s");
    case GM_LEDGER_MEASURED:
        return parse_origin(line);
    case GM_LEDGER_ENTRY:
        return GM_OK;
    case GM_LEDGER_WORDS:
        break;
    }
    return FAIL(line, "`%.*s` begins no line of a ledger: they begin with %s, %s, %s, %s, %s, %s, %s or %s",
                SHOWN(first), words[0], words[1], words[2], words[3], words[4], words[5], words[6], words[7]);
}

/* ---- an entry ------------------------------------------------------------------------------------- */

static enum gm_status parse_type(struct gm_ledger_line *line, const char *operand, int last, int32_t *type) {
    const struct word word = next_word(line);
    for (*type = GM_BF16; *type <= last; ++*type)
        if (is(word, gm_type_name((enum gm_type) * type)))
            return GM_OK;
    return FAIL(line, "`%.*s` is no type of %s", SHOWN(word), operand);
}

static enum gm_status parse_layout(struct gm_ledger_line *line, struct gm_ledger_key *key) {
    const struct word layout = next_word(line), epilogue = next_word(line);
    for (key->layout = 0; key->layout < 4 && !is(layout, gm_layout_name(key->layout));)
        key->layout++;
    if (key->layout == 4)
        return FAIL(line, "`%.*s` is no layout: tn, nn, nt or tt", SHOWN(layout));
    key->general = is(epilogue, "general");
    if (!key->general && !is(epilogue, "plain"))
        return FAIL(line, "`%.*s` is no epilogue: plain or general", SHOWN(epilogue));
    return GM_OK;
}

static enum gm_status parse_key(struct gm_ledger_line *line, struct gm_ledger_key *key) {
    int32_t b_type = 0;
    enum gm_status status = parse_type(line, "A", GM_FP16, &key->ab_type);
    if (status == GM_OK)
        status = parse_type(line, "B", GM_FP16, &b_type);
    if (status == GM_OK && b_type != key->ab_type)
        return FAIL(line, "A is %s and B is %s; no kernel multiplies these", gm_type_name((enum gm_type)key->ab_type),
                    gm_type_name((enum gm_type)b_type));
    if (status == GM_OK)
        status = parse_type(line, "D", GM_FP32, &key->d_type);
    if (status == GM_OK)
        status = parse_layout(line, key);
    int64_t *const into[3] = {&key->m, &key->n, &key->k};
    for (int i = 0; i < 3 && status == GM_OK; i++) {
        const struct word word = next_word(line);
        if (!parse_whole(word, 1, INT32_MAX, into[i]))
            status = FAIL(line, "%c is `%.*s`, not a size from 1 to %d", "MNK"[i], SHOWN(word), INT32_MAX);
    }
    return status;
}

/* "*NAME/k median p10 p90 rounds": the star is the model's pick, /k the kind of division. */
struct candidate {
    struct word name;
    double us;
    int is_model, kind;
};

static struct gm_ledger_pick pick_of(const struct candidate *c, const struct gm_kernel *rows, size_t row_count) {
    struct gm_ledger_pick pick = {
        .kernel = -1, .name = c->name.at, .name_bytes = c->name.bytes, .kind = c->kind, .us = c->us};
    pick.kernel = gm_ledger_row(&pick, rows, row_count);
    return pick;
}

/* The same, of a row that sums all of K in one CTA and in wgmma's order; else none. */
static struct gm_ledger_pick pick_alone(const struct candidate *c, const struct gm_kernel *rows, size_t row_count) {
    const struct gm_ledger_pick pick = pick_of(c, rows, row_count);
    const struct gm_kernel *row = pick.kernel < 0 ? NULL : &rows[pick.kernel];
    if (row && gm_uses_tma(row) && GM_WARPS_SPLITS(row->warps) == 1)
        return pick;
    return (struct gm_ledger_pick){.kernel = -1};
}

static enum gm_status parse_candidate(struct gm_ledger_line *line, struct word name, struct candidate *candidate) {
    double us[3];
    int64_t rounds;
    *candidate = (struct candidate){.name = name, .is_model = name.at[0] == '*'};
    candidate->name.at += candidate->is_model;
    candidate->name.bytes -= (size_t)candidate->is_model;
    candidate->kind = gm_take_kind(candidate->name.at, &candidate->name.bytes);
    if (candidate->name.bytes == 0)
        return FAIL(line, "`%.*s` names no kernel", SHOWN(name));
    for (int i = 0; i < 3; i++) {
        const struct word word = next_word(line);
        if (!parse_number(word, &us[i]) || us[i] <= 0)
            return FAIL(line, "%.*s has `%.*s` for microseconds", SHOWN(name), SHOWN(word));
    }
    if (us[0] < us[1] || us[0] > us[2])
        return FAIL(line, "%.*s has a median of %.3f us outside p10 %.3f to p90 %.3f", SHOWN(name), us[0], us[1],
                    us[2]);
    const struct word word = next_word(line);
    if (!parse_whole(word, 1, INT32_MAX, &rounds))
        return FAIL(line, "%.*s has `%.*s` for a number of rounds", SHOWN(name), SHOWN(word));
    candidate->us = us[0];
    return GM_OK;
}

enum gm_status gm_ledger_parse_entry(struct gm_ledger_line *line, const struct gm_kernel *rows, size_t row_count,
                                     struct gm_ledger_entry *entry) {
    *entry = (struct gm_ledger_entry){.choice = {.kernel = -1},
                                      .whole = {.kernel = -1},
                                      .alone = {.kernel = -1},
                                      .line = line->start,
                                      .line_bytes = (size_t)(line->end - line->start)};
    struct candidate candidate;
    int candidates = 0, picks = 0;
    enum gm_status status = parse_key(line, &entry->key);
    for (struct word name; status == GM_OK && (name = next_word(line)).bytes; candidates++) {
        status = parse_candidate(line, name, &candidate);
        if (status == GM_OK && candidates == 0)
            entry->choice = pick_of(&candidate, rows, row_count);
        if (status == GM_OK && !entry->whole.name && candidate.kind == GM_KIND_WHOLE)
            entry->whole = pick_of(&candidate, rows, row_count);
        if (status == GM_OK && !entry->alone.name && candidate.kind == GM_KIND_WHOLE)
            entry->alone = pick_alone(&candidate, rows, row_count);
        if (candidate.is_model)
            entry->model_us = candidate.us;
        picks += candidate.is_model;
    }
    if (status != GM_OK)
        return status;
    if (candidates < 1 || candidates > GM_LEDGER_CANDIDATES_MAX || picks != 1)
        return FAIL(line, "%d candidates, %d of them with the star of the model's pick; an entry has 1 to %d, and one",
                    candidates, picks, GM_LEDGER_CANDIDATES_MAX);
    return GM_OK;
}
