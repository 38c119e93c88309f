/* SPDX-License-Identifier: Apache-2.0 */
/* The table's patterns: which rows an opcode matches, and which of them its operands fit. A module has a few hundred
 * different opcodes in thousands of instructions, so each opcode is matched once and kept. */
#include "sim/ptx/ptx_internal.h"

#include <string.h>

/* ---- opcode patterns ------------------------------------------------------------------------- */

/* How far `text` goes along with the literal piece of a pattern in [literal, end): all of it, and then '.' or the end
 * of the text must follow if `whole`. */
static bool begins_with(const char *text, size_t length, const char *literal, size_t literal_length) {
    return literal_length <= length && memcmp(text, literal, literal_length) == 0 &&
           (literal_length == length || text[literal_length] == '.');
}

static bool match_from(const char *pattern, const char *text, size_t length, uint8_t *choice, uint8_t *choice_end);

/* At "{.a|.b}" or "[.a|.b]". */
static bool match_bracket(const char *pattern, const char *text, size_t length, uint8_t *choice, uint8_t *choice_end) {
    const bool optional = *pattern == '[';
    const char *close = strchr(pattern, optional ? ']' : '}');
    if (!close || choice == choice_end)
        return false;
    const char *alternative = pattern + 1;
    for (uint8_t number = 1; alternative < close; number++) {
        const char *end = alternative;
        while (end < close && *end != '|')
            end++;
        const size_t taken = (size_t)(end - alternative);
        *choice = number;
        if (begins_with(text, length, alternative, taken) &&
            match_from(close + 1, text + taken, length - taken, choice + 1, choice_end))
            return true;
        alternative = end + 1;
    }
    *choice = 0;
    return optional && match_from(close + 1, text, length, choice + 1, choice_end);
}

static bool match_from(const char *pattern, const char *text, size_t length, uint8_t *choice, uint8_t *choice_end) {
    const size_t literal = strcspn(pattern, "{[");
    if (!literal)
        return *pattern ? match_bracket(pattern, text, length, choice, choice_end) : length == 0;
    return begins_with(text, length, pattern, literal) &&
           match_from(pattern + literal, text + literal, length - literal, choice, choice_end);
}

bool ptx_pattern_matches(const char *pattern, const char *text, size_t length, uint8_t choice[PTX_CHOICES_MAX]) {
    memset(choice, 0, PTX_CHOICES_MAX);
    return match_from(pattern, text, length, choice, choice + PTX_CHOICES_MAX);
}

/* ---- opcodes seen so far --------------------------------------------------------------------- */

/* ".m64n256k16": 64, 256, 16 */
static bool read_shape(const char *piece, size_t length, uint32_t shape[3]) {
    size_t at = 0;
    uint32_t sizes[3];
    for (int i = 0; i < 3; i++) {
        if (at >= length || piece[at++] != "mnk"[i] || at >= length || piece[at] < '0' || piece[at] > '9')
            return false;
        for (sizes[i] = 0; at < length && piece[at] >= '0' && piece[at] <= '9' && sizes[i] < 1000; at++)
            sizes[i] = sizes[i] * 10 + (uint32_t)(piece[at] - '0');
    }
    if (at == length)
        memcpy(shape, sizes, sizeof sizes);
    return at == length;
}

static void read_piece(struct ptx_opcode *opcode, const char *piece, size_t length) {
    const struct ptx_type *type = ptx_type_find(piece, length);
    const uint32_t digit = length == 2 ? (uint32_t)(unsigned char)(piece[1] - '0') : 0;
    if (type) {
        opcode->first_type = opcode->first_type ? opcode->first_type : type;
        opcode->last_type = type;
        if (opcode->type_count < sizeof opcode->types / sizeof *opcode->types)
            opcode->types[opcode->type_count++] = type;
    } else if (length == 2 && (*piece == 'v' || *piece == 'x') && digit <= 8) {
        opcode->vector = digit;
    } else if (length == 2 && piece[1] == 'd' && *piece >= '1' && *piece <= '5') {
        opcode->dimensions = (uint32_t)(*piece - '0');
    } else {
        read_shape(piece, length, opcode->shape);
    }
}

static void read_pieces(struct ptx_opcode *opcode) {
    const char *end = opcode->text + opcode->length;
    for (const char *at = opcode->text; at < end;) {
        const char *stop = memchr(at, '.', (size_t)(end - at));
        stop = stop ? stop : end;
        if (at > opcode->text)
            read_piece(opcode, at, (size_t)(stop - at));
        at = stop + 1;
    }
    ptx_opcode_widths(opcode);
}

static bool add_candidates(struct ptx_parser *parser, struct ptx_opcode *opcode) {
    struct ptx_candidate **last = &opcode->candidates;
    for (size_t row = 0; row < sim_operation_count; row++) {
        uint8_t choice[PTX_CHOICES_MAX];
        if (*sim_operations[row].opcode != *opcode->text ||
            !ptx_pattern_matches(sim_operations[row].opcode, opcode->text, opcode->length, choice))
            continue;
        struct ptx_candidate *candidate = ptx_take_scratch(parser, sizeof *candidate);
        if (!candidate)
            return false;
        candidate->operation = &sim_operations[row];
        memcpy(candidate->choice, choice, sizeof choice);
        *last = candidate;
        last = &candidate->next;
    }
    return true;
}

