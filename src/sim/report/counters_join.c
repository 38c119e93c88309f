/* SPDX-License-Identifier: Apache-2.0 */
/* PTX is not what runs on hardware: of loads of neighbouring words ptxas makes one wide load, and that is what the
 * hardware counts. Here the same is found out, so that wavefronts are those of the wide loads:
 *
 *      ld.shared.f32 %f1, [%r4];         LDS.128 R4, [R2]     the first stands for four words,
 *      ld.shared.f32 %f2, [%r4+4];                            the other three for none
 *      ld.shared.f32 %f3, [%r4+8];
 *      ld.shared.f32 %f4, [%r4+12];
 *
 * It does so within a basic block, between two instructions that may change shared memory, where it can prove that the
 * address is a multiple of the wide load's bytes. Loads alone: stores were never seen joined. */
#include <stdlib.h>
#include <string.h>

#include "sim/report/counters_state.h"

enum { WORD_BYTES = 4, ROW_BYTES = 128, WIDE_WORDS = 4, ALIGNMENT_ALL = 63, CANDIDATES_MAX = 1024, PASSES_MAX = 100 };

struct sim_joins {
    uint32_t count;
    struct sim_join join[];
};

/* A load that may be joined. `version` is where its base register got its value. */
struct candidate {
    uint32_t pc, base, version;
    int64_t offset;
};

struct finder {
    const struct ptx_function *function;
    struct sim_joins *joins;
    uint8_t *alignment; /* per register row: how many low bits of it are known to be 0 */
    uint32_t *version;  /* per register row: the pc after the last write in this block */
    bool *begins_block; /* per pc */
    struct candidate *candidates;
    uint32_t candidate_count, rows;
};

/* ---- alignment --------------------------------------------------------------------------------------------------- */

static uint8_t zeros_of(int64_t value) {
    return value ? (uint8_t)__builtin_ctzll((uint64_t)value) : ALIGNMENT_ALL;
}

static uint8_t alignment_of(const struct finder *finder, const struct ptx_operand *operand) {
    if (operand->kind == PTX_OPERAND_IMMEDIATE || (operand->kind == PTX_OPERAND_ADDRESS && !operand->based))
        return zeros_of(operand->value); /* a number, or where a variable lies */
    if (operand->kind == PTX_OPERAND_REGISTER && operand->reg / ROW_BYTES < finder->rows)
        return finder->alignment[operand->reg / ROW_BYTES];
    return 0;
}

static uint8_t least(uint8_t a, uint8_t b) {
    return a < b ? a : b;
}

static uint8_t most(uint8_t a, uint8_t b) {
    return a > b ? a : b;
}

/* Of a product: the zeros add up. */
static uint8_t added(uint8_t a, uint8_t b) {
    return a + b < ALIGNMENT_ALL ? (uint8_t)(a + b) : ALIGNMENT_ALL;
}

static bool is_named(const struct ptx_instruction *i, const char *name) {
    const size_t length = strlen(name);
    const char *opcode = i->operation->opcode;
    return strncmp(opcode, name, length) == 0 && strchr(".{[", opcode[length]);
}

/* The low bits of an instruction's result that are 0 whatever its operands are. */
static uint8_t alignment_of_result(const struct finder *finder, const struct ptx_instruction *i) {
    const uint8_t a = i->operand_count > 1 ? alignment_of(finder, &i->operand[1]) : 0;
    const uint8_t b = i->operand_count > 2 ? alignment_of(finder, &i->operand[2]) : 0;
    const uint8_t c = i->operand_count > 3 ? alignment_of(finder, &i->operand[3]) : 0;
    if (i->operand_count < 2 || i->operand[0].kind != PTX_OPERAND_REGISTER)
        return 0;
    if (is_named(i, "mov") || is_named(i, "cvta") || strncmp(i->operation->opcode, "cvt{.s64|.u64", 13) == 0)
        return a;
    if (is_named(i, "add") || is_named(i, "sub") || is_named(i, "or") || is_named(i, "xor") || is_named(i, "selp") ||
        is_named(i, "min") || is_named(i, "max"))
        return least(a, b);
    if (is_named(i, "and"))
        return most(a, b);
    if (is_named(i, "shl"))
        return i->operand[2].kind == PTX_OPERAND_IMMEDIATE ? added(a, (uint8_t)(i->operand[2].value & 63)) : a;
    if (is_named(i, "mul"))
        return strncmp(i->operation->opcode, "mul.hi", 6) == 0 ? 0 : added(a, b);
    if (is_named(i, "mad"))
        return strncmp(i->operation->opcode, "mad.hi", 6) == 0 ? 0 : least(added(a, b), c);
    return 0;
}

