/* SPDX-License-Identifier: Apache-2.0 */
/* Tuning ledgers: reading a whole text, and what a caller may ask of one. */
#include "host/ledger.h"

#include "host/error.h"
#include "host/family.h"
#include "host/ledger_parse.h"
#include "host/structs.h"
#include "host/text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FILE_LIMIT ((size_t)64 << 20)

/* ---- from text ------------------------------------------------------------------------------------ */

/* Room for one more where a power of two is full. NULL: no memory; then `items` is as it was. */
static void *grow(void *items, size_t count, size_t item_bytes) {
    if (count & (count - 1))
        return items;
    return realloc(items, (count ? 2 * count : 1) * item_bytes);
}

static enum gm_status no_memory(void) {
    return gm_fail(GM_ERROR_OUT_OF_MEMORY, "no host memory for a ledger");
}

static enum gm_status add_entry(struct gm_ledger *ledger, const struct gm_ledger_entry *entry) {
    struct gm_ledger_entry *entries = grow(ledger->entries, ledger->count, sizeof *entries);
    if (!entries)
        return no_memory();
    ledger->entries = entries;
    ledger->entries[ledger->count++] = *entry;
    return GM_OK;
}

static enum gm_status add_origin(struct gm_ledger *ledger, const struct gm_ledger_line *line) {
    struct gm_ledger_origin *origins = grow(ledger->origins, ledger->origin_count, sizeof *origins);
    if (!origins)
        return no_memory();
    ledger->origins = origins;
    origins[ledger->origin_count++] = (struct gm_ledger_origin){line->start, (size_t)(line->end - line->start)};
    return GM_OK;
}

struct reading {
    const struct gm_kernel *kernels;
    size_t kernel_count;
    enum gm_ledger_stale stale;
    struct gm_ledger *ledger;
    int seen[GM_LEDGER_WORDS]; /* lines of each */
};

static enum gm_status read_entry(struct reading *reading, struct gm_ledger_line *line) {
    struct gm_ledger_entry entry;
    const enum gm_status status = gm_ledger_parse_entry(line, &entry);
    if (status != GM_OK)
        return status;
    if (gm_ledger_kernel(&entry.choice, reading->kernels, reading->kernel_count))
        return add_entry(reading->ledger, &entry);
    if (reading->stale == GM_STALE_REFUSED) {
        const char *key = line->start, *end = entry.candidates; /* the line up to its first candidate is the problem */
        return gm_fail(GM_ERROR_LEDGER,
                       "%.200s:%d: the ledger is stale: the table has no kernel named %.*s; measure `%.*s` again with "
                       "`gristmill tune`",
                       line->source, line->number, (int)(entry.choice.name_bytes < 100 ? entry.choice.name_bytes : 100),
                       entry.choice.name, (int)(end - key < 100 ? end - key : 100), key);
    }
    reading->ledger->left_out++;
    return GM_OK;
}

static enum gm_status read_line(struct reading *reading, struct gm_ledger_line *line) {
    enum gm_ledger_word word;
    const enum gm_status status = gm_ledger_parse_head(line, &reading->ledger->device, &word);
    if (status != GM_OK)
        return status;
    if (word != GM_LEDGER_FORMAT_WORD && !reading->seen[GM_LEDGER_FORMAT_WORD])
        return gm_fail(GM_ERROR_LEDGER, "%.200s:%d: this is no ledger: one begins with `gristmill-ledger %d`",
                       line->source, line->number, GM_LEDGER_FORMAT);
    if (reading->seen[word]++ && word != GM_LEDGER_MEASURED && word != GM_LEDGER_ENTRY)
        return gm_fail(GM_ERROR_LEDGER, "%.200s:%d: a second line that begins like this one: %.*s", line->source,
                       line->number, (int)(line->end - line->start < 80 ? line->end - line->start : 80), line->start);
    if (word == GM_LEDGER_MEASURED)
        return add_origin(reading->ledger, line);
    return word == GM_LEDGER_ENTRY ? read_entry(reading, line) : GM_OK;
}

/* The line from `at` without blanks at both ends; moves `at` to the next. */
static struct gm_ledger_line take_line(const char *source, int number, const char **at, const char *end) {
    const char *stop = memchr(*at, '\n', (size_t)(end - *at));
    stop = stop ? stop : end;
    struct gm_ledger_line line = {.source = source, .number = number, .start = *at, .end = stop};
    *at = stop < end ? stop + 1 : end;
    while (line.end > line.start && strchr(" \t\r", line.end[-1]))
        line.end--;
    while (line.start < line.end && strchr(" \t", *line.start))
        line.start++;
    line.at = line.start;
    return line;
}

static enum gm_status read_lines(struct reading *reading, const char *source, const char *at, const char *end) {
    enum gm_status status = GM_OK;
    for (int number = 1; at < end && status == GM_OK; number++) {
        struct gm_ledger_line line = take_line(source, number, &at, end);
        if (line.start < line.end && *line.start != '#')
            status = read_line(reading, &line);
    }
    static const char *const needed[] = {"gristmill-ledger", "device", "cc", "sms", "l2_bytes", "dram_gbs"};
    for (int i = GM_LEDGER_FORMAT_WORD; i <= GM_LEDGER_DRAM && status == GM_OK; i++)
        if (!reading->seen[i])
            status = gm_fail(GM_ERROR_LEDGER, "%.200s: the ledger has no line `%s`", source, needed[i]);
    return status;
}

/* Entries of one problem stay in the order of their lines. */
static int compare_entries(const void *left, const void *right) {
    const struct gm_ledger_entry *x = left, *y = right;
    const int keys = gm_ledger_compare_keys(&x->key, &y->key);
    return keys ? keys : (x->line > y->line) - (x->line < y->line);
}

