/* SPDX-License-Identifier: Apache-2.0 */
/* Operands that are rows of elements: placed, filled, compared. */
#include "operands.h"

#include <math.h>
#include <stdlib.h>

enum { GUARD_BYTES = 1024, BOUNDARY = 256 };

static size_t bytes_of(const struct operand *o) {
    return (size_t)((o->offset ? o->extent : o->rows * o->stride) * gm_type_bytes(o->type));
}

/* Bytes from the operand's address to an element. */
static size_t offset_of(const struct operand *o, const void *of, int64_t row, int64_t column) {
    return (size_t)((o->offset ? o->offset(of, row, column) : row * o->stride + column) * gm_type_bytes(o->type));
}

static size_t start_of(const struct operand *o) {
    return (size_t)(o->start * gm_type_bytes(o->type));
}

static void store_rows(uint8_t *start, const struct operand *o, const void *of) {
    const int bytes = gm_type_bytes(o->type);
    for (int64_t row = 0; row < o->rows; row++) {
        uint8_t *at = start + offset_of(o, of, row, 0);
        for (int64_t column = 0; column < o->columns; column++, at += bytes)
            store_bits(at, o->type, double_to_bits(o->type, o->value(of, row, column)));
    }
}

/* ---- placing ------------------------------------------------------------------------------------------ */

static void tell(const struct placed_operands *placed, int operand, CUdeviceptr address) {
    const gm_device_ptr pointer = address;
    memcpy((char *)placed->args + placed->operands[operand].argument, &pointer, sizeof pointer);
}

static CUdeviceptr address_of(const struct placed_operands *placed, int operand) {
    gm_device_ptr pointer;
    memcpy(&pointer, (const char *)placed->args + placed->operands[operand].argument, sizeof pointer);
    return pointer;
}

/* All around it is 0xff, which is NaN. */
static bool place_input(struct result *result, struct placed_operands *placed, int operand, struct arena *arena) {
    const struct operand *o = &placed->operands[operand];
    const size_t before = GUARD_BYTES + start_of(o), total = before + bytes_of(o) + GUARD_BYTES;
    uint8_t *image = malloc(total);
    if (!image)
        exit(2);
    memset(image, 0xff, total);
    store_rows(image + before, o, placed->of);
    const CUdeviceptr base = arena_take(result, arena, total);
    const bool ok = base && to_device(result, base, image, total);
    free(image);
    tell(placed, operand, base + before);
    return ok;
}

/* Outputs lie in one region, one behind the other, but for what lies within another one. */
static void lay_out_region(struct placed_operands *placed) {
    size_t end = 0;
    for (int i = 0; i < placed->count; i++) {
        const struct operand *o = &placed->operands[i];
        if (!o->written || o->rows == 0 || o->in_place_of || o->within)
            continue;
        placed->at[i] = end + GUARD_BYTES + start_of(o);
        end = (placed->at[i] + bytes_of(o) + GUARD_BYTES + BOUNDARY - 1) / BOUNDARY * BOUNDARY;
    }
    for (int i = 0; i < placed->count; i++)
        if (placed->operands[i].within)
            placed->at[i] = placed->at[placed->operands[i].within - 1] + start_of(&placed->operands[i]);
    placed->call.region_bytes = end;
}

/* Whether it lies in the region, at a place of its own. */
static bool is_in_region(const struct operand *o) {
    return o->rows && !o->in_place_of && (o->written || o->within);
}

/* What is read there: of an operand itself, or of the one in its place. */
void fill_placed_region(const struct call *call, uint8_t *region) {
    const struct placed_operands *placed = (const struct placed_operands *)call;
    for (int i = 0; i < placed->count; i++) {
        const struct operand *o = &placed->operands[i];
        const int home = o->in_place_of ? o->in_place_of - 1 : i;
        if (o->value && o->rows && is_in_region(&placed->operands[home]))
            store_rows(region + placed->at[home], o, placed->of);
    }
}

static bool place_region(struct result *result, struct placed_operands *placed, struct operand_memory *memory) {
    lay_out_region(placed);
    placed->call.region = arena_take(result, &memory->region, placed->call.region_bytes);
    free(placed->before);
    placed->before = malloc(placed->call.region_bytes + 1);
    if (!placed->before)
        exit(2);
    memset(placed->before, POISON, placed->call.region_bytes);
    fill_placed_region(&placed->call, placed->before);
    for (int i = 0; i < placed->count; i++)
        if (is_in_region(&placed->operands[i]))
            tell(placed, i, placed->call.region + placed->at[i]);
    return placed->call.region && poison_output(result, &placed->call);
}

