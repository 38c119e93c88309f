/* SPDX-License-Identifier: Apache-2.0 */
/* bulk-reduce: which pairs of operation and element type the tensor reduction takes, and what it computes. A pair that
 * the hardware does not take ends in an error that no later launch of the process survives, so other processes try
 * them first (lab_child.h). */
#include "lab/tma_reduce.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/lab_child.h"

enum { ROW_BYTES = 64, ROWS = 16, BYTES = ROW_BYTES * ROWS };

struct pair {
    enum reduce_operation operation;
    const struct reduce_type *type;
    bool subnormal; /* numbers below the type's normal ones */
};

struct study {
    struct pair pairs[LAB_POINTS_MAX];
    struct lab_trial trials[LAB_POINTS_MAX];
    size_t count;
    unsigned char source[BYTES], old[BYTES], out[BYTES];
    CUdeviceptr source_address, out_address, report_address;
};

/* ---- the pairs ------------------------------------------------------------------------------------ */

static void list_pair(struct study *study, enum reduce_operation operation, const char *name, bool subnormal) {
    for (unsigned t = 0; t < reduce_type_count; t++) {
        if (strcmp(reduce_types[t].name, name) == 0)
            study->pairs[study->count++] = (struct pair){operation, &reduce_types[t], subnormal};
    }
}

/* All that the ISA lists without a tensor map, sums of f32.ftz, sums of subnormal numbers, and a few pairs that no
 * document lists. */
static void list_pairs(struct study *study) {
    static const struct {
        enum reduce_operation operation;
        const char *type;
    } unlisted[] = {{REDUCE_ADD, "s64"}, {REDUCE_ADD, "u8"},  {REDUCE_ADD, "u16"}, {REDUCE_MIN, "u8"},
                    {REDUCE_MIN, "f32"}, {REDUCE_MAX, "f32"}, {REDUCE_MAX, "f64"}, {REDUCE_INC, "s32"},
                    {REDUCE_DEC, "u64"}, {REDUCE_AND, "f32"}, {REDUCE_XOR, "u8"}};
    for (int operation = 0; operation < REDUCE_OPERATIONS; operation++) {
        for (unsigned t = 0; t < reduce_type_count; t++) {
            if (reduce_is_listed(operation, &reduce_types[t]))
                list_pair(study, operation, reduce_types[t].name, false);
        }
    }
    list_pair(study, REDUCE_ADD, "f32.ftz", false);
    list_pair(study, REDUCE_ADD, "f16", true);
    list_pair(study, REDUCE_ADD, "bf16", true);
    list_pair(study, REDUCE_ADD, "f32", true);
    list_pair(study, REDUCE_ADD, "f32.ftz", true);
    list_pair(study, REDUCE_ADD, "f64", true);
    for (size_t i = 0; i < sizeof unlisted / sizeof *unlisted; i++)
        list_pair(study, unlisted[i].operation, unlisted[i].type, false);
}

static void name_pair(const struct pair *pair, char *label, size_t bytes) {
    snprintf(label, bytes, "%s %s%s", reduce_names[pair->operation], pair->type->name,
             pair->subnormal ? ", subnormal" : "");
}

/* Element i of both sides. Whole numbers from -8 to 8 in the floating types; bits of all kinds in the others; for inc
 * and dec numbers that meet their bounds. */
static uint64_t element(const struct pair *pair, uint32_t i, bool of_source) {
    const struct reduce_type *type = pair->type;
    const uint64_t hash = (i + 1) * UINT64_C(0x9e3779b97f4a7c15) ^ (of_source ? UINT64_C(0xd1b54a32d192ed03) : 0);
    const uint64_t mixed = hash ^ hash >> 29;
    if (pair->subnormal) /* the lowest bits of the mantissa, and a sign */
        return (mixed & 7) | (mixed >> 8 & 1) << (8 * type->bytes - 1);
    if (type->floating)
        return reduce_bits_of(type, (double)(int64_t)(mixed % 17) - 8);
    if (pair->operation == REDUCE_INC || pair->operation == REDUCE_DEC)
        return mixed % 4;
    return type->bytes == 8 ? mixed : mixed & ((UINT64_C(1) << (8 * type->bytes)) - 1);
}

