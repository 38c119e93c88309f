/* SPDX-License-Identifier: Apache-2.0 */
/* The text of a tuning ledger -> entries, with a sentence for everything that is wrong with it. */
#include "host/ledger_parse.h"

#include "host/error.h"
#include "host/options.h"
#include "host/text.h"

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

static const struct gm_operation *operation_called(struct word word) {
    for (size_t i = 0; i < gm_operation_count(); i++)
        if (is(word, gm_operations[i]->name))
            return gm_operations[i];
    return NULL;
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
                                                       [GM_LEDGER_ENTRY] = NULL};
    const struct word first = next_word(line);
    int word = 0;
    while (word < GM_LEDGER_ENTRY && !is(first, words[word]))
        word++;
    line->operation = word < GM_LEDGER_ENTRY ? NULL : operation_called(first);
    *found = word == GM_LEDGER_ENTRY && !line->operation ? GM_LEDGER_WORDS : (enum gm_ledger_word)word;
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
    return FAIL(line,
                "`%.*s` begins no line of a ledger: they begin with %s, %s, %s, %s, %s, %s, %s or the name of an "
                "operation",
                SHOWN(first), words[0], words[1], words[2], words[3], words[4], words[5], words[6]);
}

/* ---- an entry: its problem ------------------------------------------------------------------------- */

/* " of these: tn, nn, tt, nt", of a field of words. */
static void list_words(const struct gm_field *field, char *text, size_t bytes) {
    size_t used = gm_print(text, bytes, " of these:");
    for (int i = 0; field->words[i]; i++)
        used += gm_print(text + used, bytes - used, "%s %s", i ? "," : "", field->words[i]);
}

static enum gm_status refuse_value(struct gm_ledger_line *line, const struct gm_field *field, struct word word) {
    char words[120] = "";
    if (field->kind == GM_FIELD_SIZE)
        return FAIL(line, "%s is `%.*s`, not a size from 1 to %d", field->name, SHOWN(word), INT32_MAX);
    if (field->kind == GM_FIELD_WORD)
        list_words(field, words, sizeof words);
    return FAIL(line, "%s is `%.*s`, which is none%s", field->name, SHOWN(word),
                field->kind == GM_FIELD_TYPE ? " of its types" : words);
}

/* The words of the problem, which together have to be one: that is tried on a problem struct. */
static enum gm_status parse_key(struct gm_ledger_line *line, struct gm_ledger_key *key) {
    _Alignas(8) unsigned char problem[GM_PROBLEM_MAX] = {0};
    const struct gm_operation *operation = line->operation;
    *key = (struct gm_ledger_key){.operation = operation};
    for (int i = 0, place = 0; i < operation->field_count; i++) {
        const struct gm_field *field = &operation->fields[i];
        if (!(field->uses & GM_IN_LEDGERS))
            continue;
        const struct word word = next_word(line);
        int64_t *value = &key->values[place++];
        if (!gm_field_parse(field, word.at, word.bytes, value) || (field->kind == GM_FIELD_SIZE && *value == 0))
            return refuse_value(line, field, word);
        if (field->uses & GM_IN_SUITES && !gm_field_set(field, problem, *value))
            return FAIL(line, "%s is %.*s, which no problem has beside what stands before it", field->name,
                        SHOWN(word));
    }
    return GM_OK;
}

/* ---- an entry: its candidates ------------------------------------------------------------------------ */

/* "*NAME/k median p10 p90 rounds": the star is the model's pick, what follows the name's slash the division. */
static enum gm_status parse_candidate(struct gm_ledger_line *line, struct word name,
                                      struct gm_ledger_candidate *candidate) {
    double us[3];
    int64_t rounds;
    const int is_model = name.at[0] == '*';
    *candidate = (struct gm_ledger_candidate){
        .name = name.at + is_model, .name_bytes = name.bytes - (size_t)is_model, .is_model = is_model, .kernel = -1};
    if (candidate->name_bytes == 0 || candidate->name[0] == '/')
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

enum gm_status gm_ledger_parse_entry(struct gm_ledger_line *line, struct gm_ledger_entry *entry) {
    *entry = (struct gm_ledger_entry){.line = line->start, .line_bytes = (size_t)(line->end - line->start)};
    struct gm_ledger_candidate candidate;
    int candidates = 0, picks = 0;
    enum gm_status status = parse_key(line, &entry->key);
    entry->candidates = line->at;
    for (struct word name; status == GM_OK && (name = next_word(line)).bytes; candidates++) {
        status = parse_candidate(line, name, &candidate);
        if (candidates == 0)
            entry->choice = candidate;
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

/* ---- the candidates once more, of an entry that was found right --------------------------------------- */

struct gm_ledger_cursor gm_ledger_candidates(const struct gm_ledger_entry *entry) {
    return (struct gm_ledger_cursor){entry->candidates, entry->line + entry->line_bytes};
}

int gm_ledger_next(struct gm_ledger_cursor *cursor, struct gm_ledger_candidate *candidate) {
    struct gm_ledger_line line = {.source = "", .at = cursor->at, .end = cursor->end};
    const struct word name = next_word(&line);
    if (name.bytes == 0 || parse_candidate(&line, name, candidate) != GM_OK)
        return 0;
    cursor->at = line.at;
    return 1;
}
