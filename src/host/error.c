/* SPDX-License-Identifier: Apache-2.0 */
/* Status names and sentences, and the thread-local record of the last failure. */
#include "host/error.h"

#include "host/log.h"
#include "host/text.h"

#include <stdarg.h>

static _Thread_local struct {
    char sentence[512];
    enum gm_status status;
    CUresult result;
} last;

static const struct {
    const char *name, *sentence;
} statuses[] = {
    [GM_OK] = {"GM_OK", "Success."},
    [GM_ERROR_INVALID_ARGUMENT] = {"GM_ERROR_INVALID_ARGUMENT", "An argument is null, out of range or unknown."},
    [GM_ERROR_SIZE] = {"GM_ERROR_SIZE",
                       "A struct's size is that of no version, or it asks for what this version lacks."},
    [GM_ERROR_MISALIGNED] = {"GM_ERROR_MISALIGNED",
                             "A device pointer breaks its type's alignment or the plan's promise."},
    [GM_ERROR_OVERLAP] = {"GM_ERROR_OVERLAP", "The output overlaps an input."},
    [GM_ERROR_WORKSPACE] = {"GM_ERROR_WORKSPACE", "The workspace is missing or too small."},
    [GM_ERROR_NO_KERNEL] = {"GM_ERROR_NO_KERNEL", "No kernel of the table accepts the problem on this device."},
    [GM_ERROR_UNKNOWN_KERNEL] = {"GM_ERROR_UNKNOWN_KERNEL", "The kernel asked for by name is not in the table."},
    [GM_ERROR_WRONG_DEVICE] = {"GM_ERROR_WRONG_DEVICE", "Plan and stream belong to different devices."},
    [GM_ERROR_NO_DRIVER] = {"GM_ERROR_NO_DRIVER", "The CUDA driver is missing, too old, or refuses to start."},
    [GM_ERROR_NO_DEVICE] = {"GM_ERROR_NO_DEVICE", "There is no such CUDA device."},
    [GM_ERROR_IMAGE] = {"GM_ERROR_IMAGE", "A kernel image failed to load."},
    [GM_ERROR_LAUNCH] = {"GM_ERROR_LAUNCH", "The driver refused the launch."},
    [GM_ERROR_OUT_OF_MEMORY] = {"GM_ERROR_OUT_OF_MEMORY", "Host memory is exhausted."},
    [GM_ERROR_DRIVER] = {"GM_ERROR_DRIVER", "A CUDA driver call failed."},
    [GM_ERROR_LEDGER] = {"GM_ERROR_LEDGER", "A tuning ledger is unreadable, malformed, stale, or of another device."},
};

static int known(enum gm_status status) {
    return (unsigned)status < sizeof statuses / sizeof *statuses;
}

const char *gm_status_name(enum gm_status status) {
    return known(status) ? statuses[status].name : "GM_STATUS_UNKNOWN";
}

const char *gm_status_string(enum gm_status status) {
    return known(status) ? statuses[status].sentence : "This is not a gristmill status.";
}

const char *gm_last_error(void) {
    return last.sentence;
}

int gm_last_cuda_result(void) {
    return last.result;
}

enum gm_status gm_last_status(void) {
    return last.status;
}

enum gm_status gm_fail_sentence(enum gm_status status, CUresult result, const char *sentence) {
    last.status = status;
    last.result = result;
    gm_print(last.sentence, sizeof last.sentence, "%s", sentence);
    gm_log(GM_LOG_ERROR, "%s: %s", gm_status_name(status), last.sentence);
    return status;
}

/* Formatted into a local first: the arguments may point into the previous sentence. */
enum gm_status gm_fail(enum gm_status status, const char *format, ...) {
    char sentence[sizeof last.sentence];
    va_list arguments;
    va_start(arguments, format);
    gm_format(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    return gm_fail_sentence(status, CUDA_SUCCESS, sentence);
}
