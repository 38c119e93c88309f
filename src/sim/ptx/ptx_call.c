/* SPDX-License-Identifier: Apache-2.0 */
/* Functions and calls. There is no stack: a call is the function's body, parsed once more in its place, in a scope where
 * the names of its parameters are the caller's .param variables. Those lie in local memory.
 *
 *     .func (.param .b32 result) twice(.param .b32 x) { ... st.param.b32 [result], %r1; ret; }
 *     call.uni (result0), twice, (param0);
 *
 * A ret becomes a branch behind the body. vprintf is an instruction of the table, __assertfail is a trap; other functions
 * without a body, calls through pointers and recursion are refused. */
#include "sim/ptx/ptx_internal.h"

#include <string.h>

enum { ARGUMENTS_MOST = 64, INLINED_MOST = 16 << 20 };

/* A function with a body. */
struct ptx_callee {
    struct ptx_token name;
    struct ptx_lexer signature; /* behind ".func" */
    uint32_t bytes;             /* from there to the end of its body */
    bool is_running;            /* a call of it is being parsed */
};

/* ---- which functions there are ------------------------------------------------------------------------------------ */

static bool is_mark(const struct ptx_token *token, char mark) {
    return token->kind == PTX_TOKEN_MARK && *token->text == mark;
}

static bool is_over(const struct ptx_token *token) {
    return token->kind == PTX_TOKEN_END || token->kind == PTX_TOKEN_WRONG;
}

/* From behind ".func" to the end of its body, or to the ';' of a declaration. */
static bool note_function(struct ptx_parser *parser, struct ptx_lexer *lexer) {
    struct ptx_callee callee = {.signature = *lexer};
    int braces = 0, parentheses = 0;
    for (;;) {
        const struct ptx_token token = ptx_lexer_next(lexer);
        if (is_over(&token) || (is_mark(&token, ';') && braces == 0))
            return true;
        parentheses += is_mark(&token, '(') - is_mark(&token, ')');
        braces += is_mark(&token, '{') - is_mark(&token, '}');
        if (!callee.name.text && token.kind == PTX_TOKEN_WORD && parentheses == 0)
            callee.name = token;
        if (is_mark(&token, '}') && braces == 0)
            break;
    }
    callee.bytes = (uint32_t)(lexer->at - callee.signature.at);
    return !callee.name.text || ptx_push(parser, &parser->callees, &callee, sizeof callee);
}

bool ptx_note_functions(struct ptx_parser *parser, const char *end) {
    const char *const text = parser->module->text;
    struct ptx_lexer lexer;
    if (!strstr(text, ".func"))
        return true;
    ptx_lexer_begin(&lexer, text, end);
    for (;;) {
        const struct ptx_token token = ptx_lexer_next(&lexer);
        if (is_over(&token))
            return true;
        if (ptx_token_is(&token, ".func") && !note_function(parser, &lexer))
            return false;
    }
}

bool ptx_skip_function(struct ptx_parser *parser) {
    int braces = 0;
    if (!ptx_begin_source(parser, parser->token.line))
        return false;
    for (bool noted;;) {
        if (!ptx_skip_note(parser, &noted))
            return false;
        if (noted)
            continue;
        const struct ptx_token token = parser->token;
        if (is_over(&token))
            return ptx_fail_here(parser, "the end of a function");
        braces += is_mark(&token, '{') - is_mark(&token, '}');
        ptx_next(parser);
        if (braces == 0 && (is_mark(&token, ';') || is_mark(&token, '}')))
            return true;
    }
}

static struct ptx_callee *find_callee(const struct ptx_parser *parser, const struct ptx_token *name) {
    for (uint32_t n = 0; n < parser->callees.count; n++) {
        struct ptx_callee *callee = PTX_AT(parser->callees, struct ptx_callee, n);
        if (callee->name.length == name->length && memcmp(callee->name.text, name->text, name->length) == 0)
            return callee;
    }
    return NULL;
}

/* ---- the words of a call ------------------------------------------------------------------------------------------ */

struct call {
    struct ptx_token name;
    struct ptx_symbol *each[ARGUMENTS_MOST]; /* .param variables: results, then arguments */
    uint32_t results, count;
    ptx_statement_parser *parse;
};

