/* SPDX-License-Identifier: Apache-2.0 */
/* The device code embedded in the program. */
#include "lab/modules.h"

#define MODULE(name, source, arch) extern const unsigned char gm_image_lab_##name[], gm_image_lab_##name##_end[];
#include "lab_modules.def"
#undef MODULE

const struct lab_module lab_modules[] = {
#define MODULE(name, source, arch) {#name, source, gm_image_lab_##name, gm_image_lab_##name##_end},
#include "lab_modules.def"
#undef MODULE
    {0}};
