/* SPDX-License-Identifier: Apache-2.0 */
/* The colours of every picture and page. */
#include "program/draw/palette.h"

#include <math.h>

/* Lightness falls evenly from the first to the last, so the order survives a grey printer. */
static const uint32_t ramp[] = {0xfff3c4, 0xd9ecb0, 0x9fd8b4, 0x62bfbb, 0x379dbf, 0x2c76b3, 0x33509a, 0x33297a};
enum { RAMP = sizeof ramp / sizeof *ramp };

static uint32_t channel(uint32_t rgb, int which) {
    return rgb >> (8 * which) & 0xff;
}

uint32_t palette_step(uint32_t index, uint32_t count) {
    const uint32_t steps = count > 1 ? count - 1 : 1;
    const uint32_t place = (index < steps ? index : steps) * (RAMP - 1); /* in 1 / steps of a ramp's segment */
    const uint32_t segment = place / steps, part = place % steps;
    if (part == 0)
        return ramp[segment];
    uint32_t rgb = 0;
    for (int which = 0; which < 3; which++) {
        uint32_t from = channel(ramp[segment], which), to = channel(ramp[segment + 1], which);
        rgb |= (from * (steps - part) + to * part) / steps << (8 * which);
    }
    return rgb;
}

/* Relative luminance of an sRGB colour, 0 to 1. */
static double luminance(uint32_t rgb) {
    static const double weights[] = {0.0722, 0.7152, 0.2126};
    double sum = 0;
    for (int which = 0; which < 3; which++) {
        const double level = channel(rgb, which) / 255.0;
        sum += weights[which] * (level <= 0.04045 ? level / 12.92 : pow((level + 0.055) / 1.055, 2.4));
    }
    return sum;
}

/* Where the contrasts with black and with white are the same: (L + 0.05) / 0.05 = 1.05 / (L + 0.05). */
enum colour palette_ink_on(uint32_t ground) {
    return luminance(ground) > 0.179 ? COLOUR_DARK : COLOUR_PAPER;
}

/* The nearest of the cube's six levels. */
static unsigned cube_level(uint32_t value) {
    static const uint32_t levels[] = {0, 95, 135, 175, 215, 255};
    unsigned best = 0;
    for (unsigned i = 1; i < 6; i++) {
        int distance = (int)value - (int)levels[i], nearest = (int)value - (int)levels[best];
        if (distance * distance < nearest * nearest)
            best = i;
    }
    return best;
}

unsigned palette_terminal(uint32_t rgb) {
    return 16 + 36 * cube_level(channel(rgb, 2)) + 6 * cube_level(channel(rgb, 1)) + cube_level(channel(rgb, 0));
}
