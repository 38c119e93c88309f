/* SPDX-License-Identifier: Apache-2.0 */
/* random-access: the bank model against the counters on addresses that nobody chose. */
#include "lab/bank_random.h"

/* splitmix64: every seed a sequence of its own. */
static uint64_t next_random(uint64_t *state) {
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* Places are counted in widths of the access. The fewer there are, the more lanes meet. Seeds take turns among these,
 * and every second pattern has lanes switched off; one in four has all pairs (n, n xor 1) or (n, n xor 2) alike. */
void bank_random_pattern(enum bank_instruction instruction, uint32_t seed, uint32_t address[GM_LANES],
                         uint32_t *inactive) {
    static const uint32_t places[] = {12, 40, 128, 1024};
    const enum gm_access_kind kind = bank_kind(instruction);
    const bool maskable = kind != GM_ACCESS_LDMATRIX && kind != GM_ACCESS_STMATRIX;
    const uint32_t width = bank_width(instruction);
    uint64_t state = (uint64_t)instruction << 32 | seed;
    for (uint32_t lane = 0; lane < GM_LANES; lane++)
        address[lane] = (uint32_t)(next_random(&state) % places[seed % 4]) * width;
    for (uint32_t lane = 0; seed % 4 == 1 && lane < GM_LANES; lane++)
        address[lane] = address[lane & ~(seed % 8 == 1 ? 1u : 2u)];
    *inactive = maskable && seed % 2 ? (uint32_t)(next_random(&state) & next_random(&state)) : 0;
}

int bank_add_random(struct lab *lab, enum bank_instruction instruction, uint32_t count) {
    for (uint32_t seed = 0; seed < count; seed++) {
        uint32_t address[GM_LANES], inactive;
        bank_random_pattern(instruction, seed, address, &inactive);
        if (!bank_add(lab, instruction, address, inactive, NULL, "%s, pattern %u", bank_name(instruction), seed))
            return -1;
    }
    return 0;
}

static int setup(struct lab *lab) {
    static const struct {
        enum bank_instruction instruction;
        uint32_t count;
    } series[] = {{LOAD_B8, 4},     {LOAD_B16, 4},    {LOAD_B32, 4},      {LOAD_V2, 8},    {LOAD_V4, 8},
                  {STORE_B8, 4},    {STORE_B16, 4},   {STORE_B32, 4},     {STORE_V2, 4},   {STORE_V4, 4},
                  {LDMATRIX_X1, 3}, {LDMATRIX_X2, 3}, {LDMATRIX_X4, 3},   {CP_ASYNC_4, 3}, {CP_ASYNC_8, 3},
                  {CP_ASYNC_16, 3}, {ATOM_ADD, 3},    {RED_INCREMENT, 3}, {ATOM_CAS, 3}};
    if (bank_open(lab) != 0)
        return -1;
    for (size_t i = 0; i < sizeof series / sizeof *series; i++) {
        if (bank_add_random(lab, series[i].instruction, series[i].count) != 0)
            return -1;
    }
    return 0;
}

const struct lab_experiment random_access = {
    .name = "random-access",
    .title = "Random addresses, random lanes",
    .question = "Is the bank model right on accesses that nobody designed?",
    .page = "banks",
    .races_on_purpose = true,
    .setup = setup,
    .prepare = bank_prepare,
    .check = bank_check,
    .conclude = bank_conclude,
};