static bool take_variables(struct ptx_parser *parser, const struct ptx_statement *statement, struct call *call) {
    if (ptx_take_mark(parser, ')'))
        return true;
    do {
        const struct ptx_token name = parser->token;
        struct ptx_symbol *symbol = name.kind == PTX_TOKEN_WORD ? ptx_name_find(&parser->names, &name, false) : NULL;
        if (!symbol || symbol->kind != PTX_SYMBOL_VARIABLE || !symbol->variable->is_param)
            return ptx_unsupported(parser, &statement->opcode, "an argument that is no .param variable: ");
        if (call->count == ARGUMENTS_MOST)
            return ptx_fail(parser, name.line, "a call has more than %d arguments", ARGUMENTS_MOST);
        call->each[call->count++] = symbol;
        ptx_next(parser);
    } while (ptx_take_mark(parser, ','));
    return ptx_expect_mark(parser, ')');
}

static bool read_call(struct ptx_parser *parser, const struct ptx_statement *statement, struct call *call) {
    if (ptx_take_mark(parser, '(') && (!take_variables(parser, statement, call) || !ptx_expect_mark(parser, ',')))
        return false;
    call->results = call->count;
    if (!ptx_expect_word(parser, "a function's name", &call->name))
        return false;
    if (*call->name.text == '%')
        return ptx_unsupported(parser, &statement->opcode, "through a pointer: ");
    if (ptx_take_mark(parser, ',') && (!ptx_expect_mark(parser, '(') || !take_variables(parser, statement, call)))
        return false;
    return ptx_expect_mark(parser, ';');
}

/* ---- an instruction instead --------------------------------------------------------------------------------------- */

/* Appends what the table has under this name; its operands are in parser->raw. */
static bool append(struct ptx_parser *parser, const struct ptx_statement *statement, const char *name) {
    struct ptx_statement other = *statement;
    other.opcode.text = name;
    other.opcode.length = (uint32_t)strlen(name);
    const struct ptx_opcode *opcode = ptx_opcode_find(parser, &other.opcode);
    return opcode && ptx_decode(parser, &other, parser->raw);
}

static bool append_print(struct ptx_parser *parser, const struct ptx_statement *statement, const struct call *call) {
    if (call->results != 1 || call->count != 3)
        return ptx_fail(parser, statement->opcode.line, "vprintf has one result and two arguments");
    parser->raw->count = call->count;
    for (uint32_t n = 0; n < call->count; n++) {
        struct ptx_raw *raw = &parser->raw->raw[n];
        *raw = (struct ptx_raw){.kind = PTX_RAW_ADDRESS, .meaning = PTX_MEANS_VARIABLE, .token = call->name};
        raw->variable = ptx_use_variable(parser, call->each[n]);
        if (!raw->variable)
            return false;
    }
    return append(parser, statement, "vprintf");
}

/* The label behind a body. No name in a text can be this one. */
static struct ptx_token end_label(uint32_t line) {
    return (struct ptx_token){.kind = PTX_TOKEN_WORD, .text = ".end", .length = 4, .line = line};
}

/* A branch behind the body that is being parsed. */
static bool append_leave(struct ptx_parser *parser, const struct ptx_statement *statement) {
    parser->raw->count = 1;
    parser->raw->raw[0] = (struct ptx_raw){.kind = PTX_RAW_NAME, .token = end_label(statement->opcode.line)};
    return append(parser, statement, "bra");
}

bool ptx_parse_return(struct ptx_parser *parser, const struct ptx_statement *statement) {
    ptx_next(parser);
    return ptx_expect_mark(parser, ';') && append_leave(parser, statement);
}

/* ---- a body ------------------------------------------------------------------------------------------------------- */

/* ".param .align 8 .b8 x[24]": x is the variable of the call. */
static bool bind(struct ptx_parser *parser, const struct call *call, uint32_t n) {
    uint32_t align;
    uint64_t length;
    const struct ptx_type *type;
    struct ptx_token name;
    if (!ptx_at_directive(parser, ".param"))
        return ptx_fail_here(parser, ".param");
    ptx_next(parser);
    if (!ptx_parse_align(parser, &align) || !ptx_expect_type(parser, &type) ||
        !ptx_expect_word(parser, "a parameter's name", &name))
        return false;
    if (ptx_take_mark(parser, '[') &&
        (!ptx_expect_count(parser, "an array's length", PTX_PARAMETERS_MOST, &length) || !ptx_expect_mark(parser, ']')))
        return false;
    if (n >= call->count)
        return true; /* counted by the caller */
    struct ptx_symbol *symbol = ptx_name_declare(parser, &name, PTX_SYMBOL_VARIABLE, false);
    if (!symbol)
        return false;
    symbol->variable = call->each[n]->variable;
    symbol->used = ptx_use_variable(parser, call->each[n]);
    symbol->used_by = call->each[n]->used_by;
    return symbol->used != NULL;
}

