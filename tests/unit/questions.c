/* SPDX-License-Identifier: Apache-2.0 */
/* Questions about a tensor map and a matrix descriptor, for the tests of suggestion and comparison. */
#include "questions.h"

static int32_t type_of(uint32_t element_bytes) {
    return element_bytes == 1 ? 0 : element_bytes == 2 ? 9 : 7; /* UINT8, BFLOAT16, FLOAT32 */
}

struct gm_descriptor_question question_of(enum gm_swizzle_mode mode, enum gm_major major, uint32_t element_bytes,
                                          uint32_t rows) {
    const uint32_t inner = gm_swizzle_span_bytes(mode) / element_bytes;
    const uint32_t span = gm_swizzle_span_bytes(mode);
    struct gm_descriptor_question q = {
        .size = sizeof q,
        .map = {.size = sizeof q.map,
                .type = type_of(element_bytes),
                .rank = 2,
                .dims = {4096, 4096},
                .strides = {4096 * element_bytes},
                .box = {inner, major == GM_K_MAJOR ? rows : 64},
                .swizzle = mode},
        .destination = DESTINATION,
        .operand = {sizeof q.operand, major, element_bytes, rows},
    };
    if (major == GM_MN_MAJOR)
        q.boxes = (rows + inner - 1) / inner;
    else
        q.boxes = span >= 64 ? 1 : 64 / span;
    return q;
}

void suggest(struct gm_descriptor_question *q) {
    assert_ok(gm_descriptor_suggest(q, &q->descriptor, &q->k_step_bytes));
}

struct gm_descriptor_answer answer_of(const struct gm_descriptor_question *q) {
    struct gm_descriptor_answer answer = {.size = sizeof answer};
    assert_ok(gm_descriptor_compare(q, &answer));
    return answer;
}

uint32_t count_wrong(const struct gm_descriptor_question *q, uint32_t k_steps) {
    const uint32_t eb = q->operand.element_bytes, width = q->map.box[0] * eb;
    const uint32_t pitch = q->map.swizzle ? gm_swizzle_span_bytes(q->map.swizzle) : width; /* measured */
    struct gm_matrix_descriptor d = {.size = sizeof d};
    uint32_t wrong = 0, failed = 0; /* asserting on every element would take seconds */
    for (uint32_t step = 0; step < k_steps; step++) {
        failed += gm_matrix_descriptor_decode(q->descriptor + step * (q->k_step_bytes >> 4), &d) != GM_OK;
        for (uint32_t row = 0; row < q->operand.rows; row++)
            for (uint32_t k = 0; k < 32 / eb; k++) {
                const uint32_t all_k = step * (32 / eb) + k;
                const uint32_t inner = (q->operand.major == GM_K_MAJOR ? all_k : row) * eb;
                const uint32_t outer = q->operand.major == GM_K_MAJOR ? row : all_k;
                const uint32_t box = q->destination + inner / width * pitch * q->map.box[1];
                const uint32_t plain = box + outer * pitch + inner % width;
                uint32_t read = 0;
                failed += gm_wgmma_address(&d, &q->operand, row, k, &read) != GM_OK;
                wrong += read != gm_swizzle_apply(gm_swizzle_of_mode(q->map.swizzle), plain);
            }
    }
    ck_assert_msg(failed == 0, "%u calls failed: %s", failed, gm_last_error());
    return wrong;
}

void for_every_operand(each_question *visit, uint32_t row_step) {
    for (int mode = 0; mode < 4; mode++)
        for (int major = 0; major < 2; major++)
            for (uint32_t eb = 1; eb <= 4; eb *= 2)
                for (uint32_t rows = 64; rows <= 256; rows += row_step)
                    if (major == GM_K_MAJOR || eb == 2)
                        visit(question_of((enum gm_swizzle_mode)mode, (enum gm_major)major, eb, rows));
}
