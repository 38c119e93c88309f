/* SPDX-License-Identifier: Apache-2.0 */
/* What the program says on stderr: failures, notes, and a progress bar when it is a terminal. */
#include "program/base/messages.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

#include "program/base/utf8.h"

#define BAR_CELLS 24

static bool silent;
static bool drawn;

static void say(const char *prefix, const char *format, va_list arguments) {
    progress_clear();
    fputs(prefix, stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
}

int complain(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    say("gristmill: ", format, arguments);
    va_end(arguments);
    return -1;
}

void note(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    say("", format, arguments);
    va_end(arguments);
}

void progress_silence(void) {
    silent = true;
}

void progress_clear(void) {
    if (!drawn)
        return;
    fputs("\r\033[K", stderr);
    fflush(stderr);
    drawn = false;
}

static void draw_bar(size_t done, size_t total) {
    static const char *const eighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
    const bool utf8 = utf8_on_terminal();
    const size_t fill = done * BAR_CELLS * 8 / total;
    fputs(utf8 ? "▕" : "[", stderr);
    for (size_t cell = 0; cell < BAR_CELLS; cell++) {
        const size_t part = fill > cell * 8 ? fill - cell * 8 : 0;
        if (utf8)
            fputs(part >= 8 ? "█" : part ? eighths[part] : " ", stderr);
        else
            fputs(part >= 8 ? "#" : " ", stderr);
    }
    fputs(utf8 ? "▏" : "]", stderr);
}

void progress_show(size_t done, size_t total, const char *label) {
    if (silent || total == 0 || !isatty(STDERR_FILENO))
        return;
    fputs("\r\033[K", stderr);
    draw_bar(done, total);
    fprintf(stderr, " %zu/%zu  %s", done, total, label);
    fflush(stderr);
    drawn = true;
}
