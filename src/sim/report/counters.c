/* SPDX-License-Identifier: Apache-2.0 */
/* What a launch counts: collected per instruction and in all while it runs, kept when it ends. */
#include <stdlib.h>
#include <string.h>

#include "sim/report/counters_state.h"

enum { SECTOR_BYTES = 32, ROW_BYTES = 128 };

struct sim_kept sim_kept;

/* ---- of one launch --------------------------------------------------------------------------------------- */

struct sim_counters *sim_counters_new(const struct ptx_function *function) {
    const char *text = function->module ? function->module->text : "";
    const struct ptx_sources none = {.bytes = sizeof none};
    const struct ptx_sources *known = function->module && function->module->sources ? function->module->sources : &none;
    struct sim_counters *counters = calloc(1, sizeof *counters);
    struct gm_sim_line *lines = calloc(function->count + 1, sizeof *lines);
    struct ptx_sources *sources = malloc(known->bytes);
    char *copy = strdup(text);
    if (!counters || !lines || !copy || !sources) {
        free(counters);
        free(lines);
        free(sources);
        free(copy);
        return NULL;
    }
    free(sim_kept.lines);
    free(sim_kept.sources);
    free(sim_kept.text);
    free(sim_kept.starts);
    memcpy(sources, known, known->bytes);
    sim_kept = (struct sim_kept){.lines = lines, .sources = sources, .text = copy};
    counters->function = function;
    return counters;
}

static void free_tables(struct sim_counters *counters) {
    free(counters->at);
    free(counters->results_read);
    sim_joins_free(counters->joins);
    counters->at = NULL;
    counters->results_read = NULL;
    counters->joins = NULL;
}

void sim_counters_free(struct sim_counters *counters) {
    if (counters)
        free_tables(counters);
    free(counters);
}

/* A bit per register row that some instruction reads. */
static uint64_t *find_reads(const struct ptx_function *function) {
    uint64_t *read = calloc(function->register_bytes / ROW_BYTES / 64 + 1, sizeof *read);
    for (uint32_t pc = 0; read && pc < function->count; pc++) {
        const struct ptx_instruction *i = &function->code[pc];
        for (uint16_t r = 0; r < i->reads_count; r++) {
            const uint32_t row = function->touched[i->reads_first + r] / ROW_BYTES;
            read[row / 64] |= UINT64_C(1) << row % 64;
        }
    }
    return read;
}

struct sim_counters *sim_counters_of(struct sim_warp *warp) {
    struct sim_counters *counters = warp->machine->counters;
    if (!warp->machine->options->count || !counters)
        return NULL;
    if (counters->at)
        return counters;
    counters->at = calloc(counters->function->count + 1, sizeof *counters->at);
    counters->results_read = find_reads(counters->function);
    counters->joins = sim_joins_find(counters->function);
    if (counters->at && counters->results_read && counters->joins)
        return counters;
    free_tables(counters);
    sim_out_of_memory(warp->machine);
    return NULL;
}

/* ---- global memory --------------------------------------------------------------------------------------- */

/* Different ones of an unordered list: by insertion into a small table of its own. */
static uint32_t distinct_numbers(const uint64_t *numbers, uint32_t count) {
    enum { PLACES = 128 };
    uint64_t table[PLACES];
    uint8_t used[PLACES] = {0};
    uint32_t distinct = 0;
    for (uint32_t k = 0; k < count; k++) {
        uint32_t place = (uint32_t)(numbers[k] * UINT64_C(0x9e3779b97f4a7c15) >> 57);
        while (used[place] && table[place] != numbers[k])
            place = (place + 1) % PLACES;
        distinct += !used[place];
        used[place] = 1;
        table[place] = numbers[k];
    }
    return distinct;
}

/* The sectors of every lane, in order of lanes; two where a lane's bytes straddle a border. */
static uint32_t list_sectors(uint64_t list[2 * PTX_LANES], const uint64_t addresses[PTX_LANES], uint32_t mask,
                             uint32_t bytes, bool *rising) {
    uint32_t count = 0;
    uint64_t before = 0;
    *rising = true;
    for (; mask; mask &= mask - 1) {
        const uint64_t address = addresses[__builtin_ctz(mask)];
        const uint64_t first = address / SECTOR_BYTES, last = (address + bytes - 1) / SECTOR_BYTES;
        *rising &= first >= before;
        list[count++] = before = first;
        if (last != first)
            list[count++] = before = last;
    }
    return count;
}

