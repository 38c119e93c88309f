/* SPDX-License-Identifier: Apache-2.0 */
/* The table of exercises, and who judges an answer. */
#include "lab/exercises.h"

#include "gristmill/smem.h"
#include "program/smem/expression.h"

#define EXERCISE_NUMBER(page, name, question, because, hint)  {page, exercise_##name, NULL, question, because, hint},
#define EXERCISE_ADDRESS(page, name, question, because, hint) {page, NULL, exercise_##name, question, because, hint},
const struct exercise exercises[] = {
#include "lab/exercises.def"
};
#undef EXERCISE_NUMBER
#undef EXERCISE_ADDRESS

const size_t exercise_count = sizeof exercises / sizeof *exercises;

int exercise_judge(const struct exercise *exercise, const char *answer) {
    int64_t address[GM_LANES];
    struct expression_error error;
    for (int lane = 0; lane < GM_LANES; lane++)
        if (expression_value(answer, lane, &address[lane], &error) != 0)
            return expression_complain("the answer", answer, &error);
    if (exercise->accepts)
        return exercise->accepts(address);
    for (int lane = 1; lane < GM_LANES; lane++)
        if (address[lane] != address[0]) /* a number has no lanes */
            return 0;
    return address[0] == exercise->right();
}
