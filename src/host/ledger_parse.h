/* SPDX-License-Identifier: Apache-2.0 */
/* The lines of a tuning ledger. */
#ifndef GM_LEDGER_PARSE_H
#define GM_LEDGER_PARSE_H

#include "host/ledger.h"

struct gm_ledger_line {
    const char *source; /* what sentences call the text */
    int number;         /* from 1 */
    const char *start, *at, *end;
    const struct gm_operation *operation; /* whose entry it is; set by gm_ledger_parse_head() */
};

/* What a line begins with. */
enum gm_ledger_word {
    GM_LEDGER_FORMAT_WORD,
    GM_LEDGER_DEVICE,
    GM_LEDGER_CC,
    GM_LEDGER_SMS,
    GM_LEDGER_L2,
    GM_LEDGER_DRAM,
    GM_LEDGER_MEASURED,
    GM_LEDGER_ENTRY,
    GM_LEDGER_WORDS
};

/* The first word, and, unless it is an entry's, the whole line; what it says of the device is kept. */
enum gm_status gm_ledger_parse_head(struct gm_ledger_line *line, struct gm_ledger_device *device,
                                    enum gm_ledger_word *found);

/* The rest of an entry's line; the choice's kernel is not looked for yet. */
enum gm_status gm_ledger_parse_entry(struct gm_ledger_line *line, struct gm_ledger_entry *entry);

#endif
