/* SPDX-License-Identifier: Apache-2.0 */
/* The part of tools/fit_cost.py that is repeated thousands of times: the planner, linked with cost models whose
 * constants are variables, judges every row on every problem and compares with the times of a ledger. */
#include "common/gemm/tokens.h"
#include "host/choose.h"
#include "host/gemm/divide.h"
#include "host/gemm/problem.h"
#include "host/options.h"

#include <math.h>
#include <stdlib.h>

#define SURE     0.012 /* predictions that differ by this share are chosen between as by a coin */
#define UNTIMED  0.06  /* loss that is assumed of a row which the ledger did not time */
#define FAR_LOSS 0.4   /* no loss counts as more */
#define NEAR     0.15  /* rows within this of the fastest should be predicted alike, too */

static struct gm_device device;
static struct gm_gemm_planned *problems;
static const struct gm_kernel **rows;
static struct gm_verdict *judged; /* of every row, on one problem */
static const struct gm_plan_options options = {.size = sizeof options, .workspace_limit = (size_t)64 << 20};
static double *counted_us; /* infinite where the row is not accepted */
static int problem_count, row_count;

/* -> the count of rows, -1: no such device, or no memory. mnk: three numbers a problem. */
int fit_open(const char *model, const int64_t *mnk, int count) {
    device.size = sizeof device;
    problems = calloc((size_t)count, sizeof *problems);
    rows = calloc(gm_kernel_count(), sizeof *rows);
    judged = calloc(gm_kernel_count(), sizeof *judged);
    counted_us = calloc(gm_kernel_count(), sizeof *counted_us);
    if (!problems || !rows || !judged || !counted_us || gm_device_model(model, &device) != GM_OK)
        return -1;
    for (problem_count = 0; problem_count < count; problem_count++, mnk += 3) {
        const struct gm_gemm_problem given = {
            .size = sizeof given, .m = mnk[0], .n = mnk[1], .k = mnk[2], .ab_type = GM_BF16, .d_type = GM_BF16};
        if (gm_problem_read(&gm_operation_gemm, &given, &options, &problems[problem_count]) != GM_OK)
            return -1;
    }
    for (size_t i = 0; i < gm_kernel_count(); i++)
        if (gm_kernels[i].family->operation == &gm_operation_gemm && gm_kernels[i].production &&
            gm_kernels[i].type == GM_BF16 && gm_gemm_variant(&gm_kernels[i]).layout == GM_LAYOUT_tn)
            rows[row_count++] = &gm_kernels[i];
    return row_count;
}

const char *fit_row(int row) {
    return rows[row]->name;
}

struct sums {
    double least_us, weight, loss; /* of the choice, which falls on the likely rows */
    double count, bias, square;    /* of log(predicted / measured) of the rows near the fastest */
};

static void add_choice(struct sums *s, double us, double loss) {
    const double weight = pow(s->least_us / us, 1 / SURE);
    s->weight += weight;
    s->loss += weight * (loss < 0 ? UNTIMED : fmin(loss, FAR_LOSS));
}

static void add_nearness(struct sums *s, double predicted_us, double us, double loss) {
    if (us <= 0 || loss > NEAR)
        return;
    const double error = log(predicted_us / us);
    s->count += 1;
    s->bias += error;
    s->square += error * error;
}

/* The loss that the choice is to be expected to have, were predictions a little different; and a little for how rows
 * near the fastest are predicted unlike, or wrong. */
static double score_of(const struct sums *s) {
    const double bias = s->count > 0 ? s->bias / s->count : 0;
    const double variance = s->count > 0 ? fmax(s->square / s->count - bias * bias, 0) : 0;
    return s->loss / s->weight + 0.25 * sqrt(variance) + 0.02 * fabs(bias);
}

/* One problem: the times of every row, of each kind of division, by the ledger, 0 where it has none. -> the score;
 * *loss is that of the model's choice, -1 where the ledger did not time it. */
static double judge(const struct gm_gemm_planned *problem, const double (*timed_us)[GM_DIVISIONS], double *loss) {
    const struct gm_question question = {&device, problem, &options, GM_DIVISION_BEST};
    double fastest_us = INFINITY;
    struct sums s = {.least_us = INFINITY};
    for (int i = 0; i < row_count; i++) {
        judged[i] = gm_verdict_of(rows[i], &question, NULL);
        counted_us[i] = judged[i].reason == GM_ACCEPTED ? judged[i].ranking_us : INFINITY;
        s.least_us = fmin(s.least_us, counted_us[i]);
        for (int kind = 0; kind < GM_DIVISIONS; kind++)
            fastest_us = fmin(fastest_us, timed_us[i][kind] > 0 ? timed_us[i][kind] : INFINITY);
    }
    int chosen = -1;
    *loss = -1;
    for (int i = 0; i < row_count; i++) {
        if (isinf(counted_us[i]))
            continue;
        const double us = timed_us[i][judged[i].division];
        const double row_loss = us > 0 ? log(us / fastest_us) : -1;
        add_choice(&s, counted_us[i], row_loss);
        add_nearness(&s, judged[i].predicted_us, us, row_loss);
        if (chosen < 0 || counted_us[i] < counted_us[chosen]) {
            chosen = i;
            *loss = us > 0 ? us / fastest_us - 1 : -1;
        }
    }
    return score_of(&s);
}

/* What the model says of every row however divided: [problem][row][kind], 0 where it is not accepted. */
void fit_predict(double (*us)[GM_DIVISIONS]) {
    for (int i = 0; i < problem_count; i++)
        for (int j = 0; j < row_count; j++, us++)
            for (int kind = 0; kind < GM_DIVISIONS; kind++) {
                const struct gm_question question = {&device, &problems[i], &options, kind};
                const struct gm_verdict as = gm_verdict_of(rows[j], &question, NULL);
                (*us)[kind] = as.reason == GM_ACCEPTED ? as.predicted_us : 0;
            }
}

int fit_kinds(void) {
    return GM_DIVISIONS;
}

/* The arrays: [problem][row][kind], and a number for each problem. */
void fit_judge(const double (*timed_us)[GM_DIVISIONS], double *scores, double *losses) {
    for (int i = 0; i < problem_count; i++)
        scores[i] = judge(&problems[i], timed_us + (size_t)i * (size_t)row_count, &losses[i]);
}
