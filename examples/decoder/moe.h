/* SPDX-License-Identifier: Apache-2.0 */
/* Layers of experts. A router gives every row to a few of them, and what they make of it is added up by its weights.
 *
 * An expert's rows lie behind each other, and each of its matrices is a GEMM of its own, since there is none yet of
 * groups. How many rows an expert has only the GPU knows: in every such layer the host waits for the numbers, and
 * launches what they ask for. So a step of such a model is no graph. */
#ifndef DECODER_MOE_H
#define DECODER_MOE_H

#include "model.h"
#include "step.h"

/* Memory of up to so many rows, and plans that are made when they are first wanted: what all steps share. */
struct moe *moe_create(gm_context *context, const struct config *config, int64_t rows, uint32_t flags);
void moe_free(struct moe *moe); /* NULL is allowed */
size_t moe_bytes(const struct config *config, int64_t rows);

/* scratch.stream += experts(scratch.normed), of `rows` rows, or fewer if the int32_t in device memory says so. */
void moe_run(struct moe *moe, const struct scratch *scratch, const struct layer *layer, int64_t rows,
             gm_device_ptr row_count, int64_t parts);
/* As step_explain() does, for a layer of experts that share their rows evenly. */
void moe_explain(struct moe *moe, int64_t rows);

#endif
