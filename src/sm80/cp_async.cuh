/* SPDX-License-Identifier: Apache-2.0 */
/* cp.async: copies from global to shared memory that bypass registers, completed in commit groups. */
#ifndef GM_CP_ASYNC_CUH
#define GM_CP_ASYNC_CUH

#include <stdint.h>

/* PTX 9.7.9.25.3.1 cp.async. Predicated as a whole: where `copy` is false nothing is read or written. */
static __device__ __forceinline__ void cp_async_cg_16_if(uint32_t shared_addr, uint64_t address, bool copy) {
    asm volatile("{\n\t.reg .pred p;\n\t"
                 "setp.ne.b32 p, %2, 0;\n\t"
                 "@p cp.async.cg.shared.global.L2::256B [%0], [%1], 16;\n\t}" ::"r"(shared_addr),
                 "l"(address), "r"((int)copy)
                 : "memory");
}

/* Copies `bytes` bytes (0 .. 16) and fills the rest with zeros; reads no byte beyond them. */
static __device__ __forceinline__ void cp_async_cg_16(uint32_t shared_addr, uint64_t address, int bytes) {
    asm volatile("cp.async.cg.shared.global.L2::256B [%0], [%1], 16, %2;" ::"r"(shared_addr), "l"(address), "r"(bytes)
                 : "memory");
}

/* The same, without asking L2 for the 256 bytes around: for rows of which nobody wants the rest soon. */
static __device__ __forceinline__ void cp_async_cg_16_alone(uint32_t shared_addr, uint64_t address, int bytes) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared_addr), "l"(address), "r"(bytes)
                 : "memory");
}

static __device__ __forceinline__ void cp_async_ca_8(uint32_t shared_addr, uint64_t address, int bytes) {
    asm volatile("cp.async.ca.shared.global [%0], [%1], 8, %2;" ::"r"(shared_addr), "l"(address), "r"(bytes)
                 : "memory");
}

static __device__ __forceinline__ void cp_async_ca_4(uint32_t shared_addr, uint64_t address, int bytes) {
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(shared_addr), "l"(address), "r"(bytes)
                 : "memory");
}

/* PTX 9.7.13.15.16 cp.async.mbarrier.arrive: arrives, as one of those the barrier was made for, when this thread's copies so
 * far have landed. */
static __device__ __forceinline__ void cp_async_mbarrier_arrive_noinc(uint32_t bar) {
    asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" ::"r"(bar) : "memory");
}

/* PTX 9.7.9.25.3.2 cp.async.commit_group: this thread's copies so far become one group. */
static __device__ __forceinline__ void cp_async_commit_group(void) {
    asm volatile("cp.async.commit_group;" ::: "memory");
}

/* PTX 9.7.9.25.3.3 cp.async.wait_group: at most PENDING of this thread's newest groups are unfinished. */
template <int PENDING> static __device__ __forceinline__ void cp_async_wait_group(void) {
    asm volatile("cp.async.wait_group %0;" ::"n"(PENDING) : "memory");
}

#endif
