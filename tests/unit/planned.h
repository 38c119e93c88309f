/* SPDX-License-Identifier: Apache-2.0 */
/* Plans on the fake driver, shared by the suites that need one. */
#ifndef GM_PLANNED_H
#define GM_PLANNED_H

#include "fake_driver.h"
#include "host/gemm/variant.h"
#include "host/plan.h"
#include "unit.h"

extern gm_context *context; /* of fake device 0, made and destroyed by the fixture */
void planned_set_up(void);
void planned_tear_down(void);

/* The types of A and B that `row` takes. */
void set_operand_types(struct gm_gemm_problem *problem, const struct gm_kernel *row);
/* A problem that `row` takes; a plan of it by the row's name. */
struct gm_gemm_problem problem_for(const struct gm_kernel *row, int64_t m, int64_t n, int64_t k);
gm_plan *plan_for(const struct gm_kernel *row, const struct gm_gemm_problem *problem);
/* The first row of this family; NULL where the build has none. */
const struct gm_kernel *row_of(const struct gm_family *family);
/* What the last launch, of this row, was told of its epilogue. */
const struct gm_epilogue_params *launched_epilogue(const struct gm_kernel *row);
/* Kernels that load by TMA, and so have tensor maps. */
int has_maps(const struct gm_kernel *row);

/* What gm_<operation>_explain() fills: room for every kernel. */
struct explained {
    struct gm_candidate *candidates;
    size_t count;
};
struct explained explained_room(void);
/* The one chosen, or NULL; all are of the operation. Their sentences go into `said`, each on a line; frees the room. */
const struct gm_kernel *chosen_of(struct explained *all, const char *operation, char *said, size_t bytes);

/* Arguments far apart from each other, aligned to 256. */
struct gm_gemm_args args_apart(void);
#define ADDRESS_A        UINT64_C(0x100000000000)
#define ADDRESS_B        UINT64_C(0x200000000000)
#define ADDRESS_C        UINT64_C(0x300000000000)
#define ADDRESS_D        UINT64_C(0x400000000000)
#define ADDRESS_BIAS     UINT64_C(0x500000000000)
#define ADDRESS_AMAX     UINT64_C(0x580000000000)
#define ADDRESS_A_SCALES UINT64_C(0x5a0000000000)
#define ADDRESS_B_SCALES UINT64_C(0x5b0000000000)
#define ADDRESS_RESIDUAL UINT64_C(0x700000000000)
#define ADDRESS_SCALES   UINT64_C(0x780000000000)

#endif
