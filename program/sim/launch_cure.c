/* SPDX-License-Identifier: Apache-2.0 */
/* Cures of bank conflicts: the addresses of a launch, placed anew with a pad or a swizzle, and priced again. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gristmill/smem.h"
#include "program/sim/launch_kernel.h"
#include "program/sim/launch_report.h"

enum { KEPT_MAX = 1 << 14, PLACES = 2 * KEPT_MAX, PITCHES_MAX = 8, PITCH_LEAST = 32, LINES_MAX = 64 };

struct launch_access {
    struct gm_sim_access access; /* where it was made first */
    uint64_t times;              /* 0: an empty place */
};

/* ---- collecting -------------------------------------------------------------------------------------------------- */

static bool is_same(const struct gm_sim_access *a, const struct gm_sim_access *b) {
    if (a->line != b->line || a->mask != b->mask || a->width != b->width || a->kind != b->kind)
        return false;
    for (uint32_t lane = 0; lane < 32; lane++)
        if (a->mask >> lane & 1 && a->address[lane] != b->address[lane])
            return false;
    return true;
}

static uint32_t hash(const struct gm_sim_access *access) {
    uint32_t sum = access->line * 0x9e3779b1u + access->mask;
    for (uint32_t lane = 0; lane < 32; lane++)
        sum += (access->mask >> lane & 1 ? access->address[lane] : 0) * (0x27d4eb2fu + 2 * 0x165667b1u * lane);
    return (sum ^ sum >> 15) * 0x2c1b3c6du % PLACES;
}

void launch_note_access(const struct gm_sim_access *access, void *noted) {
    struct launch_accesses *accesses = noted;
    if (!accesses->each && !accesses->full)
        accesses->each = calloc(PLACES, sizeof *accesses->each);
    if (!accesses->each) {
        accesses->full = true;
        return;
    }
    uint32_t place = hash(access);
    while (accesses->each[place].times && !is_same(&accesses->each[place].access, access))
        place = (place + 1) % PLACES;
    struct launch_access *kept = &accesses->each[place];
    if (!kept->times && accesses->count == KEPT_MAX) {
        accesses->full = true;
        return;
    }
    if (!kept->times) {
        kept->access = *access;
        accesses->count++;
    }
    kept->times++;
}

void launch_forget_accesses(struct launch_accesses *accesses) {
    free(accesses->each);
    *accesses = (struct launch_accesses){0};
}

/* ---- an array ---------------------------------------------------------------------------------------------------- */

struct array {
    char name[LAUNCH_NAME_BYTES];
    uint32_t address, bytes;
    const struct launch_access **each; /* that lie in it */
    size_t count;
    uint64_t conflicts;
    bool crossed; /* an access lies in it in part */
};

/* How a byte offset of the array is changed. */
struct layout {
    uint32_t pitch, pad; /* bytes; pad 0: the swizzle */
    struct gm_swizzle swizzle;
};

static void add_if_inside(struct array *array, const struct launch_access *kept) {
    const struct gm_sim_access *access = &kept->access;
    uint32_t inside = 0;
    for (uint32_t lane = 0; lane < 32; lane++)
        if (access->mask >> lane & 1 && access->address[lane] >= array->address &&
            access->address[lane] - array->address < array->bytes)
            inside |= 1u << lane;
    array->crossed |= inside && inside != access->mask;
    if (!inside)
        return;
    array->each[array->count++] = kept;
    array->conflicts += kept->times * access->conflicts;
}

/* The access in the layout. */
static struct gm_access placed(const struct array *array, const struct gm_sim_access *from,
                               const struct layout *layout) {
    struct gm_access to = {
        .size = sizeof to, .kind = (enum gm_access_kind)from->kind, .width = from->width, .inactive = ~from->mask};
    for (uint32_t lane = 0; lane < 32; lane++) {
        if (!(from->mask >> lane & 1))
            continue;
        const uint32_t offset = from->address[lane] - array->address;
        to.address[lane] =
            layout->pad ? offset + offset / layout->pitch * layout->pad : gm_swizzle_apply(layout->swizzle, offset);
    }
    return to;
}

/* Wavefronts of the kept access in the layout, each time; UINT64_MAX: it cannot be. */
static uint64_t price(const struct array *array, const struct launch_access *kept, const struct layout *layout) {
    const struct gm_access access = placed(array, &kept->access, layout);
    struct gm_bank_cost cost = {.size = sizeof cost};
    return gm_bank_cost(&access, &cost) == GM_OK ? kept->times * cost.wavefronts : UINT64_MAX;
}

static uint64_t price_all(const struct array *array, const struct layout *layout) {
    uint64_t sum = 0;
    for (size_t i = 0; i < array->count; i++) {
        const uint64_t one = price(array, array->each[i], layout);
        if (one == UINT64_MAX)
            return UINT64_MAX;
        sum += one;
    }
    return sum;
}

/* ---- pitches ----------------------------------------------------------------------------------------------------- */

