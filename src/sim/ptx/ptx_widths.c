/* SPDX-License-Identifier: Apache-2.0 */
/* Which registers fit which types. As ptxas, this asks for the width and not for the kind: .b32, .u32 and .f32
 * registers are alike; loads, stores and conversions take wider registers than their type. Vectors must have the length
 * that the opcode says, so that a handler need not look. */
#include "sim/ptx/ptx_internal.h"

#include <string.h>

/* What the operands d, s, v, W of an instruction are, in their order:
 *   t   as wide as the (last) type     T   at least that          w   twice that      4   32 bits
 *   f   as wide as the first type      F   at least that          .   anything
 * The last one holds for all that follow. */
static const struct {
    const char *name, *widths;
} rules[] = {{"add", "t"},     {"sub", "t"},   {"min", "t"},   {"max", "t"},    {"and", "t"},      {"or", "t"},
             {"xor", "t"},     {"div", "t"},   {"rem", "t"},   {"not", "t"},    {"neg", "t"},      {"abs", "t"},
             {"cnot", "t"},    {"fma", "t"},   {"mul", "t"},   {"mad", "t"},    {"ex2", "t"},      {"lg2", "t"},
             {"rcp", "t"},     {"sqrt", "t"},  {"rsqrt", "t"}, {"sin", "t"},    {"cos", "t"},      {"tanh", "t"},
             {"selp", "t"},    {"setp", "t"},  {"mov", "t"},   {"brev", "t"},   {"copysign", "t"}, {"shl", "tt4"},
             {"shr", "tt4"},   {"popc", "4t"}, {"clz", "4t"},  {"bfind", "4t"}, {"bfe", "tt4"},    {"bfi", "ttt4"},
             {"prmt", "4"},    {"lop3", "4"},  {"shf", "4"},   {"ld", "T"},     {"st", "T"},       {"cvt", "FT"},
             {"atom", "t"},    {"red", "t"},   {"shfl", "4"},  {"vote", "4"},   {"mma", "t"},      {"ldmatrix", "4"},
             {"stmatrix", "4"}};

static bool has_piece(const struct ptx_opcode *opcode, const char *piece) {
    const size_t length = strlen(piece);
    for (const char *at = opcode->text, *end = at + opcode->length; at + length <= end; at++)
        if (memcmp(at, piece, length) == 0 && (at + length == end || at[length] == '.'))
            return true;
    return false;
}

void ptx_opcode_widths(struct ptx_opcode *opcode) {
    const char *dot = memchr(opcode->text, '.', opcode->length);
    const size_t length = dot ? (size_t)(dot - opcode->text) : opcode->length;
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (strlen(rules[i].name) == length && memcmp(rules[i].name, opcode->text, length) == 0)
            opcode->widths = rules[i].widths;
    if (opcode->widths && *opcode->text == 'm' && has_piece(opcode, ".wide"))
        opcode->widths = length == 3 && opcode->text[1] == 'a' ? "wttw" : "wt";
    if (opcode->widths && opcode->shape[0])
        opcode->widths = NULL; /* mma: its vectors are checked as fragments */
    if (opcode->widths && !opcode->last_type && !strchr(opcode->widths, '4'))
        opcode->widths = NULL;
}

/* ---- registers ------------------------------------------------------------------------------- */

static bool check_register(struct ptx_parser *parser, const struct ptx_opcode *opcode, const struct ptx_raw *raw,
                           char rule) {
    if (raw->kind != PTX_RAW_NAME || (raw->meaning != PTX_MEANS_REGISTER && raw->meaning != PTX_MEANS_SPECIAL))
        return true;
    const struct ptx_type *type = rule == 'f' || rule == 'F' ? opcode->first_type : opcode->last_type;
    const unsigned wanted = rule == '4' ? 32 : !type ? 0 : rule == 'w' ? type->bits * 2u : type->bits;
    if (rule == '.' || wanted == 0)
        return true;
    const bool wider_fits = rule == 'T' || rule == 'F' || raw->meaning == PTX_MEANS_SPECIAL;
    if (raw->bits == wanted || (wider_fits && raw->bits > wanted))
        return true;
    return ptx_fail(parser, raw->token.line, "%.*s has %u bits where %.*s takes %u", PTX_SHOW(raw->token), raw->bits,
                    PTX_SHOW_OPCODE(opcode), wanted);
}

/* ---- vectors --------------------------------------------------------------------------------- */

static bool check_length(struct ptx_parser *parser, const struct ptx_opcode *opcode, const struct ptx_raw *raw,
                         uint32_t wanted, uint32_t line) {
    return raw->count == wanted ||
           ptx_fail(parser, line, "a vector of %u where %.*s takes %u", raw->count, PTX_SHOW_OPCODE(opcode), wanted);
}

