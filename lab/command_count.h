/* SPDX-License-Identifier: Apache-2.0 */
/* `gristmill lab count`: a reader's kernel on a GPU under the profiler, beside the simulated GPU's counts of it. */
#ifndef LAB_COMMAND_COUNT_H
#define LAB_COMMAND_COUNT_H

int lab_count(int argc, char **argv);
/* The child under the profiler: launches the kernel once. */
int lab_count_launch(int argc, char **argv);

#endif
