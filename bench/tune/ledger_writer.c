/* SPDX-License-Identifier: Apache-2.0 */
/* A tuning ledger that is being written. The same lines give the same bytes, in whatever order they came. */
#include "bench/tune/ledger_writer.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "program/base/messages.h"
#include "program/base/shared_file.h"

static const struct gm_ledger_key no_key;

static bool is_origin(const struct ledger_line *line) {
    return gm_ledger_compare_keys(&line->key, &no_key) == 0;
}

/* Where a line of this key belongs; `text` orders the `measured` lines, which share one. */
static size_t place_of(const struct ledger_writer *writer, const struct gm_ledger_key *key, const char *text,
                       bool *found) {
    *found = false;
    for (size_t i = 0; i < writer->count; i++) {
        int order = gm_ledger_compare_keys(&writer->lines[i].key, key);
        if (order == 0 && is_origin(&writer->lines[i]))
            order = strcmp(writer->lines[i].text, text);
        *found = order == 0;
        if (order >= 0)
            return i;
    }
    return writer->count;
}

static int put(struct ledger_writer *writer, const struct gm_ledger_key *key, const char *text, size_t bytes,
               bool fresh) {
    bool found;
    char *copy = strndup(text, bytes);
    const size_t at = copy ? place_of(writer, key, copy, &found) : 0;
    if (copy && !found && writer->count == writer->capacity) {
        const size_t capacity = writer->capacity ? 2 * writer->capacity : 64;
        struct ledger_line *lines = realloc(writer->lines, capacity * sizeof *lines);
        writer->lines = lines ? lines : writer->lines;
        writer->capacity = lines ? capacity : writer->capacity;
    }
    if (!copy || (!found && writer->count == writer->capacity)) {
        free(copy);
        return complain("out of host memory");
    }
    if (found) {
        free(writer->lines[at].text);
    } else {
        memmove(&writer->lines[at + 1], &writer->lines[at], (writer->count - at) * sizeof *writer->lines);
        writer->count++;
    }
    writer->lines[at] = (struct ledger_line){*key, copy, fresh};
    return 0;
}

int ledger_writer_put(struct ledger_writer *writer, const struct gm_ledger_key *key, const char *text, size_t bytes) {
    return put(writer, key, text, bytes, true);
}

int ledger_writer_put_origin(struct ledger_writer *writer, const char *text, size_t bytes) {
    return put(writer, &no_key, text, bytes, true);
}

const char *ledger_writer_find(const struct ledger_writer *writer, const struct gm_ledger_key *key) {
    bool found;
    const size_t at = place_of(writer, key, "", &found);
    return found ? writer->lines[at].text : NULL;
}

size_t ledger_writer_entries(const struct ledger_writer *writer) {
    size_t entries = 0;
    for (size_t i = 0; i < writer->count; i++)
        entries += !is_origin(&writer->lines[i]);
    return entries;
}

void ledger_writer_start(struct ledger_writer *writer, const struct gm_device *device) {
    *writer = (struct ledger_writer){.device = gm_ledger_device_of(device)};
    writer->device.dram_gbs = round(device->dram_gbs);
}

static int take_lines(struct ledger_writer *writer, const gm_ledger *ledger) {
    int status = 0;
    for (size_t i = 0; i < ledger->origin_count && status == 0; i++)
        status = put(writer, &no_key, ledger->origins[i].line, ledger->origins[i].line_bytes, false);
    for (size_t i = 0; i < ledger->count && status == 0; i++)
        status = put(writer, &ledger->entries[i].key, ledger->entries[i].line, ledger->entries[i].line_bytes, false);
    return status;
}

static int read_ledger(struct ledger_writer *writer, const char *path, bool tell) {
    gm_ledger *ledger = NULL;
    *writer = (struct ledger_writer){0};
    if (gm_ledger_read_with(path, gm_kernels, gm_kernel_count(), GM_STALE_LEFT_OUT, &ledger) != GM_OK)
        return complain("%s", gm_last_error());
    if (ledger->left_out && tell)
        note("%s: %zu entries name kernels that the table no longer has; they are left out.", path, ledger->left_out);
    writer->device = ledger->device;
    const int status = take_lines(writer, ledger);
    gm_ledger_destroy(ledger);
    return status;
}

