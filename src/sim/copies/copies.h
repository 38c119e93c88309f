/* SPDX-License-Identifier: Apache-2.0 */
/* What all copies share, within this folder.
 *
 * A copy is checked when it is issued: addresses, alignment, barriers; and shared memory's shadow is marked then, with
 * a stamp that says when others may know that it is over. Its bytes move when its flight lands. */
#ifndef SIM_COPIES_H
#define SIM_COPIES_H

#include "sim/barriers/barriers.h"
#include "sim/memory/memory.h"
#include "sim/memory/shadow.h"
#include "sim/report/counters.h"
#include "sim/report/report.h"
#include "sim/report/watch.h"

/* The lane that issues a copy. */
struct sim_issue {
    struct sim_warp *warp;
    const struct ptx_instruction *i;
    int lane;
};

struct sim_copy {
    struct sim_flight flight;
    void (*move)(struct sim_copy *copy); /* moves the bytes */
    struct sim_issue issue;
    uint64_t issued;                /* tick */
    struct sim_cta *reads, *writes; /* whose shared memory it uses until it has landed; NULL: none */
    struct sim_mbarrier *barrier;   /* in `writes`: told of `reported` bytes when the copy lands; NULL: none */
    uint32_t barrier_offset, reported;
    struct sim_stamp stamp;
};

/* A zeroed copy of `bytes` (struct sim_copy first), to be queued. NULL: out of memory, and the launch ends. */
void *sim_copy_new(const struct sim_issue *issue, size_t bytes, void (*move)(struct sim_copy *copy));
void sim_copy_queue(struct sim_copy *copy, enum sim_latency kind, uint64_t bytes);

/* The instruction cannot go on: a report is written, the launch ends. */
enum sim_next sim_copy_refused(struct sim_warp *warp);

/* sim_shared_locate() for an address as it comes out of a register. */
bool sim_copy_locate(const struct sim_issue *issue, uint64_t address, uint32_t bytes, uint32_t align,
                     struct sim_cta **cta, uint32_t *offset);

/* The lanes' addresses of an address operand, which must not stem from uninitialised memory. */
void sim_copy_addresses(struct sim_warp *warp, const struct ptx_instruction *i, int operand, uint32_t mask,
                        uint64_t addresses[PTX_LANES]);

struct sim_actor sim_copy_actor(const struct sim_issue *issue, struct sim_stamp stamp, enum sim_proxy proxy,
                                bool atomic);
/* Marks shared memory that a copy will write. */
void sim_copy_mark(struct sim_cta *cta, uint32_t offset, uint32_t bytes, const struct sim_actor *actor);

/* ---- where copies go to that report to an mbarrier -------------------------------------------------------------- */

struct sim_destination {
    uint64_t address, barrier; /* shared addresses */
    uint32_t bytes, align;
    bool multicast;
    uint32_t ctas; /* multicast: a bit per rank */
    bool generic;  /* st.async and red.async: not by the async proxy */
};

/* The CTAs that it fills, at the same offsets in each. */
struct sim_receivers {
    uint32_t count, offset, barrier_offset;
    struct sim_receiver {
        struct sim_cta *cta;
        struct sim_mbarrier *barrier;
    } receiver[SIM_CLUSTER_MAX];
};
bool sim_copy_receivers(const struct sim_issue *issue, const struct sim_destination *to,
                        struct sim_receivers *receivers);
/* The copy will write this receiver's memory and report `bytes` to its barrier. */
void sim_copy_to(struct sim_copy *copy, const struct sim_receivers *receivers, uint32_t index, uint32_t bytes);

/* ---- bulk groups (copy_groups.c) -------------------------------------------------------------------------------- */

/* Adds a copy to the lane's open group: the stamp of its reads, and the group's number for the two calls below. False:
 * out of memory, and the launch ends. */
bool sim_bulk_group_begin(const struct sim_issue *issue, struct sim_stamp *stamp, uint32_t *group);
void sim_bulk_group_read(const struct sim_issue *issue, uint32_t group);    /* its source may be overwritten */
void sim_bulk_group_written(const struct sim_issue *issue, uint32_t group); /* its destination is written */
void sim_bulk_groups_free(struct sim_warp *warp);

/* ---- arithmetic (copy_reduce.c) --------------------------------------------------------------------------------- */

