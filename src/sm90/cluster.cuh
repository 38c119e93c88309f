/* SPDX-License-Identifier: Apache-2.0 */
/* Thread-block clusters and their shared memory, the order of kernels, register reallocation: what a warpgroup
 * needs to know of its peers. */
#ifndef GM_CLUSTER_CUH
#define GM_CLUSTER_CUH

#include <stdint.h>

static __device__ __forceinline__ uint32_t cluster_ctarank(void) {
    uint32_t rank;
    asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    return rank;
}

/* All threads of all CTAs of the cluster. [PTX ISA, barrier.cluster] */
static __device__ __forceinline__ void cluster_sync(void) {
    asm volatile("barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned;" ::: "memory");
}

/* The same, of no memory order but that of fence_mbarrier_init(): the release above costs a MEMBAR.ALL.GPU. */
static __device__ __forceinline__ void cluster_sync_init(void) {
    asm volatile("barrier.cluster.arrive.relaxed.aligned; barrier.cluster.wait.acquire.aligned;" ::: "memory");
}

/* The address of the same shared variable in the cluster's CTA `rank`, for the instructions on shared::cluster. [PTX
 * ISA, mapa] */
static __device__ __forceinline__ uint32_t cluster_address(uint32_t shared_addr, uint32_t rank) {
    uint32_t address;
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(address) : "r"(shared_addr), "r"(rank));
    return address;
}

static __device__ __forceinline__ uint32_t ld_shared_cluster(uint32_t cluster_addr) {
    uint32_t value;
    asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(value) : "r"(cluster_addr) : "memory");
    return value;
}

static __device__ __forceinline__ void ld_shared_cluster_v4(uint32_t cluster_addr, uint32_t *values) {
    asm volatile("ld.shared::cluster.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(values[0]), "=r"(values[1]), "=r"(values[2]), "=r"(values[3])
                 : "r"(cluster_addr)
                 : "memory");
}

/* To a peer's shared memory: a cluster_sync() makes it visible there. [PTX ISA, st] */
static __device__ __forceinline__ void st_shared_cluster_b64(uint32_t cluster_addr, uint64_t value) {
    asm volatile("st.shared::cluster.b64 [%0], %1;" ::"r"(cluster_addr), "l"(value) : "memory");
}

static __device__ __forceinline__ void st_shared_cluster(uint32_t cluster_addr, uint32_t value) {
    asm volatile("st.shared::cluster.u32 [%0], %1;" ::"r"(cluster_addr), "r"(value) : "memory");
}

/* 16 bytes to a peer's shared memory, completing on a barrier of the same peer. [PTX ISA, st.async] */
static __device__ __forceinline__ void st_async_v4(uint32_t cluster_addr, uint32_t cluster_bar, float x, float y,
                                                   float z, float w) {
    asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.f32 [%0], {%1, %2, %3, %4}, [%5];" ::"r"(
                     cluster_addr),
                 "f"(x), "f"(y), "f"(z), "f"(w), "r"(cluster_bar)
                 : "memory");
}

/* Relaxed, at the scope of the cluster: a cluster_sync() makes the sums visible. [PTX ISA, red] */
static __device__ __forceinline__ void red_add_shared_cluster(uint32_t cluster_addr, uint32_t value) {
    asm volatile("red.relaxed.cluster.shared::cluster.add.u32 [%0], %1;" ::"r"(cluster_addr), "r"(value) : "memory");
}

/* Programmatic dependent launch: the kernel after this one may start once every CTA has said so or ended, and waits
 * with griddep_wait() until the previous kernel has ended and its writes are visible. Without the launch attribute
 * neither does anything. [PTX ISA, griddepcontrol] */
static __device__ __forceinline__ void griddep_launch_dependents(void) {
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
}

static __device__ __forceinline__ void griddep_wait(void) {
    asm volatile("griddepcontrol.wait;" ::: "memory");
}

/* Moves registers between warpgroups: all four warps of one execute it together. [PTX ISA, setmaxnreg] */
template <int REGISTERS> static __device__ __forceinline__ void setmaxnreg_inc(void) {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(REGISTERS));
}

template <int REGISTERS> static __device__ __forceinline__ void setmaxnreg_dec(void) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(REGISTERS));
}

#endif
