/* SPDX-License-Identifier: Apache-2.0 */
/* The log: a callback, or stderr when GM_LOG_LEVEL asks for it. */
#include "host/log.h"

#include "host/text.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static gm_log_fn callback;
static enum gm_log_level callback_level;
static void *callback_user;

static pthread_once_t environment_once = PTHREAD_ONCE_INIT;
static enum gm_log_level environment_level;

static void read_environment(void) {
    const char *text = getenv("GM_LOG_LEVEL");
    if (text && text[0] >= '1' && text[0] <= '3' && !text[1])
        environment_level = (enum gm_log_level)(text[0] - '0');
}

void gm_set_log_callback(gm_log_fn fn, enum gm_log_level level, void *user) {
    callback = fn;
    callback_level = level;
    callback_user = user;
}

int gm_log_is_heard(enum gm_log_level level) {
    pthread_once(&environment_once, read_environment);
    return level <= (callback ? callback_level : environment_level);
}

void gm_log(enum gm_log_level level, const char *format, ...) {
    if (!gm_log_is_heard(level))
        return;
    char message[640];
    va_list arguments;
    va_start(arguments, format);
    gm_format(message, sizeof message, format, arguments);
    va_end(arguments);
    if (callback)
        callback(level, message, callback_user);
    else
        fprintf(stderr, "gristmill: %s\n", message);
}
