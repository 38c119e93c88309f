/* SPDX-License-Identifier: Apache-2.0 */
/* vprintf: printf's text of each lane, to the host's standard output, lane after lane in the order in which warps run.
 *
 * The first argument is the address of the format, the second that of the values, which lie one behind the other, each
 * aligned to its size: 4 bytes of an int, 8 of a long, a double and a pointer. */
#include <stdio.h>
#include <string.h>

#include "sim/execute/instructions.h"
#include "sim/execute/lanes.h"
#include "sim/execute/transfer.h"
#include "sim/report/report.h"

enum { TEXT_MOST = 4096, CONVERSION_MOST = 32 };

/* One lane's call. */
struct call {
    struct sim_warp *warp;
    const struct ptx_instruction *i;
    int lane;
    uint64_t values;
    uint32_t used; /* bytes of them */
    uint32_t count;
};

/* Memory at a generic address. NULL: a fault was reported. */
static const void *bytes_at(const struct call *call, uint64_t address, uint32_t bytes) {
    struct sim_warp *warp = call->warp;
    const uint64_t window = address & SIM_WINDOW_MASK, size = warp->machine->function->local_bytes;
    const uint64_t offset = address & ~SIM_WINDOW_MASK;
    if (window == SIM_LOCAL_WINDOW && warp->local && offset <= size && bytes <= size - offset)
        return warp->local + (uint64_t)call->lane * size + offset;
    if (window == 0)
        return sim_global_read(warp, call->i, call->lane, address, bytes, 1);
    sim_fail(warp->machine, CUDA_ERROR_LAUNCH_FAILED);
    sim_report(warp, call->i, SIM_REPORT_OUT_OF_BOUNDS, call->lane, address,
               "printf reads %u bytes that lie in no global and no local memory", bytes);
    return NULL;
}

/* The text at a generic address, TEXT_MOST - 1 bytes of it at most. */
static bool read_text(const struct call *call, uint64_t address, char text[TEXT_MOST]) {
    for (uint32_t n = 0; n < TEXT_MOST - 1; n++) {
        const char *at = bytes_at(call, address + n, 1);
        if (!at)
            return false;
        text[n] = *at;
        if (!*at)
            return true;
    }
    text[TEXT_MOST - 1] = '\0';
    return true;
}

/* The next value, of 4 or 8 bytes. */
static bool take_value(struct call *call, uint32_t bytes, uint64_t *value) {
    call->used = (call->used + bytes - 1) / bytes * bytes;
    const uint8_t *at = bytes_at(call, call->values + call->used, bytes);
    if (!at)
        return false;
    call->used += bytes;
    call->count++;
    *value = sim_fetch(at, bytes, false);
    return true;
}

/* ---- one conversion ---------------------------------------------------------------------------------------------- */

/* "%-8.3lld" taken apart: what stands between '%' and the length, with the values of '*' in it. */
struct conversion {
    char head[CONVERSION_MOST];
    bool is_long;
    char letter; /* 0: the format ends */
};

/* Copies flags, width and precision; what does not fit is left out. */
static bool take_head(struct call *call, const char **format, struct conversion *conversion) {
    size_t used = 0;
    uint64_t value;
    for (; **format && strchr("-+ #0123456789.*", **format); ++*format) {
        const size_t room = sizeof conversion->head - used;
        if (**format == '*' && !take_value(call, 4, &value))
            return false;
        if (**format == '*')
            used += (size_t)snprintf(conversion->head + used, room, "%d", (int)(uint32_t)value % 1000);
        else if (room > 8)
            conversion->head[used++] = **format;
        used = used < sizeof conversion->head - 8 ? used : sizeof conversion->head - 8;
    }
    conversion->head[used] = '\0';
    return true;
}

static bool take_conversion(struct call *call, const char **format, struct conversion *conversion) {
    *conversion = (struct conversion){.letter = 0};
    if (!take_head(call, format, conversion))
        return false;
    for (; **format && strchr("hlLjzt", **format); ++*format)
        conversion->is_long |= **format != 'h' && **format != 'L';
    conversion->letter = **format;
    *format += **format != '\0';
    return true;
}

/* What is printed is made up of the conversion's own parts, so it takes just the one value. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
#pragma GCC diagnostic ignored "-Wformat-security"
static void print_value(const struct conversion *conversion, uint64_t value, const char *text) {
    char format[CONVERSION_MOST + 8];
    const char letter = conversion->letter;
    const char *length = strchr("diouxX", letter) ? "ll" : "";
    snprintf(format, sizeof format, "%%%s%s%c", conversion->head, length, letter);
    if (strchr("aAeEfFgG", letter))
        printf(format, sim_as_f64(value));
    else if (letter == 's')
        printf(format, text);
    else if (letter == 'c')
        printf(format, (int)value);
    else if (letter == 'p')
        printf(format, (void *)(uintptr_t)value);
    else
        printf(format, (long long)value);
}
#pragma GCC diagnostic pop

static bool print_conversion(struct call *call, const struct conversion *conversion) {
    char text[TEXT_MOST] = "";
    uint64_t value;
    const char letter = conversion->letter;
    if (letter == '%')
        putchar('%');
    if (letter == '\0' || letter == '%')
        return true;
    if (!strchr("diouxXcaAeEfFgGsp", letter)) {
        printf("%%%s%c", conversion->head, letter); /* none: as it stands, and no value */
        return true;
    }
    const bool is_integer = strchr("diouxXc", letter) != NULL;
    if (!take_value(call, is_integer && !conversion->is_long ? 4 : 8, &value))
        return false;
    if ((letter == 'd' || letter == 'i') && !conversion->is_long)
        value = (uint64_t)(int64_t)(int32_t)value;
    if (letter == 's' && value && !read_text(call, value, text))
        return false;
    print_value(conversion, value, letter == 's' && !value ? "(null)" : text);
    return true;
}

static bool print_all(struct call *call, const char *format) {
    while (*format) {
        struct conversion conversion;
        const size_t plain = strcspn(format, "%");
        fwrite(format, 1, plain, stdout);
        format += plain;
        if (!*format)
            break;
        format++;
        if (!take_conversion(call, &format, &conversion) || !print_conversion(call, &conversion))
            return false;
    }
    return true;
}

/* ---- the instruction ---------------------------------------------------------------------------------------------- */

/* operands: the .param variables of the result, the format, the values */
enum sim_next sim_do_print(struct sim_warp *warp, struct sim_path *path, const struct ptx_instruction *i,
                           uint32_t mask) {
    const uint64_t size = warp->machine->function->local_bytes;
    char format[TEXT_MOST];
    (void)path;
    for (; mask; mask &= mask - 1) {
        struct call call = {.warp = warp, .i = i, .lane = __builtin_ctz(mask)};
        uint8_t *frame = warp->local ? warp->local + (uint64_t)call.lane * size : NULL;
        if (!frame)
            return SIM_NEXT; /* a module whose .param variables lie nowhere: no parser makes it */
        call.values = sim_fetch(frame + i->operand[2].value, 8, false);
        if (!read_text(&call, sim_fetch(frame + i->operand[1].value, 8, false), format) || !print_all(&call, format))
            return SIM_FAULT;
        sim_put(frame + i->operand[0].value, 4, call.count);
    }
    return SIM_NEXT;
}
