/* SPDX-License-Identifier: Apache-2.0 */
/* One GEMM of small integers on the simulated GPU, compared bit for bit: every partial sum is exact in fp32. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/measure/operands.h"
#include "program/sim/simulator.h"

struct gemm_memory {
    CUdeviceptr a, b, d, bias;
    float *a_host, *b_host; /* M x K, K x N */
    uint8_t *d_host;
    size_t d_bytes;
};

/* -3 .. 3, a pure function of the place. */
static float element(int operand, int64_t row, int64_t column) {
    uint64_t z = (uint64_t)row * 0x9e3779b97f4a7c15u + (uint64_t)column * 0xc2b2ae3d27d4eb4fu + (uint64_t)operand;
    z = (z ^ z >> 29) * 0xbf58476d1ce4e5b9u;
    return (float)((z >> 40) % 7) - 3;
}

/* Puts an operand of outer x inner elements (inner contiguous, rows a multiple of 8 apart) on the device. */
static int upload(struct simulator *s, CUdeviceptr *to, enum gm_type type, int64_t outer, int64_t inner, int64_t ld,
                  const float *values, bool transposed) {
    const size_t bytes = (size_t)(outer * ld) * (size_t)gm_type_bytes(type);
    void *rows = calloc(bytes, 1);
    if (!rows)
        return complain("out of host memory");
    for (int64_t i = 0; i < outer; i++)
        for (int64_t j = 0; j < inner; j++)
            operands_put(rows, (uint64_t)(i * ld + j), type,
                         transposed ? values[j * outer + i] : values[i * inner + j]);
    int status = gpu_alloc(&s->gpu, to, bytes);
    if (status == 0 && s->gpu.drv->cuMemcpyHtoD(*to, rows, bytes) != CUDA_SUCCESS)
        status = complain("an operand of %zu bytes could not be copied to the simulated device", bytes);
    free(rows);
    return status;
}

static int64_t rounded(int64_t elements) {
    return (elements + 7) / 8 * 8;
}

static int make_operands(struct simulator *s, const struct gm_gemm_problem *p, struct gemm_memory *memory) {
    memory->a_host = malloc((size_t)(p->m * p->k) * sizeof(float));
    memory->b_host = malloc((size_t)(p->k * p->n) * sizeof(float));
    memory->d_bytes = (size_t)(p->m * p->ldd) * (size_t)gm_type_bytes(p->d_type);
    memory->d_host = malloc(memory->d_bytes);
    float *bias = malloc((size_t)p->n * sizeof *bias);
    if (!memory->a_host || !memory->b_host || !memory->d_host || !bias) {
        free(bias);
        return complain("out of host memory");
    }
    for (int64_t i = 0; i < p->m * p->k; i++)
        memory->a_host[i] = element(0, i / p->k, i % p->k);
    for (int64_t i = 0; i < p->k * p->n; i++)
        memory->b_host[i] = element(1, i / p->n, i % p->n);
    for (int64_t i = 0; i < p->n; i++)
        bias[i] = element(2, 0, i);
    const bool a_mn = p->a_major == GM_MN_MAJOR, b_mn = p->b_major == GM_MN_MAJOR;
    int status =
        upload(s, &memory->a, p->ab_type, a_mn ? p->k : p->m, a_mn ? p->m : p->k, p->lda, memory->a_host, a_mn);
    if (status == 0)
        status = upload(s, &memory->b, p->has_b_type ? p->b_type : p->ab_type, b_mn ? p->k : p->n, b_mn ? p->n : p->k,
                        p->ldb, memory->b_host, !b_mn);
    if (status == 0)
        status = upload(s, &memory->bias, p->bias_type, 1, p->n, rounded(p->n), bias, false);
    if (status == 0)
        status = gpu_alloc(&s->gpu, &memory->d, memory->d_bytes);
    free(bias);
    return status;
}

static void free_operands(struct simulator *s, struct gemm_memory *memory) {
    gpu_free(&s->gpu, &memory->a);
    gpu_free(&s->gpu, &memory->b);
    gpu_free(&s->gpu, &memory->bias);
    gpu_free(&s->gpu, &memory->d);
    free(memory->a_host);
    free(memory->b_host);
    free(memory->d_host);
}

