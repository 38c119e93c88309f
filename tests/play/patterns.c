/* SPDX-License-Identifier: Apache-2.0 */
/* What the C model says of random accesses, walks, advice and expressions, for tests/play/model.js to compare with what
 * the page of `gristmill lab play` computes.
 *
 *     play_patterns COUNT SEED     COUNT accesses, and beside them the rest
 *
 * Writes records of 32-bit words in this machine's order: how many words follow, the record's type, the question, the
 * answer. An answer begins with its gm_status; a refused one is that alone. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gristmill/smem.h"
#include "program/smem/expression.h"
#include "program/smem/walk.h"
#include "smem/bank.h"

enum record_type { RECORD_ACCESS, RECORD_PLACE, RECORD_WALK, RECORD_ADVICE, RECORD_EXPRESSION };

static uint32_t words[2048];
static size_t used;

static void put(uint32_t word) {
    words[used++] = word;
}

static void put_all(const uint32_t *all, size_t count) {
    memcpy(words + used, all, count * sizeof *all);
    used += count;
}

static void begin_record(enum record_type type) {
    used = 1;
    put(type);
}

static void end_record(void) {
    words[0] = (uint32_t)(used - 1);
    if (fwrite(words, sizeof *words, used, stdout) != used)
        exit(1);
}

/* ---- chance --------------------------------------------------------------------------------------- */

static uint64_t state;

static uint32_t random_word(void) { /* splitmix64 */
    uint64_t z = state += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return (uint32_t)((z ^ (z >> 31)) >> 32);
}

static uint32_t below(uint32_t end) {
    return (uint32_t)((uint64_t)random_word() * end >> 32);
}

static int one_in(uint32_t many) {
    return below(many) == 0;
}

static uint32_t power(uint32_t most_log2) {
    return 1u << below(most_log2 + 1);
}

static uint32_t some_lanes_off(void) {
    switch (below(6)) {
    case 0:
        return random_word();
    case 1:
        return random_word() & random_word();
    case 2:
        return ~(1u << below(32));
    case 3:
        return UINT32_MAX << below(32);
    default:
        return 0;
    }
}

/* ---- accesses ------------------------------------------------------------------------------------- */

/* Mostly one that there is. */
static void draw_shape(struct gm_access *access) {
    const struct gm_access_rule *rule;
    *access = (struct gm_access){.size = sizeof *access, .kind = (enum gm_access_kind)below(GM_ACCESS_KINDS)};
    rule = &gm_access_rules[access->kind];
    do
        access->width = power(4);
    while (!(access->width & rule->widths) && !one_in(50));
    access->width = one_in(200) ? below(20) : access->width;
    access->matrices = rule->matrices ? (one_in(4) ? 0 : power(2)) : 0;
    access->matrices = one_in(200) ? below(6) : access->matrices;
    access->inactive = some_lanes_off();
}

static uint32_t draw_address(uint32_t lane, uint32_t way, uint32_t step, uint32_t other) {
    switch (way) {
    case 0:
        return below(step);
    case 1:
        return lane * step;
    case 2:
        return lane * step ^ (lane & 7) * other;
    case 3:
        return lane % 4 * step + lane / 4 * other;
    case 4:
        return lane / 2 * step;
    case 5:
        return (lane & ~2u) * step;
    case 6:
        return below(4) * 128;
    default:
        return (lane * 5 & 31) * step + (one_in(6) ? other : 0);
    }
}

static void draw_addresses(struct gm_access *access) {
    const uint32_t way = below(8), base = one_in(8) ? random_word() : 128 * below(16);
    const uint32_t step = one_in(2) ? 4 * below(160) : below(4096), other = 16 * below(40);
    const int loose = one_in(40); /* as they come, aligned or not */
    for (uint32_t lane = 0; lane < GM_LANES; lane++) {
        const uint32_t address = base + draw_address(lane, way, step ? step : 4, other);
        access->address[lane] = loose || !access->width ? address : address - address % access->width;
    }
}

