/* SPDX-License-Identifier: Apache-2.0 */
/* torch.ops.gristmill: the operations on tensors as PyTorch operators. */
#ifndef GM_TENSORS_TORCH_H
#define GM_TENSORS_TORCH_H

#include <stddef.h>

#if defined(__GNUC__)
#define GM_TENSORS_API __attribute__((visibility("default")))
#else
#define GM_TENSORS_API
#endif

/* Registers the operators with the PyTorch that the process has loaded, once: gristmill::NAME, and gristmill::NAME_out,
 * which writes to tensors that the caller has. "" when they are there, else a sentence that says why not. Loading the
 * library does it too, where PyTorch is there already. */
GM_TENSORS_API const char *gm_torch_register(void);

/* Plans are kept for problems that recur, 2048 at most: how many there are, and forget those that no call uses. */
GM_TENSORS_API size_t gm_tensors_plans_count(void);
GM_TENSORS_API void gm_tensors_plans_forget(void);

#endif
