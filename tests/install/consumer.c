/* SPDX-License-Identifier: Apache-2.0 */
/* What a user's program sees: links the installed library and asks it things that need no driver, then one that
 * does, which must answer with a status. */
#include <gristmill/gristmill.h>
#include <gristmill/smem.h>
#include <stdio.h>

int main(void) {
    struct gm_device device = {sizeof device};
    struct gm_access all_one_word = {sizeof all_one_word, GM_ACCESS_LOAD, 4, 0, 0, {0}};
    struct gm_bank_cost cost = {sizeof cost};
    int count = -1;
    enum gm_status status = gm_device_count(&count);
    int answered = status == GM_OK ||
                   ((status == GM_ERROR_NO_DRIVER || status == GM_ERROR_NO_DEVICE) && gm_last_error()[0] != '\0');

    printf("gristmill %s, %u kernels, devices: %s\n", gm_version_string(), (unsigned)gm_kernel_count(),
           status == GM_OK ? "asked" : gm_last_error());
    return !(answered && gm_version() == GM_VERSION && gm_kernel_count() > 0 && gm_build_info()[0] == '{' &&
             gm_device_model("h200", &device) == GM_OK && device.cc_major == 9 &&
             gm_bank_cost(&all_one_word, &cost) == GM_OK && cost.wavefronts == 1);
}
