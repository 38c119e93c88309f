/* SPDX-License-Identifier: Apache-2.0 */
/* The ledgers that the library brings, one per file of src/ledgers/, and the hash of the table they were made with. */
#include "ledger.h"

#include "device.h"
#include "log.h"

#include <pthread.h>
#include <stdio.h>

#define LEDGER(name) extern const char gm_ledger_text_##name[], gm_ledger_text_##name##_end[];
#include "ledgers.def"
#undef LEDGER

static struct builtin {
    const char *name, *text, *end;
    gm_ledger *ledger;
} builtins[] = {
#define LEDGER(name) {"src/ledgers/" #name ".ledger", gm_ledger_text_##name, gm_ledger_text_##name##_end, NULL},
#include "ledgers.def"
#undef LEDGER
};
#define BUILTINS (sizeof builtins / sizeof *builtins)

/* A build with some of the rows only (GM_ARCHS, GM_ROWS) leaves the entries of the others out. */
static void read_builtins(void) {
    for (size_t i = 0; i < BUILTINS; i++) {
        struct builtin *b = &builtins[i];
        if (gm_ledger_parse_with(b->name, b->text, (size_t)(b->end - b->text), gm_kernels, gm_kernel_count(),
                                 GM_STALE_LEFT_OUT, &b->ledger) == GM_OK)
            gm_log(GM_LOG_INFO, "%s: %zu entries for %s, %zu left out", b->name, b->ledger->count,
                   b->ledger->device.name, b->ledger->left_out);
    }
}

const gm_ledger *gm_ledger_builtin(const struct gm_device *device) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    struct gm_device today;
    if (gm_device_take(&device, &today) != GM_OK)
        return NULL;
    pthread_once(&once, read_builtins);
    for (size_t i = 0; i < BUILTINS; i++)
        if (builtins[i].ledger && gm_ledger_is_of(builtins[i].ledger, device))
            return builtins[i].ledger;
    return NULL;
}

/* FNV-1a */
static uint64_t mix(uint64_t hash, const void *bytes, size_t count) {
    for (size_t i = 0; i < count; i++)
        hash = (hash ^ ((const unsigned char *)bytes)[i]) * UINT64_C(0x100000001b3);
    return hash;
}

uint64_t gm_ledger_table_hash(const struct gm_kernel *rows, size_t count) {
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < count; i++) {
        char facts[192];
        const int bytes = snprintf(facts, sizeof facts, "%s %d %d %d %d\n", rows[i].name, rows[i].production,
                                   rows[i].smem_bytes, rows[i].threads, rows[i].registers);
        hash = mix(hash, facts, (size_t)bytes);
    }
    return hash;
}
