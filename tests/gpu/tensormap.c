/* SPDX-License-Identifier: Apache-2.0 */
/* gm_tensor_map_check() against the driver: the verdicts on thousands of descriptions, most of them legal but
 * for one or two fields just inside or outside a limit. */
#include <stdlib.h>
#include <string.h>

#include "gpu_tests.h"
#include "host/tensor_map.h"

static uint64_t state;

static uint64_t random_below(uint64_t below) {
    return hash64(opt.seed ^ 0x7e5, state++) % below;
}

static uint64_t pick(const uint64_t *values, size_t count) {
    return values[random_below(count)];
}
#define PICK(...) pick((const uint64_t[]){__VA_ARGS__}, COUNT(((const uint64_t[]){__VA_ARGS__})))

static int element_bytes(int type) {
    static const int bytes[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4};
    return type >= 0 && type < (int)COUNT(bytes) ? bytes[type] : 4;
}

static struct gm_map_desc legal_description(void) {
    static const int spans[] = {0, 32, 64, 128};
    struct gm_map_desc d = {.rank = 1 + (unsigned)random_below(5), .type = (int)random_below(13)};
    d.address = 0x10000000 + random_below(1000) * 32;
    d.l2_promotion = (int)random_below(4);
    d.swizzle = (int)random_below(4);
    d.interleave = d.rank >= 3 && random_below(4) == 0 ? 1 + (int)random_below(2) : 0;
    if (d.interleave == CU_TENSOR_MAP_INTERLEAVE_32B)
        d.swizzle = CU_TENSOR_MAP_SWIZZLE_32B;
    const int bytes = element_bytes(d.type);
    uint64_t stride = (1 + random_below(64)) * 32;
    for (unsigned i = 0; i < d.rank; i++) {
        d.dims[i] = 1 + random_below(300);
        d.box[i] = 1 + (uint32_t)random_below(64);
        d.element_strides[i] = 1;
        if (i + 1 < d.rank) {
            d.strides[i] = stride;
            stride *= 1 + random_below(20);
        }
    }
    d.dims[0] = 1 + random_below(stride < 4096 ? 64 : 512);
    const uint32_t units =
        d.interleave ? (uint32_t)(16 * d.interleave / bytes)
                     : (uint32_t)((1 + random_below(spans[d.swizzle] ? (uint64_t)spans[d.swizzle] / 16 : 8)) * 16);
    d.box[0] = d.interleave ? units : units / (uint32_t)bytes;
    return d;
}

/* Moves one field to, or just over, one of its limits. */
static void mutate(struct gm_map_desc *d) {
    const unsigned i = (unsigned)random_below(d->rank ? d->rank : 1) % 5;
    switch (random_below(12)) {
    case 0:
        d->address += PICK(1, 8, 16, 32);
        break;
    case 1:
        d->rank = (unsigned)PICK(0, 1, 2, 3, 5, 6);
        break;
    case 2:
        d->dims[i] = PICK(0, 1, 0xffffffffu, UINT64_C(1) << 32, (UINT64_C(1) << 32) + 1);
        break;
    case 3:
        d->strides[i % 4] =
            PICK(8, 16, 24, 32, 48, (UINT64_C(1) << 40) - 32, (UINT64_C(1) << 40) - 16, UINT64_C(1) << 40);
        break;
    case 4:
        d->box[i] = (uint32_t)PICK(0, 1, 2, 8, 255, 256, 257, 512);
        break;
    case 5:
        d->box[0] = (uint32_t)PICK(4, 8, 16, 17, 32, 33, 64, 65, 128, 129, 256);
        break;
    case 6:
        d->element_strides[i] = (uint32_t)PICK(0, 1, 2, 7, 8, 9);
        break;
    case 7:
        d->interleave = (int)PICK(0, 1, 2, 3);
        break;
    case 8:
        d->swizzle = (int)PICK(0, 1, 2, 3);
        break;
    case 9:
        d->l2_promotion = (int)PICK(0, 3, 4);
        break;
    case 10:
        d->oob_fill = (int)PICK(0, 1, 2);
        break;
    default:
        d->type = (int)PICK(0, 2, 4, 6, 7, 8, 9, 12);
        break;
    }
}

static void print_description(const struct gm_map_desc *d, char *text, size_t bytes) {
    int at = snprintf(text, bytes, "type %d rank %u address 0x%llx interleave %d swizzle %d l2 %d oob %d", d->type,
                      d->rank, (unsigned long long)d->address, d->interleave, d->swizzle, d->l2_promotion, d->oob_fill);
    for (unsigned i = 0; i < d->rank && i < 5 && at < (int)bytes; i++)
        at += snprintf(text + at, bytes - (size_t)at, "; dim %llu stride %lld box %u step %u",
                       (unsigned long long)d->dims[i], i ? (long long)d->strides[i - 1] : -1, d->box[i],
                       d->element_strides[i]);
}

static void run_verdicts(const struct test *test, struct result *result) {
    (void)test;
    if (env.device.cc_major < 9) {
        skip(result, "compute capability %d.%d has no tensor maps", env.device.cc_major, env.device.cc_minor);
        return;
    }
    const int count = opt.quick ? 1000 : 20000;
    int legal = 0, disagreements = 0;
    heartbeat("tensor maps");
    state = 0;
    for (int i = 0; i < count; i++) {
        struct gm_map_desc d = legal_description();
        for (uint64_t changes = random_below(3); changes > 0; changes--)
            mutate(&d);
        _Alignas(128) unsigned char map[128];
        char sentence[256] = "", text[640];
        const int ours = gm_tensor_map_check(&d, sentence, sizeof sentence);
        const CUresult theirs =
            env.drv->cuTensorMapEncodeTiled(map, d.type, d.rank, (void *)(uintptr_t)d.address, d.dims, d.strides, d.box,
                                            d.element_strides, d.interleave, d.swizzle, d.l2_promotion, d.oob_fill);
        legal += theirs == CUDA_SUCCESS;
        if ((theirs == CUDA_SUCCESS) == (ours != 0))
            continue;
        print_description(&d, text, sizeof text);
        disagreements++;
        fail(result, "the driver %s (%s), we say %s%s: %s", theirs ? "refuses" : "accepts",
             gm_driver_error_name(theirs), ours ? "legal" : "illegal: ", ours ? "" : sentence, text);
    }
    result->cases = count;
    snprintf(result->note, sizeof result->note, "%d legal, %d disagreements", legal, disagreements);
    if (legal < count / 10 || legal > count * 9 / 10)
        fail(result, "%d of %d descriptions are legal: the draw is too one-sided to test anything", legal, count);
}

void add_tensormap_tests(void) {
    add_test("tensormap", "verdicts", run_verdicts, -1, 0);
}
