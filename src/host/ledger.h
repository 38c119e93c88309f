/* SPDX-License-Identifier: Apache-2.0 */
/* Tuning ledgers: which row was measured fastest on a problem. docs/LEDGER.md has the text. */
#ifndef GM_LEDGER_H
#define GM_LEDGER_H

#include "gristmill/gristmill.h"
#include "table.h"

#define GM_LEDGER_FORMAT         1
#define GM_LEDGER_CANDIDATES_MAX 64 /* of one entry */

/* Entries are sorted by the members, in this order. */
struct gm_ledger_key {
    int32_t ab_type, d_type, layout; /* enum gm_type, enum gm_type, GM_LAYOUT_x */
    int32_t general;                 /* the epilogue: 0 = plain, 1 = a bias or an activation */
    int64_t n, k, m;
};

/* One that was timed, divided as its name says (split.h). */
struct gm_ledger_pick {
    int kernel;       /* of the table that the ledger was read with; -1: not there */
    const char *name; /* of that row, in the ledger's text and without an end; NULL: there is no such pick */
    size_t name_bytes;
    int kind;  /* of division */
    double us; /* median */
};

struct gm_ledger_entry {
    struct gm_ledger_key key;
    struct gm_ledger_pick choice, whole; /* the fastest; and the fastest of those that divide no tile */
    struct gm_ledger_pick alone;         /* and of sm90's gemm rows whose CTAs share no K either */
    double model_us;                     /* median of what the model had picked */
    const char *line;                    /* in the ledger's text, without an end */
    size_t line_bytes;
};

/* What a ledger was measured on. */
struct gm_ledger_device {
    char name[64];
    int cc_major, cc_minor, sm_count;
    double l2_bytes, dram_gbs; /* for the reader's information */
};

struct gm_ledger {
    struct gm_ledger_device device;
    struct gm_ledger_entry *entries;
    size_t count;
    struct gm_ledger_origin {
        const char *line; /* "measured ..." */
        size_t line_bytes;
    } * origins;
    size_t origin_count;
    size_t left_out; /* entries without their row */
    char *text;
};

/* What happens to an entry whose row the table does not have. */
enum gm_ledger_stale { GM_STALE_REFUSED, GM_STALE_LEFT_OUT };

/* `source` is what sentences call the text. */
enum gm_status gm_ledger_parse_with(const char *source, const char *text, size_t bytes, const struct gm_kernel *rows,
                                    size_t row_count, enum gm_ledger_stale stale, gm_ledger **ledger);
enum gm_status gm_ledger_read_with(const char *path, const struct gm_kernel *rows, size_t row_count,
                                   enum gm_ledger_stale stale, gm_ledger **ledger);

int gm_ledger_compare_keys(const struct gm_ledger_key *left, const struct gm_ledger_key *right);
/* Of a (normalised) problem, with the epilogue that the caller says. */
struct gm_ledger_key gm_ledger_key_of(const struct gm_gemm_problem *problem, int general);
/* Changes with what a row's image depends on: names, states, shared memory, threads, registers. */
uint64_t gm_ledger_table_hash(const struct gm_kernel *rows, size_t count);

struct gm_ledger_device gm_ledger_device_of(const struct gm_device *device);
/* Same name, compute capability and number of SMs. */
int gm_ledger_same_device(const struct gm_ledger_device *left, const struct gm_ledger_device *right);
int gm_ledger_is_of(const gm_ledger *ledger, const struct gm_device *device);
/* GM_OK when `options` (may be NULL) can be used on the device as far as ledgers go; then gm_ledger_to_ask() does not
 * fail. */
enum gm_status gm_ledger_check(const struct gm_plan_options *options, const struct gm_device *device);
/* gm_ledger_builtin() of a device that needs no check. GM_ERROR_OUT_OF_MEMORY: it could not be read this time. */
enum gm_status gm_ledger_find_builtin(const struct gm_device *device, const gm_ledger **ledger);
/* Frees the built-in ledgers, which nobody may hold any longer; they are read again when they are asked for. */
void gm_ledger_forget_builtins(void);
/* The one to ask: the caller's, the built-in one, or NULL for none. */
const gm_ledger *gm_ledger_to_ask(const struct gm_plan_options *options, const struct gm_device *device);

/* What a ledger says of a (normalised) problem. */
struct gm_ledger_answer {
    const struct gm_ledger_entry *exact;         /* of this M; NULL: there is none */
    const struct gm_ledger_entry *below, *above; /* without it: the nearest M on both sides, where both took one row */
    int of_bf16; /* of an fp16 problem, what was measured in bf16: the same bytes, the same instructions but for a name */
};
struct gm_ledger_answer gm_ledger_find(const gm_ledger *ledger, const struct gm_gemm_problem *problem);

/* Index in `rows` of the row that a pick names; -1: not among them. */
int gm_ledger_row(const struct gm_ledger_pick *pick, const struct gm_kernel *rows, size_t count);

#endif