static struct gm_gemm_problem problem_of(const struct sim_request *request) {
    struct gm_kernel_info info = {.size = sizeof info};
    struct gm_gemm_kernel_info gemm = {.size = sizeof gemm};
    gm_kernel_get((size_t)request->row, &info);
    gm_gemm_kernel_get((size_t)request->row, &gemm);
    const enum gm_type d_type = request->fp32 || gm_type_bytes(info.type) == 4 ? GM_FP32 : info.type;
    struct gm_gemm_problem p = {.size = sizeof p,
                                .m = request->m,
                                .n = request->n,
                                .k = request->k,
                                .ab_type = info.type,
                                .d_type = d_type,
                                .a_major = gemm.a_major,
                                .b_major = gemm.b_major,
                                .bias = request->bias ? GM_BIAS_N : GM_BIAS_NONE,
                                .bias_type = d_type};
    if (info.type == GM_E5M2) { /* on wgmma's M side, or of mma.sync's operands either */
        p.ab_type = gemm.swap ? GM_E4M3 : GM_E5M2;
        p.b_type = gemm.swap ? GM_E5M2 : GM_E4M3;
        p.has_b_type = 1;
    }
    p.lda = rounded(p.a_major == GM_MN_MAJOR ? p.m : p.k);
    p.ldb = rounded(p.b_major == GM_MN_MAJOR ? p.n : p.k);
    p.ldd = rounded(p.n);
    return p;
}

/* Bit for bit: the exact sum, rounded once. */
static enum sim_outcome compare(const struct gm_gemm_problem *p, const struct gemm_memory *memory, char *sentence,
                                size_t bytes) {
    int64_t wrong = 0;
    for (int64_t m = 0; m < p->m; m++)
        for (int64_t n = 0; n < p->n; n++) {
            float sum = p->bias == GM_BIAS_N ? element(2, 0, n) : 0, rounded_sum;
            for (int64_t k = 0; k < p->k; k++)
                sum += memory->a_host[m * p->k + k] * memory->b_host[k * p->n + n];
            operands_put(&rounded_sum, 0, p->d_type, sum);
            const double want = (double)operands_value(&rounded_sum, 0, p->d_type);
            const double got = (double)operands_value(memory->d_host, m * p->ldd + n, p->d_type);
            if (got != want && wrong++ == 0)
                snprintf(sentence, bytes, "D[%lld, %lld] is %g instead of %g", (long long)m, (long long)n, got, want);
        }
    if (wrong) {
        const size_t used = strlen(sentence);
        snprintf(sentence + used, bytes - used, "; %lld of %lld elements are wrong", (long long)wrong,
                 (long long)(p->m * p->n));
    }
    return wrong ? SIM_WRONG : SIM_CORRECT;
}

static enum sim_outcome execute(struct simulator *s, gm_plan *plan, const struct gm_gemm_problem *p,
                                struct gemm_memory *memory, char *sentence, size_t bytes) {
    const struct gm_gemm_args args = {
        .size = sizeof args, .a = memory->a, .b = memory->b, .d = memory->d, .bias = p->bias ? memory->bias : 0};
    const struct gm_driver *drv = s->gpu.drv;
    const enum gm_status status = gm_gemm_execute(plan, &args, s->gpu.stream);
    if (status != GM_OK) {
        snprintf(sentence, bytes, "%s", gm_last_error());
        return SIM_ENDED;
    }
    CUresult result = drv->cuStreamSynchronize(s->gpu.stream);
    if (result == CUDA_SUCCESS)
        result = drv->cuMemcpyDtoH(memory->d_host, memory->d, memory->d_bytes);
    if (result != CUDA_SUCCESS) {
        snprintf(sentence, bytes, "the launch ended with %s", gm_driver_error_name(result));
        return SIM_ENDED;
    }
    return compare(p, memory, sentence, bytes);
}

enum sim_outcome sim_gemm_run(struct simulator *s, const struct sim_request *request, char *sentence, size_t bytes) {
    struct gm_kernel_info info = {.size = sizeof info};
    gm_kernel_get((size_t)request->row, &info);
    const struct gm_gemm_problem problem = problem_of(request);
    const struct gm_plan_options options = {.size = sizeof options, .kernel = info.name};
    struct gemm_memory memory = {0};
    gm_plan *plan = NULL;
    enum sim_outcome outcome = SIM_FAILED;
    sentence[0] = '\0';
    if (gm_gemm_plan_create(s->gpu.context, &problem, &options, &plan) != GM_OK)
        complain("%s", gm_last_error());
    else if (make_operands(s, &problem, &memory) == 0)
        outcome = execute(s, plan, &problem, &memory, sentence, bytes);
    gm_plan_destroy(plan);
    free_operands(s, &memory);
    return outcome;
}
