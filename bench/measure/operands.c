/* SPDX-License-Identifier: Apache-2.0 */
/* Operands on the GPU: N(0,1) values, as many sets as make a rotation larger than L2. */
#include "bench/measure/operands.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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
static void fill_normal(void *out, enum gm_type type) {
    uint64_t state = NOISE_SEED;
    for (uint64_t i = 0; i < NOISE_VALUES; i += 2) {
        uint64_t bits = next_random(&state);
        float u = ((float)(bits >> 40) + 0.5f) * 0x1p-24f;
        float angle = (float)TWO_PI * (float)(bits & 0xffffff) * 0x1p-24f;
        float radius = sqrtf(-2 * logf(u));
        operands_put(out, i, type, radius * cosf(angle));
        operands_put(out, i + 1, type, radius * sinf(angle));
    }
}

/* A copy from pageable memory may return before it has landed, and our stream does not wait for the default one. */
static int upload(const struct gpu *gpu, CUdeviceptr to, const void *from, size_t bytes) {
    GPU_TRY(gpu, cuMemcpyHtoD, to, from, bytes);
    GPU_TRY(gpu, cuCtxSynchronize);
    return 0;
}

static int make_noise(const struct gpu *gpu, struct noise *noise, enum gm_type type) {
    const size_t bytes = NOISE_VALUES * (size_t)gm_type_bytes(type);
    if (noise->values[type])
        return 0;
    void *host = malloc(bytes);
    if (!host)
        return complain("out of host memory");
    fill_normal(host, type);
    int status = gpu_alloc(gpu, &noise->values[type], bytes);
    if (status == 0)
        status = upload(gpu, noise->values[type], host, bytes);
    free(host);
    return status;
}

void noise_free(const struct gpu *gpu, struct noise *noise) {
    for (int type = 0; type < GM_TYPE_COUNT; type++)
        gpu_free(gpu, &noise->values[type]);
}

int operands_fill(const struct gpu *gpu, CUdeviceptr to, size_t bytes, struct noise *noise, enum gm_type type,
                  uint64_t first_piece) {
    const size_t element = (size_t)gm_type_bytes(type), most = (size_t)PIECE_VALUES * element;
    size_t done = 0;
    if (make_noise(gpu, noise, type) != 0)
        return -1;
    for (uint64_t piece = first_piece; done < bytes; piece++) {
        size_t part = bytes - done < most ? bytes - done : most;
        uint64_t offset = piece * PIECE_STEP % PIECE_VALUES * element;
        GPU_TRY(gpu, cuMemcpyDtoDAsync, to + done, noise->values[type] + offset, part, gpu->stream);
        done += part;
    }
    return 0;
}

/* ---- sets of operands ------------------------------------------------------------------------------- */

#define FIRST_PIECE_STEP UINT64_C(1000002) /* between the pieces that two operands begin with */

static int count_sets(const struct gpu *gpu, const struct operands *operands, double rotate_l2, int least) {
    double l2 = gpu->device.l2_bytes > 0 ? (double)gpu->device.l2_bytes : 64e6;
    size_t set_bytes = 0;
    for (int i = 0; i < operands->count; i++)
        set_bytes += operands->bytes[i];
    double sets = ceil(rotate_l2 * l2 / (double)set_bytes);
    return sets < least ? least : sets > SETS_MAX ? SETS_MAX : (int)sets;
}

static bool is_integer(enum gm_type type) {
    return type == GM_INT8 || type == GM_UINT8 || type == GM_INT32 || type == GM_INT64;
}

/* Integers, from the host, as they are few beside other operands: as the operation says, or uniform in [0, below), or 0, 1,
 * 2, ... in every set where that is 0. */
