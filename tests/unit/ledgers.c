/* SPDX-License-Identifier: Apache-2.0 */
/* Tuning ledgers over a small table. */
#include "ledgers.h"

#include "kernels.h"

#include <stdio.h>
#include <string.h>

#define ROW(name, state, type, tile_n, stages, letters)                                                                \
    SM90_ROW(name, state, type, tn, 64, tile_n, 64, stages, 1, 1, letters, 128)

const struct gm_kernel ledger_rows[] = {
    ROW("a", 1, bf16, 64, 8, w1),  ROW("b", 1, bf16, 256, 4, w1), SM80_ROW("c", 1, bf16, tn, 64, 64, 32, 5, 2, 2, 1),
    ROW("d", 0, bf16, 256, 4, w1), ROW("e", 1, fp16, 64, 8, w1),  ROW("f", 1, fp16, 256, 4, w1),
    ROW("g", 1, bf16, 64, 8, w1r),
};

int64_t ledger_value(const struct gm_ledger_key *key, const char *field) {
    const int place = gm_ledger_place(key->operation, gm_field_named(key->operation, field));
    ck_assert_int_ge(place, 0);
    return key->values[place];
}

enum gm_status ledger_try_bytes(const char *text, size_t bytes, gm_ledger **ledger) {
    return gm_ledger_parse_with("the text", text, bytes, ledger_rows, LEDGER_ROWS, GM_STALE_REFUSED, ledger);
}

enum gm_status ledger_try(const char *text, gm_ledger **ledger) {
    return ledger_try_bytes(text, strlen(text), ledger);
}

gm_ledger *ledger_of(const char *lines) {
    char text[8192];
    gm_ledger *ledger = NULL;
    snprintf(text, sizeof text, HEAD "%s", lines);
    assert_ok(ledger_try(text, &ledger));
    return ledger;
}
