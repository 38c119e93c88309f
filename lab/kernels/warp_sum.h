/* SPDX-License-Identifier: Apache-2.0 */
/* What the kernels of warp_sum.cu add up. In every round each lane makes a new value of its last sum, and the warp's lanes
 * add up theirs: all of them get the sum. */
#ifndef LAB_WARP_SUM_H
#define LAB_WARP_SUM_H

#define WARP_SUM_THREADS             256
#define WARP_SUM_STEPS               5 /* lanes 16, 8, 4, 2 and 1 away */
#define WARP_SUM_VALUE(last, thread) ((last) * 5 + (thread))

#endif
