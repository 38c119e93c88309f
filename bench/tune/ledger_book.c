/* SPDX-License-Identifier: Apache-2.0 */
/* A tuning ledger that is being written. The same lines give the same bytes, in whatever order they came. */
#include "bench/tune/ledger_book.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "program/base/say.h"
#include "program/base/shared_file.h"

static const struct gm_ledger_key no_key;

static bool is_origin(const struct book_line *line) {
    return gm_ledger_compare_keys(&line->key, &no_key) == 0;
}

/* Where a line of this key belongs; `text` orders the `measured` lines, which share one. */
static size_t place_of(const struct ledger_book *book, const struct gm_ledger_key *key, const char *text, bool *found) {
    *found = false;
    for (size_t i = 0; i < book->count; i++) {
        int order = gm_ledger_compare_keys(&book->lines[i].key, key);
        if (order == 0 && is_origin(&book->lines[i]))
            order = strcmp(book->lines[i].text, text);
        *found = order == 0;
        if (order >= 0)
            return i;
    }
    return book->count;
}

static int put(struct ledger_book *book, const struct gm_ledger_key *key, const char *text, size_t bytes, bool fresh) {
    bool found;
    char *copy = strndup(text, bytes);
    const size_t at = copy ? place_of(book, key, copy, &found) : 0;
    if (copy && !found && book->count == book->capacity) {
        const size_t capacity = book->capacity ? 2 * book->capacity : 64;
        struct book_line *lines = realloc(book->lines, capacity * sizeof *lines);
        book->lines = lines ? lines : book->lines;
        book->capacity = lines ? capacity : book->capacity;
    }
    if (!copy || (!found && book->count == book->capacity)) {
        free(copy);
        return complain("out of host memory");
    }
    if (found) {
        free(book->lines[at].text);
    } else {
        memmove(&book->lines[at + 1], &book->lines[at], (book->count - at) * sizeof *book->lines);
        book->count++;
    }
    book->lines[at] = (struct book_line){*key, copy, fresh};
    return 0;
}

int book_put(struct ledger_book *book, const struct gm_ledger_key *key, const char *text, size_t bytes) {
    return put(book, key, text, bytes, true);
}

int book_put_origin(struct ledger_book *book, const char *text, size_t bytes) {
    return put(book, &no_key, text, bytes, true);
}

const char *book_find(const struct ledger_book *book, const struct gm_ledger_key *key) {
    bool found;
    const size_t at = place_of(book, key, "", &found);
    return found ? book->lines[at].text : NULL;
}

size_t book_entries(const struct ledger_book *book) {
    size_t entries = 0;
    for (size_t i = 0; i < book->count; i++)
        entries += !is_origin(&book->lines[i]);
    return entries;
}

void book_start(struct ledger_book *book, const struct gm_device *device) {
    *book = (struct ledger_book){.device = gm_ledger_device_of(device)};
    book->device.dram_gbs = round(device->dram_gbs);
}

static int take_lines(struct ledger_book *book, const gm_ledger *ledger) {
    int status = 0;
    for (size_t i = 0; i < ledger->origin_count && status == 0; i++)
        status = put(book, &no_key, ledger->origins[i].line, ledger->origins[i].line_bytes, false);
    for (size_t i = 0; i < ledger->count && status == 0; i++)
        status = put(book, &ledger->entries[i].key, ledger->entries[i].line, ledger->entries[i].line_bytes, false);
    return status;
}

static int read_book(struct ledger_book *book, const char *path, bool tell) {
    gm_ledger *ledger = NULL;
    *book = (struct ledger_book){0};
    if (gm_ledger_read_with(path, gm_kernels, gm_kernel_count(), GM_STALE_LEFT_OUT, &ledger) != GM_OK)
        return complain("%s", gm_last_error());
    if (ledger->left_out && tell)
        note("%s: %zu entries name kernels that the table no longer has; they are left out.", path, ledger->left_out);
    book->device = ledger->device;
    const int status = take_lines(book, ledger);
    gm_ledger_destroy(ledger);
    return status;
}

