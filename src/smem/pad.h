/* SPDX-License-Identifier: Apache-2.0 */
/* What the padding adviser and its sentence share. */
#ifndef GM_PAD_H
#define GM_PAD_H

#include "gristmill/smem.h"

#define GM_PAD_MAX 128u /* bytes; one line: from there on the banks repeat */

struct gm_pad_inquiry {
    const struct gm_pad_question *question;
    const struct gm_tile_access *walks;
    size_t count;
    const struct gm_device *device;
};

/* Fills advice->sentence from its other fields. */
void gm_pad_write_sentence(const struct gm_pad_inquiry *in, struct gm_pad_advice *advice);

#endif
