/* SPDX-License-Identifier: Apache-2.0 */
/* A tensor-map request as the command line says it. */
#include "program/smem/map_options.h"

#include <string.h>

#include "program/base/messages.h"
#include "program/smem/tensor_words.h"

#define RANK_MAX  5  /* what a request has room for; a rank above it is a broken rule */
#define COUNT_MAX 16 /* of numbers in a list */

void map_options_list(struct map_options *given, struct args_option *options) {
    const struct args_option list[MAP_OPTIONS] = {
        {"type", "TYPE", ARGS_TEXT, &given->type, "of the elements: u8, f16, bf16 (default), f32, tf32, f64, ..."},
        {"dims", "N,N,...", ARGS_TEXT, &given->dims, "elements of the tensor, innermost dimension first"},
        {"strides", "BYTES,...", ARGS_TEXT, &given->strides, "of dimensions 1, 2, .. (default: packed)"},
        {"box", "N,N,...", ARGS_TEXT, &given->box, "elements of the box"},
        {"element-strides", "N,N,...", ARGS_TEXT, &given->element_strides, "take every N-th element (default: 1)"},
        {"swizzle", "MODE", ARGS_TEXT, &given->swizzle, "of the map: none (default), 32B, 64B, 128B"},
        {"interleave", "MODE", ARGS_TEXT, &given->interleave, "none (default), 16B, 32B"},
        {"address", "ADDRESS", ARGS_TEXT, &given->address, "of the tensor in global memory (default: 0)"},
        {"oob", "FILL", ARGS_TEXT, &given->oob, "what lies outside the tensor: zero (default), nan"},
        {"l2", "MODE", ARGS_TEXT, &given->l2, "promotion of L2 fetches: none (default), 64B, 128B, 256B"},
    };
    memcpy(options, list, sizeof list);
}

/* The first RANK_MAX numbers of a list that has one for every dimension from `first` on. */
static int read_list_32(const char *option, const char *text, size_t wanted, uint32_t values[RANK_MAX]) {
    uint64_t wide[COUNT_MAX];
    size_t count;
    if (words_read_list(option, text, UINT32_MAX, COUNT_MAX, wide, &count) != 0)
        return -1;
    if (count != wanted)
        return complain("%s has %zu number%s, and --dims %zu", option, count, count == 1 ? "" : "s", wanted);
    for (size_t i = 0; i < count && i < RANK_MAX; i++)
        values[i] = (uint32_t)wide[i];
    return 0;
}

static int read_dims(const char *text, struct gm_tensor_map_request *request) {
    uint64_t dims[COUNT_MAX];
    size_t count;
    if (words_read_list("--dims", text, UINT64_MAX, COUNT_MAX, dims, &count) != 0)
        return -1;
    request->rank = (uint32_t)count;
    memcpy(request->dims, dims, (count < RANK_MAX ? count : RANK_MAX) * sizeof *dims);
    return 0;
}

/* Each dimension right behind the other; what does not fit 64 bits is as large as they go. */
static void pack_strides(struct gm_tensor_map_request *request) {
    uint64_t stride = gm_tensor_map_element_bytes(request->type);
    for (uint32_t i = 0; i + 1 < request->rank && i + 1 < RANK_MAX; i++) {
        if (__builtin_mul_overflow(stride, request->dims[i], &stride))
            stride = UINT64_MAX;
        request->strides[i] = stride;
    }
}

static int read_strides(const char *text, struct gm_tensor_map_request *request) {
    uint64_t strides[COUNT_MAX];
    size_t count;
    if (words_read_list("--strides", text, UINT64_MAX, COUNT_MAX, strides, &count) != 0)
        return -1;
    if (count + 1 != request->rank)
        return complain("--strides has %zu number%s, and --dims %u: every dimension but the innermost has a stride",
                        count, count == 1 ? "" : "s", request->rank);
    memcpy(request->strides, strides, (count < RANK_MAX - 1 ? count : RANK_MAX - 1) * sizeof *strides);
    return 0;
}

static int read_modes(const struct map_options *given, struct gm_tensor_map_request *request) {
    int32_t swizzle = 0;
    request->type = 9; /* bf16 */
    if ((given->type && words_read_type("--type", given->type, &request->type) != 0) ||
        (given->swizzle && words_read_swizzle("--swizzle", given->swizzle, &swizzle) != 0) ||
        (given->interleave && words_read_interleave("--interleave", given->interleave, &request->interleave) != 0) ||
        (given->oob && words_read_fill("--oob", given->oob, &request->oob_fill) != 0) ||
        (given->l2 && words_read_promotion("--l2", given->l2, &request->l2_promotion) != 0) ||
        (given->address && words_read_number("--address", given->address, UINT64_MAX, &request->address) != 0))
        return -1;
    request->swizzle = (enum gm_swizzle_mode)swizzle;
    return 0;
}

int map_options_read(const struct map_options *given, struct gm_tensor_map_request *request) {
    *request = (struct gm_tensor_map_request){.size = sizeof *request};
    if (!given->dims || !given->box)
        return complain("a tensor map wants --dims and --box, such as --dims 4096,4096 --box 64,128");
    if (read_modes(given, request) != 0 || read_dims(given->dims, request) != 0 ||
        read_list_32("--box", given->box, request->rank, request->box) != 0)
        return -1;
    if (given->element_strides &&
        read_list_32("--element-strides", given->element_strides, request->rank, request->element_strides) != 0)
        return -1;
    pack_strides(request);
    return given->strides ? read_strides(given->strides, request) : 0;
}