static uint32_t count_sectors(const uint64_t addresses[PTX_LANES], uint32_t mask, uint32_t bytes) {
    uint64_t list[2 * PTX_LANES];
    bool rising;
    const uint32_t count = list_sectors(list, addresses, mask, bytes, &rising);
    if (!rising)
        return distinct_numbers(list, count);
    uint32_t distinct = count > 0;
    for (uint32_t k = 1; k < count; k++)
        distinct += list[k] != list[k - 1];
    return distinct;
}

/* As few sectors as hold the bytes that the lanes ask for; where addresses rise, each is another. */
static uint32_t count_ideal(const uint64_t addresses[PTX_LANES], uint32_t mask, uint32_t bytes) {
    uint64_t list[PTX_LANES];
    uint32_t count = 0;
    bool rising = true;
    for (; mask; mask &= mask - 1) {
        list[count] = addresses[__builtin_ctz(mask)];
        rising &= count == 0 || list[count] > list[count - 1];
        count++;
    }
    return ((rising ? count : distinct_numbers(list, count)) * bytes + SECTOR_BYTES - 1) / SECTOR_BYTES;
}

/* Every lane's bytes where lane 0's would put them if all lanes lay side by side. */
static bool is_contiguous(const uint64_t addresses[PTX_LANES], uint32_t mask, uint32_t bytes) {
    const uint32_t first = (uint32_t)__builtin_ctz(mask);
    bool contiguous = true;
    for (; mask; mask &= mask - 1) {
        const uint32_t lane = (uint32_t)__builtin_ctz(mask);
        contiguous &= addresses[lane] == addresses[first] + (uint64_t)bytes * (lane - first);
    }
    return contiguous;
}

void sim_count_global(struct sim_warp *warp, const struct ptx_instruction *i, bool store,
                      const uint64_t addresses[PTX_LANES], uint32_t mask, uint32_t bytes) {
    struct sim_counters *counters = sim_counters_of(warp);
    if (!counters || !mask || !bytes)
        return;
    const uint32_t sectors = count_sectors(addresses, mask, bytes);
    const enum sim_class class = i->operation->class;
    struct sim_count_at *at = &counters->at[i->pc];
    at->sectors += sectors;
    at->ideal_sectors += count_ideal(addresses, mask, bytes);
    at->requests++;
    at->width = bytes > at->width ? bytes : at->width;
    counters->totals.global_accesses++;
    if (class == SIM_CLASS_CP_ASYNC) { /* neither a load nor a store to the hardware's counters */
        counters->totals.scattered_copies |= !is_contiguous(addresses, mask, bytes);
    } else if (class != SIM_CLASS_GLOBAL_ATOMIC) {
        counters->totals.sectors[store ? SIM_COUNT_STORE : SIM_COUNT_LOAD] += sectors;
        counters->totals.requests[store ? SIM_COUNT_STORE : SIM_COUNT_LOAD]++;
    }
}

void sim_count_unmodelled(struct sim_warp *warp) {
    struct sim_counters *counters = sim_counters_of(warp);
    if (counters)
        counters->totals.unmodelled = true;
}

/* ---- peers and bulk copies ------------------------------------------------------------------------------- */

void sim_count_peer(struct sim_warp *warp, const struct ptx_instruction *i, bool store, uint64_t bytes) {
    struct sim_counters *counters = sim_counters_of(warp);
    if (!counters)
        return;
    counters->at[i->pc].bytes += bytes;
    counters->totals.peer_bytes[store ? SIM_COUNT_STORE : SIM_COUNT_LOAD] += bytes;
}

void sim_count_bulk(struct sim_warp *warp, const struct ptx_instruction *i, bool store, uint64_t bytes,
                    uint64_t sectors, uint32_t receivers) {
    struct sim_counters *counters = sim_counters_of(warp);
    if (!counters)
        return;
    const int direction = store ? SIM_COUNT_STORE : SIM_COUNT_LOAD;
    counters->at[i->pc].bytes += bytes;
    counters->at[i->pc].sectors += sectors;
    counters->totals.bulk_bytes[direction] += bytes;
    counters->totals.bulk_sectors[direction] += sectors;
    if (!store)
        counters->totals.received_sectors += sectors * (receivers ? receivers : 1);
}

/* ---- the end of a launch --------------------------------------------------------------------------------- */

