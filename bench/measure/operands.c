/* SPDX-License-Identifier: Apache-2.0 */
/* Operands on the GPU: N(0,1) values, as many sets as make a rotation larger than L2. */
#include "bench/measure/operands.h"
#include "host/types.h"

#include <math.h>
#include <stdlib.h>

/* The noise holds 4 Mi values; a piece is 2 Mi of them from an offset that never repeats within an operand. */
#define NOISE_VALUES (UINT64_C(1) << 22)
#define PIECE_VALUES (NOISE_VALUES / 2)
#define PIECE_STEP   UINT64_C(1048573) /* prime, so the offsets run through all of [0, PIECE_VALUES) */
#define NOISE_SEED   UINT64_C(20240917)
#define SETS_MAX     2048
#define TWO_PI       6.28318530717958647692

static uint64_t next_random(uint64_t *state) /* splitmix64 */
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* Box-Muller, two values for each pair of uniforms. */
static void fill_normal(uint16_t *out, enum gm_type type) {
    uint64_t state = NOISE_SEED;
    for (uint64_t i = 0; i < NOISE_VALUES; i += 2) {
        uint64_t bits = next_random(&state);
        float u = ((float)(bits >> 40) + 0.5f) * 0x1p-24f;
        float angle = (float)TWO_PI * (float)(bits & 0xffffff) * 0x1p-24f;
        float radius = sqrtf(-2 * logf(u));
        float pair[2] = {radius * cosf(angle), radius * sinf(angle)};
        for (int j = 0; j < 2; j++)
            out[i + (uint64_t)j] = type == GM_BF16 ? operands_to_bf16(pair[j]) : operands_to_fp16(pair[j]);
    }
}

/* A copy from pageable memory may return before it has landed, and our stream does not wait for the default one. */
static int upload(const struct gpu *gpu, CUdeviceptr to, const void *from, size_t bytes) {
    GPU_TRY(gpu, cuMemcpyHtoD, to, from, bytes);
    GPU_TRY(gpu, cuCtxSynchronize);
    return 0;
}

int noise_make(const struct gpu *gpu, struct noise *noise, enum gm_type type) {
    if (noise->made && noise->type == type)
        return 0;
    noise_free(gpu, noise);
    uint16_t *host = malloc(NOISE_VALUES * sizeof *host);
    if (!host)
        return complain("out of host memory");
    fill_normal(host, type);
    int status = gpu_alloc(gpu, &noise->values, NOISE_VALUES * sizeof *host);
    if (status == 0)
        status = upload(gpu, noise->values, host, NOISE_VALUES * sizeof *host);
    free(host);
    noise->type = type;
    noise->made = status == 0;
    return status;
}

void noise_free(const struct gpu *gpu, struct noise *noise) {
    gpu_free(gpu, &noise->values);
    *noise = (struct noise){0};
}

static size_t round_up(size_t bytes) {
    return (bytes + 255) / 256 * 256;
}

int operands_fill(const struct gpu *gpu, CUdeviceptr arena, size_t bytes, const struct noise *noise,
                  uint64_t first_piece) {
    size_t done = 0;
    for (uint64_t piece = first_piece; done < bytes; piece++) {
        size_t part = bytes - done < PIECE_VALUES * 2 ? bytes - done : (size_t)PIECE_VALUES * 2;
        uint64_t offset = piece * PIECE_STEP % PIECE_VALUES * 2;
        GPU_TRY(gpu, cuMemcpyDtoDAsync, arena + done, noise->values + offset, part, gpu->stream);
        done += part;
    }
    return 0;
}

static int count_sets(const struct gpu *gpu, size_t set_bytes, double rotate_l2) {
    double l2 = gpu->device.l2_bytes > 0 ? (double)gpu->device.l2_bytes : 64e6;
    double sets = ceil(rotate_l2 * l2 / (double)set_bytes);
    return sets < 1 ? 1 : sets > SETS_MAX ? SETS_MAX : (int)sets;
}

int operands_make(const struct gpu *gpu, struct operands *operands, const struct gm_gemm_problem *problem,
                  const struct noise *noise, double rotate_l2) {
    size_t m = (size_t)problem->m, n = (size_t)problem->n, k = (size_t)problem->k;
    *operands = (struct operands){.problem = *problem};
    operands->a_bytes = round_up(m * k * (size_t)gm_type_bytes(problem->ab_type));
    operands->b_bytes = round_up(n * k * (size_t)gm_type_bytes(problem->ab_type));
    operands->d_bytes = round_up(m * n * (size_t)gm_type_bytes(problem->d_type));
    operands->sets = count_sets(gpu, operands->a_bytes + operands->b_bytes + operands->d_bytes, rotate_l2);
    size_t sets = (size_t)operands->sets;
    if (gpu_alloc(gpu, &operands->a, sets * operands->a_bytes) != 0 ||
        gpu_alloc(gpu, &operands->b, sets * operands->b_bytes) != 0 ||
        gpu_alloc(gpu, &operands->d, sets * operands->d_bytes) != 0 ||
        operands_fill(gpu, operands->a, sets * operands->a_bytes, noise, 1) != 0 ||
        operands_fill(gpu, operands->b, sets * operands->b_bytes, noise, 1000003) != 0)
        return -1;
    GPU_TRY(gpu, cuMemsetD8Async, operands->d, 0xff, sets * operands->d_bytes, gpu->stream);
    return gpu_finish(gpu);
}

int operands_spoil(const struct gpu *gpu, const struct operands *operands) {
    GPU_TRY(gpu, cuMemsetD8Async, operands->d, 0xff, operands->d_bytes, gpu->stream);
    return 0;
}

void operands_free(const struct gpu *gpu, struct operands *operands) {
    gpu_free(gpu, &operands->a);
    gpu_free(gpu, &operands->b);
    gpu_free(gpu, &operands->d);
}
