/* SPDX-License-Identifier: Apache-2.0 */
/* ldmatrix: four 8 x 8 matrices of 16-bit elements from shared memory to fragments. */
#ifndef GM_LDMATRIX_CUH
#define GM_LDMATRIX_CUH

#include <stdint.h>

/* PTX 9.7.14.5.15 ldmatrix. Lane l gives the address of row l % 8 of matrix l / 8 and receives in register j
 * elements (l / 4, 2 (l % 4)) and the next one of matrix j. The "memory" clobber keeps it between the barriers
 * that guard its stage. */
static __device__ __forceinline__ void ldmatrix_x4(uint32_t (&matrix)[4], uint32_t shared_addr) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(matrix[0]), "=r"(matrix[1]), "=r"(matrix[2]), "=r"(matrix[3])
                 : "r"(shared_addr)
                 : "memory");
}

/* The same of the transposed matrices: elements (2 (l % 4), l / 4) and the one below. */
static __device__ __forceinline__ void ldmatrix_x4_trans(uint32_t (&matrix)[4], uint32_t shared_addr) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(matrix[0]), "=r"(matrix[1]), "=r"(matrix[2]), "=r"(matrix[3])
                 : "r"(shared_addr)
                 : "memory");
}

#endif
