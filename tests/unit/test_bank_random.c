/* SPDX-License-Identifier: Apache-2.0 */
/* The bank model against a slow second implementation, on a million patterns; and its speed. */
#include "smem/bank.h"
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(undefined_behavior_sanitizer)
#define SANITIZED 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#endif
#ifndef SANITIZED
#define SANITIZED 0
#endif

/* valgrind loads itself into the program by that variable. */
static int under_valgrind(void) {
    const char *preload = getenv("LD_PRELOAD");
    return preload && strstr(preload, "vgpreload");
}

/* ---- the second implementation ------------------------------------------------------------------ */

static int takes_part(const struct gm_access *access, int lane) {
    const int matrix_kind = access->kind == GM_ACCESS_LDMATRIX || access->kind == GM_ACCESS_STMATRIX;
    const int lanes = matrix_kind && access->matrices ? 8 * (int)access->matrices : 32;
    return lane < lanes && !(access->inactive >> lane & 1);
}

static int shares_words(enum gm_access_kind kind) {
    return kind != GM_ACCESS_ATOMIC && kind != GM_ACCESS_CAS && kind != GM_ACCESS_CP_ASYNC;
}

/* All pairs (n, n ^ distance) of which both take part have equal addresses. */
static int equal_pairs(const struct gm_access *access, int distance) {
    for (int n = 0; n < 32; n++)
        if (takes_part(access, n) && takes_part(access, n ^ distance) &&
            access->address[n] != access->address[n ^ distance])
            return 0;
    return 1;
}

/* Lanes of one phase: written down, not computed. */
static int phase_lanes(const struct gm_access *access) {
    const int merged = access->kind == GM_ACCESS_LOAD && (equal_pairs(access, 1) || equal_pairs(access, 2));
    switch (access->width) {
    case 8:
        return merged ? 32 : 16;
    case 0: /* of the matrix kinds: 16 */
    case 16:
        return merged ? 16 : 8;
    default:
        return 32;
    }
}

struct words {
    uint32_t list[GM_LANES * 4];
    uint32_t count;
};

/* The words that the lanes first .. first + lanes - 1 ask for: each once, or as often as it is asked for. */
static void gather(const struct gm_access *access, int first, int lanes, int again, struct words *words) {
    const uint32_t bytes = access->width ? access->width : 16;
    for (int lane = first; lane < first + lanes; lane++) {
        for (uint32_t byte = 0; takes_part(access, lane) && byte < bytes; byte += 4) {
            const uint32_t word = (access->address[lane] + byte) / 4;
            int known = 0;
            for (uint32_t i = 0; i < words->count && !again; i++)
                known |= words->list[i] == word;
            if (!known)
                words->list[words->count++] = word;
        }
    }
}

static uint32_t most_of_a_bank(const struct words *words) {
    uint32_t of_bank[32] = {0}, most = 0;
    for (uint32_t i = 0; i < words->count; i++) {
        const uint32_t now = ++of_bank[words->list[i] % 32];
        most = now > most ? now : most;
    }
    return most;
}

static struct gm_bank_cost brute_force(const struct gm_access *access) {
    struct gm_bank_cost cost = {.size = sizeof cost};
    struct words words;
    const int lanes = phase_lanes(access);
    for (int first = 0; first < 32; first += lanes) {
        words.count = 0;
        gather(access, first, lanes, !shares_words(access->kind), &words);
        const uint32_t most = most_of_a_bank(&words);
        cost.wavefronts += most;
        cost.ideal += most > 0;
        cost.degree = most > cost.degree ? most : cost.degree;
    }
    words.count = 0;
    gather(access, 0, 32, 0, &words);
    cost.words = words.count;
    cost.conflicts = cost.wavefronts - cost.ideal;
    if (access->kind == GM_ACCESS_CAS) { /* conflicts: not doubled */
        cost.wavefronts *= 2;
        cost.ideal *= 2;
    }
    return cost;
}

static int same_cost(const struct gm_bank_cost *a, const struct gm_bank_cost *b) {
    return a->size == b->size && a->wavefronts == b->wavefronts && a->ideal == b->ideal &&
           a->conflicts == b->conflicts && a->degree == b->degree && a->words == b->words;
}

/* ---- random patterns ---------------------------------------------------------------------------- */

static uint64_t random_state;

