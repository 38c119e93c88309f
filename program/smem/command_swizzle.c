/* SPDX-License-Identifier: Apache-2.0 */
/* gristmill swizzle: a tile under a swizzle, drawn and proved; and the search for the smallest swizzle of a walk. */
#include <stdio.h>
#include <string.h>

#include "program/base/args.h"
#include "program/commands.h"
#include "program/smem/draw_memory.h"
#include "program/smem/numbers.h"
#include "program/smem/picture.h"
#include "program/base/messages.h"
#include "smem/smem_tile.h"
#include "program/smem/tensor_words.h"
#include "program/smem/tile_walks.h"
#include "program/smem/walk.h"

struct swizzle_options {
    const char *mode, *swizzle, *tile, *type, *pitch, *base, *unit;
    struct args_list search;
    const char *svg, *html;
};

/* What is drawn. */
struct swizzle_job {
    char title[256];
    struct gm_smem_tile tile;
    struct gm_swizzle_proof proof;
    uint32_t element_bytes; /* 0: no type was given */
    uint32_t unit;          /* 0: the widest that fits */
};

/* ---- the tile ----------------------------------------------------------------------------------- */

static int read_tile(const struct swizzle_options *given, struct swizzle_job *job) {
    const char *text = given->tile ? given->tile : "32x128";
    struct gm_smem_tile *tile = &job->tile;
    uint64_t sides[2];
    size_t count;
    *tile = (struct gm_smem_tile){.size = sizeof *tile};
    if (words_read_list("--tile", text, GM_TILE_BYTES_MAX, 2, sides, &count) != 0)
        return -1;
    if (count != 2)
        return complain("--tile wants rows and %s a row, such as 32x128, not `%.40s`",
                        given->type ? "elements" : "bytes", text);
    tile->rows = (uint32_t)sides[0];
    const uint64_t row_bytes = sides[1] * (job->element_bytes ? job->element_bytes : 1);
    tile->row_bytes = row_bytes <= GM_TILE_BYTES_MAX ? (uint32_t)row_bytes : GM_TILE_BYTES_MAX + 1;
    if (given->pitch && number_read("--pitch", given->pitch, 1, GM_TILE_BYTES_MAX, &tile->pitch_bytes) != 0)
        return -1;
    if (given->base && number_read("--base", given->base, 0, UINT32_MAX, &tile->base) != 0)
        return -1;
    return gm_smem_tile_check(tile) == GM_OK ? 0 : complain("--tile %s: %s", text, gm_last_error());
}

static int read_type(const struct swizzle_options *given, struct swizzle_job *job) {
    int32_t type;
    if (!given->type)
        return 0;
    if (words_read_type("--type", given->type, &type) != 0)
        return -1;
    job->element_bytes = gm_tensor_map_element_bytes(type);
    return job->element_bytes ? 0 : complain("--type %s is no element type", given->type);
}

static int read_mode(const char *text, struct gm_swizzle *swizzle) {
    int32_t mode;
    if (words_read_swizzle("--mode", text, &mode) != 0)
        return -1;
    if (mode > GM_SWIZZLE_128B)
        return complain("--mode %s is not one of none, 32B, 64B, 128B", text);
    *swizzle = gm_swizzle_of_mode((enum gm_swizzle_mode)mode);
    return 0;
}

/* ---- the search --------------------------------------------------------------------------------- */

enum finding { FOUND, NOT_FOUND, MALFORMED };

static enum finding search(const struct args_list *texts, struct swizzle_job *job) {
    struct tile_walks walks = {0};
    const uint32_t width = job->element_bytes ? job->element_bytes : 4;
    int found = 0, status = 0;
    for (size_t i = 0; i < texts->count && status == 0; i++)
        status = tile_walks_add(&walks, &job->tile, width, texts->items[i]);
    if (status == 0 && gm_swizzle_search(&job->tile, walks.items, walks.count, &job->tile.swizzle, &found) != GM_OK)
        status = complain("--search: %s", gm_last_error());
    tile_walks_free(&walks);
    return status != 0 ? MALFORMED : found ? FOUND : NOT_FOUND;
}