static void put_access(const struct gm_access *access) {
    put(access->kind);
    put(access->width);
    put(access->matrices);
    put(access->inactive);
}

static int with_words; /* whether the answer has the digest, which takes longer than the rest; the question says so */

/* A number that changes with every word of the map. */
static uint32_t digest(const struct gm_bank_map *map) {
    uint32_t sum = 0;
    for (uint32_t wavefront = 0; wavefront < map->cost.wavefronts; wavefront++)
        for (uint32_t bank = 0; bank < GM_BANKS; bank++)
            sum = sum * 31 + (map->word[wavefront][bank] == GM_NO_WORD ? 1 : map->word[wavefront][bank] + 2);
    return sum;
}

static void put_map(enum gm_status status, const struct gm_access *access) {
    struct gm_bank_map map = {.size = sizeof map, .cost = {.size = sizeof map.cost}};
    if (status == GM_OK)
        status = gm_bank_map(access, &map);
    put((uint32_t)status);
    if (status != GM_OK)
        return;
    put(map.cost.wavefronts);
    put(map.cost.ideal);
    put(map.cost.conflicts);
    put(map.cost.degree);
    put(map.cost.words);
    if (with_words)
        put(digest(&map));
    for (uint32_t lane = 0; lane < GM_LANES; lane++)
        put(map.wavefront[lane][0]);
}

static void write_access(void) {
    struct gm_access access;
    draw_shape(&access);
    draw_addresses(&access);
    begin_record(RECORD_ACCESS);
    put((uint32_t)with_words);
    put_access(&access);
    put_all(access.address, GM_LANES);
    put_map(GM_OK, &access);
    end_record();
}

/* ---- tiles ---------------------------------------------------------------------------------------- */

static struct gm_swizzle draw_swizzle(void) {
    if (one_in(3))
        return (struct gm_swizzle){0};
    if (one_in(2))
        return gm_swizzle_of_mode((enum gm_swizzle_mode)below(4));
    const uint32_t bits = one_in(30) ? below(20) : 1 + below(5);
    const int32_t shift = one_in(30) ? (int32_t)below(20) : (int32_t)(bits + below(5));
    return (struct gm_swizzle){bits, one_in(30) ? below(33) : below(7), one_in(4) ? -shift : shift};
}

static struct gm_smem_tile draw_tile(uint32_t row_step) {
    struct gm_smem_tile tile = {.size = sizeof tile, .rows = 1 + below(64), .swizzle = draw_swizzle()};
    tile.rows = one_in(3) ? power(7) : tile.rows;
    tile.row_bytes = one_in(3) ? power(9) : row_step * (1 + below(512 / row_step));
    tile.pitch_bytes = tile.row_bytes + (one_in(2) ? 0 : row_step * below(9));
    tile.base = one_in(4) ? 16 * below(1000) : 0;
    if (one_in(100))
        tile.base = UINT32_MAX - below(100000);
    if (one_in(300))
        tile.rows = below(100000);
    return tile;
}

static void put_tile(const struct gm_smem_tile *tile) {
    put(tile->rows);
    put(tile->row_bytes);
    put(tile->pitch_bytes ? tile->pitch_bytes : tile->row_bytes);
    put(tile->base);
    put(tile->swizzle.bits);
    put(tile->swizzle.base);
    put((uint32_t)tile->swizzle.shift);
}

static void write_place(void) {
    struct gm_access access;
    draw_shape(&access);
    const uint32_t width = access.width ? access.width : 1;
    const struct gm_smem_tile tile = draw_tile(width);
    struct gm_tile_access walk = {.size = sizeof walk,
                                  .kind = access.kind,
                                  .width = access.width,
                                  .matrices = access.matrices,
                                  .inactive = access.inactive};
    const uint32_t vectors = tile.row_bytes / width ? tile.row_bytes / width : 1, slack = one_in(500);
    for (uint32_t lane = 0; lane < GM_LANES; lane++) {
        walk.row[lane] = below(tile.rows + slack);
        walk.byte[lane] = width * below(vectors + slack);
    }
    begin_record(RECORD_PLACE);
    put((uint32_t)with_words);
    put_tile(&tile);
    put_access(&access);
    put_all(walk.row, GM_LANES);
    put_all(walk.byte, GM_LANES);
    put_map(gm_tile_access_place(&tile, &walk, &access), &access);
    end_record();
}

