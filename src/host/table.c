/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel table, made from the registries, and what the build says of itself. */
#include "host/table.h"

#include "build_info.h"
#include "host/error.h"
#include "host/family.h"
#include "host/structs.h"
#include "host/types.h"
#include "kernel_facts.h"

#include <pthread.h>
#include <stdio.h>

/* ---- architectures ---------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    uint32_t bit;
    int major, minor, or_newer;
} archs[] = {
#define RUNS_exactly                                                   0
#define RUNS_or_newer                                                  1
#define ARCH(name, bit, option, major, minor, newer, gencode, targets) {#name, bit, major, minor, RUNS_##newer},
#include "archs.def"
#undef ARCH
};
#define ARCHS (sizeof archs / sizeof *archs)

enum {
#define ARCH(name, bit, option, major, minor, newer, gencode, targets) ARCH_##name = bit,
#include "archs.def"
#undef ARCH
};
_Static_assert((int)ARCH_sm80 == (int)GM_ARCH_SM80 && (int)ARCH_sm90 == (int)GM_ARCH_SM90,
               "src/archs.def says what enum gm_arch does");

static size_t arch_index(enum gm_arch arch) {
    size_t i = 0;
    while (i + 1 < ARCHS && archs[i].bit != arch)
        i++;
    return i;
}

const char *gm_arch_name(enum gm_arch arch) {
    return archs[arch_index(arch)].name;
}

uint32_t gm_arch_bits(void) {
    uint32_t bits = 0;
    for (size_t i = 0; i < ARCHS; i++)
        bits |= archs[i].bit;
    return bits;
}

int gm_kernel_runs_on(const struct gm_kernel *kernel, int cc_major, int cc_minor) {
    const size_t i = arch_index(kernel->arch);
    const int cc = 10 * cc_major + cc_minor, needed = 10 * archs[i].major + archs[i].minor;
    return archs[i].or_newer ? cc >= needed : cc == needed;
}

/* ---- the table --------------------------------------------------------------------------------------- */

/* RESOURCE(name, registers, spill_bytes): two constants per kernel, so that a kernel without a report is an error. */
#define RESOURCE(name, registers, spill_bytes) enum { name##_registers = registers, name##_spill = spill_bytes };
#include "kernel_resources.inc"
#undef RESOURCE

/* PART(target, offset, packed_bytes, bytes, base), IMAGE(name, first, count, packed_bytes) */
#define IMAGE(name, first, count, packed_bytes)
#define PART(target, offset, packed_bytes, bytes, base) {target, offset, packed_bytes, bytes, base},
const struct gm_packed_part gm_parts[] = {
#include "images.inc"
};
#undef PART
#undef IMAGE

#define IMAGE(name, first, count, packed_bytes)                                                                        \
    static const struct gm_packed_image name##_image = {first, count, packed_bytes};
#define PART(target, offset, packed_bytes, bytes, base)
#include "images.inc"
#undef PART
#undef IMAGE

#define STATE_prod        1
#define STATE_test        0
#define LIST(...)         __VA_ARGS__
#define CALL(macro, args) macro args

/* A family's GM_FACTS_<family>(arch, type, columns...) says threads, shared memory, clusters and traits. */
#define KERNEL(name_, family_, arch_, state_, type_, targets_, words_, columns_)                                       \
    {.name = #name_,                                                                                                   \
     .family = &gm_family_##family_,                                                                                   \
     .arch = (enum gm_arch)ARCH_##arch_,                                                                               \
     .production = STATE_##state_,                                                                                     \
     .type = (enum gm_type)GM_TYPE_##type_,                                                                            \
     CALL(GM_FACTS_##family_, ((int)ARCH_##arch_, GM_TYPE_##type_, LIST columns_)),                                    \
     .registers = name_##_registers,                                                                                   \
     .spill_bytes = name_##_spill,                                                                                     \
     .columns = {LIST columns_},                                                                                       \
     .words = words_,                                                                                                  \
     .targets = targets_,                                                                                              \
     .image = name_##_image},

const struct gm_kernel gm_kernels[] = {
#include "kernels.def"
};
#undef KERNEL

size_t gm_kernel_count(void) {
    return sizeof gm_kernels / sizeof *gm_kernels;
}

enum gm_status gm_kernel_get(size_t index, struct gm_kernel_info *info) {
    const enum gm_status status = GM_CHECK_OUTPUT(info, "info");
    if (status != GM_OK)
        return status;
    if (index >= gm_kernel_count())
        return gm_fail(GM_ERROR_INVALID_ARGUMENT, "kernel index %zu; the table has %zu kernels", index,
                       gm_kernel_count());
    const struct gm_kernel *kernel = &gm_kernels[index];
    const struct gm_kernel_info found = {
        .name = kernel->name,
        .operation = kernel->family->operation->name,
        .family = kernel->family->name,
        .arch = kernel->arch,
        .production = kernel->production,
        .type = kernel->type,
        .threads = kernel->threads,
        .smem_bytes = kernel->smem_bytes,
        .cluster_ctas = kernel->cluster_ctas,
        .registers = kernel->registers,
        .spill_bytes = kernel->spill_bytes,
        .columns = kernel->words,
        .targets = kernel->targets,
        .image_bytes = kernel->image.packed_bytes,
    };
    GM_OUTPUT(info, &found);
    return GM_OK;
}

/* ---- the build ---------------------------------------------------------------------------------------- */

static char build_info[512];

static void write_build_info(void) {
    size_t bytes = 0;
    for (size_t i = 0; i < gm_kernel_count(); i++)
        bytes += gm_kernels[i].image.packed_bytes;
    snprintf(build_info, sizeof build_info,
             "{\"version\": \"%s\", \"revision\": \"%s\", \"toolkit\": \"%s\", \"targets\": \"%s\", "
             "\"min_driver\": \"%s\", \"kernels\": %zu, \"image_bytes\": %zu}",
             gm_version_string(), GM_BUILD_REVISION, GM_BUILD_TOOLKIT, GM_BUILD_TARGETS, GM_BUILD_MIN_DRIVER,
             gm_kernel_count(), bytes);
}

const char *gm_build_info(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, write_build_info);
    return build_info;
}

int gm_version(void) {
    return GM_VERSION;
}

const char *gm_version_string(void) {
    return GM_QUOTE(GM_VERSION_MAJOR) "." GM_QUOTE(GM_VERSION_MINOR) "." GM_QUOTE(GM_VERSION_PATCH);
}