/* From "everything is 0" downwards until nothing changes, so that a loop's own increments count. Code that takes more
 * passes than any compiler's does is not worth them. */
static void find_alignments(struct finder *finder) {
    const struct ptx_function *function = finder->function;
    memset(finder->alignment, ALIGNMENT_ALL, finder->rows);
    for (uint32_t row = 0; row < PTX_SPECIALS && row < finder->rows; row++)
        finder->alignment[row] = 0;
    bool changed = true;
    for (int pass = 0; changed && pass < PASSES_MAX; pass++) {
        changed = false;
        for (uint32_t pc = 0; pc < function->count; pc++) {
            const struct ptx_instruction *i = &function->code[pc];
            const uint8_t result = i->writes_count ? alignment_of_result(finder, i) : 0;
            for (uint16_t w = 0; w < i->writes_count; w++) {
                uint8_t *known = &finder->alignment[function->touched[i->writes_first + w] / ROW_BYTES];
                changed |= result < *known;
                *known = least(*known, result);
            }
        }
    }
    if (changed)
        memset(finder->alignment, 0, finder->rows);
}

/* ---- blocks ---------------------------------------------------------------------------------------------- */

static void mark_target(struct finder *finder, const struct ptx_operand *operand) {
    if (operand->kind == PTX_OPERAND_LABEL && operand->value >= 0 && operand->value < finder->function->count)
        finder->begins_block[operand->value] = true;
}

static void find_blocks(struct finder *finder) {
    const struct ptx_function *function = finder->function;
    for (uint32_t pc = 0; pc < function->count; pc++) {
        const struct ptx_instruction *i = &function->code[pc];
        for (uint8_t o = 0; o < i->operand_count; o++)
            mark_target(finder, &i->operand[o]);
        if (i->operation->class == SIM_CLASS_CONTROL && pc + 1 < function->count)
            finder->begins_block[pc + 1] = true;
    }
    for (uint32_t e = 0; e < function->element_count; e++)
        mark_target(finder, &function->elements[e]);
}

/* ---- joining --------------------------------------------------------------------------------------------- */

static struct candidate *find_candidate(const struct finder *finder, const struct candidate *like, uint64_t offset) {
    for (uint32_t c = 0; c < finder->candidate_count; c++) {
        struct candidate *candidate = &finder->candidates[c];
        if (candidate->base == like->base && candidate->version == like->version &&
            (uint64_t)candidate->offset == offset && finder->joins->join[candidate->pc].words == 1)
            return candidate;
    }
    return NULL;
}

/* Joins `words` loads from the candidate's offset upwards, if they are there; the first in the code's order stays. */
static void join_at(const struct finder *finder, const struct candidate *lowest, uint32_t words) {
    struct sim_join *joins = finder->joins->join;
    const struct candidate *first = lowest, *parts[WIDE_WORDS];
    for (uint32_t w = 0; w < words; w++) {
        parts[w] = find_candidate(finder, lowest, (uint64_t)lowest->offset + WORD_BYTES * w);
        if (!parts[w])
            return;
        first = parts[w]->pc < first->pc ? parts[w] : first;
    }
    for (uint32_t w = 0; w < words; w++)
        joins[parts[w]->pc].words = 0;
    joins[first->pc] = (struct sim_join){(uint8_t)words, (uint8_t)((uint64_t)first->offset - (uint64_t)lowest->offset)};
}

/* The candidates so far cannot be joined with later ones. */
static void join_candidates(struct finder *finder) {
    for (uint32_t words = WIDE_WORDS; words > 1; words /= 2) {
        for (uint32_t c = 0; c < finder->candidate_count; c++) {
            const struct candidate *lowest = &finder->candidates[c];
            const uint8_t known = least(finder->alignment[lowest->base / ROW_BYTES], zeros_of(lowest->offset));
            if (finder->joins->join[lowest->pc].words == 1 && (WORD_BYTES * words) >> known <= 1)
                join_at(finder, lowest, words);
        }
    }
    finder->candidate_count = 0;
}

