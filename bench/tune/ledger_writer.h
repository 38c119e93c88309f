/* SPDX-License-Identifier: Apache-2.0 */
/* A tuning ledger that is being written: lines by problem, kept sorted. docs/LEDGER.md has the text. */
#ifndef BENCH_LEDGER_WRITER_H
#define BENCH_LEDGER_WRITER_H

#include <stdbool.h>
#include <stdio.h>

#include "host/ledger.h"

struct ledger_writer {
    struct gm_ledger_device device;
    struct ledger_line {
        struct gm_ledger_key key; /* all zero for a `measured` line: those come first, sorted as text */
        char *text;
        bool fresh; /* put since the ledger was read: the file does not have it yet */
    } *lines;
    size_t count, capacity;
};

/* Each prints a sentence and returns -1 when it cannot. */
void ledger_writer_start(struct ledger_writer *writer, const struct gm_device *device);
/* Entries whose row is no longer in the table are left out, with a note. */
int ledger_writer_read(struct ledger_writer *writer, const char *path);
/* What ledger_writer_read() reads if the file is there and of this device, else ledger_writer_start(). */
int ledger_writer_open(struct ledger_writer *writer, const char *path, const struct gm_device *device);
/* `from`'s entries take the place of those of the same problem. Both must be of one device. */
int ledger_writer_merge(struct ledger_writer *writer, const struct ledger_writer *from);
/* The file is the ledger now; who reads the file first and writes it then holds its lock (shared_file.h) meanwhile. */
int ledger_writer_write(const struct ledger_writer *writer, const char *path);
/* Adds what was put to the file as it is by now, whoever else has written it, and to the ledger what they wrote. */
int ledger_writer_extend(struct ledger_writer *writer, const char *path);
void ledger_writer_print(const struct ledger_writer *writer, FILE *out);
void ledger_writer_free(struct ledger_writer *writer);

/* A line of this problem, "gemm ..."; NULL: there is none. */
const char *ledger_writer_find(const struct ledger_writer *writer, const struct gm_ledger_key *key);
int ledger_writer_put(struct ledger_writer *writer, const struct gm_ledger_key *key, const char *text, size_t bytes);
/* "measured table ..."; once is enough. */
int ledger_writer_put_origin(struct ledger_writer *writer, const char *text, size_t bytes);
size_t ledger_writer_entries(const struct ledger_writer *writer);

#endif