static int line_number(const struct gm_ledger *ledger, const char *line) {
    int number = 1;
    for (const char *at = ledger->text; at < line; at++)
        number += *at == '\n';
    return number;
}

/* A line that is there twice, as a merge leaves it, counts once; two answers to one question are refused. */
static enum gm_status join_twins(const char *source, struct gm_ledger *ledger) {
    size_t kept = 0;
    for (size_t i = 0; i < ledger->count; i++) {
        const struct gm_ledger_entry *entry = &ledger->entries[i], *last = &ledger->entries[kept ? kept - 1 : 0];
        if (kept == 0 || gm_ledger_compare_keys(&last->key, &entry->key) != 0)
            ledger->entries[kept++] = *entry;
        else if (last->line_bytes != entry->line_bytes || memcmp(last->line, entry->line, entry->line_bytes) != 0)
            return gm_fail(GM_ERROR_LEDGER, "%.200s: lines %d and %d answer for the same problem; delete one", source,
                           line_number(ledger, last->line), line_number(ledger, entry->line));
    }
    ledger->count = kept;
    return GM_OK;
}

/* Some editors put a byte order mark before UTF-8, which says nothing. */
static const char *behind_mark(const char *text) {
    static const char mark[] = "\xef\xbb\xbf";
    return strncmp(text, mark, strlen(mark)) == 0 ? text + strlen(mark) : text;
}

enum gm_status gm_ledger_parse_with(const char *source, const char *text, size_t bytes, const struct gm_kernel *kernels,
                                    size_t count, enum gm_ledger_stale stale, gm_ledger **out) {
    gm_ledger *ledger = calloc(1, sizeof *ledger);
    char *copy = ledger ? malloc(bytes + 1) : NULL;
    if (!copy) {
        free(ledger);
        return no_memory();
    }
    memcpy(copy, text, bytes);
    copy[bytes] = 0;
    ledger->text = copy;
    struct reading reading = {.kernels = kernels, .kernel_count = count, .stale = stale, .ledger = ledger};
    enum gm_status status = memchr(copy, 0, bytes)
                                ? gm_fail(GM_ERROR_LEDGER, "%.200s: a ledger is text, and this has a zero byte", source)
                                : read_lines(&reading, source, behind_mark(copy), copy + bytes);
    if (status == GM_OK && ledger->count)
        qsort(ledger->entries, ledger->count, sizeof *ledger->entries, compare_entries);
    if (status == GM_OK)
        status = join_twins(source, ledger);
    if (status != GM_OK) {
        gm_ledger_destroy(ledger);
        return status;
    }
    *out = ledger;
    return GM_OK;
}

/* ---- from a file ---------------------------------------------------------------------------------- */

/* All of `file`, for the caller to free; NULL with errno set. */
static char *slurp(FILE *file, size_t *bytes) {
    char *text = NULL;
    size_t capacity = 1 << 16;
    *bytes = 0;
    do {
        char *larger = *bytes < FILE_LIMIT ? realloc(text, capacity) : NULL;
        if (!larger) {
            errno = *bytes < FILE_LIMIT ? ENOMEM : EFBIG;
            break;
        }
        text = larger;
        *bytes += fread(text + *bytes, 1, capacity - *bytes, file);
        capacity *= 2;
    } while (!feof(file) && !ferror(file));
    if (feof(file))
        return text;
    free(text);
    return NULL;
}

enum gm_status gm_ledger_read_with(const char *path, const struct gm_kernel *kernels, size_t count,
                                   enum gm_ledger_stale stale, gm_ledger **ledger) {
    size_t bytes = 0;
    FILE *file = fopen(path, "rb");
    char *text = file ? slurp(file, &bytes) : NULL;
    const int reason = errno;
    if (file)
        fclose(file);
    if (!text)
        return gm_fail(GM_ERROR_LEDGER, "cannot read the ledger %.300s: %s", path, gm_error_text(reason));
    const enum gm_status status = gm_ledger_parse_with(path, text, bytes, kernels, count, stale, ledger);
    free(text);
    return status;
}

/* ---- the interface -------------------------------------------------------------------------------- */

enum gm_status gm_ledger_parse(const char *text, size_t bytes, gm_ledger **ledger) {
    if (!text || !ledger)
        return gm_fail(GM_ERROR_INVALID_ARGUMENT, "%s is NULL", text ? "ledger" : "text");
    return gm_ledger_parse_with("the text", text, bytes, gm_kernels, gm_kernel_count(), GM_STALE_REFUSED, ledger);
}

enum gm_status gm_ledger_read(const char *path, gm_ledger **ledger) {
    if (!path || !ledger)
        return gm_fail(GM_ERROR_INVALID_ARGUMENT, "%s is NULL", path ? "ledger" : "path");
    return gm_ledger_read_with(path, gm_kernels, gm_kernel_count(), GM_STALE_REFUSED, ledger);
}

void gm_ledger_destroy(gm_ledger *ledger) {
    if (!ledger)
        return;
    free(ledger->entries);
    free(ledger->origins);
    free(ledger->text);
    free(ledger);
}

enum gm_status gm_ledger_get_info(const gm_ledger *ledger, struct gm_ledger_info *info) {
    if (!ledger)
        return gm_fail(GM_ERROR_INVALID_ARGUMENT, "ledger is NULL");
    const enum gm_status status = GM_CHECK_OUTPUT(info, "info");
    if (status != GM_OK)
        return status;
    struct gm_ledger_info found = {.cc_major = ledger->device.cc_major,
                                   .cc_minor = ledger->device.cc_minor,
                                   .sm_count = ledger->device.sm_count,
                                   .entries = ledger->count};
    memcpy(found.device, ledger->device.name, sizeof found.device);
    GM_OUTPUT(info, &found);
    return GM_OK;
}