/* Whether the instruction's own words, among those that its row offers, include one that ends so: ".f32" in "32". */
static bool has_choice(const struct ptx_instruction *i, const char *end) {
    const size_t length = strlen(end);
    const char *at = i->operation->opcode;
    for (int bracket = 0; bracket < PTX_CHOICES_MAX && (at = strpbrk(at, "{[")) != NULL; bracket++) {
        const char *const close = at + strcspn(at, "}]");
        for (int choice = 1; at < close; choice++) {
            const char *word = at + 1;
            at = word + strcspn(word, "|}]");
            if (choice == i->choice[bracket] && (size_t)(at - word) >= length && !strncmp(at - length, end, length))
                return true;
        }
    }
    return false;
}

/* ld.shared of one word, plain and unguarded, from a register's address. */
static bool may_be_joined(const struct ptx_instruction *i) {
    const struct ptx_operand *to = &i->operand[0], *from = &i->operand[1];
    return i->operation->class == SIM_CLASS_SHARED_LOAD && i->guard == PTX_NONE && i->operand_count >= 2 &&
           to->kind == PTX_OPERAND_REGISTER && to->bits == WORD_BYTES * 8 && from->kind == PTX_OPERAND_ADDRESS &&
           from->based && has_choice(i, "32") && !has_choice(i, ".volatile") && !has_choice(i, ".relaxed") &&
           !has_choice(i, ".acquire");
}

static bool may_change_shared(enum sim_class class) {
    return class == SIM_CLASS_SHARED_STORE || class == SIM_CLASS_SHARED_ATOMIC || class == SIM_CLASS_STMATRIX ||
           class == SIM_CLASS_CP_ASYNC || class == SIM_CLASS_BULK || class == SIM_CLASS_BARRIER ||
           class == SIM_CLASS_FENCE || class == SIM_CLASS_WGMMA || class == SIM_CLASS_OTHER;
}

static void find_joins(struct finder *finder) {
    const struct ptx_function *function = finder->function;
    for (uint32_t pc = 0; pc < function->count; pc++) {
        const struct ptx_instruction *i = &function->code[pc];
        if (finder->begins_block[pc] || may_change_shared(i->operation->class) ||
            finder->candidate_count == CANDIDATES_MAX)
            join_candidates(finder);
        if (may_be_joined(i)) {
            const uint32_t base = i->operand[1].reg;
            finder->candidates[finder->candidate_count++] =
                (struct candidate){pc, base, finder->version[base / ROW_BYTES], i->operand[1].value};
        }
        for (uint16_t w = 0; w < i->writes_count; w++)
            finder->version[function->touched[i->writes_first + w] / ROW_BYTES] = pc + 1;
    }
    join_candidates(finder);
}

/* ---- for counters_shared.c ------------------------------------------------------------------------------- */

struct sim_joins *sim_joins_find(const struct ptx_function *function) {
    struct finder finder = {.function = function, .rows = function->register_bytes / ROW_BYTES + 1};
    finder.joins = calloc(1, sizeof *finder.joins + (function->count + 1) * sizeof *finder.joins->join);
    finder.alignment = calloc(finder.rows, sizeof *finder.alignment);
    finder.version = calloc(finder.rows, sizeof *finder.version);
    finder.begins_block = calloc(function->count + 1, sizeof *finder.begins_block);
    finder.candidates = calloc(CANDIDATES_MAX, sizeof *finder.candidates);
    const bool ready = finder.joins && finder.alignment && finder.version && finder.begins_block && finder.candidates;
    if (ready) {
        finder.joins->count = function->count;
        for (uint32_t pc = 0; pc < function->count; pc++)
            finder.joins->join[pc] = (struct sim_join){.words = 1};
        find_alignments(&finder);
        find_blocks(&finder);
        find_joins(&finder);
    }
    free(finder.alignment);
    free(finder.version);
    free(finder.begins_block);
    free(finder.candidates);
    if (!ready) {
        free(finder.joins);
        return NULL;
    }
    return finder.joins;
}

void sim_joins_free(struct sim_joins *joins) {
    free(joins);
}

struct sim_join sim_join_at(const struct sim_joins *joins, uint32_t pc) {
    return pc < joins->count ? joins->join[pc] : (struct sim_join){.words = 1};
}
