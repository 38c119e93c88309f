/* SPDX-License-Identifier: Apache-2.0 */
/* Tuning ledgers: which kernel was measured fastest on a problem. docs/LEDGER.md has the text. */
#ifndef GM_LEDGER_H
#define GM_LEDGER_H

#include "host/operation.h"
#include "host/table.h"

#define GM_LEDGER_FORMAT         1
#define GM_LEDGER_CANDIDATES_MAX 64 /* of one entry */
#define GM_LEDGER_FIELDS_MAX     12 /* of an operation's fields that are GM_IN_LEDGERS */

/* A problem: the values of the operation's ledger fields, in their order. */
struct gm_ledger_key {
    const struct gm_operation *operation;
    int64_t values[GM_LEDGER_FIELDS_MAX];
};

/* One kernel that was timed. */
struct gm_ledger_candidate {
    const char *name; /* of the kernel and its division, in the ledger's text and without an end */
    size_t name_bytes;
    double us;    /* median */
    int is_model; /* the model picked it */
    int kernel;   /* of the table that the ledger was read with; -1: not there */
    int division; /* GM_DIVISION_NONE where the name says none */
};

struct gm_ledger_entry {
    struct gm_ledger_key key;
    struct gm_ledger_candidate choice; /* the first candidate, which is the fastest */
    double model_us;                   /* median of what the model had picked */
    const char *line, *candidates;     /* in the ledger's text, not terminated: the line, and its first candidate */
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
    struct gm_ledger_entry *entries; /* sorted by gm_ledger_compare_keys() */
    size_t count;
    struct gm_ledger_origin {
        const char *line; /* "measured ..." */
        size_t line_bytes;
    } *origins;
    size_t origin_count;
    size_t left_out; /* entries without their kernel */
    char *text;
};

/* What happens to an entry whose kernel the table does not have. */
enum gm_ledger_stale { GM_STALE_REFUSED, GM_STALE_LEFT_OUT };

/* ---- ledger.c: reading one ------------------------------------------------------------------------- */

/* `source` is what sentences call the text. */
enum gm_status gm_ledger_parse_with(const char *source, const char *text, size_t bytes, const struct gm_kernel *kernels,
                                    size_t count, enum gm_ledger_stale stale, gm_ledger **ledger);
enum gm_status gm_ledger_read_with(const char *path, const struct gm_kernel *kernels, size_t count,
                                   enum gm_ledger_stale stale, gm_ledger **ledger);

/* ---- ledger_key.c: problems and devices as keys ----------------------------------------------------- */

struct gm_ledger_key gm_ledger_key_of(const struct gm_operation *operation, const void *problem);
/* By operation and field, the axis last: problems that differ in that alone are neighbours. */
int gm_ledger_compare_keys(const struct gm_ledger_key *left, const struct gm_ledger_key *right);
/* A field's place among the values of a key; -1: ledgers do not have it. */
int gm_ledger_place(const struct gm_operation *operation, int field);

struct gm_ledger_device gm_ledger_device_of(const struct gm_device *device);
/* Same name, compute capability and number of SMs. */
int gm_ledger_same_device(const struct gm_ledger_device *left, const struct gm_ledger_device *right);
int gm_ledger_is_of(const gm_ledger *ledger, const struct gm_device *device);
/* Changes with what a kernel's image depends on: names, states, shared memory, threads, registers. */
uint64_t gm_ledger_table_hash(const struct gm_kernel *kernels, size_t count);

/* ---- ledger_builtin.c: those that the library brings ------------------------------------------------- */

/* gm_ledger_builtin() of a device that needs no check. GM_ERROR_OUT_OF_MEMORY: it could not be read this time. */
enum gm_status gm_ledger_find_builtin(const struct gm_device *device, const gm_ledger **ledger);
/* Frees the built-in ledgers, which nobody may hold any longer; they are read again when they are asked for. */
void gm_ledger_forget_builtins(void);

/* ---- ledger_find.c: what one answers; pure ----------------------------------------------------------- */

/* GM_OK when the options can be used on the device as far as ledgers go; then gm_ledger_to_ask() does not fail. */
enum gm_status gm_ledger_check(const struct gm_plan_options *options, const struct gm_device *device);
/* The one to ask: the caller's, the built-in one, or NULL for none. */
const gm_ledger *gm_ledger_to_ask(const struct gm_plan_options *options, const struct gm_device *device);

/* What a ledger says of a (normalised) problem. */
struct gm_ledger_answer {
    const struct gm_ledger_entry *exact;         /* of this problem; NULL: there is none */
    const struct gm_ledger_entry *below, *above; /* else: the nearest along the axis, where both took one kernel */
    int of_bf16; /* of an fp16 problem, what was measured in bf16: the same bytes and instructions but for a name */
};
struct gm_ledger_answer gm_ledger_find(const gm_ledger *ledger, const struct gm_operation *operation,
                                       const void *problem);

/* The candidates of an entry, from fast to slow. */
struct gm_ledger_cursor {
    const char *at, *end;
};
struct gm_ledger_cursor gm_ledger_candidates(const struct gm_ledger_entry *entry);
/* 0: there is no other one. `kernel` and `division` are not found yet. */
int gm_ledger_next(struct gm_ledger_cursor *cursor, struct gm_ledger_candidate *candidate);
/* The candidate's kernel among these, and with it the candidate's division; NULL: it is not among them. */
const struct gm_kernel *gm_ledger_kernel(struct gm_ledger_candidate *candidate, const struct gm_kernel *kernels,
                                         size_t count);

#endif