/* A distance between two lanes may be the array's row; smaller ones first. */
static void add_pitch(uint32_t pitches[PITCHES_MAX], size_t *count, const struct array *array, uint32_t width,
                      uint32_t pitch) {
    size_t at = 0;
    if (pitch < PITCH_LEAST || pitch % width || pitch % 4 || array->bytes % pitch || pitch >= array->bytes)
        return;
    while (at < *count && pitches[at] < pitch)
        at++;
    if ((at < *count && pitches[at] == pitch) || at == PITCHES_MAX)
        return;
    *count += *count < PITCHES_MAX;
    memmove(&pitches[at + 1], &pitches[at], (*count - at - 1) * sizeof *pitches);
    pitches[at] = pitch;
}

/* The distances from each lane to the next, and from the first lane, of the accesses with conflicts. */
static size_t find_pitches(const struct array *array, uint32_t pitches[PITCHES_MAX]) {
    size_t count = 0;
    for (size_t i = 0; i < array->count; i++) {
        const struct gm_sim_access *access = &array->each[i]->access;
        if (!access->conflicts || !access->mask)
            continue;
        const uint32_t first = access->address[__builtin_ctz(access->mask)];
        uint32_t before = first;
        for (uint32_t lane = 0; lane < 32; lane++) {
            if (!(access->mask >> lane & 1))
                continue;
            const uint32_t here = access->address[lane];
            add_pitch(pitches, &count, array, access->width, here > before ? here - before : before - here);
            add_pitch(pitches, &count, array, access->width, here > first ? here - first : first - here);
            before = here;
        }
    }
    return count;
}

/* ---- advice ------------------------------------------------------------------------------------------------------ */

struct advice {
    struct layout pad, swizzle;
    uint64_t padded, swizzled; /* wavefronts; UINT64_MAX: there is none */
    bool found;
};

static struct gm_tile_access walk_of(const struct array *array, const struct gm_sim_access *access, uint32_t pitch) {
    struct gm_tile_access walk = {.size = sizeof walk,
                                  .kind = (enum gm_access_kind)access->kind,
                                  .width = access->width,
                                  .inactive = ~access->mask};
    for (uint32_t lane = 0; lane < 32; lane++) {
        if (!(access->mask >> lane & 1))
            continue;
        walk.row[lane] = (access->address[lane] - array->address) / pitch;
        walk.byte[lane] = (access->address[lane] - array->address) % pitch;
    }
    return walk;
}

/* Advice is worth a line that removes half of what conflicts cost. */
static bool is_worth(uint64_t today, uint64_t after, uint64_t ideal) {
    return after < today && 2 * (today - after) >= today - ideal;
}

/* What the adviser says of rows of `pitch` bytes; its swizzle may be better for another pitch, so the least wins. */
static void ask(const struct array *array, uint32_t pitch, uint32_t other_bytes, const struct gm_device *device,
                struct gm_tile_access *walks, struct advice *advice) {
    const struct gm_pad_question question = {
        .size = sizeof question,
        .tile = {.size = sizeof question.tile, .rows = array->bytes / pitch, .row_bytes = pitch},
        .other_bytes = other_bytes};
    struct gm_pad_advice answer = {.size = sizeof answer};
    for (size_t i = 0; i < array->count; i++)
        walks[i] = walk_of(array, &array->each[i]->access, pitch);
    if (gm_pad_advise(&question, walks, array->count, device, &answer) != GM_OK)
        return;
    const struct layout pad = {.pitch = pitch, .pad = answer.pad_bytes}, swizzle = {pitch, 0, answer.swizzle};
    const uint64_t padded = answer.pad_bytes ? price_all(array, &pad) : UINT64_MAX;
    const uint64_t swizzled = answer.swizzle.bits ? price_all(array, &swizzle) : UINT64_MAX;
    const uint64_t least = padded < swizzled ? padded : swizzled;
    const uint64_t before = advice->padded < advice->swizzled ? advice->padded : advice->swizzled;
    if (least >= before)
        return;
    *advice = (struct advice){pad, swizzle, padded, swizzled, true};
}

/* ---- printing ---------------------------------------------------------------------------------------------------- */

/* Accesses of one kind and line, before and after. */
struct change {
    const char *file;
    uint32_t line, kind;
    uint64_t before, after, ideal;
};

static size_t list_changes(struct simulator *simulator, const struct array *array, const struct layout *layout,
                           struct change changes[LINES_MAX]) {
    size_t count = 0;
    for (size_t i = 0; i < array->count; i++) {
        const struct launch_access *kept = array->each[i];
        const char *file = NULL;
        uint32_t line = kept->access.line;
        size_t at = 0;
        simulator->line_source(line, &file, &line);
        while (at < count && (changes[at].line != line || changes[at].file != file ||
                              changes[at].kind != (uint32_t)kept->access.kind))
            at++;
        if (at == LINES_MAX)
            continue;
        if (at == count)
            changes[count++] = (struct change){file, line, (uint32_t)kept->access.kind, 0, 0, 0};
        changes[at].before += kept->times * kept->access.wavefronts;
        changes[at].ideal += kept->times * kept->access.ideal;
        changes[at].after += price(array, kept, layout);
    }
    return count;
}

