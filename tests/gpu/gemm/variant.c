/* SPDX-License-Identifier: Apache-2.0 */
/* What the table says of a kernel of GEMM. */
#include "gemm/gemm_tests.h"

bool read_variant(size_t kernel, struct variant *variant) {
    *variant = (struct variant){{.size = sizeof variant->kernel}, {.size = sizeof variant->gemm}};
    return gm_kernel_get(kernel, &variant->kernel) == GM_OK && gm_gemm_kernel_get(kernel, &variant->gemm) == GM_OK;
}

bool uses_tma(const struct variant *variant) {
    return strcmp(variant->kernel.family, "gemm_sm90") == 0;
}

bool is_gemv(const struct variant *variant) {
    return strcmp(variant->kernel.family, "gemv") == 0;
}
