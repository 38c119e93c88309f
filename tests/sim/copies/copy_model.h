/* SPDX-License-Identifier: Apache-2.0 */
/* What the tests of tensor copies share: a request, a plain model of it, element by element, whose places in shared
 * memory are gm_smem_tile_address()'s, and the kernel that loads a box and dumps what came of it. */
#ifndef SIM_COPY_MODEL_H
#define SIM_COPY_MODEL_H

#include "copy_kernel.h"

enum { ILLEGAL_INSTRUCTION = 715, POISON = 0xa5, IMAGE_BYTES = 16384, THREADS = 64, TENSOR_BYTES = 65536 };
enum { IMAGE_BASE = 2048 }; /* 1024 reserved bytes, the barrier, and up to the next multiple of 1024 */
/* Element types by their numbers in tensor maps. */
enum { U8 = 0, U32 = 2, S32 = 3, U64 = 4, S64 = 5, F16 = 6, F32 = 7, F64 = 8, BF16 = 9, F32_FTZ = 10 };

struct map {
    _Alignas(128) uint8_t bytes[128];
};

/* A copy between a tensor and a box in shared memory. Strides in bytes; those not given are packed. */
struct shot {
    int type, swizzle, fill;
    unsigned rank;
    uint64_t dims[5], strides[4];
    uint32_t box[5], steps[5];
    int at[5];
    uint32_t offset; /* of the box in the image of shared memory, a multiple of 128 */
};

extern uint8_t tensor[TENSOR_BYTES], predicted[IMAGE_BYTES];
extern const char *const coordinates[]; /* "{a,b}" of rank 2 */

/* A fixture: kernel_begin(), and words in `tensor` of which no two are alike. */
void shot_begin(void);
/* Fills in what was left out. */
void shot_complete(struct shot *s);
struct map shot_encode(const struct shot *s, uint64_t address);
uint32_t shot_element_bytes(int type);
uint32_t shot_rows(const struct shot *s);

struct place {
    uint32_t shared; /* in the image */
    bool inside;
    uint64_t global; /* in the tensor */
};

/* Byte `byte` of row `row` of the box. `base`: absolute shared address of the image. */
struct place shot_place(const struct shot *s, uint32_t base, uint32_t row, uint32_t byte);
/* The image of a load goes to `predicted`. */
void shot_predict_load(const struct shot *s, uint32_t base);

const char *shot_load_instruction(unsigned rank);
/* The CUresult; the images of all CTAs are where `images` says. */
int shot_load(const struct shot *s, const struct map *map, const char *instruction, uint32_t ctas, uint64_t seed,
              uint64_t *images);
/* The image there is the predicted one. */
void shot_compare(uint64_t address, const char *what);

#endif