/* "mov.b32 {l, h}, r": the parts make up the whole. */
static bool check_pack(struct ptx_parser *parser, const struct ptx_opcode *opcode, const struct ptx_raw *raw,
                       uint32_t line) {
    const uint32_t bits = opcode->last_type ? opcode->last_type->bits : 0;
    const bool fits = (raw->count == 2 || raw->count == 4) && bits / raw->count >= 16;
    for (uint32_t i = 0; fits && i < raw->count; i++)
        if (!check_register(parser,
                            &(struct ptx_opcode){.text = opcode->text,
                                                 .length = opcode->length,
                                                 .last_type = &(struct ptx_type){.bits = (uint8_t)(bits / raw->count)}},
                            &raw->elements[i], 't'))
            return false;
    return fits || ptx_fail(parser, line, "%u parts do not make up %u bits", raw->count, bits);
}

/* Registers of the k-th fragment of wmma. One of fp16 factors has 8, whatever the shape; others have as many as they need. */
static uint32_t wmma_registers(const struct ptx_opcode *opcode, uint32_t k) {
    const bool is_mma = has_piece(opcode, ".mma"), is_bf16 = has_piece(opcode, ".bf16");
    const char which = is_mma ? "dabc"[k] : has_piece(opcode, ".a") ? 'a' : has_piece(opcode, ".b") ? 'b' : 'c';
    if (which == 'a' || which == 'b')
        return is_bf16 ? opcode->shape[which == 'a' ? 0 : 1] * opcode->shape[2] / 64 : 8;
    const struct ptx_type *type = k == 0 ? opcode->first_type : opcode->last_type;
    return type->bits == 16 ? 4 : 8;
}

/* The registers that hold a fragment of rows x columns elements, spread over the threads of a warp (mma) or of a
 * warpgroup (wgmma). k is the vector's number: D, A, B, C. */
static bool check_fragment(struct ptx_parser *parser, const struct ptx_opcode *opcode, const struct ptx_raw *raw,
                           uint32_t k, uint32_t line) {
    const uint32_t m = opcode->shape[0], n = opcode->shape[1], depth = opcode->shape[2];
    const uint32_t rows = k == 2 ? n : m, columns = k == 1 || k == 2 ? depth : n;
    const bool wmma = opcode->length > 5 && memcmp(opcode->text, "wmma.", 5) == 0;
    const uint32_t threads = opcode->text[0] == 'w' && !wmma ? 128 : 32;
    if (!wmma && k >= opcode->type_count)
        return ptx_fail(parser, line, "more vectors than types");
    const uint32_t bits = wmma ? 32 : opcode->types[k]->bits, unit = bits > 32 ? bits : 32;
    for (uint32_t i = 0; i < raw->count; i++)
        if (raw->elements[i].kind == PTX_RAW_NAME && raw->elements[i].bits != unit &&
            raw->elements[i].meaning == PTX_MEANS_REGISTER)
            return ptx_fail(parser, raw->elements[i].token.line, "%.*s has %u bits where a fragment takes %u",
                            PTX_SHOW(raw->elements[i].token), raw->elements[i].bits, unit);
    if (wmma)
        return check_length(parser, opcode, raw, wmma_registers(opcode, k), line);
    return check_length(parser, opcode, raw, rows * columns * bits / (threads * unit), line);
}

static bool check_vector(struct ptx_parser *parser, const struct ptx_opcode *opcode, const struct ptx_raw *raw,
                         uint32_t k, char rule, uint32_t line) {
    if (opcode->shape[0])
        return check_fragment(parser, opcode, raw, k, line);
    if (opcode->length > 4 && memcmp(opcode->text, "mov.", 4) == 0)
        return check_pack(parser, opcode, raw, line);
    const uint32_t coordinates = k == 0 ? opcode->dimensions : opcode->dimensions - 2; /* im2col has offsets, too */
    if (!check_length(parser, opcode, raw, opcode->dimensions ? coordinates : opcode->vector, line))
        return false;
    for (uint32_t i = 0; i < raw->count; i++)
        if (!check_register(parser, opcode, &raw->elements[i], opcode->dimensions ? (k == 0 ? '4' : '.') : rule))
            return false;
    return true;
}

bool ptx_check_widths(struct ptx_parser *parser, const struct ptx_opcode *opcode, const char *pattern,
                      const struct ptx_raw_list *list, const int at[PTX_OPERANDS_MAX], uint32_t line) {
    const char *rule = opcode->widths ? opcode->widths : ".";
    uint32_t vectors = 0;
    for (uint32_t k = 0; ptx_letter(pattern, k); k++) {
        const char letter = ptx_letter(pattern, k);
        if (!strchr("dsvW", letter))
            continue;
        const struct ptx_raw *raw = at[k] >= 0 ? &list->raw[at[k]] : NULL;
        if (raw && raw->kind == PTX_RAW_VECTOR && !check_vector(parser, opcode, raw, vectors++, *rule, line))
            return false;
        if (raw && raw->kind != PTX_RAW_VECTOR && !check_register(parser, opcode, raw, *rule))
            return false;
        rule += rule[1] != '\0';
    }
    return opcode->vector <= 1 || vectors ||
           ptx_fail(parser, line, "%.*s takes a vector of %u", PTX_SHOW_OPCODE(opcode), opcode->vector);
}