struct ptx_opcode *ptx_opcode_find(struct ptx_parser *parser, const struct ptx_token *text) {
    uint32_t hash = 2166136261u;
    for (uint32_t i = 0; i < text->length; i++)
        hash = (hash ^ (unsigned char)text->text[i]) * 16777619u;
    struct ptx_opcode **bucket =
        &parser->opcodes[(hash ^ hash >> 16) % (sizeof parser->opcodes / sizeof *parser->opcodes)];
    for (struct ptx_opcode *known = *bucket; known; known = known->chain)
        if (known->hash == hash && known->length == text->length && memcmp(known->text, text->text, text->length) == 0)
            return known;
    struct ptx_opcode *opcode = ptx_take_scratch(parser, sizeof *opcode);
    if (!opcode)
        return NULL;
    opcode->text = text->text;
    opcode->length = text->length;
    opcode->hash = hash;
    opcode->chain = *bucket;
    *bucket = opcode;
    read_pieces(opcode);
    return add_candidates(parser, opcode) ? opcode : NULL;
}

/* ---- operand patterns ------------------------------------------------------------------------ */

bool ptx_is_predicate(const struct ptx_raw *raw) {
    return raw->kind == PTX_RAW_NAME && raw->meaning == PTX_MEANS_REGISTER && raw->bits == 1;
}

static bool is_plain_register(const struct ptx_raw *raw) {
    return raw->kind == PTX_RAW_NAME && raw->meaning == PTX_MEANS_REGISTER && raw->bits != 1 && !raw->negated &&
           raw->addend == 0;
}

static bool is_source(const struct ptx_raw *raw) {
    if (raw->kind == PTX_RAW_NUMBER || is_plain_register(raw))
        return true;
    return raw->kind == PTX_RAW_NAME && !raw->negated &&
           (raw->meaning == PTX_MEANS_VARIABLE || raw->meaning == PTX_MEANS_PARAMETER ||
            (raw->meaning == PTX_MEANS_SPECIAL && raw->addend == 0));
}

static bool vector_fits(const struct ptx_raw *raw, bool destination) {
    if (raw->kind != PTX_RAW_VECTOR)
        return false;
    for (uint32_t i = 0; i < raw->count; i++) {
        const struct ptx_raw *element = &raw->elements[i];
        if (destination ? !is_plain_register(element) && element->kind != PTX_RAW_SINK : !is_source(element))
            return false;
    }
    return true;
}

static bool letter_fits(char letter, const struct ptx_raw *raw) {
    const bool integer = raw->kind == PTX_RAW_NUMBER && raw->literal.kind == PTX_NUMBER_INTEGER;
    switch (letter) {
    case 'd':
        return raw->kind == PTX_RAW_SINK || is_plain_register(raw);
    case 'D':
        return raw->kind == PTX_RAW_SINK || (ptx_is_predicate(raw) && !raw->negated && raw->addend == 0);
    case 's':
        return is_source(raw);
    case 'P':
        return (ptx_is_predicate(raw) && raw->addend == 0) || integer;
    case 'q':
        return raw->kind == PTX_RAW_ADDRESS && raw->meaning == PTX_MEANS_VARIABLE && raw->variable->is_param;
    case 'a':
        return raw->kind == PTX_RAW_ADDRESS;
    case 'v':
        return vector_fits(raw, false);
    case 'W':
        return vector_fits(raw, true);
    case 'l':
    case 't': /* names of labels: other things may have the same */
        return raw->kind == PTX_RAW_NAME && !raw->negated;
    case 'i':
        return integer;
    case 'c':
        return raw->kind == PTX_RAW_NAME && raw->meaning == PTX_MEANS_CLOCK && raw->addend == 0;
    default:
        return false;
    }
}

/* Operands [operand, count) against the letters from `pattern` on; the k-th letter is next. An optional letter takes
 * its operand if the rest then fits, too. What is written behind '|' fits a second 'D' only, and that fits nothing
 * else. */
static bool fit_from(const char *pattern, uint32_t k, const struct ptx_raw_list *list, uint32_t operand,
                     int at[PTX_OPERANDS_MAX]) {
    if (*pattern == '\0')
        return operand == list->count;
    const bool optional = *pattern == '?';
    const char letter = pattern[optional];
    if (k >= PTX_OPERANDS_MAX || letter == '\0')
        return false;
    if (operand < list->count && letter_fits(letter, &list->raw[operand]) &&
        list->raw[operand].piped == (letter == 'D' && k > 0)) {
        at[k] = (int)operand;
        if (fit_from(pattern + optional + 1, k + 1, list, operand + 1, at))
            return true;
    }
    at[k] = -1;
    return optional && fit_from(pattern + optional + 1, k + 1, list, operand, at);
}

bool ptx_operands_fit(const char *pattern, const struct ptx_raw_list *list, int at[PTX_OPERANDS_MAX]) {
    for (int k = 0; k < PTX_OPERANDS_MAX; k++)
        at[k] = -1;
    return fit_from(pattern, 0, list, 0, at);
}
