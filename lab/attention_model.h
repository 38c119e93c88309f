/* SPDX-License-Identifier: Apache-2.0 */
/* What the kernels of the attention ladder should make the counters show. */
#ifndef LAB_ATTENTION_MODEL_H
#define LAB_ATTENTION_MODEL_H

/* In the ladder's order. Scores, softmax and values are a kernel each until the online softmax joins them. */
enum attention_kernel {
    ATTENTION_NAIVE_SCORES,
    ATTENTION_SOFTMAX,
    ATTENTION_NAIVE_VALUES,
    ATTENTION_TILED_SCORES,
    ATTENTION_PADDED_SCORES,
    ATTENTION_TILED_VALUES,
    ATTENTION_REGISTER_SCORES,
    ATTENTION_REGISTER_VALUES,
    ATTENTION_ONLINE_64X64,
    ATTENTION_ONLINE_128X64,
    ATTENTION_ONLINE_128X128,
    ATTENTION_WGMMA,
    ATTENTION_KERNELS
};

/* Wavefronts of shared memory, and how few there would be without bank conflicts. */
struct attention_wavefronts {
    double all, ideal;
};

/* Of a launch over `heads` heads of `tokens` tokens, a multiple of 128. A sector is 32 bytes. NaN: the kernel has no
 * such access, or no model knows. */
struct attention_counts {
    double loaded, stored;                   /* sectors, asked of L1 by loads and stores */
    double received;                         /* sectors that TMA brings into the SMs */
    struct attention_wavefronts load, store; /* ld.shared, st.shared */
    double wgmma;                            /* wavefronts of the tensor cores' operand reads */
};

struct attention_counts attention_predict(enum attention_kernel kernel, int heads, int tokens);

/* Bytes of dynamic shared memory of a CTA; 0: it has none. */
unsigned attention_shared_bytes(enum attention_kernel kernel);
/* CTAs of it that fit into an SM's `bytes` of shared memory, of which each costs 1 KB more. */
int attention_ctas_per_sm(enum attention_kernel kernel, int bytes);

#endif
