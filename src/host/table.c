/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel table, generated from kernels.def, and what the build says of itself. */
#include "table.h"

#include "build_info.h"
#include "error.h"
#include "structs.h"

#include <pthread.h>
#include <stdio.h>

#define ROW_NAME(family, arch, type, layout, tm, tn, tk, stages, cm, cn, warps, map)                                   \
    family##_##arch##_##type##_##layout##_##tm##x##tn##x##tk##_s##stages##_c##cm##x##cn##_##warps##_##map
#define PASTE_(a, b) a##b
#define PASTE(a, b) PASTE_(a, b)
#define STRING_(a) #a
#define STRING(a) STRING_(a)

/* RESOURCE(name, registers, spill_bytes): two constants per row, so that a row without a report is an error. */
#define RESOURCE(name, registers, spill_bytes) enum { name##_registers = registers, name##_spill = spill_bytes };
#include "kernel_resources.inc"
#undef RESOURCE

#define KERNEL(family, arch, state, type, layout, tm, tn, tk, stages, cm, cn, warps, map)                              \
    extern const unsigned char PASTE(gm_image_, ROW_NAME(family, arch, type, layout, tm, tn, tk, stages, cm, cn,       \
                                                         warps, map))[],                                               \
        PASTE(PASTE(gm_image_, ROW_NAME(family, arch, type, layout, tm, tn, tk, stages, cm, cn, warps, map)), _end)[];
#include "kernels.def"
#undef KERNEL

#define FAMILY(name, computes) #name,
static const char *const family_names[] = {
#include "families.def"
};
#undef FAMILY

#define ARCH_sm80 GM_ARCH_SM80
#define ARCH_sm90 GM_ARCH_SM90
#define STATE_prod 1
#define STATE_test 0
#define THREADS_gemm_sm80(warps) GM_SM80_THREADS(warps)
#define THREADS_gemm_sm90(warps) GM_SM90_THREADS(GM_WARPS_M(warps))
#define THREADS_gemv_sm80(warps) GM_SM80_THREADS(warps)
#define THREADS_gemv_sm90(warps) THREADS_gemv_sm80(warps)
#define SMEM_gemm_sm80(tm, tn, tk, stages, warps, layout, map)                                                         \
    GM_SM80_SMEM_BYTES(tm, tn, tk, stages, warps, layout, map)
#define SMEM_gemm_sm90(tm, tn, tk, stages, warps, layout, map)                                                         \
    GM_SM90_SMEM_BYTES(tm, tn, tk, stages, warps)
#define SMEM_gemv_sm80(tm, tn, tk, stages, warps, layout, map) GM_GEMV_SMEM_BYTES(tm, tn, GM_WARPS_M(warps))
#define SMEM_gemv_sm90(tm, tn, tk, stages, warps, layout, map)                                                         \
    SMEM_gemv_sm80(tm, tn, tk, stages, warps, layout, map)
#define TARGETS_sm80 "sm_80 sm_90 compute_80"
#define TARGETS_sm90 "sm_90a"

#define ROW(row, family_, arch_, state_, type_, layout_, tm, tn, tk, stages_, cm, cn, warps_, map_)                    \
    {.name = STRING(row),                                                                                              \
     .family = GM_FAMILY_##family_,                                                                                    \
     .arch = ARCH_##arch_,                                                                                             \
     .production = STATE_##state_,                                                                                     \
     .type = GM_TYPE_##type_,                                                                                          \
     .layout = GM_LAYOUT_##layout_,                                                                                    \
     .tile_m = tm,                                                                                                     \
     .tile_n = tn,                                                                                                     \
     .tile_k = tk,                                                                                                     \
     .stages = stages_,                                                                                                \
     .cluster_m = cm,                                                                                                  \
     .cluster_n = cn,                                                                                                  \
     .warps = GM_WARPS_##warps_,                                                                                       \
     .smem_map = GM_MAP_##map_,                                                                                        \
     .threads = THREADS_##family_##_##arch_(GM_WARPS_##warps_),                                                        \
     .smem_bytes = SMEM_##family_##_##arch_(tm, tn, tk, stages_, GM_WARPS_##warps_, GM_LAYOUT_##layout_,               \
                                            GM_MAP_##map_),                                                            \
     .registers = PASTE(row, _registers),                                                                              \
     .spill_bytes = PASTE(row, _spill),                                                                                \
     .targets = TARGETS_##arch_,                                                                                       \
     .image = PASTE(gm_image_, row),                                                                                   \
     .image_end = PASTE(PASTE(gm_image_, row), _end)},