static bool bind_all(struct ptx_parser *parser, const struct call *call, uint32_t *n) {
    if (!ptx_take_mark(parser, '(') || ptx_take_mark(parser, ')'))
        return true;
    do {
        if (!bind(parser, call, (*n)++))
            return false;
    } while (ptx_take_mark(parser, ','));
    return ptx_expect_mark(parser, ')');
}

static bool parse_signature(struct ptx_parser *parser, const struct call *call) {
    struct ptx_token name;
    uint32_t n = 0;
    if (!bind_all(parser, call, &n))
        return false;
    const uint32_t results = n;
    if (!ptx_expect_word(parser, "a function's name", &name) || !bind_all(parser, call, &n))
        return false;
    if (results != call->results || n != call->count)
        return ptx_fail(parser, call->name.line, "a call of %.*s has %u results and %u arguments instead of %u and %u",
                        PTX_SHOW(call->name), call->results, call->count - call->results, results, n - results);
    while (parser->token.kind == PTX_TOKEN_DIRECTIVE) /* .noreturn and the like */
        ptx_next(parser);
    return ptx_expect_mark(parser, '{');
}

static bool close_block(struct ptx_parser *parser) {
    if (!ptx_labels_resolve(parser, false))
        return false;
    ptx_scope_close(parser);
    return true;
}

/* From behind the body's '{' to its '}', which is consumed. */
static bool parse_statements(struct ptx_parser *parser, const struct call *call) {
    const uint32_t outermost = parser->names.depth + 1;
    if (!ptx_scope_open(parser))
        return false;
    while (parser->names.depth >= outermost)
        if (ptx_take_mark(parser, '}') ? !close_block(parser) : !call->parse(parser))
            return false;
    return true;
}

/* The function's text in place of the call: the scope of its parameters, and in it that of its body. */
static bool parse_inlined(struct ptx_parser *parser, const struct ptx_statement *statement, const struct call *call) {
    const struct ptx_token end = end_label(statement->opcode.line);
    struct ptx_statement skip = *statement;
    skip.guard_negated = !skip.guard_negated;
    if (!ptx_scope_open(parser) || (skip.guarded && !append_leave(parser, &skip)))
        return false;
    if (!parse_signature(parser, call) || !parse_statements(parser, call))
        return false;
    struct ptx_symbol *symbol = ptx_name_declare(parser, &end, PTX_SYMBOL_LABEL, false);
    if (!symbol)
        return false;
    symbol->first = parser->builder.code.count;
    return close_block(parser);
}

static bool call_function(struct ptx_parser *parser, const struct ptx_statement *statement, const struct call *call,
                          uint32_t index) {
    struct ptx_callee *callee = PTX_AT(parser->callees, struct ptx_callee, index);
    if (callee->is_running)
        return ptx_fail(parser, statement->opcode.line, "%.*s calls itself: there is no stack", PTX_SHOW(call->name));
    parser->inlined_bytes += callee->bytes;
    if (parser->inlined_bytes > INLINED_MOST)
        return ptx_fail(parser, statement->opcode.line, "the functions that are called have more than %d bytes in all",
                        INLINED_MOST);
    const struct ptx_lexer lexer = parser->lexer;
    const struct ptx_token token = parser->token;
    callee->is_running = true;
    parser->lexer = callee->signature;
    parser->calls++;
    ptx_next(parser);
    const bool fine = parse_inlined(parser, statement, call);
    parser->calls--;
    callee->is_running = false;
    parser->lexer = lexer;
    parser->token = token;
    return fine;
}

bool ptx_parse_call(struct ptx_parser *parser, const struct ptx_statement *statement, ptx_statement_parser *parse) {
    struct call call = {.parse = parse};
    ptx_next(parser);
    if (!read_call(parser, statement, &call))
        return false;
    const struct ptx_callee *callee = find_callee(parser, &call.name);
    if (callee)
        return call_function(parser, statement, &call,
                             (uint32_t)(callee - PTX_AT(parser->callees, struct ptx_callee, 0)));
    if (ptx_token_is(&call.name, "vprintf"))
        return append_print(parser, statement, &call);
    parser->raw->count = 0;
    if (ptx_token_is(&call.name, "__assertfail"))
        return append(parser, statement, "trap");
    return ptx_unsupported(parser, &call.name, "call of ");
}
