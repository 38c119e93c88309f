/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel table: one struct gm_kernel for each variant of this build, in the order of src/families.def and of each
 * family's registry. */
#ifndef GM_TABLE_H
#define GM_TABLE_H

#include "columns.h"
#include "gristmill/core.h"

#define GM_COLUMNS_MAX 20

/* What a kernel is capable of, or asks of a launch. */
enum gm_trait {
    GM_TRAIT_ONE_CTA_PER_SM = 1,    /* a persistent grid: an SM holds one CTA, or is meant to */
    GM_TRAIT_OVERLAPS_LAUNCHES = 2, /* waits for the kernel before it itself (griddepcontrol) where the device can */
    GM_TRAIT_ANY_TYPE = 4           /* the problem's type is known when it runs: the table's stands for all */
};

struct gm_family;

struct gm_kernel {
    const char *name;
    const struct gm_family *family;
    enum gm_arch arch;
    int production; /* 1: may be chosen; 0: built and tested only */
    enum gm_type type;
    uint32_t traits;                 /* of enum gm_trait */
    int threads, smem_bytes;         /* of a CTA; smem_bytes: dynamic shared memory */
    int cluster_ctas;                /* CTAs of a cluster; 1 where there are none */
    int registers, spill_bytes;      /* as ptxas reports for the first target */
    int32_t columns[GM_COLUMNS_MAX]; /* the family's own: columns[GM_<FAMILY>_<COLUMN>] */
    const char *words;               /* the same as the registry spells them: "tile_m=128 tile_n=256 ..." */
    const char *targets;
    struct gm_packed_image {
        int first, count;    /* its parts, in gm_parts */
        size_t packed_bytes; /* of all of them */
    } image;
};

/* What an image holds for one target, packed as differences to its base: see host/unpack.h. */
struct gm_packed_part {
    int target;                  /* 80: a cubin of compute capability 8.0; 0: PTX */
    size_t offset, packed_bytes; /* in gm_images */
    size_t bytes;
    int base; /* a part before it; -1: none */
};

extern const struct gm_kernel gm_kernels[];
extern const struct gm_packed_part gm_parts[];
/* The packed parts. */
extern const unsigned char gm_images[];

/* Whether one of the kernel's images runs on this compute capability: src/archs.def says on which. */
int gm_kernel_runs_on(const struct gm_kernel *kernel, int cc_major, int cc_minor);

/* "sm90" */
const char *gm_arch_name(enum gm_arch arch);
/* All bits of an arch mask. */
uint32_t gm_arch_bits(void);

/* Index of the kernel with this name, whatever division the name says behind it; -1: there is none. */
int gm_find_kernel(const struct gm_kernel *kernels, size_t count, const char *name);

/* Whether `name`, of so many bytes, is the kernel's, alone or with a division behind it; then *division is the number
 * of that division, or GM_DIVISION_BEST where the name says none. */
int gm_is_named(const struct gm_kernel *kernel, const char *name, size_t bytes, int *division);
/* Index of the kernel that is named so, and its division, as of gm_is_named(); -1: there is none. */
int gm_find_divided(const struct gm_kernel *kernels, size_t count, const char *name, size_t bytes, int *division);

#endif
