/* SPDX-License-Identifier: Apache-2.0 */
/* Packed rows of q, out and lse: row r of a request and a head of k is head r % group of token r / group. */
#ifndef GM_ATTENTION_ROWS_CUH
#define GM_ATTENTION_ROWS_CUH

#include "common/attention/requests.cuh"
#include "common/elements.cuh"

struct packed_row {
    int64_t token; /* of all requests' */
    int head;      /* of q's */
};

static __device__ __forceinline__ int token_of_row(const struct gm_attention_params &p, int row) {
    return (int)divide(row, p.group);
}

static __device__ __forceinline__ struct packed_row packed_row(const struct gm_attention_params &p,
                                                               const struct request &request, int kv_head, int row) {
    const int token = token_of_row(p, row), group = (int)p.group.divisor;
    return {(int64_t)request.q_start + token, kv_head * group + row - token * group};
}

static __device__ __forceinline__ uint64_t address_of(const struct gm_attention_rows &rows,
                                                      const struct packed_row &row) {
    return rows.address + row.token * rows.token + row.head * rows.head;
}

static __device__ __forceinline__ void store_lse(const struct gm_attention_params &p, const struct packed_row &row,
                                                 float lse) {
    if (p.lse.address)
        st_global_b32(address_of(p.lse, row), __float_as_uint(lse));
}

/* Where k and v are of e4m3, out has a type that is known when the kernel runs. */
template <int TYPE> static __device__ __forceinline__ int type_of_out(const struct gm_attention_params &p) {
    if (p.flags & GM_ATTENTION_OUT_IS_FP32)
        return GM_TYPE_fp32;
    if (TYPE != GM_TYPE_e4m3)
        return TYPE;
    return p.flags & GM_ATTENTION_OUT_IS_FP16 ? GM_TYPE_fp16 : GM_TYPE_bf16;
}

/* Eight elements of out. */
template <int TYPE>
static __device__ __forceinline__ void store_out(const struct gm_attention_params &p, uint64_t address,
                                                 const float (&v)[8]) {
    const int type = type_of_out<TYPE>(p);
    if (p.flags & GM_ATTENTION_OUT_BY_ELEMENT)
        store_some_as(type, address, v, 8);
    else
        store_as(type, address, v);
}

#endif
