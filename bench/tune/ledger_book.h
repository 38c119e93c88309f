/* SPDX-License-Identifier: Apache-2.0 */
/* A tuning ledger that is being written: lines by problem, kept sorted. docs/LEDGER.md has the text. */
#ifndef BENCH_LEDGER_BOOK_H
#define BENCH_LEDGER_BOOK_H

#include <stdbool.h>
#include <stdio.h>

#include "host/ledger.h"

struct ledger_book {
    struct gm_ledger_device device;
    struct book_line {
        struct gm_ledger_key key; /* all zero for a `measured` line: those come first, sorted as text */
        char *text;
        bool fresh; /* put since the book was read: the file does not have it yet */
    } * lines;
    size_t count, capacity;
};

/* Each prints a sentence and returns -1 when it cannot. */
void book_start(struct ledger_book *book, const struct gm_device *device);
/* Entries whose row is no longer in the table are left out, with a note. */
int book_read(struct ledger_book *book, const char *path);
/* What book_read() reads if the file is there and of this device, else book_start(). */
int book_open(struct ledger_book *book, const char *path, const struct gm_device *device);
/* `from`'s entries take the place of those of the same problem. Both must be of one device. */
int book_merge(struct ledger_book *book, const struct ledger_book *from);
/* The file is the book now; who reads the file first and writes it then holds its lock (shared_file.h) meanwhile. */
int book_write(const struct ledger_book *book, const char *path);
/* Adds what was put to the file as it is by now, whoever else has written it, and to the book what they wrote. */
int book_extend(struct ledger_book *book, const char *path);
void book_print(const struct ledger_book *book, FILE *out);
void book_free(struct ledger_book *book);

/* A line of this problem, "gemm ..."; NULL: there is none. */
const char *book_find(const struct ledger_book *book, const struct gm_ledger_key *key);
int book_put(struct ledger_book *book, const struct gm_ledger_key *key, const char *text, size_t bytes);
/* "measured table ..."; once is enough. */
int book_put_origin(struct ledger_book *book, const char *text, size_t bytes);
size_t book_entries(const struct ledger_book *book);

#endif
