/* SPDX-License-Identifier: Apache-2.0 */
/* What the steps of the stencil ladder should make the counters show. */
#ifndef LAB_STENCIL_MODEL_H
#define LAB_STENCIL_MODEL_H

/* In the ladder's order. */
enum stencil_step { STENCIL_NAIVE, STENCIL_SHARED, STENCIL_CP_ASYNC, STENCIL_TMA, STENCIL_STEPS };

/* Per launch on a grid whose sides along x and y are whole tiles. NaN: the step has no shared memory. */
struct stencil_counts {
    double sectors;          /* of 32 bytes, asked of L1 by loads; NaN where cp.async's are among those counted */
    double load_wavefronts;  /* of shared memory, by ld.shared: no bank conflict in any step */
    double store_wavefronts; /* by st.shared */
    double store_conflicts;  /* of these, what bank conflicts add */
};

struct stencil_counts stencil_predict(enum stencil_step step, int nx, int ny, int nz);

#endif
