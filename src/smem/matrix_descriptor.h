/* SPDX-License-Identifier: Apache-2.0 */
/* What the descriptor and the comparison share about WGMMA operands. */
#ifndef GM_MATRIX_DESCRIPTOR_H
#define GM_MATRIX_DESCRIPTOR_H

#include "gristmill/smem.h"

/* Every instruction takes 32 bytes of k. */
#define GM_WGMMA_K_BYTES 32u

/* GM_OK, or the status and sentence about an operand that no instruction has. */
enum gm_status gm_wgmma_operand_check(const struct gm_wgmma_operand *operand);

/* gm_wgmma_address() for arguments that are known to be good. */
uint32_t gm_wgmma_element(const struct gm_matrix_descriptor *descriptor, const struct gm_wgmma_operand *operand,
                          uint32_t row, uint32_t k);

#endif
