/* SPDX-License-Identifier: Apache-2.0 */
/* gristmill: hand-written GPU kernels behind one C dispatch table. The interface of every operation; gristmill/core.h
 * says what they share. */
#ifndef GRISTMILL_H
#define GRISTMILL_H

#include "gristmill/core.h"
#include "gristmill/attention.h"
#include "gristmill/attention_merge.h"
#include "gristmill/axpby.h"
#include "gristmill/convolution.h"
#include "gristmill/dequantize.h"
#include "gristmill/embed.h"
#include "gristmill/gemm.h"
#include "gristmill/glu.h"
#include "gristmill/histogram.h"
#include "gristmill/layer_norm.h"
#include "gristmill/moe_align.h"
#include "gristmill/moe_finalize.h"
#include "gristmill/moe_route.h"
#include "gristmill/permute.h"
#include "gristmill/process_logits.h"
#include "gristmill/quantize.h"
#include "gristmill/reduce.h"
#include "gristmill/rms_norm.h"
#include "gristmill/rope.h"
#include "gristmill/sample.h"
#include "gristmill/softmax.h"
#include "gristmill/stencil.h"

#endif
