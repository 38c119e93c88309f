/* SPDX-License-Identifier: Apache-2.0 */
/* What config.json says of weights of 8 bits. Known is e4m3 with a scale for each channel (a row of a matrix) or for each
 * tensor, multiplied with rows that are quantised to e4m3 as they come, each with a scale of its own, or by a scale that the files
 * have, X.input_scale; and e4m3 with a scale for each 128 rows by 128 columns, multiplied with rows that are quantised as they come
 * with a scale for each 128 columns. Files have it in two ways:
 *
 *  quant_method         format             weights      scales
 *  "compressed-tensors" "float-quantized"  X.weight     X.weight_scale, [rows, 1] of channels, [rows / 128, columns / 128] of
 *                                                       blocks, or one of the tensor
 *  "fp8"                                   X.weight     X.weight_scale, one; of blocks X.weight_scale_inv
 *
 * Matrices of layers only: embeddings, norms and lm_head have 16 bits, and so have modules that are to be ignored. */
#ifndef DECODER_QUANTIZATION_H
#define DECODER_QUANTIZATION_H

#include "config.h"

#include <jansson.h>

/* config.json's quantization_config into `config`, whose layers and names are known already. NULL: there is none. What is not
 * computed is refused by die(). */
void read_quantization(const char *path, const json_t *object, struct config *config);

#endif
