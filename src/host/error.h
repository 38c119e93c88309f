/* SPDX-License-Identifier: Apache-2.0 */
/* The thread's last failure: a status, one sentence, the CUresult behind it. */
#ifndef GM_ERROR_H
#define GM_ERROR_H

#include "host/cuda_abi.h"
#include "gristmill/gristmill.h"

/* Both record the sentence for gm_last_error(), log it, and return `status`. */
enum gm_status gm_fail(enum gm_status status, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* `result` is kept for gm_last_cuda_result(); its name is appended to the sentence. */
enum gm_status gm_fail_cuda(enum gm_status status, CUresult result, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The same for a sentence that is already complete. */
enum gm_status gm_fail_sentence(enum gm_status status, CUresult result, const char *sentence);

/* Status of the thread's last failure, GM_OK if none. */
enum gm_status gm_last_status(void);

#endif