static void fill(const struct pair *pair, unsigned char *bytes, bool of_source) {
    for (uint32_t i = 0; i < BYTES / pair->type->bytes; i++) {
        const uint64_t bits = element(pair, i, of_source);
        memcpy(bytes + (size_t)i * pair->type->bytes, &bits, pair->type->bytes);
    }
}

/* ---- points --------------------------------------------------------------------------------------- */

static const char *change_of(const struct pair *pair) {
    if (pair->subnormal)
        return pair->type->flushes ? "subnormal numbers, flushed to zero" : "subnormal numbers, kept";
    if (!reduce_is_taken(pair->operation, pair->type))
        return reduce_is_listed(pair->operation, pair->type) ? "works without a tensor map, and is refused with one"
                                                             : "a pair that no document lists: refused";
    return "taken";
}

static int add(struct lab *lab, const struct pair *pair) {
    const struct study *study = lab->data;
    char label[64];
    name_pair(pair, label, sizeof label);
    struct lab_point *point = lab_add(lab, label, change_of(pair));
    if (!point)
        return -1;
    const struct gm_tensor_map_request request = {.size = sizeof request,
                                                  .type = pair->type->type,
                                                  .rank = 2,
                                                  .address = study->out_address,
                                                  .dims = {ROW_BYTES / pair->type->bytes, ROWS},
                                                  .strides = {ROW_BYTES},
                                                  .box = {ROW_BYTES / pair->type->bytes, ROWS}};
    struct lab_map map;
    if (lab_tensor_map(lab, &request, &map) != 0)
        return -1;
    const uint32_t bytes = BYTES, operation = pair->operation;
    lab_kernel(point, "bulk_reduce", "lab_bulk_reduce", 1, 128);
    point->launch.shared_bytes = BYTES + 1024;
    LAB_ARGUMENT(point, map);
    LAB_ARGUMENT(point, study->source_address);
    LAB_ARGUMENT(point, study->report_address);
    LAB_ARGUMENT(point, bytes);
    LAB_ARGUMENT(point, operation);
    return 0;
}

static int setup(struct lab *lab) {
    struct study *study = calloc(1, sizeof *study);
    lab->data = study;
    if (!study)
        return complain("out of memory");
    list_pairs(study);
    if (lab_alloc(lab, &study->source_address, BYTES, 0) != 0 || lab_alloc(lab, &study->out_address, BYTES, 0) != 0 ||
        lab_alloc(lab, &study->report_address, sizeof(uint32_t), 0xff) != 0)
        return -1;
    for (size_t i = 0; i < study->count; i++) {
        if (add(lab, &study->pairs[i]) != 0)
            return -1;
    }
    return lab_child_try(lab, study->trials);
}

static int prepare(struct lab *lab, struct lab_point *point) {
    struct study *study = lab->data;
    const struct pair *pair = &study->pairs[point - lab->points];
    fill(pair, study->source, true);
    fill(pair, study->old, false);
    GPU_TRY(&lab->gpu, cuMemsetD8Async, study->report_address, 0xff, sizeof(uint32_t), lab->gpu.stream);
    if (lab_upload(lab, study->source_address, study->source, BYTES) != 0)
        return -1;
    return lab_upload(lab, study->out_address, study->old, BYTES);
}

static void compare(struct lab_point *point, const struct study *study, const struct pair *pair) {
    const uint32_t bytes = pair->type->bytes;
    for (uint32_t i = 0; i < BYTES / bytes; i++) {
        uint64_t old = 0, operand = 0, out = 0;
        memcpy(&old, study->old + (size_t)i * bytes, bytes);
        memcpy(&operand, study->source + (size_t)i * bytes, bytes);
        memcpy(&out, study->out + (size_t)i * bytes, bytes);
        const uint64_t wanted = reduce_bits(pair->operation, pair->type, old, operand);
        if (out != wanted) {
            lab_wrong(point, "0x%" PRIx64 " %s 0x%" PRIx64 " gave 0x%" PRIx64 ", predicted 0x%" PRIx64, old,
                      reduce_names[pair->operation], operand, out, wanted);
            return;
        }
    }
    lab_correct(point);
}