bool place_operands(struct result *result, struct placed_operands *placed, struct operand_memory *memory) {
    for (int i = 0; i < placed->count; i++) {
        const struct operand *o = &placed->operands[i];
        const bool is_here = o->rows > 0 && !o->in_place_of && !o->within;
        placed->call.in_place |= o->rows > 0 && o->value && (o->written || o->in_place_of || o->within);
        if (o->rows == 0)
            tell(placed, i, 0);
        if (is_here && !o->written && !place_input(result, placed, i, &memory->inputs[i]))
            return false;
    }
    if (!place_region(result, placed, memory))
        return false;
    for (int i = 0; i < placed->count; i++)
        if (placed->operands[i].in_place_of && placed->operands[i].rows)
            tell(placed, i, address_of(placed, placed->operands[i].in_place_of - 1));
    return true;
}

int32_t alignment_of(const struct placed_operands *placed, int operand) {
    const CUdeviceptr address = address_of(placed, operand);
    return address % 16 == 0 ? 16 : address % 8 == 0 ? 8 : address % 4 == 0 ? 4 : address % 2 == 0 ? 2 : 1;
}

void free_placed(struct placed_operands *placed) {
    free(placed->before);
    placed->before = NULL;
}

void free_operands(struct operand_memory *memory) {
    for (int i = 0; i < OPERANDS_MAX; i++)
        arena_free(&memory->inputs[i]);
    arena_free(&memory->region);
}

/* ---- comparing ---------------------------------------------------------------------------------------- */

static bool check_element(struct result *result, const struct placed_operands *placed, int operand,
                          const uint8_t *region, int64_t row, int64_t column, const struct expectation *e,
                          const char *what) {
    const struct operand *o = &placed->operands[operand];
    const size_t bytes = (size_t)gm_type_bytes(o->type);
    const size_t at = placed->at[operand] + offset_of(o, placed->of, row, column);
    const uint32_t bits = load_bits(region + at, o->type);
    const bool is_as_before = memcmp(region + at, placed->before + at, bytes) == 0;
    if (e->tolerance[column] == AS_BEFORE) {
        if (!is_as_before)
            fail(result, "%s: %s[%lld, %lld] was written: %.9g", what, o->name, (long long)row, (long long)column,
                 bits_to_double(o->type, bits));
        return is_as_before;
    }
    if (bits_match(o->type, bits, e->want[column], e->tolerance[column]))
        return true;
    fail(result, "%s: %s[%lld, %lld] = %.9g (0x%x%s), want %.9g +- %.3g", what, o->name, (long long)row,
         (long long)column, bits_to_double(o->type, bits), bits, is_as_before ? ", never written" : "", e->want[column],
         e->tolerance[column]);
    return false;
}

static bool check_operand(struct result *result, const struct placed_operands *placed, int operand,
                          const uint8_t *region, const char *what) {
    const struct operand *o = &placed->operands[operand];
    struct expectation e = {malloc((size_t)o->columns * sizeof(double)), malloc((size_t)o->columns * sizeof(double))};
    bool ok = e.want && e.tolerance;
    for (int64_t row = 0; row < o->rows && ok; row++) {
        placed->expect(placed, operand, row, &e);
        for (int64_t column = 0; column < o->columns && ok; column++)
            ok = check_element(result, placed, operand, region, row, column, &e, what);
    }
    free(e.want);
    free(e.tolerance);
    return ok;
}

/* Marks the bytes of the rows of what is written. */
static void mark_rows(const struct placed_operands *placed, int operand, uint8_t *marks) {
    const struct operand *o = &placed->operands[operand];
    const size_t bytes = (size_t)gm_type_bytes(o->type);
    uint8_t *const start = marks + placed->at[operand];
    for (int64_t row = 0; row < o->rows; row++)
        memset(start + offset_of(o, placed->of, row, 0), 1, (size_t)o->columns * bytes);
}

/* Bytes beside rows are what they were. */
static bool guards_ok(struct result *result, const struct placed_operands *placed, const uint8_t *region,
                      const char *what) {
    uint8_t *marks = calloc(1, placed->call.region_bytes + 1);
    size_t at = 0;
    if (!marks)
        exit(2);
    for (int i = 0; i < placed->count; i++)
        if (placed->operands[i].written && is_in_region(&placed->operands[i]))
            mark_rows(placed, i, marks);
    while (at < placed->call.region_bytes && (marks[at] || region[at] == placed->before[at]))
        at++;
    free(marks);
    if (at < placed->call.region_bytes)
        fail(result, "%s: wrote beside the rows: byte 0x%02x at %lld bytes from the first output's start", what,
             region[at], (long long)at - GUARD_BYTES);
    return at == placed->call.region_bytes;
}

bool compare_placed(struct result *result, const struct call *call, const uint8_t *region, const char *what) {
    const struct placed_operands *placed = (const struct placed_operands *)call;
    bool ok = guards_ok(result, placed, region, what);
    for (int i = 0; i < placed->count && ok; i++)
        if (placed->operands[i].written && is_in_region(&placed->operands[i]))
            ok = check_operand(result, placed, i, region, what);
    return ok;
}

