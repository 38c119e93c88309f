/* SPDX-License-Identifier: Apache-2.0 */
/* The bytes of an input, one by one, and the images that fuzz_driver.c loads. */
#ifndef FUZZ_DRIVER_INPUT_H
#define FUZZ_DRIVER_INPUT_H

#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* ---- bytes ----------------------------------------------------------------------------------------------------------
 */

static struct input {
    const uint8_t *at, *end;
} in;

static inline unsigned byte(void) {
    return in.at < in.end ? *in.at++ : 0;
}
static inline unsigned below(unsigned limit) {
    return byte() % limit;
}

/* ---- PTX ------------------------------------------------------------------------------------------------------------
 */

#define HEAD ".version 8.0\n.target sm_90a\n.address_size 64\n"
static const char *const modules[] = {
    HEAD ".visible .entry k() {\nret;\n}\n",
    HEAD
    ".visible .entry k(.param .u64 p) {\n.reg .b64 %d<4>;\n.reg .b32 %r<4>;\nld.param.u64 %d1, [p];\n"
    "mov.u32 %r1, %tid.x;\nmul.wide.u32 %d2, %r1, 4;\nadd.s64 %d3, %d1, %d2;\nst.global.u32 [%d3], %r1;\nret;\n}\n",
    HEAD ".visible .entry k(.param .u64 p) {\n.reg .b32 %r<4>;\n.reg .pred %p<2>;\n.shared .align 8 .b8 s[64];\n"
         "mov.u32 %r1, %tid.x;\nsetp.lt.u32 %p1, %r1, 7;\n@%p1 bra L;\nbar.sync 0;\nL:\nst.shared.u32 [s], %r1;\n"
         "ret;\n}\n",
    HEAD ".visible .entry k(.param .u64 p) {\n.reg .b32 %r<4>;\n.reg .pred %p<2>;\n.shared .align 8 .b8 s[64];\n"
         "mov.u32 %r1, s;\nmbarrier.init.shared::cta.b64 [%r1], 1;\nW:\n"
         "mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r1], 0;\n@!%p1 bra W;\nret;\n}\n",
    HEAD ".global .align 4 .u32 g[4] = {1, 2, 3, 4};\n.visible .entry k() {\n.reg .b64 %d<2>;\n.reg .b32 %r<2>;\n"
         "mov.u64 %d1, g;\natom.global.add.u32 %r1, [%d1], 1;\nbarrier.cluster.arrive;\nbarrier.cluster.wait;\n"
         "ret;\n}\n",
    HEAD ".visible .entry k(.param .align 64 .b8 m[128]) {\n.reg .b64 %d<2>;\n.reg .b32 %r<4>;\n"
         ".shared .align 128 .b8 s[1024];\nmov.u32 %r1, s;\nadd.s32 %r2, %r1, 512;\nmov.b64 %d1, m;\n"
         "mbarrier.init.shared::cta.b64 [%r2], 1;\nfence.proxy.async;\nmov.u32 %r3, 0;\n"
         "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r1], [%d1, {%r3, %r3}], "
         "[%r2];\nret;\n}\n",
    "\x50\xed\x55\xba\x01",
    "no PTX",
};

/* One of them, with a few bytes changed. */
static inline const char *image(void) {
    static char text[8192];
    snprintf(text, sizeof text, "%s", modules[below(sizeof modules / sizeof *modules)]);
    const size_t characters = strlen(text);
    for (unsigned changes = byte() < 160 ? 0 : below(4); changes; changes--)
        text[(byte() * 256 + byte()) % characters] = (char)(byte() | 1);
    return text;
}

#endif