#define KERNEL(family, arch, state, type, layout, tm, tn, tk, stages, cm, cn, warps, map)                              \
    ROW(ROW_NAME(family, arch, type, layout, tm, tn, tk, stages, cm, cn, warps, map), family, arch, state, type,       \
        layout, tm, tn, tk, stages, cm, cn, warps, map)

const struct gm_kernel gm_kernels[] = {
#include "kernels.def"
};
#undef KERNEL

size_t gm_kernel_count(void) {
    return sizeof gm_kernels / sizeof *gm_kernels;
}

const char *gm_family_name(enum gm_family family) {
    return family_names[family];
}

int gm_kernel_runs_on(const struct gm_kernel *row, int cc_major, int cc_minor) {
    return row->arch == GM_ARCH_SM90 ? cc_major == 9 && cc_minor == 0 : cc_major >= 8;
}

enum gm_status gm_kernel_get(size_t index, struct gm_kernel_info *info) {
    enum gm_status status = GM_CHECK_OUTPUT(info, "info");
    if (status != GM_OK)
        return status;
    if (index >= gm_kernel_count())
        return gm_fail(GM_ERROR_INVALID_ARGUMENT, "kernel index %zu; the table has %zu rows", index, gm_kernel_count());
    const struct gm_kernel *row = &gm_kernels[index];
    const struct gm_kernel_info found = {
        .name = row->name,
        .arch = row->arch,
        .production = row->production,
        .type = (enum gm_type)row->type,
        .a_major = GM_LAYOUT_A_MN(row->layout) ? GM_MN_MAJOR : GM_K_MAJOR,
        .b_major = GM_LAYOUT_B_MN(row->layout) ? GM_MN_MAJOR : GM_K_MAJOR,
        .tile_m = row->tile_m,
        .tile_n = row->tile_n,
        .tile_k = row->tile_k,
        .stages = row->stages,
        .cluster_m = row->cluster_m,
        .cluster_n = row->cluster_n,
        .schedule = (enum gm_schedule)(gm_uses_tma(row) ? GM_WARPS_SCHEDULE(row->warps) : GM_MULTISTAGE),
        .warps_m = GM_WARPS_M(row->warps),
        .warps_n = GM_WARPS_N(row->warps),
        .smem_map = (enum gm_smem_map)row->smem_map,
        .threads = row->threads,
        .smem_bytes = row->smem_bytes,
        .registers = row->registers,
        .spill_bytes = row->spill_bytes,
        .deterministic = 1,
        .targets = row->targets,
        .image_bytes = (size_t)(row->image_end - row->image),
        .splits = GM_WARPS_SPLITS(row->warps),
        .swapped = GM_WARPS_SWAPPED(row->warps),
        .slices = GM_WARPS_SLICES(row->warps),
        .family = gm_family_name(row->family),
    };
    GM_OUTPUT(info, &found);
    return GM_OK;
}

static char build_info[512];

static void write_build_info(void) {
    size_t bytes = 0;
    for (size_t i = 0; i < gm_kernel_count(); i++)
        bytes += (size_t)(gm_kernels[i].image_end - gm_kernels[i].image);
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
    return STRING(GM_VERSION_MAJOR) "." STRING(GM_VERSION_MINOR) "." STRING(GM_VERSION_PATCH);
}