enum sim_reduction_kind {
    SIM_REDUCE_NONE,
    SIM_REDUCE_ADD,
    SIM_REDUCE_MIN,
    SIM_REDUCE_MAX,
    SIM_REDUCE_INC,
    SIM_REDUCE_DEC,
    SIM_REDUCE_AND,
    SIM_REDUCE_OR,
    SIM_REDUCE_XOR
};
/* Types by their numbers in tensor maps. */
enum sim_element_type {
    SIM_TYPE_U8,
    SIM_TYPE_U16,
    SIM_TYPE_U32,
    SIM_TYPE_S32,
    SIM_TYPE_U64,
    SIM_TYPE_S64,
    SIM_TYPE_F16,
    SIM_TYPE_F32,
    SIM_TYPE_F64,
    SIM_TYPE_BF16,
    SIM_TYPE_F32_FTZ,
    SIM_TYPE_TF32,
    SIM_TYPE_TF32_FTZ
};
/* What hardware takes, as measured with tensor maps; without one the ISA allows the same. */
bool sim_reduce_is_taken(enum sim_reduction_kind kind, enum sim_element_type type);
/* Reduces whole elements of `from` into `into`; neither need be aligned. */
void sim_reduce(enum sim_reduction_kind kind, enum sim_element_type type, uint8_t *into, const uint8_t *from,
                uint32_t bytes);

/* ---- copies out of shared memory (copy_store.c) ----------------------------------------------------------------- */

/* Stores land twice: first their source is read, and may be overwritten from then on; later global memory is written.
 */
struct sim_store {
    struct sim_copy copy;
    uint32_t group;
    uint64_t bytes, sectors; /* written so far, for the counters */
};
/* At the first landing: the same store (`header` bytes with what embeds it), followed by room for `data` bytes, to be
 * queued for its second landing. NULL: out of memory, and the launch ends. */
void *sim_store_pass_on(struct sim_store *store, size_t header, size_t data, void (*move)(struct sim_copy *copy));
/* Writes or reduces bytes into global memory. False: a fault was reported. */
bool sim_store_write(struct sim_store *store, uint64_t address, const uint8_t *from, uint32_t bytes,
                     enum sim_reduction_kind kind, enum sim_element_type type);
void sim_store_written(struct sim_store *store);

/* ---- bulk copies without a map (copy_bulk.c) -------------------------------------------------------------------- */

enum { SIM_BULK_CHUNK = 16 }; /* addresses and sizes are multiples of it */

/* The addresses of the operands [0], [1] and [3], as far as they are there. */
struct sim_places {
    uint64_t to[PTX_LANES], from[PTX_LANES], barrier[PTX_LANES];
};
typedef bool sim_bulk_issue_fn(const struct sim_issue *issue, const struct sim_places *places, uint32_t bytes);
/* Issues the copy of every lane of the mask that moves a byte; false from `issue_lane`: it has written a report. */
enum sim_next sim_bulk_issue(struct sim_warp *warp, const struct ptx_instruction *i, uint32_t mask,
                             sim_bulk_issue_fn *issue_lane);
bool sim_bulk_is_aligned(const struct sim_issue *issue, uint64_t address);
/* The operation and type of a cp.reduce, whose operation is choice[first]; a report when there is none such. */
bool sim_bulk_reduction(const struct sim_issue *issue, int first, enum sim_reduction_kind *kind,
                        enum sim_element_type *type);

/* ---- operands --------------------------------------------------------------------------------------------------- */

/* A lane of a register or immediate of up to 32 bits; 0 when it is missing. */
static inline uint32_t sim_copy_value(const struct sim_issue *issue, const struct ptx_operand *operand) {
    if (operand->kind != PTX_OPERAND_REGISTER && operand->kind != PTX_OPERAND_IMMEDIATE)
        return 0;
    if (operand->kind == PTX_OPERAND_REGISTER && operand->bits == 64)
        return (uint32_t)SIM_ROW_64(issue->warp, operand)[issue->lane];
    return SIM_SOURCE_32(issue->warp, operand)[issue->lane];
}
static inline uint64_t sim_sectors(uint64_t address, uint64_t bytes) {
    return bytes ? (address % 32 + bytes + 31) / 32 : 0;
}

#endif
