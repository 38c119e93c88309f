/* SPDX-License-Identifier: Apache-2.0 */
/* The exercises of the course, whose answers the model of shared memory computes. */
#ifndef LAB_EXERCISES_H
#define LAB_EXERCISES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct exercise {
    const char *page;                        /* of docs/course, without ".md" */
    int64_t (*right)(void);                  /* the number that is asked for; NULL: an address of each lane is */
    bool (*accepts)(const int64_t *address); /* of 32 lanes */
    const char *question, *because, *hint;   /* because: of the right answer; hint: to who has another */
};

extern const struct exercise exercises[]; /* in the order of the course; number n is exercises[n - 1] */
extern const size_t exercise_count;

/* Whether the answer, an expression as `gristmill bank --address` takes it, is right: 1, 0, or -1 with a printed sentence where it
 * is no such expression. */
int exercise_judge(const struct exercise *exercise, const char *answer);

/* The right numbers, and what is accepted for an address of each lane, of the pages of docs/course. (exercises_*.c) */
#define EXERCISE_NUMBER(page, name, question, because, hint)  int64_t exercise_##name(void);
#define EXERCISE_ADDRESS(page, name, question, because, hint) bool exercise_##name(const int64_t *address);
#include "lab/exercises.def"
#undef EXERCISE_NUMBER
#undef EXERCISE_ADDRESS

#endif
