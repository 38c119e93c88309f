/* SPDX-License-Identifier: Apache-2.0 */
/* The colours of every picture and page, in one place, as 0xrrggbb. Chosen to stay apart for colour-blind readers and,
 * by their lightness, on grey paper; no picture says anything by colour alone. */
#ifndef PROGRAM_DRAW_PALETTE_H
#define PROGRAM_DRAW_PALETTE_H

#include <stdint.h>

enum colour {
    COLOUR_NONE = 0,         /* nothing is painted */
    COLOUR_INK = 0x1f2328,   /* text */
    COLOUR_DARK = 0x020203,  /* text on a coloured ground */
    COLOUR_MUTED = 0x57606a, /* text of less weight */
    COLOUR_RULE = 0xafb8c1,  /* lines and frames */
    COLOUR_FAINT = 0xe1e5e9, /* grid lines */
    COLOUR_PANEL = 0xf1f4f7, /* ground of a panel */
    COLOUR_PAPER = 0xffffff, /* ground of the picture */

    COLOUR_OK = 0x0b6e8f,  /* holds, agrees */
    COLOUR_BAD = 0xb82e0c, /* broken, a conflict */

    COLOUR_LANES_0 = 0xfdeeb8, /* lanes 0-7 */
    COLOUR_LANES_1 = 0xbfe3cf, /* lanes 8-15 */
    COLOUR_LANES_2 = 0x9cc8ea, /* lanes 16-23 */
    COLOUR_LANES_3 = 0xb9a3dc, /* lanes 24-31 */

    COLOUR_SERIES_0 = 0x1c5d99, /* bars and lines of a chart */
    COLOUR_SERIES_1 = 0xe8962e,
    COLOUR_SERIES_2 = 0x7fc8c2,
    COLOUR_SERIES_3 = 0x7a5195
};

/* Step `index` of `count`, from light to dark: for things in an order, such as the columns of a tile. */
uint32_t palette_step(uint32_t index, uint32_t count);
/* The ink that is read best on `ground`: COLOUR_DARK or COLOUR_PAPER; their contrast is at least 4.5 to 1. */
enum colour palette_ink_on(uint32_t ground);
/* The nearest colour of a terminal with 256: 16 .. 255. */
unsigned palette_terminal(uint32_t rgb);

#endif
