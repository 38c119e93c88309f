/* SPDX-License-Identifier: Apache-2.0 */
/* gristmill bank: what one access of a warp costs, drawn wavefront by wavefront; and the padding adviser. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "program/smem/access.h"
#include "program/base/args.h"
#include "program/commands.h"
#include "program/smem/draw.h"
#include "program/smem/numbers.h"
#include "program/base/messages.h"
#include "program/base/shared_file.h"
#include "program/smem/walk.h"

struct bank_options {
    struct access_options access;
    struct walk_options walk;
    bool advise, tma, arrows;
    const char *device, *tiles, *other_bytes; /* of the advice */
    const char *svg, *html;
};

#define TITLE_BYTES 200

/* One picture. */
struct view {
    char title[TITLE_BYTES];
    struct gm_access access;
    struct gm_bank_map map;
};

/* What the command line asks to be drawn: one access, or the two of a transpose; and the advice about them. */
struct job {
    struct view views[2];
    size_t count;
    bool advise, arrows; /* the latter in files */
    char advice_title[TITLE_BYTES];
    struct gm_tile_access walks[2];
    struct gm_pad_question question;
    struct gm_pad_advice advice;
};

/* ---- what may stand beside what ----------------------------------------------------------------- */

/* Options that say something about a tile, or about the advice, when there is none. */
static int refuse_idle(const struct bank_options *given) {
    const struct {
        const char *name, *value, *wants;
        bool has;
    } idle[] = {{"type", given->walk.type, "tile", given->walk.tile},
                {"walk", given->walk.walk, "tile", given->walk.tile},
                {"at", given->walk.at, "tile", given->walk.tile},
                {"pad", given->walk.pad, "tile", given->walk.tile},
                {"swizzle", given->walk.swizzle, "tile", given->walk.tile},
                {"base", given->walk.base, "tile", given->walk.tile},
                {"advise", given->advise ? "" : NULL, "tile", given->walk.tile},
                {"device", given->device, "advise", given->advise},
                {"tiles", given->tiles, "advise", given->advise},
                {"other-bytes", given->other_bytes, "advise", given->advise},
                {"tma", given->tma ? "" : NULL, "advise", given->advise},
                {"arrows", given->arrows ? "" : NULL, "svg", given->svg}};
    for (size_t i = 0; i < sizeof idle / sizeof *idle; i++)
        if (idle[i].value && !idle[i].has)
            return complain("--%s says nothing without --%s", idle[i].name, idle[i].wants);
    if (given->advise && (given->walk.pad || given->walk.swizzle))
        return complain("--advise looks for the pad and the swizzle itself; leave --pad and --swizzle out");
    if (given->advise && given->arrows)
        return complain("a file holds one picture: --advise or --arrows");
    return 0;
}

static int check_options(const struct bank_options *given, const struct args_list *words) {
    const int ways = !!given->access.address + !!given->access.addresses + !!given->access.stride + !!given->walk.tile;
    if (words->count)
        return complain("bank takes options only, not `%.40s`; see `gristmill bank --help`", words->items[0]);
    if (ways != 1)
        return complain("bank wants one of --address, --addresses, --stride and --tile%s; see `gristmill bank --help`",
                        ways ? ", not several" : "");
    return refuse_idle(given);
}

/* ---- an access by its addresses ----------------------------------------------------------------- */

/* Blanks for what a title cannot show, and dots where it was cut; draw_bank() says the kind and width itself. */
__attribute__((format(printf, 2, 3))) static void write_title(struct view *view, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    const int length = vsnprintf(view->title, sizeof view->title, format, arguments);
    va_end(arguments);
    if (length >= (int)sizeof view->title)
        memcpy(view->title + sizeof view->title - 4, "...", 4);
    for (char *at = view->title; *at; at++)
        if (*at < ' ' || *at > '~')
            *at = ' ';
}

