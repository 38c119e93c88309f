/* SPDX-License-Identifier: Apache-2.0 */
/* Tuning ledgers over a small table, for the tests of reading and of asking. */
#ifndef GM_UNIT_LEDGERS_H
#define GM_UNIT_LEDGERS_H

#include "host/ledger.h"
#include "unit.h"

/* "a": small tiles, "b": large ones, both sm90; "c": sm80; "d": as b, but not in production;
 * "e" and "f": a and b for fp16; "g": a with split-K. */
extern const struct gm_kernel ledger_rows[];
#define LEDGER_ROWS 7

#define HEAD  "gristmill-ledger 1\ndevice NVIDIA H200\ncc 9.0\nsms 132\nl2_bytes 62914560\ndram_gbs 4814\n"
#define SHAPE "gemm bf16 bf16 bf16 tn plain 64 2112 7168 "

/* Reads these lines, with HEAD before them, over that table. */
gm_ledger *ledger_of(const char *lines);
/* The text is all there is. */
enum gm_status ledger_try(const char *text, gm_ledger **ledger);
enum gm_status ledger_try_bytes(const char *text, size_t bytes, gm_ledger **ledger);

/* The value of a key's field. */
int64_t ledger_value(const struct gm_ledger_key *key, const char *field);

#endif