static int by_line(const void *left, const void *right) {
    const uint32_t a = ((const struct gm_sim_line *)left)->line, b = ((const struct gm_sim_line *)right)->line;
    return (a > b) - (a < b);
}

/* One entry a line: instructions on the same line are added up. */
static size_t merge_lines(struct gm_sim_line *lines, size_t count) {
    size_t kept = 0;
    qsort(lines, count, sizeof *lines, by_line);
    for (size_t k = 0; k < count; k++) {
        if (kept == 0 || lines[kept - 1].line != lines[k].line) {
            lines[kept++] = lines[k];
            continue;
        }
        struct gm_sim_line *sum = &lines[kept - 1];
        sum->instructions += lines[k].instructions;
        sum->lanes += lines[k].lanes;
        sum->wavefronts += lines[k].wavefronts;
        sum->conflicts += lines[k].conflicts;
        sum->sectors += lines[k].sectors;
        sum->bytes += lines[k].bytes;
        sum->accesses += lines[k].accesses;
        sum->ideal_wavefronts += lines[k].ideal_wavefronts;
        sum->requests += lines[k].requests;
        sum->ideal_sectors += lines[k].ideal_sectors;
        sum->access = sum->access ? sum->access : lines[k].access;
        sum->width = sum->width > lines[k].width ? sum->width : lines[k].width;
    }
    return kept;
}

/* What a class of instructions does to memory. */
static const char *const accesses[SIM_CLASSES] = {
    [SIM_CLASS_GLOBAL_LOAD] = "ld.global",
    [SIM_CLASS_GLOBAL_STORE] = "st.global",
    [SIM_CLASS_GLOBAL_ATOMIC] = "atom.global",
    [SIM_CLASS_SHARED_LOAD] = "ld.shared",
    [SIM_CLASS_SHARED_STORE] = "st.shared",
    [SIM_CLASS_SHARED_ATOMIC] = "atom.shared",
    [SIM_CLASS_LDMATRIX] = "ldmatrix",
    [SIM_CLASS_STMATRIX] = "stmatrix",
    [SIM_CLASS_CP_ASYNC] = "cp.async",
    [SIM_CLASS_BULK] = "cp.async.bulk",
    [SIM_CLASS_WGMMA] = "wgmma",
};

static void keep_lines(const struct sim_machine *machine) {
    const struct ptx_function *function = machine->function;
    const struct sim_count_at none = {0};
    struct gm_sim_line *lines = sim_kept.lines;
    size_t count = 0;
    for (uint32_t pc = 0; pc < function->count; pc++) {
        const struct sim_count_at *at = machine->counters->at ? &machine->counters->at[pc] : &none;
        if (machine->executed[pc])
            lines[count++] = (struct gm_sim_line){.line = function->code[pc].line,
                                                  .instructions = machine->executed[pc],
                                                  .lanes = machine->executed_lanes[pc],
                                                  .wavefronts = at->wavefronts,
                                                  .conflicts = at->conflicts,
                                                  .sectors = at->sectors,
                                                  .bytes = at->bytes,
                                                  .access = accesses[function->code[pc].operation->class],
                                                  .width = at->width,
                                                  .accesses = at->accesses,
                                                  .ideal_wavefronts = at->ideal_wavefronts,
                                                  .requests = at->requests,
                                                  .ideal_sectors = at->ideal_sectors};
    }
    sim_kept.line_count = merge_lines(lines, count);
}

static uint64_t warps_of(const struct sim_machine *machine) {
    const uint64_t threads = (uint64_t)machine->block[0] * machine->block[1] * machine->block[2];
    const uint64_t ctas = (uint64_t)machine->grid[0] * machine->grid[1] * machine->grid[2];
    return ctas * ((threads + PTX_LANES - 1) / PTX_LANES);
}

void sim_counters_finish(struct sim_machine *machine) {
    sim_kept.valid = machine->options->count;
    if (!sim_kept.valid)
        return;
    struct sim_totals *totals = &sim_kept.totals;
    *totals = machine->counters->totals;
    for (uint32_t pc = 0; pc < machine->function->count; pc++) {
        const enum sim_class class = machine->function->code[pc].operation->class;
        totals->class_instructions[class] += machine->executed[pc];
        totals->class_lanes[class] += machine->executed_lanes[pc];
    }
    totals->warps = warps_of(machine);
    keep_lines(machine);
}