static int prepare_addresses(const struct access_options *given, struct job *job) {
    struct view *view = &job->views[0];
    if (access_read_shape(given, GM_ACCESS_LOAD, 0, &view->access) != 0 ||
        access_read_addresses(given, &view->access) != 0 || access_check_lanes(&view->access) != 0)
        return -1;
    if (given->address)
        write_title(view, "Addresses %s", given->address);
    else if (given->stride)
        write_title(view, "A stride of %s words", given->stride);
    else
        write_title(view, "Addresses one by one");
    job->count = 1;
    return 0;
}

/* ---- a walk through a tile ---------------------------------------------------------------------- */

static void describe_tile(const struct walk_tile *t, char *text, size_t bytes) {
    int length = snprintf(text, bytes, "%u x %u %s", t->tile.rows, t->columns, t->type);
    if (t->tile.pitch_bytes != t->tile.row_bytes)
        length += snprintf(text + length, bytes - (size_t)length, ", pitch %u bytes", t->tile.pitch_bytes);
    if (t->tile.swizzle.bits)
        snprintf(text + length, bytes - (size_t)length, ", Swizzle<%u,%u,%d>", t->tile.swizzle.bits,
                 t->tile.swizzle.base, t->tile.swizzle.shift);
}

/* Adds one access of the tile to the job. */
static int add_walk(const struct access_options *given, const struct walk_tile *t, enum walk_name walk,
                    enum gm_access_kind kind, struct job *job) {
    static const char *const ways[] = {"Along the rows", "Down the columns", "", "A fragment"};
    struct view *view = &job->views[job->count];
    struct gm_tile_access *lanes = &job->walks[job->count];
    char tile[96];
    if (access_read_shape(given, kind, t->element_bytes, &view->access) != 0 ||
        access_check_lanes(&view->access) != 0 || walk_fill(t, walk, &view->access, lanes) != 0)
        return -1;
    if (gm_tile_access_place(&t->tile, lanes, &view->access) != GM_OK)
        return complain("--tile: %s", gm_last_error());
    describe_tile(t, tile, sizeof tile);
    write_title(view, "%s of a tile of %s", ways[walk], tile);
    job->count++;
    return 0;
}

static int prepare_tile(const struct bank_options *given, struct job *job) {
    struct walk_tile t;
    if (walk_read(&given->walk, &t) != 0)
        return -1;
    if (t.walk == WALK_TRANSPOSE && given->access.kind)
        return complain("--walk transpose stores along the rows and loads down the columns; leave --kind out");
    int status;
    if (t.walk == WALK_TRANSPOSE) {
        status = add_walk(&given->access, &t, WALK_ROW, GM_ACCESS_STORE, job);
        if (status == 0)
            status = add_walk(&given->access, &t, WALK_COLUMN, GM_ACCESS_LOAD, job);
    } else {
        status =
            add_walk(&given->access, &t, t.walk, t.walk == WALK_LDMATRIX ? GM_ACCESS_LDMATRIX : GM_ACCESS_LOAD, job);
    }
    job->question = (struct gm_pad_question){.size = sizeof job->question, .tile = t.tile};
    snprintf(job->advice_title, sizeof job->advice_title, "Padding a tile of %u x %u %s", t.tile.rows, t.columns,
             t.type);
    return status;
}

/* ---- advice and pictures ------------------------------------------------------------------------ */

static int advise(const struct bank_options *given, struct job *job) {
    struct gm_pad_question *question = &job->question;
    struct gm_device device;
    char why[256];
    question->hardware_swizzle = given->tma;
    if (given->tiles && number_read("--tiles", given->tiles, 1, 1u << 16, &question->tiles) != 0)
        return -1;
    if (given->other_bytes &&
        number_read("--other-bytes", given->other_bytes, 0, 1u << 20, &question->other_bytes) != 0)
        return -1;
    if (device_from_option(given->device, &device, why, sizeof why) != 0)
        return -1;
    if (why[0])
        note("There is no GPU here (%s), so the advice is for the %s model.", why, device.name);
    job->advise = true;
    job->advice = (struct gm_pad_advice){.size = sizeof job->advice};
    if (gm_pad_advise(question, job->walks, job->count, &device, &job->advice) != GM_OK)
        return complain("--advise: %s", gm_last_error());
    return 0;
}

