/* SPDX-License-Identifier: Apache-2.0 */
/* The ledgers that the library brings, one per file of src/ledgers/. */
#include "host/ledger.h"

#include "host/device.h"
#include "host/log.h"

#include <pthread.h>
#include <stdio.h>

#define LEDGER(name) extern const char gm_ledger_text_##name[], gm_ledger_text_##name##_end[];
#include "ledgers.def"
#undef LEDGER

static struct builtin {
    const char *name, *text, *end;
    int read;          /* 1: so it was, or it cannot be */
    gm_ledger *ledger; /* NULL: not read */
} builtins[] = {
#define LEDGER(name) {"src/ledgers/" #name ".ledger", gm_ledger_text_##name, gm_ledger_text_##name##_end, 0, NULL},
#include "ledgers.def"
#undef LEDGER
};
#define BUILTINS (sizeof builtins / sizeof *builtins)

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of `read` and `ledger` */

/* A build with some of the variants only (GM_ARCHS, GM_ROWS) leaves the entries of the others out. */
static enum gm_status read_builtin(struct builtin *b) {
    const enum gm_status status = gm_ledger_parse_with(b->name, b->text, (size_t)(b->end - b->text), gm_kernels,
                                                       gm_kernel_count(), GM_STALE_LEFT_OUT, &b->ledger);
    if (status == GM_ERROR_OUT_OF_MEMORY) /* may pass: the next call tries again */
        return status;
    b->read = 1;
    if (status == GM_OK)
        gm_log(GM_LOG_INFO, "%s: %zu entries for %s, %zu left out", b->name, b->ledger->count, b->ledger->device.name,
               b->ledger->left_out);
    return GM_OK;
}

enum gm_status gm_ledger_find_builtin(const struct gm_device *device, const gm_ledger **ledger) {
    enum gm_status status = GM_OK;
    *ledger = NULL;
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < BUILTINS && status == GM_OK && !*ledger; i++) {
        struct builtin *b = &builtins[i];
        if (!b->read)
            status = read_builtin(b);
        if (b->ledger && gm_ledger_is_of(b->ledger, device))
            *ledger = b->ledger;
    }
    pthread_mutex_unlock(&lock);
    return status;
}

const gm_ledger *gm_ledger_builtin(const struct gm_device *device) {
    struct gm_device today;
    const gm_ledger *ledger;
    if (gm_device_take(&device, &today) != GM_OK || gm_ledger_find_builtin(device, &ledger) != GM_OK)
        return NULL;
    return ledger;
}

/* When the library is closed, or the program ends. */
__attribute__((destructor)) void gm_ledger_forget_builtins(void) {
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < BUILTINS; i++) {
        gm_ledger_destroy(builtins[i].ledger);
        builtins[i].ledger = NULL;
        builtins[i].read = 0;
    }
    pthread_mutex_unlock(&lock);
}