int ledger_writer_read(struct ledger_writer *writer, const char *path) {
    return read_ledger(writer, path, true);
}

static bool is_there(const char *path) {
    return access(path, F_OK) == 0 || errno != ENOENT;
}

/* The file that is there is extended; what it says of another device would be lost, so that is refused. */
int ledger_writer_open(struct ledger_writer *writer, const char *path, const struct gm_device *device) {
    if (!is_there(path)) {
        ledger_writer_start(writer, device);
        return 0;
    }
    if (ledger_writer_read(writer, path) != 0)
        return -1;
    const struct gm_ledger_device *theirs = &writer->device, ours = gm_ledger_device_of(device);
    if (gm_ledger_same_device(theirs, &ours))
        return 0;
    return complain("%s was measured on another device: %s, %d.%d, %d SMs; this is %s, %d.%d, %d SMs", path,
                    theirs->name, theirs->cc_major, theirs->cc_minor, theirs->sm_count, ours.name, ours.cc_major,
                    ours.cc_minor, ours.sm_count);
}

/* All lines of `from`, or the fresh ones. */
static int merge(struct ledger_writer *writer, const struct ledger_writer *from, bool all) {
    const struct gm_ledger_device *first = &writer->device, *second = &from->device;
    if (!gm_ledger_same_device(first, second))
        return complain("these are ledgers of two devices: %s, %d.%d, %d SMs, and %s, %d.%d, %d SMs", first->name,
                        first->cc_major, first->cc_minor, first->sm_count, second->name, second->cc_major,
                        second->cc_minor, second->sm_count);
    int status = 0;
    for (size_t i = 0; i < from->count && status == 0; i++) {
        const struct ledger_line *line = &from->lines[i];
        if (all || line->fresh)
            status = put(writer, &line->key, line->text, strlen(line->text), false);
    }
    return status;
}

int ledger_writer_merge(struct ledger_writer *writer, const struct ledger_writer *from) {
    return merge(writer, from, true);
}

void ledger_writer_print(const struct ledger_writer *writer, FILE *out) {
    const struct gm_ledger_device *device = &writer->device;
    fprintf(out, "gristmill-ledger %d\ndevice %s\ncc %d.%d\nsms %d\nl2_bytes %.0f\ndram_gbs %.0f\n", GM_LEDGER_FORMAT,
            device->name, device->cc_major, device->cc_minor, device->sm_count, device->l2_bytes, device->dram_gbs);
    bool told = false;
    for (size_t i = 0; i <= writer->count; i++) {
        if (!told && (i == writer->count || !is_origin(&writer->lines[i]))) {
            fputs("# op A B D layout epilogue M N K, then kernel median p10 p90 rounds: the choice first, the model's "
                  "pick with a star\n",
                  out);
            told = true;
        }
        if (i < writer->count)
            fprintf(out, "%s\n", writer->lines[i].text);
    }
}

int ledger_writer_write(const struct ledger_writer *writer, const char *path) {
    struct draft draft;
    if (draft_begin(&draft, path) != 0)
        return -1;
    ledger_writer_print(writer, draft.out);
    return draft_end(&draft);
}

/* The ledger becomes the file's, with what is fresh put into it. */
static int take_file(struct ledger_writer *writer, const char *path) {
    struct ledger_writer now;
    int status = read_ledger(&now, path, false);
    if (status == 0)
        status = merge(&now, writer, false);
    if (status != 0) {
        ledger_writer_free(&now);
        return status;
    }
    ledger_writer_free(writer);
    *writer = now;
    return 0;
}

int ledger_writer_extend(struct ledger_writer *writer, const char *path) {
    struct file_lock lock;
    if (file_lock(&lock, path) != 0)
        return -1;
    int status = is_there(path) ? take_file(writer, path) : 0;
    if (status == 0)
        status = ledger_writer_write(writer, path);
    for (size_t i = 0; i < writer->count && status == 0; i++)
        writer->lines[i].fresh = false;
    file_unlock(&lock);
    return status;
}

void ledger_writer_free(struct ledger_writer *writer) {
    for (size_t i = 0; i < writer->count; i++)
        free(writer->lines[i].text);
    free(writer->lines);
    *writer = (struct ledger_writer){0};
}