static int prepare(const struct bank_options *given, struct job *job) {
    int status = given->walk.tile ? prepare_tile(given, job) : prepare_addresses(&given->access, job);
    for (size_t i = 0; i < job->count && status == 0; i++) {
        struct view *view = &job->views[i];
        view->map = (struct gm_bank_map){.size = sizeof view->map};
        if (gm_bank_map(&view->access, &view->map) != GM_OK)
            status = complain("%s: %s", view->title, gm_last_error());
    }
    if (status == 0 && given->advise)
        status = advise(given, job);
    if (status == 0 && job->count > 1 && !job->advise && (given->svg || given->html))
        status = complain("a file holds one picture, and --walk transpose makes two: take --walk row or --walk column");
    return status;
}

/* A file holds the advice where one is asked for, else the access. */
static int draw_one(FILE *out, enum draw_form form, const struct job *job) {
    const struct view *view = &job->views[0];
    if (job->arrows && form == DRAW_SVG)
        return draw_arrows(out, view->title, &view->access, &view->map);
    if (job->advise)
        return draw_advice(out, form, job->advice_title, &job->question, &job->advice);
    return draw_bank(out, form, view->title, &view->access, &view->map);
}

static int draw_file(const char *path, enum draw_form form, const struct job *job) {
    FILE *out = fopen(path, "w");
    if (!out)
        return complain("cannot write %s: %s", path, strerror(errno));
    const int status = draw_one(out, form, job);
    return file_finish(out, path) == 0 ? status : -1;
}

static int draw_terminal(const struct job *job) {
    const enum draw_form form = draw_form_of(stdout);
    int status = 0;
    for (size_t i = 0; i < job->count && status == 0; i++) {
        const struct view *view = &job->views[i];
        status = draw_bank(stdout, form, view->title, &view->access, &view->map);
        if (i + 1 < job->count || job->advise)
            putchar('\n');
    }
    return status == 0 && job->advise ? draw_one(stdout, form, job) : status;
}

static int run(const struct bank_options *given, const struct args_list *words) {
    struct job job = {.arrows = given->arrows};
    if (check_options(given, words) != 0 || prepare(given, &job) != 0)
        return EXIT_CODE_USAGE;
    int status = draw_terminal(&job);
    if (status == 0 && given->svg)
        status = draw_file(given->svg, DRAW_SVG, &job);
    if (status == 0 && given->html)
        status = draw_file(given->html, DRAW_HTML, &job);
    return status == 0 ? EXIT_CODE_OK : EXIT_CODE_FAILURE;
}

/* ---- command line ------------------------------------------------------------------------------- */

static const char about[] =
    "One access of a warp to shared memory: its wavefronts, its bank conflicts, and who rides with whom.\n"
    "Needs no GPU. The access is said in one of four ways; numbers are decimal or 0x...\n\n"
    "  --address EXPR       byte address of each lane: numbers, `lane`, ( ), and + - * / % & | ^ << >> ~ as in C\n"
    "  --addresses LIST     one byte address a lane, commas between; the lanes left over take no part\n"
    "  --stride WORDS       lane i at word i * WORDS\n"
    "  --tile ROWSxCOLUMNS  a tile, and --walk says how the warp goes through it\n\n"
    "examples:\n"
    "  gristmill bank --stride 2\n"
    "  gristmill bank --address 'lane * 132'\n"
    "  gristmill bank --kind ldmatrix --address '(lane * 128) ^ ((lane & 7) << 4)'\n"
    "  gristmill bank --tile 32x32 --type f32 --walk column --pad 1 --svg column.svg\n"
    "  gristmill bank --width 16 --address 'lane * 144' --arrows --svg arrows.svg\n"
    "  gristmill bank --tile 64x64 --type bf16 --walk ldmatrix --swizzle 128B --html tile.html\n"
    "  gristmill bank --tile 32x32 --walk transpose --advise --device a100";

