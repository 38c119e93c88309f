/* SPDX-License-Identifier: Apache-2.0 */
/* Streams of boxes from L2 through a ring of stages (ptx/multicast.ptx): what tma-alignment and multicast time. */
#ifndef LAB_TMA_STREAM_H
#define LAB_TMA_STREAM_H

#include "lab/lab.h"

enum {
    STREAM_BOX_ROWS = 128,
    STREAM_ROW_BYTES = 128,
    STREAM_BOX_BYTES = STREAM_BOX_ROWS * STREAM_ROW_BYTES,
    STREAM_STAGES = 8,
    STREAM_TENSOR_BOXES = 1024, /* 16 MB: they stay in L2 */
    STREAM_BOXES = 128          /* that every CTA receives in a launch */
};

/* One point: who loads what. */
struct stream_shot {
    uint32_t cluster;   /* CTAs a cluster: 1, 2, 4, 8 */
    uint32_t multicast; /* 0: every CTA loads every slice; 1: each loads one for all */
    enum gm_swizzle_mode swizzle;
    uint32_t address; /* the tensor's first byte, from a multiple of 256 on */
    uint32_t pitch;   /* bytes from row to row in global memory */
};

/* An experiment made of such streams keeps this as lab->data. */
struct stream_study {
    uint32_t ctas;
    unsigned char *tensor; /* the host's copy */
    unsigned char *dump;   /* the last box of every CTA */
    uint32_t *sums;
    CUdeviceptr tensor_address, sums_address, dump_address, report_address;
    struct stream_shot shots[LAB_POINTS_MAX];
};

/* All return 0, or -1 with a printed sentence. `pitch`: the largest that the points will have. */
int stream_open(struct lab *lab, uint32_t pitch);
void stream_close(struct lab *lab);
/* A timed point; NULL with a printed sentence when it cannot be. */
struct lab_point *stream_add(struct lab *lab, const struct stream_shot *shot, const char *label, const char *change);
int stream_prepare(struct lab *lab, struct lab_point *point);
/* Every CTA's sum and last box. */
int stream_check(struct lab *lab, struct lab_point *point);

/* Bytes that all SMs together receive in a launch. */
double stream_delivered(const struct lab *lab);
/* The tensor's box that step `step` of the CTA `cta` receives. */
uint32_t stream_box(uint32_t cta, uint32_t step, uint32_t ctas, uint32_t cluster);

/* 32-byte sectors that SMs ask of L2. */
#define STREAM_READ "lts__t_sectors_srcunit_tex_op_read.sum"

#endif
