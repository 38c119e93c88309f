/* SPDX-License-Identifier: Apache-2.0 */
/* Heads as both rounding schools compute them. Without a norm every operation is one of fp32, rounded once, so that
 * results are exact. A norm has a root with an error, and a sum in an order of the kernel's; where a value is rounded
 * after it, it may be rounded the other way. */
#include <float.h>
#include <math.h>

#include "rope/rope_tests.h"

static double half(enum gm_type type, double value, double error) {
    return error > 0 ? 2 * half_ulp(type, fabs(value) + error) : 0;
}

/* ---- the norm ------------------------------------------------------------------------------------------- */

static void normalize(const struct rope_case *rc, int stream, double *v, double *error) {
    double squares = 0;
    for (int64_t i = 0; i < rc->head_dim; i++)
        squares += (double)(float)(v[i] * v[i]);
    if (squares > FLT_MAX)
        squares = INFINITY;
    const double scale = 1 / sqrt(squares / (double)rc->head_dim + (double)rc->eps);
    const double relative = 0x1p-21 + ((double)rc->head_dim / 16 + 16) * 0x1p-25; /* of the root, and of the sum */
    for (int64_t i = 0; i < rc->head_dim; i++) {
        const double factor = (double)(float)(rope_weight(rc, stream, i) + (double)rc->weight_offset);
        double y = v[i] * scale, e = fabs(y) * relative;
        if (rc->normalized_rounding == GM_ROUND_EARLY) {
            e += half(rc->type, y, e);
            y = round_to(rc->type, y);
        }
        y *= factor;
        e = e * fabs(factor) + fabs(y) * 0x1p-22;
        if (rc->rounding == GM_ROUND_EARLY) {
            e += half(rc->type, y, e);
            y = round_to(rc->type, y);
        }
        v[i] = (float)y;
        error[i] = e > 0 ? e + half_ulp(GM_FP32, y) : 0; /* of a denormal it is much */
    }
}

/* ---- the rotation --------------------------------------------------------------------------------------- */

struct pair {
    double a, b, a_error, b_error;
};

static double product(const struct rope_case *rc, double x, double y) {
    return round_to(rc->type, (double)((float)x * (float)y));
}

static void rotate(const struct rope_case *rc, struct pair *p, double cosine, double sine) {
    const struct pair was = *p;
    const double ac = fabs(was.a * cosine), bs = fabs(was.b * sine), bc = fabs(was.b * cosine), as = fabs(was.a * sine);
    const double a_error = was.a_error * fabs(cosine) + was.b_error * fabs(sine);
    const double b_error = was.b_error * fabs(cosine) + was.a_error * fabs(sine);
    if (rc->rounding == GM_ROUND_EARLY) {
        const float sum = (float)product(rc, was.a, cosine) - (float)product(rc, was.b, sine);
        const float other = (float)product(rc, was.b, cosine) + (float)product(rc, was.a, sine);
        p->a = (double)sum, p->b = (double)other;
        p->a_error = a_error + half(rc->type, ac, a_error) + half(rc->type, bs, a_error);
        p->b_error = b_error + half(rc->type, bc, b_error) + half(rc->type, as, b_error);
    } else {
        const float bs_rounded = (float)was.b * (float)sine, as_rounded = (float)was.a * (float)sine;
        p->a = (double)fmaf((float)was.a, (float)cosine, -bs_rounded);
        p->b = (double)fmaf((float)was.b, (float)cosine, as_rounded);
        p->a_error = a_error;
        p->b_error = b_error;
    }
    if (a_error > 0)
        p->a_error += (ac + bs) * 0x1p-23;
    if (b_error > 0)
        p->b_error += (bc + as) * 0x1p-23;
}

void rope_reference(const struct rope_case *rc, int stream, int64_t token, int64_t head, double *want, double *error) {
    const int64_t pairs = rc->rotary_dim / 2, position = rope_position(rc, token);
    const bool is_bad = rope_is_bad_position(rc, token);
    for (int64_t i = 0; i < rc->head_dim; i++) {
        want[i] = is_bad ? 0 : rope_x(rc, stream, token, head, i);
        error[i] = 0;
    }
    if (is_bad)
        return;
    if (rc->norm)
        normalize(rc, stream, want, error);
    for (int64_t j = 0; j < pairs; j++) {
        const bool is_interleaved = rc->pairing == GM_ROPE_INTERLEAVED;
        const int64_t a = rc->rotary_offset + (is_interleaved ? 2 * j : j), b = is_interleaved ? a + 1 : a + pairs;
        double cosine = rope_table(rc, position, j), sine = rope_table(rc, position, pairs + j);
        if (rc->rounding == GM_ROUND_EARLY) {
            cosine = round_to(rc->type, cosine);
            sine = round_to(rc->type, sine);
        }
        struct pair p = {want[a], want[b], error[a], error[b]};
        rotate(rc, &p, cosine, rc->inverse ? -sine : sine);
        want[a] = p.a, want[b] = p.b;
        error[a] = p.a_error, error[b] = p.b_error;
    }
}
