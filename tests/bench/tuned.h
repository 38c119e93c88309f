/* SPDX-License-Identifier: Apache-2.0 */
/* gristmill tune on a GPU that is not there, and the ledgers it writes. */
#ifndef TUNED_H
#define TUNED_H

#include <stdbool.h>

#include "program/commands.h"
#include "fake_gpu.h"
#include "bench/tune/tune.h"

/* Files of the tests, gone before and after each. */
#define BOOK  "bench-tests-out.ledger"
#define OTHER "bench-tests-out-other.ledger"
#define HEAD  "gristmill-ledger 1\ndevice NVIDIA FAKE 9\ncc 9.0\nsms 4\nl2_bytes 65536\ndram_gbs 250000\n"

void tuned_set_up(void);
void tuned_tear_down(void);

void write_text(const char *path, const char *text);
/* Exit code, and words of what it prints on both streams. */
void expect_run(const char *line, int code, const char *out, const char *err);
void expect_in(const char *path, const char *words, bool there);

#endif
