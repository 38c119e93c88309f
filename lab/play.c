/* SPDX-License-Identifier: Apache-2.0 */
/* gristmill lab play: the interactive page on bank conflicts, in one file. What the page computes it has in JavaScript
 * (lab/play/); the rules, devices and colours that it computes with are written into it here. */
#include "lab/play.h"

#include <stdio.h>

#include "program/base/args.h"
#include "program/base/json.h"
#include "program/base/messages.h"
#include "program/base/shared_file.h"
#include "program/commands.h"
#include "program/draw/page.h"
#include "program/draw/palette.h"
#include "host/occupancy.h"
#include "smem/bank.h"
#include "smem/pad.h"
#include "smem/smem_tile.h"

#define USUAL_FILE "bank-conflicts.html"

/* The files of lab/play/, as cmake/Lab.cmake embeds them. */
#define PART(name) extern const char gm_image_play_##name[], gm_image_play_##name##_end[];
PART(page_css)
PART(page_html)
#include "play_scripts.def"
#undef PART

static void put_bytes(FILE *out, const char *begin, const char *end) {
    fwrite(begin, 1, (size_t)(end - begin), out);
}

static void put_script(FILE *out, const char *name, const char *begin, const char *end) {
    fprintf(out, "\n// ======== lab/play/%s.js\n", name);
    put_bytes(out, begin, end);
}

/* ---- facts ---------------------------------------------------------------------------------------- */

static void put_kinds(struct json *json) {
    json_array_begin(json, "kinds");
    for (int kind = 0; kind < GM_ACCESS_KINDS; kind++) {
        const struct gm_access_rule *rule = &gm_access_rules[kind];
        json_line_begin(json, NULL);
        json_put_string(json, "name", rule->name);
        json_put_integer(json, "widths", rule->widths);
        json_put_integer(json, "matrices", rule->matrices);
        json_put_bool(json, "lanesShare", rule->lanes_share);
        json_put_bool(json, "phasesMerge", rule->phases_merge);
        json_put_integer(json, "passes", rule->passes);
        json_object_end(json);
    }
    json_array_end(json);
}

static void put_devices(struct json *json) {
    static const char *const keys[] = {"a100", "h100", "h200", "a10", "rtx4090"};
    json_put_string(json, "defaultDevice", DEFAULT_MODEL);
    json_array_begin(json, "devices");
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        struct gm_device device = {.size = sizeof device};
        gm_device_model(keys[i], &device);
        json_line_begin(json, NULL);
        json_put_string(json, "key", keys[i]);
        json_put_string(json, "name", device.name);
        json_put_integer(json, "smemPerBlock", device.smem_per_block_bytes);
        json_put_integer(json, "smemPerSm", device.smem_per_sm_bytes);
        json_put_integer(json, "blocksMost", gm_blocks_per_sm(&device, 0));
        json_object_end(json);
    }
    json_array_end(json);
}

/* The ground of each bank, and what is read best on it. */
static void put_bank_colours(struct json *json) {
    json_array_begin(json, "bankColours");
    for (uint32_t bank = 0; bank < GM_BANKS; bank++) {
        const uint32_t ground = palette_step(bank, GM_BANKS);
        char text[32];
        snprintf(text, sizeof text, "[\"#%06x\", \"%s\"]", (unsigned)ground,
                 palette_ink_on(ground) == COLOUR_DARK ? "dark" : "paper");
        json_put_raw(json, NULL, text);
    }
    json_array_end(json);
}

static void put_facts(FILE *out) {
    struct json json;
    json_start(&json, out);
    json_object_begin(&json, NULL);
    json_put_integer(&json, "lanes", GM_LANES);
    json_put_integer(&json, "banks", GM_BANKS);
    json_put_integer(&json, "padMax", GM_PAD_MAX);
    json_put_integer(&json, "tileRowsMax", GM_TILE_ROWS_MAX);
    json_put_integer(&json, "tileBytesMax", GM_TILE_BYTES_MAX);
    put_kinds(&json);
    put_devices(&json);
    put_bank_colours(&json);
    json_object_end(&json);
}

/* ---- the page ------------------------------------------------------------------------------------- */

static void put_page(FILE *out) {
    page_begin_adaptive(out, "Bank conflicts, live", NULL);
    fprintf(out, "<style>\n:root{--light:#%06x;--dark:#%06x;--late:#%06x}\n", COLOUR_PAPER, COLOUR_DARK, COLOUR_BAD);
    put_bytes(out, gm_image_play_page_css, gm_image_play_page_css_end);
    fputs("</style>\n", out);
    put_bytes(out, gm_image_play_page_html, gm_image_play_page_html_end);
    fputs("<script>\n\"use strict\";\n(() => {\nconst FACTS = ", out);
    put_facts(out);
    fputs(";\n", out);
#define PART(name) put_script(out, #name, gm_image_play_##name, gm_image_play_##name##_end);
#include "play_scripts.def"
#undef PART
    fputs("})();\n</script>\n", out);
    page_end(out, "Made by `gristmill lab play`. The arithmetic is that of gm_bank_cost(), which was compared with an "
                  "H200's counters.");
}

static int write_page(const char *path) {
    struct draft draft;
    if (draft_begin(&draft, path) != 0)
        return EXIT_CODE_FAILURE;
    put_page(draft.out);
    if (draft_end(&draft) != 0)
        return EXIT_CODE_FAILURE;
    note("%s: open it in a browser", path);
    return EXIT_CODE_OK;
}

int lab_play(int argc, char **argv) {
    const struct args_command command = {
        "gristmill lab play [FILE]",
        "Writes an interactive page on bank conflicts, in one file that needs no network: choose a tile, an access,\n"
        "a pad, a swizzle, and see the banks, the wavefronts and the smallest pad that helps. FILE is\n" USUAL_FILE
        " where none is given.\nNeeds no GPU.",
        NULL, 0};
    struct args_list words = {0};
    enum args_outcome outcome = args_parse(&command, argc, argv, &words);
    if (outcome == ARGS_GO && words.count > 1) {
        complain("`gristmill lab play` writes one file, not also %s", words.items[1]);
        outcome = ARGS_WRONG;
    }
    if (outcome != ARGS_GO)
        return outcome == ARGS_HELP ? EXIT_CODE_OK : EXIT_CODE_USAGE;
    return write_page(words.count ? words.items[0] : USUAL_FILE);
}
