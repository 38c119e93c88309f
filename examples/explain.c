/* SPDX-License-Identifier: Apache-2.0 */
/* Which kernel would run a problem, and why not the others. Needs no GPU. */
#include <gristmill/gristmill.h>

#include <stdio.h>

int main(void) {
    struct gm_device device = {.size = sizeof device};
    struct gm_gemm_problem problem = {.size = sizeof problem, .m = 64, .n = 4096, .k = 7168};
    struct gm_candidate candidates[512];
    size_t count = 0;
    if (gm_device_model("h200", &device) != GM_OK ||
        gm_gemm_explain(&device, &problem, NULL, candidates, 512, &count) != GM_OK)
        return fprintf(stderr, "%s\n", gm_last_error()), 1;
    for (size_t i = 0; i < count && i < 512; i++) {
        struct gm_kernel_info kernel = {.size = sizeof kernel};
        gm_kernel_get((size_t)candidates[i].kernel, &kernel);
        printf("%c %-52s %s\n", candidates[i].chosen ? '*' : ' ', kernel.name, candidates[i].sentence);
    }
    return 0;
}