static int check(struct lab *lab, struct lab_point *point) {
    struct study *study = lab->data;
    const struct pair *pair = &study->pairs[point - lab->points];
    const struct lab_trial *trial = &study->trials[point - lab->points];
    const bool taken = reduce_is_taken(pair->operation, pair->type);
    uint32_t report;
    if (trial->refused && taken)
        lab_wrong(point, "the launch ends in %s", trial->error);
    else if (trial->refused)
        lab_correct(point);
    else if (!taken)
        lab_wrong(point, "the launch went through, and was to be refused");
    if (trial->refused || !taken)
        return 0;
    if (lab_download(lab, &report, study->report_address, sizeof report) != 0 ||
        lab_download(lab, study->out, study->out_address, BYTES) != 0)
        return -1;
    if (report != 0)
        lab_wrong(point, "the kernel reported nothing");
    else
        compare(point, study, pair);
    return 0;
}

/* ---- conclusions ---------------------------------------------------------------------------------- */

/* Pairs of one kind: listed or not for the reduction without a map, taken or not with one. */
struct found {
    char labels[160]; /* ", "-separated */
    const char *error;
    size_t pairs, right;
};

static struct found look_at(const struct lab *lab, bool listed, bool taken) {
    const struct study *study = lab->data;
    struct found found = {.error = "an error"};
    for (size_t i = 0; i < study->count; i++) {
        const struct pair *pair = &study->pairs[i];
        if (reduce_is_listed(pair->operation, pair->type) != listed ||
            reduce_is_taken(pair->operation, pair->type) != taken)
            continue;
        const size_t used = strlen(found.labels);
        snprintf(found.labels + used, sizeof found.labels - used, "%s%s", used ? ", " : "", lab->points[i].label);
        found.error = study->trials[i].refused ? study->trials[i].error : found.error;
        found.pairs++;
        found.right += lab->points[i].result == LAB_CORRECT;
    }
    return found;
}

static bool are_right(struct lab *lab, const char *const *labels, size_t count) {
    bool right = true;
    for (size_t i = 0; i < count; i++) {
        const struct lab_point *point = lab_find(lab, labels[i]);
        right &= point && point->result == LAB_CORRECT;
    }
    return right;
}

static int conclude(struct lab *lab) {
    static const char *const subnormal[] = {"add f32, subnormal", "add f32.ftz, subnormal", "add f16, subnormal",
                                            "add bf16, subnormal", "add f64, subnormal"};
    const struct found taken = look_at(lab, true, true), refused = look_at(lab, true, false);
    const struct found others = look_at(lab, false, false);
    lab_claim(lab, taken.right == taken.pairs, false,
              "With a tensor map the pairs of the reduction without one are taken and exact, but for %zu: %zu of %zu.",
              refused.pairs, taken.right, taken.pairs);
    lab_claim(lab, refused.right == refused.pairs, false,
              "These end the launch in %s, although no document excepts them and u64 works: %s.", refused.error,
              refused.labels);
    lab_claim(lab, are_right(lab, subnormal, sizeof subnormal / sizeof *subnormal), false,
              "add of a FLOAT32 map keeps subnormal numbers, which add.f32 without a map is documented to flush; a "
              "FLOAT32_FTZ map flushes them. f16, bf16 and f64 keep them.");
    lab_claim(lab, others.right == others.pairs, false, "No document lists these, and they end the launch in %s: %s.",
              others.error, others.labels);
    return 0;
}

const struct lab_experiment tma_reduce = {
    .name = "bulk-reduce",
    .title = "Reductions by TMA",
    .question = "Which operations and element types does the tensor reduction take, and are its results exact?",
    .page = "tma",
    .hopper = true,
    .setup = setup,
    .prepare = prepare,
    .check = check,
    .conclude = conclude,
};
