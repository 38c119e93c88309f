/* SPDX-License-Identifier: Apache-2.0 */
/* Notes for debuggers. Those that nobody needs are stepped over; .loc and .file, which nvcc -lineinfo writes, say where
 * instructions come from: a .loc holds for what stands behind it, a .file may stand last of all.
 *
 *     .loc  1 12 5                                         line 12, column 5 of file 1
 *     .loc  2 103 9, function_name NAME, inlined_at 1 12 5 line 103 of file 2, inlined into what that place made
 *     .file 1 "/home/me/copy.cu"
 *
 * A line of a toolkit's header says little to who wrote the call. So an instruction's source is the innermost place
 * that lies in the folder of the kernel's own file or below it. What is no such note is stepped over: it is not needed to
 * run. */
#include "sim/ptx/ptx_internal.h"

#include <string.h>

/* Of a .loc, how many before it are looked at for the place it is inlined at: nvcc writes them one behind the other. */
enum { NEAR_LOCATIONS = 64, FILES_MOST = 4096, DEPTH_MOST = 64, NO_PARENT = 0 };

/* ---- reading ------------------------------------------------------------------------------------------------- */

/* Takes a plain number. False: there is none. */
static bool take_number(struct ptx_parser *parser, uint32_t *value) {
    struct ptx_number number;
    if (parser->token.kind != PTX_TOKEN_NUMBER || !ptx_number_read(&parser->token, &number) ||
        number.kind != PTX_NUMBER_INTEGER || number.bits > UINT32_MAX)
        return false;
    *value = (uint32_t)number.bits;
    ptx_next(parser);
    return true;
}

static bool take_place(struct ptx_parser *parser, struct ptx_place *place) {
    return take_number(parser, &place->file) && take_number(parser, &place->line) &&
           take_number(parser, &place->column);
}

static bool same_place(const struct ptx_place *a, const struct ptx_place *b) {
    return a->file == b->file && a->line == b->line && a->column == b->column;
}

/* The last .loc of this kernel that names the place, counted from 1; NO_PARENT: none nearby. */
static uint32_t find_parent(const struct ptx_parser *parser, const struct ptx_place *place) {
    const uint32_t count = parser->notes.count;
    for (uint32_t n = count; n > 0 && count - n < NEAR_LOCATIONS; n--) {
        const struct ptx_note *note = PTX_AT(parser->notes, struct ptx_note, n - 1);
        if (note->begins_kernel)
            break;
        if (same_place(&note->place, place))
            return n;
    }
    return NO_PARENT;
}

/* ", function_name NAME, inlined_at 1 12 5", if that is there. */
static void take_inlining(struct ptx_parser *parser, struct ptx_note *note, uint32_t line) {
    while (parser->token.line == line && parser->token.kind != PTX_TOKEN_END && parser->token.kind != PTX_TOKEN_WRONG) {
        const bool at = ptx_token_is(&parser->token, "inlined_at");
        ptx_next(parser);
        if (!at)
            continue;
        note->inlined = parser->token.line == line && take_place(parser, &note->at);
        note->parent = note->inlined ? find_parent(parser, &note->at) : NO_PARENT;
        return;
    }
}

static bool take_location(struct ptx_parser *parser, uint32_t line) {
    struct ptx_note note = {.ptx_line = line};
    if (!take_place(parser, &note.place))
        return true;
    take_inlining(parser, &note, line);
    return parser->calls || ptx_push(parser, &parser->notes, &note, sizeof note);
}

/* Files stand in the parser's list by their numbers; one without a name is none. */
static bool take_file(struct ptx_parser *parser) {
    const struct ptx_source_file none = {0};
    uint32_t number;
    if (!take_number(parser, &number) || parser->token.kind != PTX_TOKEN_STRING || number >= FILES_MOST)
        return true;
    while (parser->files.count <= number)
        if (!ptx_push(parser, &parser->files, &none, sizeof none))
            return false;
    *PTX_AT(parser->files, struct ptx_source_file, number) =
        (struct ptx_source_file){.name = parser->token.text + 1, .length = parser->token.length - 2};
    ptx_next(parser);
    return true;
}

static bool take_source_note(struct ptx_parser *parser) {
    const struct ptx_token note = parser->token;
    ptx_next(parser);
    const bool fine = parser->token.line != note.line ||
                      (ptx_token_is(&note, ".loc") ? take_location(parser, note.line) : take_file(parser));
    while (parser->token.kind != PTX_TOKEN_END && parser->token.kind != PTX_TOKEN_WRONG &&
           parser->token.line == note.line) /* they end with their line */
        ptx_next(parser);
    return fine;
}

static bool skip_section(struct ptx_parser *parser) {
    while (!ptx_at_mark(parser, '{')) {
        if (parser->token.kind == PTX_TOKEN_END || parser->token.kind == PTX_TOKEN_WRONG)
            return ptx_fail_here(parser, "'{'");
        ptx_next(parser);
    }
    while (!ptx_at_mark(parser, '}')) {
        if (parser->token.kind == PTX_TOKEN_END || parser->token.kind == PTX_TOKEN_WRONG)
            return ptx_fail_here(parser, "'}'");
        ptx_next(parser);
    }
    ptx_next(parser);
    return true;
}