/* ---- words -------------------------------------------------------------------------------------- */

static size_t add_text(char *title, size_t bytes, size_t at, const char *text) {
    const int length = snprintf(title + at, bytes - at, "%s", text);
    return at + (size_t)length < bytes ? at + (size_t)length : bytes - 1;
}

/* "column:4 and row:4" */
static void list_searches(const struct args_list *texts, char *text, size_t bytes) {
    size_t at = 0;
    text[0] = 0;
    for (size_t i = 0; i < texts->count; i++) {
        at = add_text(text, bytes, at, i ? " and " : "");
        at = add_text(text, bytes, at, texts->items[i]);
    }
}

/* What the swizzle is on element indices, which is how a kernel that indexes elements writes it. */
static void name_on_elements(const struct swizzle_job *job, char *text, size_t bytes) {
    struct gm_swizzle elements;
    text[0] = 0;
    if (!job->element_bytes || !job->tile.swizzle.bits)
        return;
    if (gm_swizzle_of_elements(job->tile.swizzle, job->element_bytes, &elements) == GM_OK)
        snprintf(text, bytes, "; on element indices Swizzle<%u,%u,%d>", elements.bits, elements.base, elements.shift);
    else
        snprintf(text, bytes, "; it cuts elements of %u bytes", job->element_bytes);
}

static void write_title(const struct swizzle_options *given, struct swizzle_job *job) {
    char swizzle[96], elements[64], searches[64];
    memory_swizzle_name(job->tile.swizzle, swizzle, sizeof swizzle);
    name_on_elements(job, elements, sizeof elements);
    list_searches(&given->search, searches, sizeof searches);
    if (given->search.count)
        snprintf(job->title, sizeof job->title, "The smallest swizzle for %s walks: %s%s", searches, swizzle, elements);
    else
        snprintf(job->title, sizeof job->title, "A tile under %s%s", swizzle, elements);
}

/* ---- the command -------------------------------------------------------------------------------- */

static int check_options(const struct swizzle_options *given, const struct args_list *words) {
    const int ways = !!given->mode + !!given->swizzle + !!given->search.count;
    if (words->count)
        return complain("swizzle takes options only, not `%.40s`; see `gristmill swizzle --help`", words->items[0]);
    if (ways != 1)
        return complain("swizzle wants one of --mode, --swizzle and --search%s; see `gristmill swizzle --help`",
                        ways ? ", not several" : "");
    return 0;
}

static int prepare(const struct swizzle_options *given, struct swizzle_job *job) {
    if (read_type(given, job) != 0 || read_tile(given, job) != 0)
        return -1;
    if (given->unit && number_read("--unit", given->unit, 4, 16, &job->unit) != 0)
        return -1;
    if (given->mode && read_mode(given->mode, &job->tile.swizzle) != 0)
        return -1;
    return given->swizzle ? walk_read_swizzle("--swizzle", given->swizzle, &job->tile.swizzle) : 0;
}

/* Chunks as large as --unit hold together, so that there is something to draw. */
static int check_picture(const struct swizzle_job *job) {
    struct memory_view view;
    return memory_look(&view, &job->tile, job->unit, 1);
}

static int draw(FILE *out, enum draw_form form, const void *what) {
    const struct swizzle_job *job = what;
    return draw_swizzle(out, form, job->title, &job->tile, job->unit, &job->proof);
}

static int show(const struct swizzle_options *given, struct swizzle_job *job) {
    const struct picture picture = {draw, job, given->svg, given->html};
    job->proof = (struct gm_swizzle_proof){.size = sizeof job->proof};
    if (gm_swizzle_prove(&job->tile, &job->proof) != GM_OK)
        return complain("%s", gm_last_error());
    write_title(given, job);
    return picture_put(&picture);
}