int book_read(struct ledger_book *book, const char *path) {
    return read_book(book, path, true);
}

static bool is_there(const char *path) {
    return access(path, F_OK) == 0 || errno != ENOENT;
}

/* The file that is there is extended; what it says of another device would be lost, so that is refused. */
int book_open(struct ledger_book *book, const char *path, const struct gm_device *device) {
    if (!is_there(path)) {
        book_start(book, device);
        return 0;
    }
    if (book_read(book, path) != 0)
        return -1;
    const struct gm_ledger_device *theirs = &book->device, ours = gm_ledger_device_of(device);
    if (gm_ledger_same_device(theirs, &ours))
        return 0;
    return complain("%s was measured on another device: %s, %d.%d, %d SMs; this is %s, %d.%d, %d SMs", path,
                    theirs->name, theirs->cc_major, theirs->cc_minor, theirs->sm_count, ours.name, ours.cc_major,
                    ours.cc_minor, ours.sm_count);
}

/* All lines of `from`, or the fresh ones. */
static int merge(struct ledger_book *book, const struct ledger_book *from, bool all) {
    const struct gm_ledger_device *first = &book->device, *second = &from->device;
    if (!gm_ledger_same_device(first, second))
        return complain("these are ledgers of two devices: %s, %d.%d, %d SMs, and %s, %d.%d, %d SMs", first->name,
                        first->cc_major, first->cc_minor, first->sm_count, second->name, second->cc_major,
                        second->cc_minor, second->sm_count);
    int status = 0;
    for (size_t i = 0; i < from->count && status == 0; i++) {
        const struct book_line *line = &from->lines[i];
        if (all || line->fresh)
            status = put(book, &line->key, line->text, strlen(line->text), false);
    }
    return status;
}

int book_merge(struct ledger_book *book, const struct ledger_book *from) {
    return merge(book, from, true);
}

void book_print(const struct ledger_book *book, FILE *out) {
    const struct gm_ledger_device *device = &book->device;
    fprintf(out, "gristmill-ledger %d\ndevice %s\ncc %d.%d\nsms %d\nl2_bytes %.0f\ndram_gbs %.0f\n", GM_LEDGER_FORMAT,
            device->name, device->cc_major, device->cc_minor, device->sm_count, device->l2_bytes, device->dram_gbs);
    bool told = false;
    for (size_t i = 0; i <= book->count; i++) {
        if (!told && (i == book->count || !is_origin(&book->lines[i]))) {
            fputs("# op A B D layout epilogue M N K, then kernel median p10 p90 rounds: the choice first, the model's "
                  "pick with a star\n",
                  out);
            told = true;
        }
        if (i < book->count)
            fprintf(out, "%s\n", book->lines[i].text);
    }
}

int book_write(const struct ledger_book *book, const char *path) {
    struct draft draft;
    if (draft_begin(&draft, path) != 0)
        return -1;
    book_print(book, draft.out);
    return draft_end(&draft);
}

/* The book becomes the file's, with what is fresh put into it. */
static int take_file(struct ledger_book *book, const char *path) {
    struct ledger_book now;
    int status = read_book(&now, path, false);
    if (status == 0)
        status = merge(&now, book, false);
    if (status != 0) {
        book_free(&now);
        return status;
    }
    book_free(book);
    *book = now;
    return 0;
}

int book_extend(struct ledger_book *book, const char *path) {
    struct file_lock lock;
    if (file_lock(&lock, path) != 0)
        return -1;
    int status = is_there(path) ? take_file(book, path) : 0;
    if (status == 0)
        status = book_write(book, path);
    for (size_t i = 0; i < book->count && status == 0; i++)
        book->lines[i].fresh = false;
    file_unlock(&lock);
    return status;
}

void book_free(struct ledger_book *book) {
    for (size_t i = 0; i < book->count; i++)
        free(book->lines[i].text);
    free(book->lines);
    *book = (struct ledger_book){0};
}
