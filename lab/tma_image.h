/* SPDX-License-Identifier: Apache-2.0 */
/* One TMA load of one box (ptx/tma_load.ptx): its launch, the image of shared memory it should leave, and the one
 * that it left. */
#ifndef LAB_TMA_IMAGE_H
#define LAB_TMA_IMAGE_H

#include "lab/lab.h"
#include "lab/lab_child.h"

enum {
    TMA_POISON = 0xa5,            /* what the kernel fills shared memory with before the load */
    TMA_IMAGE_BYTES = 36 * 1024,  /* of shared memory, from a multiple of 1024 on */
    TMA_TENSOR_BYTES = 256 * 1024 /* of global memory that the tensors of a study lie in */
};

/* What a load is asked for, and what is predicted of it. */
struct tma_shot {
    struct gm_tensor_map_request map; /* rank 2; its address counts from the tensor's first byte until it is encoded */
    int32_t x, y;                     /* the box's first element and row; either may lie outside */
    uint32_t offset;                  /* of the destination from a multiple of 1024 */
    uint32_t pitch;                   /* predicted bytes from a row of the box to the next; 0: the row's bytes */
    uint32_t surplus;                 /* bytes more than predicted that the barrier expects: then they are counted */
    uint64_t fill;                    /* predicted bits of an element outside the tensor */
};

/* What the kernel reports, and the image. */
struct tma_result {
    uint32_t status;    /* 0: completed by itself; 1: by the leader's payments; 2: never */
    uint32_t base;      /* shared address of the image's first byte */
    uint32_t delivered; /* bytes reported to the mbarrier */
    uint32_t tests;
    unsigned char image[TMA_IMAGE_BYTES];
};

/* An experiment made of such loads keeps this as lab->data. */
struct tma_study {
    unsigned char tensor[TMA_TENSOR_BYTES];
    unsigned char predicted[TMA_IMAGE_BYTES];
    struct tma_result result;
    CUdeviceptr tensor_address, image_address, report_address;
    struct tma_shot shots[LAB_POINTS_MAX]; /* of point i */
    bool refused[LAB_POINTS_MAX];          /* the driver would not encode its map */
    struct lab_trial trials[LAB_POINTS_MAX];
    uint64_t found[LAB_POINTS_MAX]; /* what check() found out about it, for conclude() */
};

/* ---- on paper ---- */

/* Bytes in which no two 16-byte chunks are alike. */
void tma_fill_tensor(unsigned char *tensor, size_t bytes);
/* A box of `row_bytes` x `rows` bytes out of a matrix of such rows, in this mode. */
struct tma_shot tma_shot_of_bytes(enum gm_swizzle_mode mode, uint32_t row_bytes, uint32_t rows);
/* The same bytes as elements of another type: all that changes is the unit of dims, box and x. */
struct tma_shot tma_as_elements(struct tma_shot shot, int type);
uint32_t tma_box_bytes(const struct tma_shot *shot);
/* Shared address of byte `byte` of row `row` of the box, its image beginning at `base`. */
uint32_t tma_predict_address(const struct tma_shot *shot, uint32_t base, uint32_t row, uint32_t byte);
/* Whether element (column, row) of the box is one of the tensor's. */
bool tma_inside(const struct tma_shot *shot, uint32_t column, uint32_t row);
/* The whole image of TMA_IMAGE_BYTES at shared address `base`, a multiple of 1024. */
void tma_predict_image(const struct tma_shot *shot, const unsigned char *tensor, uint32_t base, unsigned char *image);

/* ---- in an experiment; 0, or -1 with a printed sentence ---- */

int tma_open(struct lab *lab);
struct tma_study *tma_study_of(struct lab *lab);
/* The point's own shot. */
struct tma_shot *tma_shot_of(struct lab *lab, const struct lab_point *point);
/* A point that makes this load. A map that the driver refuses makes a point that launches nothing. */
struct lab_point *tma_add(struct lab *lab, const struct tma_shot *shot, const char *change, const char *label, ...)
    __attribute__((format(printf, 4, 5)));
/* Ends a setup() whose loads the GPU may refuse: fills study->trials. */
int tma_try(struct lab *lab);
int tma_prepare(struct lab *lab, struct lab_point *point);
/* Fills study->result. 1, and the point is wrong, when there is nothing to look at. */
int tma_fetch(struct lab *lab, struct lab_point *point);
/* Correct when the load delivered the predicted bytes and left the predicted image, byte for byte. */
int tma_check(struct lab *lab, struct lab_point *point);
/* The same without fetching. */
void tma_judge(struct lab *lab, struct lab_point *point);
size_t tma_count_correct(const struct lab *lab);

#endif