static uint32_t random_below(uint32_t limit) {
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (uint32_t)(random_state >> 20) % limit;
}

static uint32_t random_address(uint32_t pattern, uint32_t lane, uint32_t a, uint32_t b, uint32_t c) {
    switch (pattern) {
    case 0: /* anywhere, often near */
        return random_below(1u << (5 + a % 13));
    case 1: /* strided */
        return a % 512 + lane * (b % 80) * (1 + c % 5);
    case 2: /* a swizzled row each */
        return lane * (16u << a % 5) ^ (lane & (b % 8)) << c % 8;
    case 3: /* few words for all */
        return random_below(1 + a % 4) * (4 + b % 512);
    case 4: /* neighbours that agree */
        return ((a % 2 ? lane >> 1 : lane & ~2u) + (b % 30 == 0 && lane == c % 32)) * (4 + c % 600);
    case 5: /* pieces of rows */
        return lane / (1 + a % 16) * (b % 600) + lane % (1 + a % 16) * (c % 24);
    default: /* the end of 32 bits */
        return UINT32_MAX - random_below(1u << (5 + a % 13));
    }
}

static struct gm_access random_access(void) {
    static const struct {
        enum gm_access_kind kind;
        uint32_t width, matrices;
    } forms[] = {{GM_ACCESS_LOAD, 1, 0},      {GM_ACCESS_LOAD, 2, 0},      {GM_ACCESS_LOAD, 4, 0},
                 {GM_ACCESS_LOAD, 8, 0},      {GM_ACCESS_LOAD, 16, 0},     {GM_ACCESS_STORE, 1, 0},
                 {GM_ACCESS_STORE, 2, 0},     {GM_ACCESS_STORE, 4, 0},     {GM_ACCESS_STORE, 8, 0},
                 {GM_ACCESS_STORE, 16, 0},    {GM_ACCESS_LDMATRIX, 0, 0},  {GM_ACCESS_LDMATRIX, 16, 1},
                 {GM_ACCESS_LDMATRIX, 0, 2},  {GM_ACCESS_LDMATRIX, 16, 4}, {GM_ACCESS_STMATRIX, 16, 0},
                 {GM_ACCESS_STMATRIX, 16, 1}, {GM_ACCESS_STMATRIX, 16, 2}, {GM_ACCESS_STMATRIX, 0, 4},
                 {GM_ACCESS_CP_ASYNC, 4, 0},  {GM_ACCESS_CP_ASYNC, 8, 0},  {GM_ACCESS_CP_ASYNC, 16, 0},
                 {GM_ACCESS_ATOMIC, 4, 0},    {GM_ACCESS_INCREMENT, 4, 0}, {GM_ACCESS_CAS, 4, 0}};
    const uint32_t form = random_below(sizeof forms / sizeof *forms), pattern = random_below(7);
    const uint32_t a = random_below(1000), b = random_below(1000), c = random_below(1000);
    struct gm_access access = (struct gm_access){
        .size = sizeof access, .kind = forms[form].kind, .width = forms[form].width, .matrices = forms[form].matrices};
    const uint32_t bytes = access.width ? access.width : 16;
    for (uint32_t lane = 0; lane < 32; lane++)
        access.address[lane] = random_address(pattern, lane, a, b, c) / bytes * bytes;
    if (random_below(3) == 0)
        access.inactive = random_below(UINT32_MAX) & random_below(UINT32_MAX);
    if (random_below(200) == 0)
        access.inactive = UINT32_MAX;
    return access;
}

/* ---- what the map must be ----------------------------------------------------------------------- */

/* Of one lane: its words ride where the map says, in their own banks, and it has no others. */
static const char *lane_fault(const struct gm_bank_map *map, const struct gm_access *access, int lane) {
    const uint32_t words = access->width == 0 ? 4 : access->width < 4 ? 1 : access->width / 4;
    for (uint32_t w = 0; w < 4; w++) {
        const uint32_t ride = map->wavefront[lane][w], word = access->address[lane] / 4 * 4 + 4 * w;
        if (!takes_part(access, lane) || w >= words) {
            if (ride != GM_NO_WAVEFRONT)
                return "a word rides that nobody asked for";
        } else if (ride >= map->cost.wavefronts || map->word[ride][word / 4 % 32] != word) {
            return "a word does not ride where the map says";
        }
    }
    return NULL;
}