static int by_line(const void *left, const void *right) {
    const struct change *a = left, *b = right;
    const int files = a->file && b->file ? strcmp(a->file, b->file) : 0;
    return files                ? files
           : a->line != b->line ? (a->line > b->line ? 1 : -1)
                                : (a->kind > b->kind) - (a->kind < b->kind);
}

static void print_changes(struct simulator *simulator, const struct array *array, const struct layout *layout) {
    struct change changes[LINES_MAX];
    char place[300];
    const size_t count = list_changes(simulator, array, layout, changes);
    qsort(changes, count, sizeof *changes, by_line);
    for (size_t i = 0; i < count; i++) {
        const struct change *change = &changes[i];
        if (change->before == change->after && change->before == change->ideal)
            continue;
        launch_place(change->file, change->line, place, sizeof place);
        printf("    %s: %" PRIu64 " wavefronts become %" PRIu64, place, change->before, change->after);
        if (change->after == change->ideal)
            printf(", the ideal\n");
        else
            printf("; the ideal is %" PRIu64 "\n", change->ideal);
    }
}

static uint32_t widest(const struct array *array) {
    uint32_t width = 1;
    for (size_t i = 0; i < array->count; i++)
        width = array->each[i]->access.width > width ? array->each[i]->access.width : width;
    return width;
}

static void print_pad(struct simulator *simulator, const struct array *array, const struct layout *layout) {
    const uint32_t unit = widest(array);
    printf("  %s, rows of %u bytes: %u bytes more a row", array->name, layout->pitch, layout->pad);
    if (layout->pitch % unit == 0 && layout->pad % unit == 0)
        printf(" (%u elements of %u bytes instead of %u)", (layout->pitch + layout->pad) / unit, unit,
               layout->pitch / unit);
    printf("\n");
    print_changes(simulator, array, layout);
}

static void print_swizzle(struct simulator *simulator, const struct array *array, const struct layout *layout) {
    const struct gm_swizzle s = layout->swizzle;
    const uint32_t mask = ((1u << s.bits) - 1) << s.base;
    printf("  %s: Swizzle<%u,%u,%d> of its byte offsets, and no byte more: ", array->name, s.bits, s.base, s.shift);
    if (s.shift >= 0)
        printf("o ^ (o >> %d & 0x%x)\n", s.shift, mask);
    else
        printf("o ^ (o & 0x%x) << %d\n", mask, -s.shift);
    print_changes(simulator, array, layout);
}

/* The better of the two, or both. */
static void print_advice(struct simulator *simulator, const struct array *array, const struct advice *advice) {
    if (advice->padded <= advice->swizzled)
        print_pad(simulator, array, &advice->pad);
    if (advice->swizzled <= advice->padded)
        print_swizzle(simulator, array, &advice->swizzle);
}

/* `*begun`: something was printed before. */
static void cure(struct simulator *simulator, const struct array *array, uint32_t other_bytes, bool *begun) {
    uint64_t today = 0, ideal = 0;
    for (size_t i = 0; i < array->count; i++) {
        today += array->each[i]->times * array->each[i]->access.wavefronts;
        ideal += array->each[i]->times * array->each[i]->access.ideal;
    }
    struct advice advice = {.padded = today, .swizzled = today};
    struct gm_tile_access *walks = calloc(array->count, sizeof *walks);
    uint32_t pitches[PITCHES_MAX];
    const size_t count = walks ? find_pitches(array, pitches) : 0;
    for (size_t i = 0; i < count; i++)
        ask(array, pitches[i], other_bytes, &simulator->gpu.device, walks, &advice);
    const uint64_t after = advice.padded < advice.swizzled ? advice.padded : advice.swizzled;
    free(walks);
    if (!advice.found || !is_worth(today, after, ideal))
        return;
    if (!*begun)
        printf("\nwhat would cure it, by the addresses of this launch\n\n");
    *begun = true;
    print_advice(simulator, array, &advice);
}

void launch_print_cures(struct simulator *simulator, const struct gm_sim_ptx *ptx, size_t index, uint32_t dynamic_bytes,
                        const struct launch_accesses *accesses) {
    struct gm_sim_kernel kernel;
    struct gm_sim_variable variable;
    const struct launch_access **each = calloc(accesses->count + 1, sizeof(*each));
    uint32_t before = 0;
    bool begun = false;
    if (each && !accesses->full && simulator->ptx_kernel(ptx, index, &kernel) == 0)
        for (size_t v = 0; simulator->ptx_variable(ptx, index, v, &variable) == 0; v++) {
            struct array array = {
                .address = variable.address, .bytes = variable.bytes ? variable.bytes : dynamic_bytes, .each = each};
            launch_variable_name(variable.name, array.name);
            for (size_t i = 0; accesses->each && i < PLACES; i++)
                if (accesses->each[i].times)
                    add_if_inside(&array, &accesses->each[i]);
            if (array.conflicts && !array.crossed && array.address != before)
                cure(simulator, &array, kernel.static_shared + dynamic_bytes - array.bytes, &begun);
            before = array.address; /* all names of the dynamic part are one */
        }
    free(each);
}
