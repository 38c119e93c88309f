/* SPDX-License-Identifier: Apache-2.0 */
/* Sizes that the kernels of the histogram ladder and their experiment share. */
#ifndef LAB_HISTOGRAM_H
#define LAB_HISTOGRAM_H

#define HISTOGRAM_BINS        256
#define HISTOGRAM_BIN(value)  ((value) >> 24)
#define HISTOGRAM_THREADS     512 /* of a CTA, in every step */
#define HISTOGRAM_CTAS_PER_SM 4   /* all of an SM's 2048 threads */
#define HISTOGRAM_CLUSTER     2   /* CTAs that merge their counts; pairs leave no SM idle (lab cluster-limits) */

/* Bins that outgrow an SM: 128 Ki of 4 bytes, 128 KB on each of the 4 CTAs of a cluster. */
#define HISTOGRAM_LARGE_BINS       131072
#define HISTOGRAM_LARGE_BIN(value) ((value) >> 15)
#define HISTOGRAM_LARGE_THREADS    1024
#define HISTOGRAM_LARGE_CLUSTER    4
#define HISTOGRAM_LARGE_SHARE      (HISTOGRAM_LARGE_BINS / HISTOGRAM_LARGE_CLUSTER) /* bins of one CTA */
#define HISTOGRAM_LARGE_BYTES      (HISTOGRAM_LARGE_SHARE * 4)

#endif
