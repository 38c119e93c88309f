/* SPDX-License-Identifier: Apache-2.0 */
/* Who answers an operation: one struct gm_family for each line of src/families.def, one kernel source with its registry
 * each. The core of the library knows a family through this struct alone. */
#ifndef GM_FAMILY_H
#define GM_FAMILY_H

#include "host/cuda_abi.h"
#include "host/operation.h"
#include "host/table.h"

/* How a launch divides its work among CTAs is a number of the family's own. Two have a meaning for all. */
enum { GM_DIVISION_BEST = -1 /* of a question: whichever is predicted fastest */, GM_DIVISION_NONE = 0 };

/* A sentence that somebody may want. */
struct gm_sentence {
    char *text; /* NULL: nobody does */
    size_t bytes;
};
static inline int gm_is_wanted(const struct gm_sentence *why) {
    return why && why->text;
}
/* Writes the sentence, where it is wanted; returns `reason`. */
enum gm_reason gm_say(const struct gm_sentence *why, enum gm_reason reason, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

struct gm_question {
    const struct gm_device *device;        /* as far as the options let a plan use it */
    const void *problem;                   /* normalised and simplified, of the family's operation */
    const struct gm_plan_options *options; /* never NULL */
    int division;
};

struct gm_verdict {
    enum gm_reason reason;
    double predicted_us; /* of legal kernels; else 0 */
    double ranking_us;   /* what the choice compares: the prediction, and a margin where it is less sure */
    size_t workspace_bytes;
    int division;
    int64_t detail[3]; /* of the division, for prepare() */
};

struct gm_plan;

struct gm_family {
    const char *name;
    const struct gm_operation *operation;
    size_t params_bytes;
    const void *own; /* what the families of one operation share beside this struct */

    /* Whether this kernel may answer, and how fast. Pure; device, type and name are checked already. */
    struct gm_verdict (*judge)(const struct gm_kernel *kernel, const struct gm_question *question,
                               const struct gm_sentence *why);
    /* Once per plan, with its context current: the template of the parameters, and the grid. */
    enum gm_status (*prepare)(struct gm_plan *plan, const struct gm_verdict *verdict);
    /* Once per call: this call's addresses and scalars into a copy of the template. */
    CUresult (*bind)(const struct gm_plan *plan, const void *args, void *params);
    /* Share of the device's dense tensor rate that the kernel's instructions reach at best. NULL: it uses none. */
    double (*tensor_share)(const struct gm_kernel *kernel, const struct gm_device *device);

    int divisions; /* numbers of divisions are below; 1: the family divides nothing, and the next two are NULL */
    /* What a division is called behind the kernel's name ("" or "/k3"), in `text`; and the number of what is called so,
     * -1 for nothing. */
    const char *(*division_suffix)(int division, char text[16]);
    int (*division_of)(const char *suffix, size_t bytes);
};

#define FAMILY(name, operation, kib) extern const struct gm_family gm_family_##name;
#define BORROWS(family, other)
#include "families.def"
#undef FAMILY
#undef BORROWS

/* "NAME/k3", the kernel's name with that of the division. */
void gm_divided_name(const struct gm_kernel *kernel, int division, char *text, size_t bytes);

#endif
