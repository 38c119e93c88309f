/* SPDX-License-Identifier: Apache-2.0 */
/* gristmill lab exercise. */
#ifndef LAB_COMMAND_EXERCISE_H
#define LAB_COMMAND_EXERCISE_H

int lab_exercise(int argc, char **argv);

#endif