/* The program's walks, from a random element on. */
static void draw_walk(struct walk_tile *t, struct gm_access *access) {
    draw_shape(access);
    *t = (struct walk_tile){.element_bytes = power(3), .type = "elements"};
    access->width = access->width < t->element_bytes && !one_in(20) ? t->element_bytes : access->width;
    t->tile = draw_tile(one_in(10) ? t->element_bytes : 16);
    if (!one_in(4)) { /* room for every lane */
        t->tile.rows = 32 + below(33);
        t->tile.row_bytes = one_in(2) ? 128u << below(4) : 16 * (32 + below(32));
        t->tile.base -= t->tile.base > UINT32_MAX / 2 ? UINT32_MAX / 2 : 0;
        t->tile.base -= t->tile.base % 16;
    }
    t->tile.row_bytes += (0 - t->tile.row_bytes) % t->element_bytes;
    t->tile.pitch_bytes = t->tile.row_bytes + 4 * t->element_bytes * below(3);
    t->columns = t->tile.row_bytes / t->element_bytes;
    const int matrix = access->kind == GM_ACCESS_LDMATRIX || access->kind == GM_ACCESS_STMATRIX;
    t->walk = matrix || one_in(50) ? WALK_LDMATRIX : one_in(2) ? WALK_ROW : WALK_COLUMN;
    if (one_in(3)) {
        t->row = below(t->tile.rows);
        t->column = below(t->columns);
    }
}

static void put_walk(const struct walk_tile *t, const struct gm_access *access) {
    put_tile(&t->tile);
    put_access(access);
    put(t->walk);
    put(t->element_bytes);
    put(t->row);
    put(t->column);
}

static enum gm_status fill(const struct walk_tile *t, const struct gm_access *access, struct gm_tile_access *walk) {
    return access->width && walk_fill(t, t->walk, access, walk) == 0 ? GM_OK : GM_ERROR_INVALID_ARGUMENT;
}

static void write_walk(void) {
    struct walk_tile t;
    struct gm_access access;
    struct gm_tile_access walk;
    do
        draw_walk(&t, &access);
    while (access.width == 0);
    begin_record(RECORD_WALK);
    put((uint32_t)with_words);
    put_walk(&t, &access);
    enum gm_status status = fill(&t, &access, &walk);
    if (status == GM_OK)
        status = gm_tile_access_place(&t.tile, &walk, &access);
    put_map(status, &access);
    end_record();
}

/* ---- advice --------------------------------------------------------------------------------------- */

static void put_advice(const struct gm_pad_advice *a) {
    const uint32_t numbers[] = {a->unit_bytes,
                                a->pad_bytes,
                                a->wavefronts,
                                a->wavefronts_padded,
                                a->ideal,
                                a->tile_bytes,
                                a->tile_bytes_padded,
                                (uint32_t)a->blocks,
                                (uint32_t)a->blocks_padded,
                                a->swizzle.bits,
                                a->swizzle.base,
                                (uint32_t)a->swizzle.shift,
                                a->wavefronts_swizzled,
                                a->cure};
    put_all(numbers, sizeof numbers / sizeof *numbers);
}