/* ---- many elements -------------------------------------------------------------------------------------- */

CUdeviceptr take_large(struct result *result, size_t bytes) {
    CUdeviceptr address = 0;
    size_t available = 0, all = 0;
    if (env.simulated || opt.self_test || env.drv->cuMemGetInfo(&available, &all) != CUDA_SUCCESS ||
        available < bytes + (size_t)1e9)
        skip(result, "needs %.1f GB of device memory", (double)bytes * 1e-9);
    else
        check_cuda(result, env.drv->cuMemAlloc(&address, bytes), "cuMemAlloc");
    return address;
}

bool repeat_rows(struct result *result, CUdeviceptr to, int64_t rows, size_t row_bytes, CUdeviceptr block,
                 int64_t block_rows) {
    for (int64_t row = 0; row < rows; row += block_rows) {
        const int64_t count = rows - row < block_rows ? rows - row : block_rows;
        if (!check_cuda(result, env.drv->cuMemcpyDtoD(to + (uint64_t)row * row_bytes, block, (size_t)count * row_bytes),
                        "fill"))
            return false;
    }
    return check_cuda(result, env.drv->cuCtxSynchronize(), "fill");
}

void check_repeated_rows(struct result *result, CUdeviceptr at, int64_t rows, size_t row_bytes, int64_t columns,
                         const uint8_t *block, int64_t block_rows) {
    const int64_t edge = (INT64_C(1) << 31) / columns, samples[] = {0, 1, rows / 2, edge - 1, edge, rows - 1};
    uint8_t *got = malloc(row_bytes);
    for (size_t i = 0; i < COUNT(samples) && got; i++) {
        const int64_t row = samples[i];
        if (!check_cuda(result, env.drv->cuMemcpyDtoH(got, at + (uint64_t)row * row_bytes, row_bytes), "copy"))
            break;
        const uint8_t *want = block + (size_t)(row % block_rows) * row_bytes;
        size_t byte = 0;
        while (byte < row_bytes && got[byte] == want[byte])
            byte++;
        if (byte < row_bytes)
            fail(result, "row %lld of %lld: byte %zu is 0x%02x, want 0x%02x", (long long)row, (long long)rows, byte,
                 got[byte], want[byte]);
        result->cases++;
    }
    free(got);
}

/* ---- early readers -------------------------------------------------------------------------------------- */

/* Programmatic dependent launch: the kernel before writes an operand, slowly, and lets ours start at once. Until it has
 * ended the operand is NaN, so whatever is read too early shows. True when the call was right all the same. */
static bool run_behind_slow_copy(struct result *result, const struct slow_copy *copy,
                                 const struct placed_operands *placed, int operand, struct arena *elsewhere,
                                 const gm_plan *plan) {
    const struct operand *o = &placed->operands[operand];
    const CUdeviceptr address = address_of(placed, operand);
    const size_t last = offset_of(o, placed->of, o->rows - 1, o->columns - 1) + (size_t)gm_type_bytes(o->type);
    const size_t bytes = o->offset ? bytes_of(o) : last;
    const CUdeviceptr from = arena_take(result, elsewhere, bytes);
    return from && poison_output(result, &placed->call) &&
           check_cuda(result, env.drv->cuMemcpyDtoD(from, address, bytes), o->name) &&
           check_cuda(result, env.drv->cuMemsetD8(address, 0xff, bytes), o->name) &&
           check_cuda(result, env.drv->cuCtxSynchronize(), o->name) &&
           launch_slow_copy(result, copy, address, from, bytes / 2) &&
           check_ok(result, placed->call.operation->execute(plan, placed->call.args, env.stream), o->name) &&
           check_cuda(result, env.drv->cuStreamSynchronize(env.stream), o->name) &&
           check_output(result, &placed->call, o->name);
}

static void run_all_behind(struct result *result, struct placed_operands *placed, const char *kernel,
                           const struct slow_copy *copy) {
    const struct gm_plan_options options = {.size = sizeof options, .kernel = kernel};
    struct arena elsewhere = {0};
    gm_plan *plan = NULL;
    if (check_ok(result, placed->call.operation->plan(env.context, placed->call.problem, &options, &plan), "plan"))
        for (int i = 0; i < placed->count; i++)
            if (placed->operands[i].value && placed->operands[i].rows)
                result->cases += run_behind_slow_copy(result, copy, placed, i, &elsewhere, plan);
    gm_plan_destroy(plan);
    arena_free(&elsewhere);
}

void run_early(struct result *result, struct placed_operands *placed, const char *kernel) {
    struct slow_copy copy = {0};
    heartbeat(kernel);
    if (load_slow_copy(result, &copy))
        run_all_behind(result, placed, kernel, &copy);
    if (copy.library)
        env.drv->cuLibraryUnload(copy.library);
}