bool ptx_skip_note(struct ptx_parser *parser, bool *skipped) {
    *skipped = true;
    if (ptx_at_directive(parser, ".section"))
        return skip_section(parser);
    if (ptx_at_directive(parser, ".pragma")) {
        ptx_next(parser);
        if (parser->token.kind != PTX_TOKEN_STRING)
            return ptx_fail_here(parser, "a string");
        ptx_next(parser);
        return ptx_expect_mark(parser, ';');
    }
    *skipped = ptx_at_directive(parser, ".loc") || ptx_at_directive(parser, ".file");
    return !*skipped || take_source_note(parser);
}

bool ptx_begin_source(struct ptx_parser *parser, uint32_t line) {
    const struct ptx_note note = {.ptx_line = line, .begins_kernel = true};
    return ptx_push(parser, &parser->notes, &note, sizeof note);
}

/* ---- settling ------------------------------------------------------------------------------------------------ */

/* NULL: there is no such file. */
static const struct ptx_source_file *find_file(const struct ptx_parser *parser, uint32_t number) {
    const struct ptx_source_file *file =
        number < parser->files.count ? PTX_AT(parser->files, struct ptx_source_file, number) : NULL;
    return file && file->name ? file : NULL;
}

/* Bytes of the name up to its last slash, with it. */
static uint32_t folder_of(const struct ptx_source_file *file) {
    uint32_t length = file->length;
    while (length && file->name[length - 1] != '/')
        length--;
    return length;
}

static bool lies_in(const struct ptx_source_file *file, const struct ptx_source_file *own) {
    const uint32_t folder = folder_of(own);
    return file == own || (file->length > folder && memcmp(file->name, own->name, folder) == 0);
}

/* The note's place, or what it is inlined at, as far as needed to come to the kernel's own folder. */
static struct ptx_place choose_place(const struct ptx_parser *parser, const struct ptx_note *note,
                                     const struct ptx_source_file *own) {
    for (int depth = 0;; depth++) {
        const struct ptx_source_file *file = find_file(parser, note->place.file);
        if (!note->inlined || !own || (file && lies_in(file, own)))
            return note->place;
        if (note->parent == NO_PARENT || depth == DEPTH_MOST)
            return note->at;
        note = PTX_AT(parser->notes, struct ptx_note, note->parent - 1);
    }
}

static void settle_notes(const struct ptx_parser *parser, struct ptx_sources *sources) {
    const struct ptx_source_file *own = NULL;
    for (uint32_t n = 0; n < parser->notes.count; n++) {
        const struct ptx_note *note = PTX_AT(parser->notes, struct ptx_note, n);
        struct ptx_location *location = &sources->at[n];
        *location = (struct ptx_location){.ptx_line = note->ptx_line};
        if (note->begins_kernel) {
            own = NULL;
            continue;
        }
        if (!own)
            own = find_file(parser, note->place.file);
        const struct ptx_place place = choose_place(parser, note, own);
        const struct ptx_source_file *file = find_file(parser, place.file);
        location->name = file ? file->offset : 0;
        location->line = file ? place.line : 0;
    }
}

bool ptx_settle_sources(struct ptx_parser *parser) {
    size_t bytes = sizeof(struct ptx_sources) + parser->notes.count * sizeof(struct ptx_location);
    for (uint32_t n = 0; n < parser->files.count; n++) {
        struct ptx_source_file *file = PTX_AT(parser->files, struct ptx_source_file, n);
        file->offset = (uint32_t)bytes;
        bytes += file->length + 1u;
    }
    struct ptx_sources *sources = ptx_take(parser, bytes);
    if (!sources)
        return false;
    sources->bytes = bytes;
    sources->count = parser->notes.count;
    for (uint32_t n = 0; n < parser->files.count; n++) {
        const struct ptx_source_file *file = PTX_AT(parser->files, struct ptx_source_file, n);
        if (file->name) /* taken zeroed: every name ends in NUL */
            memcpy((char *)sources + file->offset, file->name, file->length);
    }
    settle_notes(parser, sources);
    parser->module->sources = sources;
    return true;
}

/* ---- looking up ---------------------------------------------------------------------------------------------- */

bool ptx_source_find(const struct ptx_sources *sources, uint32_t ptx_line, const char **file, uint32_t *line) {
    uint32_t low = 0, high = sources ? sources->count : 0;
    while (low < high) { /* the first that begins behind the line */
        const uint32_t middle = low + (high - low) / 2;
        if (sources->at[middle].ptx_line <= ptx_line)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0 || sources->at[low - 1].line == 0)
        return false;
    *file = (const char *)sources + sources->at[low - 1].name;
    *line = sources->at[low - 1].line;
    return true;
}