/* Of one walk, or of two through the same tile. */
static void write_advice(void) {
    static const char *const devices[] = {"a100", "h100", "h200", "a10", "rtx4090"};
    struct walk_tile t;
    struct gm_access access;
    struct gm_tile_access walks[2];
    const uint32_t device_index = below(5);
    struct gm_device device = {.size = sizeof device};
    do
        draw_walk(&t, &access);
    while (access.width == 0 || fill(&t, &access, &walks[0]) != GM_OK);
    struct walk_tile second = t;
    second.walk = t.walk == WALK_ROW ? WALK_COLUMN : t.walk == WALK_COLUMN ? WALK_ROW : WALK_LDMATRIX;
    const size_t count = one_in(2) && fill(&second, &access, &walks[1]) == GM_OK ? 2 : 1;
    const struct gm_pad_question question = {.size = sizeof question,
                                             .tile = t.tile,
                                             .tiles = 1 + below(one_in(4) ? 20 : 2),
                                             .other_bytes = one_in(2) ? 0 : below(120000)};
    struct gm_pad_advice advice = {.size = sizeof advice};
    begin_record(RECORD_ADVICE);
    put_walk(&t, &access);
    put(count == 2 ? second.walk : UINT32_MAX);
    put(question.tiles);
    put(question.other_bytes);
    put(device_index);
    gm_device_model(devices[device_index], &device);
    const enum gm_status status = gm_pad_advise(&question, walks, count, &device, &advice);
    put((uint32_t)status);
    if (status == GM_OK)
        put_advice(&advice);
    end_record();
}

/* ---- expressions ---------------------------------------------------------------------------------- */

static void draw_expression(char *text, size_t bytes) {
    static const char *const pieces[] = {
        "lane", "lane ", "(", ")", " + ", "-", "*",  "/",  "%",  " & ", "|",  "^", "<<", ">> ", "~",   "0x1",   "16",
        "4",    "128",   "9", "7", "0",   " ", "((", "))", "63", "\t",  "64", "x", "$",  "<",   "0xg", "lanes", "é"};
    static const char *const signs[] = {" + ", "-", "*", "/", "%", "&", "|", "^", "<<", ">>"};
    static const char *const operands[] = {"lane", "(lane & 7)",          "-3", "~lane", "4",
                                           "0x80", "9223372036854775807", "63"};
    size_t length = 0;
    text[0] = 0;
    const int wild = one_in(2);
    for (uint32_t left = 1 + below(12); left > 0 && length + 32 < bytes; left--) {
        const char *piece = wild ? pieces[below(sizeof pieces / sizeof *pieces)] : operands[below(one_in(4) ? 8 : 5)];
        length += (size_t)snprintf(text + length, bytes - length, "%s%s", piece,
                                   wild || left == 1 ? "" : signs[below(sizeof signs / sizeof *signs)]);
    }
}

/* The answer: 0 and the value's halves; or 1, the column, and the sentence as bytes, one a word. */
static void write_expression(void) {
    char text[400];
    struct expression_error error = {0};
    int64_t value = 0;
    draw_expression(text, sizeof text);
    if (one_in(500))
        memset(text, one_in(2) ? '(' : '-', 200), text[200] = 0;
    const uint32_t lane = below(GM_LANES);
    const int failed = expression_value(text, lane, &value, &error) != 0;
    begin_record(RECORD_EXPRESSION);
    put(lane);
    put((uint32_t)strlen(text));
    for (const char *at = text; *at; at++)
        put((unsigned char)*at);
    put((uint32_t)failed);
    put(failed ? (uint32_t)error.column : (uint32_t)value);
    put(failed ? (uint32_t)strlen(error.sentence) : (uint32_t)((uint64_t)value >> 32));
    for (const char *at = error.sentence; failed && *at; at++)
        put((unsigned char)*at);
    end_record();
}

int main(int argc, char **argv) {
    if (argc != 3)
        return 2;
    const long count = strtol(argv[1], NULL, 10);
    state = strtoull(argv[2], NULL, 10);
    if (!freopen("/dev/null", "w", stderr)) /* walk_fill() complains there */
        return 1;
    for (long i = 0; i < count; i++) {
        with_words = i % 4 == 0;
        if (i % 10 < 6)
            write_access();
        else if (i % 10 < 8)
            write_place();
        else
            write_walk();
        if (i % 50 == 0)
            write_expression();
        if (i % 1000 == 0)
            write_advice();
    }
    return fflush(stdout) == 0 ? 0 : 1;
}
