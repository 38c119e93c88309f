/* SPDX-License-Identifier: Apache-2.0 */
/* gristmill lab play: the interactive page on bank conflicts. */
#ifndef LAB_PLAY_H
#define LAB_PLAY_H

/* The command: arguments after `gristmill lab play`; returns an exit code. */
int lab_play(int argc, char **argv);

#endif
