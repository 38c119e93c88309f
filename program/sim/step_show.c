/* SPDX-License-Identifier: Apache-2.0 */
/* What the single step shows of a stopped warp. */
#include "program/sim/step_show.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { LINE_BYTES = 128, CHUNK_BYTES = 16, WORD_BYTES = 4 };

static const char *trimmed(const char *text) {
    return text ? text + strspn(text, " \t") : "";
}

void step_show_place(const struct simulator *simulator, struct gm_sim_view *view) {
    uint32_t cta[3], mask;
    int warp;
    uint64_t time;
    simulator->view_where(view, cta, &warp, &mask, &time);
    printf("CTA %u,%u,%u warp %d, lanes %08x, tick %" PRIu64 "\n%6u  %s\n", cta[0], cta[1], cta[2], warp, mask, time,
           simulator->view_line(view), trimmed(simulator->view_text(view)));
}

void step_show_lines(const struct simulator *simulator, struct gm_sim_view *view, uint32_t around) {
    const uint32_t here = simulator->view_line(view);
    const uint32_t first = here > around ? here - around : 1;
    for (uint32_t line = first; line <= here + around; line++) {
        const char *text = simulator->view_source(view, line);
        if (!text)
            break;
        printf("%c%6u  %s\n", line == here ? '>' : ' ', line, trimmed(text));
    }
}

bool step_show_register(const struct simulator *simulator, struct gm_sim_view *view, const char *name) {
    uint64_t lanes[32], time;
    uint32_t cta[3], mask;
    int bits, warp, first = 0;
    if (simulator->view_register(view, name, lanes, &bits) != 0)
        return false;
    simulator->view_where(view, cta, &warp, &mask, &time);
    while (first < 31 && !(mask >> first & 1))
        first++;
    bool uniform = true;
    for (int lane = 0; lane < 32; lane++)
        uniform = uniform && (!(mask >> lane & 1) || lanes[lane] == lanes[first]);
    const int digits = bits == 1 ? 1 : bits / 4;
    if (uniform) {
        printf("%-8s 0x%0*" PRIx64 " (%" PRIu64 ") in every active lane\n", name, digits, lanes[first], lanes[first]);
        return true;
    }
    for (int lane = 0; lane < 32; lane++) {
        const int per_row = bits > 32 ? 4 : bits == 1 ? 32 : 8;
        if (lane % per_row == 0)
            printf("%s%-8s lane %2d:", lane ? "\n" : "", lane ? "" : name, lane);
        if (mask >> lane & 1)
            printf(" %0*" PRIx64, digits, lanes[lane]);
        else
            printf(" %*s", digits, "-");
    }
    printf("\n");
    return true;
}

void step_show_operands(const struct simulator *simulator, struct gm_sim_view *view) {
    const char *name;
    for (size_t i = 0; (name = simulator->view_operand(view, i)) != NULL; i++)
        step_show_register(simulator, view, name);
}

/* The logical chunk that lies at physical chunk `chunk` of the line at `address`, as row.chunk of rows one span wide.
 */
static void print_chunks(uint32_t address, uint32_t span) {
    const uint32_t per_span = span / CHUNK_BYTES;
    printf("%10s", "chunk");
    for (uint32_t chunk = 0; chunk < LINE_BYTES / CHUNK_BYTES; chunk++) {
        const uint32_t at = address + chunk * CHUNK_BYTES;
        const uint32_t logical = at ^ (at >> 3 & (span - CHUNK_BYTES));
        printf(" row %2u chunk %u %20s", logical / span % 8, logical / CHUNK_BYTES % per_span, "");
    }
    printf("\n");
}

static void print_line(uint32_t address, const uint8_t *bytes, uint32_t count) {
    printf("%#10x", address);
    for (uint32_t i = 0; i + WORD_BYTES <= count; i += WORD_BYTES) {
        uint32_t word;
        memcpy(&word, bytes + i, sizeof word);
        printf("%s%08x", i % CHUNK_BYTES ? " " : " ", word);
    }
    printf("\n");
}

bool step_show_shared(const struct simulator *simulator, struct gm_sim_view *view, uint32_t address, uint32_t bytes,
                      uint32_t span) {
    uint8_t line[LINE_BYTES];
    address &= ~(uint32_t)(LINE_BYTES - 1);
    printf("%10s", "bank");
    for (uint32_t bank = 0; bank < LINE_BYTES / WORD_BYTES; bank++)
        printf(" %8u", bank);
    printf("\n");
    for (uint32_t done = 0; done < bytes; done += LINE_BYTES) {
        const size_t have = simulator->view_shared(view, address + done, line, sizeof line);
        if (have == 0)
            return done > 0;
        if (span)
            print_chunks(address + done, span);
        print_line(address + done, line, (uint32_t)have);
    }
    return true;
}

void step_show_mbarriers(const struct simulator *simulator, struct gm_sim_view *view) {
    struct gm_sim_mbarrier barrier;
    printf("%10s %9s %9s %6s %8s\n", "mbarrier", "arrivals", "pending", "phase", "bytes");
    for (size_t i = 0; simulator->view_mbarrier(view, i, &barrier) == 0; i++)
        printf("%#10x %9u %9u %6u %8" PRId64 "\n", barrier.address, barrier.expected, barrier.pending, barrier.phase,
               barrier.transactions);
}