static int run(const struct swizzle_options *given, const struct args_list *words) {
    struct swizzle_job job = {.title = ""};
    char searches[64];
    if (check_options(given, words) != 0 || prepare(given, &job) != 0)
        return EXIT_CODE_USAGE;
    const enum finding finding = given->search.count ? search(&given->search, &job) : FOUND;
    if (finding == MALFORMED)
        return EXIT_CODE_USAGE;
    list_searches(&given->search, searches, sizeof searches);
    if (finding == NOT_FOUND) {
        printf("No swizzle frees all %s walks of bank conflicts on %u rows of %u bytes, pitch %u; a pad may: see "
               "`gristmill "
               "bank --help`.\n",
               searches, job.tile.rows, job.tile.row_bytes, gm_smem_tile_pitch(&job.tile));
        return EXIT_CODE_FAILURE;
    }
    if (check_picture(&job) != 0)
        return EXIT_CODE_USAGE;
    return show(given, &job) == 0 ? EXIT_CODE_OK : EXIT_CODE_FAILURE;
}

static const char about[] =
    "A tile in shared memory under a swizzle: which logical chunk lies where, in which banks, and, found by going\n"
    "through the whole tile, which walks of a warp are free of bank conflicts. Needs no GPU.\n\n"
    "  --mode MODE        a mode of TMA and WGMMA: none, 32B, 64B, 128B\n"
    "  --swizzle B,M,S    CuTe's Swizzle<B,M,S> on byte addresses; S may be negative\n"
    "  --search WALK      the smallest swizzle with which every such walk of the tile takes its ideal wavefronts:\n"
    "                     row, column (an element a lane; without --type 4 bytes), row:16, column:16, ldmatrix\n\n"
    "The swizzle takes absolute addresses, so --base shifts its phase. Exit code 1: the search found none.\n\n"
    "examples:\n"
    "  gristmill swizzle --mode 128B --tile 64x128\n"
    "  gristmill swizzle --mode 64B --type bf16 --tile 64x32 --base 0x80\n"
    "  gristmill swizzle --swizzle 5,2,5 --type f32 --tile 32x32 --unit 4 --html xor.html\n"
    "  gristmill swizzle --search column --search row --type f32 --tile 32x32\n"
    "  gristmill swizzle --search ldmatrix --type bf16 --tile 64x32 --svg ldmatrix.svg";

int command_swizzle(int argc, char **argv) {
    struct swizzle_options given = {0};
    const struct args_option options[] = {
        {"mode", "MODE", ARGS_TEXT, &given.mode, "none, 32B, 64B, 128B"},
        {"swizzle", "B,M,S", ARGS_TEXT, &given.swizzle, "on byte addresses"},
        {"search", "WALK", ARGS_LIST, &given.search, "row, column, row:BYTES, column:BYTES, ldmatrix; may be repeated"},
        {"tile", "ROWSxBYTES", ARGS_TEXT, &given.tile, "with --type ROWSxELEMENTS (default: 32x128)"},
        {"type", "TYPE", ARGS_TEXT, &given.type, "of the tile's elements: u8, f16, bf16, f32, f64, ..."},
        {"pitch", "BYTES", ARGS_TEXT, &given.pitch, "from row to row (default: a row)"},
        {"base", "ADDRESS", ARGS_TEXT, &given.base, "byte address of the tile (default: 0)"},
        {"unit", "4|8|16", ARGS_TEXT, &given.unit, "bytes of a chunk in the picture (default: the widest that fits)"},
        {"svg", "FILE", ARGS_TEXT, &given.svg, "the picture as SVG"},
        {"html", "FILE", ARGS_TEXT, &given.html, "the same as one HTML page"},
    };
    const struct args_command command = {"gristmill swizzle SWIZZLE [options]", about, options,
                                         sizeof options / sizeof *options};
    struct args_list words = {0};
    enum args_outcome outcome = args_parse(&command, argc, argv, &words);
    if (outcome != ARGS_GO)
        return outcome == ARGS_HELP ? EXIT_CODE_OK : EXIT_CODE_USAGE;
    return run(&given, &words);
}