int command_bank(int argc, char **argv) {
    struct bank_options given = {0};
    const struct args_option options[] = {
        {"address", "EXPR", ARGS_TEXT, &given.access.address, "byte address as an expression in `lane`"},
        {"addresses", "LIST", ARGS_TEXT, &given.access.addresses, "byte addresses of lanes 0, 1, 2 ..."},
        {"stride", "WORDS", ARGS_TEXT, &given.access.stride, "4-byte words from lane to lane"},
        {"kind", "KIND", ARGS_TEXT, &given.access.kind,
         "load (default), store, ldmatrix, stmatrix, cp.async, atomic, increment (by 1), cas"},
        {"width", "BYTES", ARGS_TEXT, &given.access.width,
         "a lane's bytes: 1, 2, 4, 8, 16 (default: 4, or an element)"},
        {"matrices", "N", ARGS_TEXT, &given.access.matrices, "of ldmatrix and stmatrix: 1, 2, 4 (default)"},
        {"lanes", "LANES", ARGS_TEXT, &given.access.lanes,
         "those that take part: 0-7,16 or a mask 0xff (default: all)"},
        {"tile", "ROWSxCOLUMNS", ARGS_TEXT, &given.walk.tile, "a tile in shared memory, in elements"},
        {"type", "TYPE", ARGS_TEXT, &given.walk.type, "of the tile: u8, bf16, f16, f32 (default), f64"},
        {"walk", "WALK", ARGS_TEXT, &given.walk.walk, "row, column, transpose (store rows, load columns), ldmatrix"},
        {"at", "ROW,COLUMN", ARGS_TEXT, &given.walk.at, "element where lane 0 begins (default: 0,0)"},
        {"pad", "ELEMENTS", ARGS_TEXT, &given.walk.pad, "added to every row"},
        {"swizzle", "SWIZZLE", ARGS_TEXT, &given.walk.swizzle, "32B, 64B, 128B, or B,M,S on byte addresses"},
        {"base", "ADDRESS", ARGS_TEXT, &given.walk.base, "byte address of the tile (default: 0)"},
        {"advise", NULL, ARGS_FLAG, &given.advise,
         "the smallest pad for the walk, its cost, or why a swizzle is better"},
        {"device", "N|MODEL", ARGS_TEXT, &given.device, "of the advice: a100, h100, h200, a10, rtx4090, or a number"},
        {"tiles", "N", ARGS_TEXT, &given.tiles, "such tiles that a block holds, e.g. stages (default: 1)"},
        {"other-bytes", "N", ARGS_TEXT, &given.other_bytes, "shared memory of the block beside them (default: 0)"},
        {"tma", NULL, ARGS_FLAG, &given.tma, "TMA fills the tile or WGMMA reads it, so it cannot be padded"},
        {"svg", "FILE", ARGS_TEXT, &given.svg, "the picture as SVG; with --advise the advice"},
        {"arrows", NULL, ARGS_FLAG, &given.arrows, "of --svg: an arrow from each lane to its banks, and no wavefronts"},
        {"html", "FILE", ARGS_TEXT, &given.html, "the same as one HTML page"},
    };
    const struct args_command command = {"gristmill bank ACCESS [options]", about, options,
                                         sizeof options / sizeof *options};
    struct args_list words = {0};
    enum args_outcome outcome = args_parse(&command, argc, argv, &words);
    if (outcome != ARGS_GO)
        return outcome == ARGS_HELP ? EXIT_CODE_OK : EXIT_CODE_USAGE;
    return run(&given, &words);
}