/* Of one wavefront: every word is in its own bank, and it is empty only behind the last. */
static const char *ride_fault(const struct gm_bank_map *map, uint32_t ride, uint32_t *served) {
    uint32_t words = 0;
    for (uint32_t bank = 0; bank < 32; bank++) {
        words += map->word[ride][bank] != GM_NO_WORD;
        if (map->word[ride][bank] != GM_NO_WORD && map->word[ride][bank] / 4 % 32 != bank)
            return "a word is in the wrong bank";
    }
    *served += words;
    return (words > 0) == (ride < map->cost.wavefronts) ? NULL : "a wavefront is empty, or one too many";
}

/* NULL, or what is wrong. No ck_assert here: each writes to a file. */
static const char *map_fault(const struct gm_access *access, const struct gm_bank_cost *cost) {
    struct gm_bank_map map = {.size = sizeof map};
    const char *fault = gm_bank_map(access, &map) == GM_OK ? NULL : "gm_bank_map failed";
    if (!fault && !same_cost(&map.cost, cost))
        fault = "the map's cost is not the cost";
    uint32_t served = 0;
    for (int lane = 0; lane < 32 && !fault; lane++)
        fault = lane_fault(&map, access, lane);
    for (uint32_t ride = 0; ride < GM_WAVEFRONTS_MAX && !fault; ride++)
        fault = ride_fault(&map, ride, &served);
    /* more: a word that two phases ask for, or that atomics take in turns */
    return fault || served >= cost->words ? fault : "a word is missing";
}

START_TEST(the_model_agrees_with_brute_force) {
    const int patterns = under_valgrind() ? 3000 : SANITIZED ? 200000 : 1000000;
    random_state = 0x9e3779b97f4a7c15u;
    for (int i = 0; i < patterns; i++) {
        const struct gm_access access = random_access();
        const struct gm_bank_cost want = brute_force(&access);
        struct gm_bank_cost got = {.size = sizeof got};
        if (gm_bank_cost(&access, &got) != GM_OK || !same_cost(&got, &want))
            ck_abort_msg("pattern %d, %s of %u: %u wavefronts, %u ideal, degree %u, %u words; not %u, %u, %u, %u", i,
                         gm_access_rules[access.kind].name, access.width, got.wavefronts, got.ideal, got.degree,
                         got.words, want.wavefronts, want.ideal, want.degree, want.words);
        const char *fault = i % 4 ? NULL : map_fault(&access, &got);
        if (fault)
            ck_abort_msg("pattern %d, %s of %u: %s", i, gm_access_rules[access.kind].name, access.width, fault);
    }
}
END_TEST

START_TEST(a_million_patterns_take_no_second) {
    enum { POOL = 4096 };
    struct gm_access *pool = malloc(POOL * sizeof *pool);
    ck_assert_ptr_nonnull(pool);
    random_state = 88172645463325252u;
    for (int i = 0; i < POOL; i++)
        pool[i] = random_access();
    const int slow = under_valgrind() || SANITIZED, patterns = slow ? POOL : 1000000;
    struct timespec from, to;
    struct gm_bank_cost cost = {.size = sizeof cost};
    uint64_t wavefronts = 0;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &from);
    for (int i = 0; i < patterns; i++) {
        gm_bank_cost(&pool[i % POOL], &cost);
        wavefronts += cost.wavefronts;
    }
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &to);
    free(pool);
    const double seconds = (double)(to.tv_sec - from.tv_sec) + 1e-9 * (double)(to.tv_nsec - from.tv_nsec);
    ck_assert_uint_gt(wavefronts, 0);
    if (slow)
        return;
    printf("gm_bank_cost: %.1f million patterns a second\n", 1e-6 * patterns / seconds);
    ck_assert_double_ge(patterns / seconds, 250e3); /* a quarter of what is promised: machines are shared */
}
END_TEST

Suite *bank_random_suite(void) {
    Suite *suite = suite_create("bank, random");
    TCase *many = tcase_create("many patterns");
    tcase_set_tags(many, "long"); /* minutes under valgrind */
    tcase_add_test(many, the_model_agrees_with_brute_force);
    tcase_add_test(many, a_million_patterns_take_no_second);
    suite_add_tcase(suite, many);
    return suite;
}