static int fill_integers(const struct gpu *gpu, const struct operands *operands, int i, size_t bytes, uint64_t seed) {
    const struct bench_operand *operand = &operands->each[i];
    const size_t element = (size_t)gm_type_bytes(operand->type);
    const uint64_t below = (uint64_t)operands->below[i];
    unsigned char *host = malloc(bytes + 1);
    if (!host)
        return complain("out of host memory");
    for (size_t at = 0; at + element <= bytes; at += element) {
        const size_t index = at % operands->bytes[i] / element;
        uint64_t value = below ? (next_random(&seed) >> 32) % below : index;
        if (operands->operation->value)
            value = (uint64_t)operands->operation->value(operands->problem, operand, (int64_t)index);
        memcpy(host + at, &value, element); /* little-endian */
    }
    const int status = upload(gpu, operands->arena[i], host, bytes);
    free(host);
    return status;
}

/* So many bytes of an operand's arena, from its beginning on, as they are before any call. */
static int begin_operand(const struct gpu *gpu, const struct operands *operands, int i, size_t bytes,
                         struct noise *noise) {
    const struct bench_operand *operand = &operands->each[i];
    const uint64_t first = 1 + (uint64_t)i * FIRST_PIECE_STEP;
    if (operand->access != BENCH_WRITTEN && is_integer(operand->type))
        return fill_integers(gpu, operands, i, bytes, first);
    if (operand->access != BENCH_WRITTEN)
        return operands_fill(gpu, operands->arena[i], bytes, noise, operand->type, first);
    GPU_TRY(gpu, cuMemsetD8Async, operands->arena[i], 0xff, bytes, gpu->stream);
    return 0;
}

int operands_make(const struct gpu *gpu, struct operands *operands, const struct bench_operation *operation,
                  const void *problem, struct noise *noise, double rotate_l2, int least_sets) {
    *operands = (struct operands){.operation = operation, .problem = problem};
    if (operation->tell)
        operation->tell(problem, operands->args.bytes);
    operands->count = operation->operands(problem, operands->each);
    for (int i = 0; i < operands->count; i++) {
        const struct bench_operand *operand = &operands->each[i];
        operands->pitch[i] = operation->pitch ? operation->pitch(problem, operand) : operand->columns;
        const size_t elements = (size_t)operand->rows * (size_t)operands->pitch[i];
        operands->below[i] = operation->below ? operation->below(problem, operand) : 0;
        operands->bytes[i] = (elements * (size_t)gm_type_bytes(operand->type) + 255) / 256 * 256;
    }
    operands->sets = count_sets(gpu, operands, rotate_l2, least_sets);
    for (int i = 0; i < operands->count; i++) {
        const size_t bytes = (size_t)operands->sets * operands->bytes[i];
        if (gpu_alloc(gpu, &operands->arena[i], bytes) != 0 || begin_operand(gpu, operands, i, bytes, noise) != 0)
            return -1;
    }
    return gpu_finish(gpu);
}

int operands_renew(const struct gpu *gpu, const struct operands *operands, struct noise *noise) {
    for (int i = 0; i < operands->count; i++)
        if (operands->each[i].access != BENCH_READ && begin_operand(gpu, operands, i, operands->bytes[i], noise) != 0)
            return -1;
    return 0;
}

void operands_free(const struct gpu *gpu, struct operands *operands) {
    for (int i = 0; i < operands->count; i++)
        gpu_free(gpu, &operands->arena[i]);
}

void operands_args(const struct operands *operands, int set, CUdeviceptr workspace, size_t workspace_bytes,
                   struct bench_args *args) {
    const struct bench_operation *operation = operands->operation;
    const size_t at = (size_t)(set % operands->sets), size = operation->operation->args_bytes;
    *args = operands->args;
    memcpy(args->bytes, &size, sizeof size); /* the first member of every argument struct */
    for (int i = 0; i < operands->count; i++) {
        const gm_device_ptr address = operands->arena[i] + at * operands->bytes[i];
        memcpy(args->bytes + operands->each[i].argument, &address, sizeof address);
    }
    if (operation->workspace) {
        const gm_device_ptr address = workspace;
        memcpy(args->bytes + operation->workspace, &address, sizeof address);
        memcpy(args->bytes + operation->workspace_bytes, &workspace_bytes, sizeof workspace_bytes);
    }
}
