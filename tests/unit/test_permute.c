/* SPDX-License-Identifier: Apache-2.0 */
/* Permutations on the host: what a problem may be, what is said of one that may not, what it is reduced to, what is chosen,
 * what a launch is told. */
#include "common/permute/params.h"
#include "common/permute_rows/params.h"
#include "common/permute_tile/tile.h"
#include "gristmill/permute.h"
#include "host/choose.h"
#include "host/options.h"
#include "host/permute/permute.h"
#include "host/types.h"
#include "planned.h"

#include <stdio.h>
#include <string.h>

/* bf16 with a transposed rank of 2. */
static struct gm_permute_problem matrix(int64_t rows, int64_t columns) {
    return (struct gm_permute_problem){
        .size = sizeof(struct gm_permute_problem), .rank = 2, .extents = {rows, columns}, .order = {1, 0}};
}

/* Any rank; `order` as in a suite. */
static struct gm_permute_problem permuted(const char *order, const int64_t *extents, int element_bytes) {
    struct gm_permute_problem p = {.size = sizeof p, .rank = (int64_t)strlen(order), .element_bytes = element_bytes};
    for (int k = 0; k < p.rank; k++) {
        p.extents[k] = extents[k];
        p.order[k] = order[k] - '0';
    }
    return p;
}
#define EXTENTS(...) ((const int64_t[]){__VA_ARGS__})

static enum gm_status read_problem(const struct gm_permute_problem *given, struct gm_permute_planned *read) {
    static const struct gm_plan_options none = {.size = sizeof none};
    return gm_problem_read(&gm_operation_permute, given, &none, read);
}

/* ---- a problem ------------------------------------------------------------------------------------------ */

START_TEST(zeros_mean_packed_and_aligned) {
    struct gm_permute_problem p = permuted("120", EXTENTS(3, 5, 7), 2);
    assert_ok(gm_operation_permute.normalize(&p));
    ck_assert(p.x_strides[0] == 35 && p.x_strides[1] == 7 && p.x_strides[2] == 1);
    ck_assert(p.out_strides[0] == 21 && p.out_strides[1] == 3 && p.out_strides[2] == 1);
    ck_assert(p.x_align == 16 && p.out_align == 16);
    p = permuted("000", EXTENTS(3, 5, 7), 0); /* as they are */
    p.extents[3] = 77;                        /* beyond the rank */
    p.x_strides[1] = 8;                       /* and packed in front */
    assert_ok(gm_operation_permute.normalize(&p));
    ck_assert(p.order[0] == 0 && p.order[1] == 1 && p.order[2] == 2 && p.extents[3] == 1);
    ck_assert(p.x_strides[0] == 40 && p.x_strides[1] == 8 && p.out_strides[0] == 35);
}
END_TEST

static const struct {
    size_t offset;
    int64_t value;
    int bytes;
    const char *words;
} bad[] = {
#define BAD(member, value, words)                                                                                      \
    {offsetof(struct gm_permute_problem, member), value, sizeof(((struct gm_permute_problem *)0)->member), words}
    BAD(rank, 0, "rank is 0; it must be 1 to 5"),
    BAD(rank, 6, "rank is 6"),
    BAD(extents[1], -1, "extents[1] is -1; it must be 0 to 2147483647"),
    BAD(extents[0], INT64_C(1) << 31, "extents[0] is 2147483648"),
    BAD(order[1], 1, "order[1] is 1; order must have each of 0 to 1 once"),
    BAD(order[0], 2, "order[0] is 2"),
    BAD(order[0], -1, "order[0] is -1"),
    BAD(element_bytes, 3, "element_bytes is 3; it must be 1, 2, 4, 8, 16, or 0 for the types'"),
    BAD(type, 11, "type is 11; known values are 0 to 10"),
    BAD(out_type, 12, "out_type is 12"),
    BAD(out_type, GM_INT8, "type is bf16 and out_type int8; a cast is between bf16, fp16 and fp32"),
    BAD(x_strides[0], -64, "x_strides[0] is -64; it must be 1 or more, or 0 for packed"),
    BAD(out_strides[1], -1, "out_strides[1] is -1"),
    BAD(x_strides[0], INT64_C(1) << 61, "x_strides[0] is 2305843009213693952; with 8 elements there the array exceeds"),
    BAD(out_strides[0], INT64_C(1) << 62, "exceeds 2^63 bytes"),
    BAD(out_strides[0], 7, "out_strides[0] is 7, but out's dimensions of smaller strides span 8 elements"),
    BAD(x_align, 3, "x_align is 3; it must be 16 (or 0), 8, 4 or 2"),
    BAD(x_align, 1, "x_align is 1"),
    BAD(out_align, 32, "out_align is 32"),
};

START_TEST(every_bad_member_has_its_sentence) {
    struct gm_permute_problem p = matrix(8, 64);
    struct gm_permute_planned read;
    memcpy((char *)&p + bad[_i].offset, &bad[_i].value, (size_t)bad[_i].bytes);
    assert_fails(read_problem(&p, &read), GM_ERROR_INVALID_ARGUMENT, bad[_i].words);
}
END_TEST

START_TEST(elements_have_the_alignment_of_their_size) {
    struct gm_permute_problem p = permuted("10", EXTENTS(8, 64), 1);
    struct gm_permute_planned read;
    p.x_align = p.out_align = 1;
    assert_ok(read_problem(&p, &read));
    p.element_bytes = 16, p.x_align = 8, p.out_align = 16;
    assert_fails(read_problem(&p, &read), GM_ERROR_INVALID_ARGUMENT, "x_align is 8; an element has 16 bytes");
}
END_TEST

START_TEST(x_may_share_elements_and_out_may_not) {
    struct gm_permute_problem p = matrix(8, 64);
    struct gm_permute_planned read;
    p.x_strides[0] = p.x_strides[1] = 1;
    assert_ok(read_problem(&p, &read));
    p.out_strides[0] = 1, p.out_strides[1] = 64; /* column-major, without a gap */
    assert_ok(read_problem(&p, &read));
    p.out_strides[1] = 63;
    assert_fails(read_problem(&p, &read), GM_ERROR_INVALID_ARGUMENT, "out must not overlap itself");
    p.extents[0] = 1; /* then nobody uses that stride */
    assert_ok(read_problem(&p, &read));
}
END_TEST

START_TEST(a_problem_is_a_line_of_a_suite) {
    struct gm_permute_problem p = matrix(8192, 4096);
    char text[160];
    assert_ok(gm_operation_permute.normalize(&p));
    gm_problem_print(&gm_operation_permute, &p, text, sizeof text);
    ck_assert_str_eq(text, "permute bf16 bf16 10 8192 4096 1 1 1");
    p = permuted("40213", EXTENTS(2, 3, 4, 5, 6), 0);
    p.type = GM_FP16, p.out_type = GM_FP32;
    gm_problem_print(&gm_operation_permute, &p, text, sizeof text);
    ck_assert_str_eq(text, "permute fp16 fp32 40213 2 3 4 5 6");
}
END_TEST

/* Every word of the field, there and back. */
START_TEST(orders_are_words) {
    const struct gm_field *field = &gm_operation_permute.fields[gm_field_named(&gm_operation_permute, "order")];
    struct gm_permute_problem p = {.size = sizeof p};
    int count = 0;
    for (; field->words[count]; count++) {
        int64_t value = -1;
        ck_assert_int_eq(gm_field_parse(field, field->words[count], strlen(field->words[count]), &value), 1);
        ck_assert_int_eq(gm_field_set(field, &p, value), 1);
        ck_assert_int_eq(gm_field_get(field, &p), count);
        ck_assert_int_eq(p.rank, (int64_t)strlen(field->words[count]));
    }
    ck_assert_int_eq(count, 1 + 2 + 6 + 24 + 120);
}
END_TEST

START_TEST(bytes_are_counted) {
    struct gm_permute_problem p = matrix(10, 100);
    p.out_type = GM_FP32;
    const struct gm_work work = gm_operation_permute.work(&p);
    ck_assert(work.flops == 0 && work.least_bytes == 1000 * (2 + 4));
}
END_TEST

/* ---- the simplest problem -------------------------------------------------------------------------------- */

/* "2 x 3 of 16 B, x 40 1, out 3 1, order 10": sizes, element, strides, order. */
static const char *simplest(const struct gm_permute_problem *given, char text[160]) {
    struct gm_permute_planned read;
    const struct gm_permute_problem *p = &read.problem;
    assert_ok(read_problem(given, &read));
    size_t used = 0;
    for (int d = 0; d < p->rank; d++)
        used += (size_t)snprintf(text + used, 160 - used, "%s%lld", d ? "x" : "", (long long)p->extents[d]);
    used += (size_t)snprintf(text + used, 160 - used, " of %d B, x", gm_permute_x_bytes(p));
    for (int d = 0; d < p->rank; d++)
        used += (size_t)snprintf(text + used, 160 - used, " %lld", (long long)p->x_strides[d]);
    used += (size_t)snprintf(text + used, 160 - used, ", out");
    for (int d = 0; d < p->rank; d++)
        used += (size_t)snprintf(text + used, 160 - used, " %lld", (long long)p->out_strides[d]);
    used += (size_t)snprintf(text + used, 160 - used, ", ");
    for (int d = 0; d < p->rank; d++)
        used += (size_t)snprintf(text + used, 160 - used, "%d", p->order[d]);
    return text;
}

static const struct {
    const char *order;
    int64_t extents[5];
    int bytes, align;
    const char *simplest;
} reductions[] = {
    /* packed copies are one dimension of 16 bytes, or of what is aligned */
    {"0123", {2, 3, 4, 8}, 2, 0, "24 of 16 B, x 1, out 1, 0"},
    {"0123", {2, 3, 4, 8}, 2, 4, "96 of 4 B, x 1, out 1, 0"},
    {"01", {3, 7}, 2, 0, "21 of 2 B, x 1, out 1, 0"},
    {"0", {1}, 2, 0, "1 of 2 B, x 1, out 1, 0"},
    {"201", {1, 1, 1}, 4, 0, "1 of 4 B, x 1, out 1, 0"},
    {"10", {3, 1}, 2, 0, "3 of 2 B, x 1, out 1, 0"},
    /* transposes stay */
    {"10", {64, 32}, 2, 0, "64x32 of 2 B, x 32 1, out 64 1, 10"},
    {"1032", {2, 32, 1, 5}, 2, 0, "2x32x5 of 2 B, x 160 5 1, out 10 5 1, 102"},
    /* NCHW -> NHWC: H and W are one */
    {"0231", {6, 5, 4, 3}, 2, 0, "6x5x12 of 2 B, x 60 12 1, out 60 5 1, 021"},
    /* heads: what stays together is an element of 16 bytes, of which there are rows */
    {"0213", {2, 3, 4, 32}, 2, 0, "2x3x4x4 of 16 B, x 48 16 4 1, out 48 12 4 1, 0213"},
    {"102", {4, 6, 8}, 2, 0, "4x6 of 16 B, x 6 1, out 4 1, 10"},
    {"102", {4, 6, 12}, 1, 0, "4x6x3 of 4 B, x 18 3 1, out 12 3 1, 102"},
    /* two dimensions that move together are one */
    {"12034", {3, 4, 5, 2, 1}, 4, 0, "3x20 of 8 B, x 20 1, out 3 1, 10"},
    {"43210", {2, 3, 2, 3, 2}, 1, 0, "2x3x2x3x2 of 1 B, x 36 12 6 2 1, out 36 12 6 2 1, 43210"},
};

START_TEST(problems_are_reduced) {
    struct gm_permute_problem p = permuted(reductions[_i].order, reductions[_i].extents, reductions[_i].bytes);
    char text[160];
    p.x_align = p.out_align = reductions[_i].align;
    ck_assert_str_eq(simplest(&p, text), reductions[_i].simplest);
}
END_TEST

START_TEST(strides_are_sorted_and_gaps_kept) {
    struct gm_permute_problem p = permuted("01", EXTENTS(8, 64), 2);
    char text[160];
    p.x_strides[0] = 72; /* rows with gaps: 16 bytes at a time */
    ck_assert_str_eq(simplest(&p, text), "8x8 of 16 B, x 9 1, out 8 1, 01");
    p.out_strides[0] = 65;
    ck_assert_str_eq(simplest(&p, text), "8x64 of 2 B, x 72 1, out 65 1, 01");
    p = permuted("01", EXTENTS(8, 64), 2);
    p.x_strides[0] = 1, p.x_strides[1] = 8; /* a transpose by its strides alone */
    ck_assert_str_eq(simplest(&p, text), "64x8 of 2 B, x 8 1, out 64 1, 10");
    p.out_strides[0] = 1, p.out_strides[1] = 8; /* on both sides: a copy */
    ck_assert_str_eq(simplest(&p, text), "64 of 16 B, x 1, out 1, 0");
    p = permuted("01", EXTENTS(1 << 20, 1 << 20), 1); /* a product that no extent may be */
    ck_assert_str_eq(simplest(&p, text), "1048576x65536 of 16 B, x 65536 1, out 65536 1, 01");
}
END_TEST

START_TEST(casts_are_not_joined) {
    struct gm_permute_problem p = permuted("012", EXTENTS(2, 4, 8), 0);
    struct gm_permute_planned read;
    p.type = GM_FP16, p.out_type = GM_FP32;
    assert_ok(read_problem(&p, &read));
    ck_assert(read.problem.rank == 1 && read.problem.extents[0] == 64 && read.problem.element_bytes == 0);
    ck_assert(read.from == GM_FP16 && read.to == GM_FP32 && read.problem.type == GM_BF16);
    p.out_type = GM_FP16;
    assert_ok(read_problem(&p, &read));
    ck_assert(read.from == read.to && read.problem.element_bytes == 16 && read.problem.type == GM_INT64);
    ck_assert_int_eq(read.caller_bytes, 2);
}
END_TEST

/* ---- the choice ----------------------------------------------------------------------------------------- */

/* What explain chooses; the sentences of all in `said`, each on a line. */
static const struct gm_kernel *chosen(const struct gm_permute_problem *p, const char *model, char *said, size_t bytes) {
    const struct gm_device device = device_of(model);
    const struct gm_plan_options options = {.size = sizeof options};
    struct explained all = explained_room();
    assert_ok(gm_permute_explain(&device, p, &options, all.candidates, all.count, &all.count));
    const struct gm_kernel *kernel = chosen_of(&all, "permute", said, bytes);
    ck_assert_ptr_nonnull(kernel);
    return kernel;
}

static int elements_of(const struct gm_kernel *kernel) {
    return kernel->columns[kernel->family == &gm_family_permute_tile ? GM_PERMUTE_TILE_ELEMENTS : GM_PERMUTE_ELEMENTS];
}

START_TEST(transposes_go_by_tiles_and_copies_by_chunks) {
    char said[1 << 15];
    struct gm_permute_problem p = matrix(8192, 8192);
    const struct gm_kernel *kernel = chosen(&p, "h200", said, sizeof said);
    ck_assert(kernel->family == &gm_family_permute_tile && elements_of(kernel) == 8 && kernel->arch == GM_ARCH_SM90);
    ck_assert_ptr_nonnull(strstr(said, "reads elements of 2 B and writes 4 B; what stays together here has 2 and 2"));
    ck_assert_ptr_nonnull(strstr(said, "a stride of x is 8192 elements, where it accesses 8 neighbours at once"));
    kernel = chosen(&p, "a100", said, sizeof said);
    ck_assert(kernel->family == &gm_family_permute_tile && kernel->arch == GM_ARCH_SM80);
    p.order[0] = 0, p.order[1] = 1;
    kernel = chosen(&p, "h200", said, sizeof said);
    ck_assert(kernel->family == &gm_family_permute && kernel->columns[GM_PERMUTE_X_BYTES] == 16);
    ck_assert_ptr_nonnull(strstr(said, "x and out have the same innermost dimension: there is nothing to turn"));
    p = permuted("0213", EXTENTS(8, 4096, 32, 128), 2);
    kernel = chosen(&p, "h200", said, sizeof said);
    ck_assert(kernel->family == &gm_family_permute && kernel->columns[GM_PERMUTE_X_BYTES] == 16);
    p = permuted("10", EXTENTS(64, 4096), 2);
    ck_assert_ptr_eq(chosen(&p, "h200", said, sizeof said)->family, &gm_family_permute_tile);
}
END_TEST

START_TEST(what_is_not_aligned_goes_by_elements) {
    char said[1 << 15];
    struct gm_permute_problem p = matrix(512, 1024);
    p.x_align = 8;
    ck_assert_int_eq(elements_of(chosen(&p, "h200", said, sizeof said)), 1);
    ck_assert_ptr_nonnull(strstr(said, "x_align promises 8 bytes: it accesses 16 at once"));
    p = matrix(512, 1024), p.out_align = 4;
    ck_assert_int_eq(elements_of(chosen(&p, "h200", said, sizeof said)), 1);
    ck_assert_ptr_nonnull(strstr(said, "out_align promises 4 bytes"));
    p = matrix(512, 1024), p.x_strides[0] = 1028;
    ck_assert_int_eq(elements_of(chosen(&p, "h200", said, sizeof said)), 1);
    ck_assert_ptr_nonnull(strstr(said, "a stride of x, 1028 x 2 B, is no multiple of the 16 B"));
    p = matrix(516, 1024);
    ck_assert_int_eq(elements_of(chosen(&p, "h200", said, sizeof said)), 1);
    ck_assert_ptr_nonnull(strstr(said, "out has rows of 516 x 2 B, which are no multiples of the 16 B"));
    p = matrix(512, 1023);
    ck_assert_int_eq(elements_of(chosen(&p, "h200", said, sizeof said)), 1);
    ck_assert_ptr_nonnull(strstr(said, "x has rows of 1023 x 2 B"));
}
END_TEST

START_TEST(what_has_no_neighbours_goes_by_elements) {
    char said[1 << 15];
    struct gm_permute_problem p = matrix(512, 1024);
    p.x_strides[0] = 2048, p.x_strides[1] = 2;
    ck_assert_ptr_eq(chosen(&p, "h200", said, sizeof said)->family, &gm_family_permute);
    ck_assert_ptr_nonnull(strstr(said, "x has no dimension with a stride of 1"));
    p = matrix(512, 1024);
    p.out_strides[0] = 1024, p.out_strides[1] = 2;
    ck_assert_ptr_eq(chosen(&p, "h200", said, sizeof said)->family, &gm_family_permute);
    ck_assert_ptr_nonnull(strstr(said, "out has no dimension with a stride of 1"));
    p = permuted("021", EXTENTS(INT32_MAX, 2, 2), 1); /* four elements of a tile exist */
    ck_assert_ptr_eq(chosen(&p, "h200", said, sizeof said)->family, &gm_family_permute);
    p.rank = 4, p.extents[0] = 1 << 30, p.extents[1] = 4, p.extents[2] = p.extents[3] = 2;
    p.order[1] = 1, p.order[2] = 3, p.order[3] = 2;
    p.x_strides[1] = 5; /* not one with the first */
    chosen(&p, "h200", said, sizeof said);
    ck_assert_ptr_nonnull(strstr(said, "are more than the 2^31 - 1 that it counts"));
}
END_TEST

/* Rows of so many elements, packed in x, whose pitch in out is the next multiple of 16 bytes. */
static struct gm_permute_problem padded(int64_t rows, int64_t columns, int element_bytes) {
    struct gm_permute_problem p = permuted("01", EXTENTS(rows, columns), element_bytes);
    const int64_t chunk = 16 / element_bytes;
    p.out_strides[0] = (columns + chunk - 1) / chunk * chunk;
    return p;
}

START_TEST(rows_that_begin_anywhere_are_shifted) {
    static const char *const models[] = {"h200", "a100"};
    char said[1 << 15];
    for (int m = 0; m < 2; m++)
        for (int bytes = 1; bytes <= 8; bytes *= 2)
            for (int64_t rows = 3; rows <= 30000; rows *= 10)
                for (int64_t columns = 13; columns < 5000; columns = columns * 7 + 2) {
                    const struct gm_permute_problem p = padded(rows, columns, bytes);
                    ck_assert_ptr_eq(chosen(&p, models[m], said, sizeof said)->family, &gm_family_permute_rows);
                }
    struct gm_permute_problem p = padded(1, 100001, 2); /* one row, beside 16 bytes */
    p.x_align = 2;
    ck_assert_ptr_eq(chosen(&p, "h200", said, sizeof said)->family, &gm_family_permute_rows);
    p = permuted("102", EXTENTS(50, 60, 77), 2);
    p.out_strides[1] = 80;
    ck_assert_ptr_eq(chosen(&p, "h200", said, sizeof said)->family, &gm_family_permute_rows);
    ck_assert_ptr_nonnull(strstr(said, "3000 rows of 10 chunks of 16 B"));
}
END_TEST

START_TEST(rows_that_need_no_shift_or_cannot_have_one_go_by_chunks) {
    char said[1 << 15];
    struct gm_permute_problem p = padded(512, 1024, 2);
    ck_assert_ptr_eq(chosen(&p, "h200", said, sizeof said)->family, &gm_family_permute);
    ck_assert_ptr_nonnull(strstr(said, "shifts rows of elements below 16 B; what stays together here has 16"));
    p = padded(512, 1023, 2), p.out_align = 4;
    ck_assert_ptr_eq(chosen(&p, "h200", said, sizeof said)->family, &gm_family_permute);
    ck_assert_ptr_nonnull(strstr(said, "out_align promises 4 bytes: it stores 16 at once"));
    p = padded(512, 1023, 2), p.out_strides[0] = 1027;
    ck_assert_ptr_eq(chosen(&p, "h200", said, sizeof said)->family, &gm_family_permute);
    ck_assert_ptr_nonnull(
        strstr(said, "a stride of out, 1027 x 2 B, is no multiple of the 16 B that it stores at once"));
    p = padded(512, 1023, 2), p.element_bytes = 0, p.out_type = GM_FP16;
    ck_assert_ptr_eq(chosen(&p, "h200", said, sizeof said)->family, &gm_family_permute);
    ck_assert_ptr_nonnull(strstr(said, "moves bits of rows, and this is a cast"));
    p = padded(512, 1023, 2), p.x_strides[0] = 3 * 1023, p.x_strides[1] = 3;
    ck_assert_ptr_eq(chosen(&p, "h200", said, sizeof said)->family, &gm_family_permute);
    ck_assert_ptr_nonnull(strstr(said,
                                 "copies rows; along out's innermost dimension the stride of x is 3 elements, that of"
                                 " out 1"));
    p = padded(1 << 30, 65, 1);
    ck_assert_ptr_eq(chosen(&p, "h200", said, sizeof said)->family, &gm_family_permute);
    ck_assert_ptr_nonnull(strstr(said, "1073741824 rows of 5 chunks of 16 B are more than the 2^31 - 1 chunks"));
}
END_TEST

/* ---- a launch ------------------------------------------------------------------------------------------- */

static gm_plan *plan_of(const struct gm_permute_problem *p, const char *kernel) {
    const struct gm_plan_options options = {.size = sizeof options, .kernel = kernel};
    gm_plan *plan = NULL;
    assert_ok(gm_permute_plan_create(context, p, &options, &plan));
    return plan;
}

/* The first variant of a family for these elements. */
static const char *variant(const struct gm_family *family, int x_bytes, int out_bytes, int elements) {
    const int is_tile = family == &gm_family_permute_tile;
    for (size_t i = 0; i < gm_kernel_count(); i++) {
        const int32_t *c = gm_kernels[i].columns;
        if (gm_kernels[i].family == family && c[is_tile ? GM_PERMUTE_TILE_X_BYTES : GM_PERMUTE_X_BYTES] == x_bytes &&
            c[is_tile ? GM_PERMUTE_TILE_OUT_BYTES : GM_PERMUTE_OUT_BYTES] == out_bytes &&
            elements_of(&gm_kernels[i]) == elements)
            return gm_kernels[i].name;
    }
    ck_abort_msg("the build has no %d to %d", x_bytes, out_bytes);
    return NULL;
}

START_TEST(a_launch_of_tiles_is_told_what_the_call_says) {
    struct gm_permute_problem p = permuted("0321", EXTENTS(3, 200, 5, 96), 0);
    const struct gm_permute_args args = {.size = sizeof args, .x = ADDRESS_A, .out = ADDRESS_D};
    p.out_type = GM_FP32;
    p.x_strides[2] = 104; /* rows of 96, whose pitch is 104 */
    gm_plan *plan = plan_of(&p, variant(&gm_family_permute_tile, 2, 4, 8));
    const struct gm_permute_tile_params *params = plan->params;
    const int32_t *c = plan->kernel->columns;
    const int64_t row_tiles = (200 + c[GM_PERMUTE_TILE_HEIGHT] - 1) / c[GM_PERMUTE_TILE_HEIGHT];
    const int64_t column_tiles = (96 + c[GM_PERMUTE_TILE_WIDTH] - 1) / c[GM_PERMUTE_TILE_WIDTH];
    ck_assert(params->rows == 200 && params->columns == 96);
    ck_assert(params->x_pitch == 5 * 104 * 2 && params->out_pitch == 5 * 200 * 4);
    ck_assert(params->row_tiles.divisor == row_tiles && params->column_tiles.divisor == column_tiles);
    ck_assert(params->tiles == 15 * row_tiles * column_tiles && plan->config.gridDimX == (unsigned)params->tiles);
    ck_assert(params->rest.rank == 2 && params->rest.extent[0].divisor == 5 && params->rest.extent[1].divisor == 3);
    ck_assert(params->rest.x_pitch[0] == 104 * 2 && params->rest.out_pitch[0] == 200 * 4);
    ck_assert(params->rest.x_pitch[1] == 200 * 5 * 104 * 2 && params->rest.out_pitch[1] == 200 * 5 * 96 * 4);
    ck_assert(params->from == GM_BF16 && params->to == GM_FP32);
    ck_assert_uint_eq(plan->config.sharedMemBytes, (unsigned)plan->kernel->smem_bytes);
    fake_make_current(0);
    fake_clear_counts();
    assert_ok(gm_permute_execute(plan, &args, NULL));
    ck_assert_int_eq(fake_calls(), 1);
    gm_plan_destroy(plan);
}
END_TEST

START_TEST(a_launch_of_chunks_is_told_what_the_call_says) {
    struct gm_permute_problem p = permuted("102", EXTENTS(6, 10, 24), 0);
    p.type = GM_FP32, p.out_type = GM_FP16;
    p.out_strides[0] = 200; /* 6 rows of 24 are 144 */
    gm_plan *plan = plan_of(&p, variant(&gm_family_permute, 4, 2, 8));
    const struct gm_permute_params *params = plan->params;
    ck_assert(params->walk.rank == 3 && params->slabs == 1 && params->pieces == 1);
    ck_assert(params->walk.extent[0].divisor == 3 && params->walk.x_pitch[0] == 32 && params->walk.out_pitch[0] == 16);
    ck_assert(params->walk.extent[1].divisor == 6 && params->walk.x_pitch[1] == 240 * 4);
    ck_assert(params->walk.out_pitch[1] == 48 && params->walk.extent[2].divisor == 10);
    ck_assert(params->walk.x_pitch[2] == 24 * 4 && params->walk.out_pitch[2] == 400);
    ck_assert(params->inner_chunks == 18 && params->slab_extent == 10);
    ck_assert(params->from == GM_FP32 && params->to == GM_FP16);
    const int cta = plan->kernel->threads * plan->kernel->columns[GM_PERMUTE_VECTORS];
    ck_assert_uint_eq(plan->config.gridDimX, (unsigned)((180 + cta - 1) / cta));
    gm_plan_destroy(plan);
}
END_TEST

START_TEST(a_launch_of_rows_is_told_what_the_call_says) {
    struct gm_permute_problem p = permuted("102", EXTENTS(6, 10, 77), 2);
    p.x_strides[0] = 801; /* 10 rows of 77 are 770 */
    p.out_strides[0] = 600, p.out_strides[1] = 88;
    gm_plan *plan = plan_of(&p, NULL);
    const struct gm_permute_rows_params *params = plan->params;
    ck_assert_ptr_eq(plan->kernel->family, &gm_family_permute_rows);
    ck_assert(params->chunks.divisor == 10 && params->last_bytes == 2 * 77 - 9 * 16 && params->count == 600);
    ck_assert_int_eq(params->inner_bytes, 2 * (5 * 801 + 770) - 31);
    ck_assert(params->rows.rank == 2 && params->rows.extent[0].divisor == 6 && params->rows.extent[1].divisor == 10);
    ck_assert(params->rows.x_pitch[0] == 2 * 801 && params->rows.out_pitch[0] == 2 * 88);
    ck_assert(params->rows.x_pitch[1] == 2 * 77 && params->rows.out_pitch[1] == 2 * 600);
    const int cta = plan->kernel->threads * plan->kernel->columns[GM_PERMUTE_ROWS_VECTORS];
    ck_assert_uint_eq(plan->config.gridDimX, (unsigned)((600 + cta - 1) / cta));
    gm_plan_destroy(plan);
    p = padded(1, 15, 1), p.x_align = 1; /* x has no two spans, and out no other row */
    plan = plan_of(&p, NULL);
    params = plan->params;
    ck_assert(params->inner_bytes == 0 && params->count == 1 && params->last_bytes == 15 && params->rows.rank == 1);
    gm_plan_destroy(plan);
}
END_TEST

/* Chunks of a slab are numbered with 31 bits: so much of the dimension where they would pass that is one slab. */
static const struct {
    int64_t extents[5], pad; /* a pad keeps dimensions apart, and their elements single */
    int rank;                /* that is counted */
    int64_t inner, extent, pieces, slabs;
} slabs[] = {
    {{10, 1000, 1001}, 2, 3, 1001000, 10, 1, 1},        {{40000, 60001}, 2, 2, 60001, INT32_MAX / 60001, 2, 2},
    {{7, 3, INT32_MAX}, 2, 1, 1, INT32_MAX, 1, 21},     {{5, 3, INT32_MAX / 2}, 2, 2, INT32_MAX / 2, 2, 2, 10},
    {{9, 5000, 5000, 301}, 2, 3, 1505000, 1426, 4, 36}, {{2, 3, 1 << 30, 5, 7}, 2, 3, 35, 61356675, 18, 108},
};

START_TEST(large_problems_come_in_slabs) {
    int rank = 0;
    while (rank < 5 && slabs[_i].extents[rank])
        rank++;
    struct gm_permute_problem p = permuted("01234", slabs[_i].extents, 1);
    p.rank = rank;
    p.x_align = p.out_align = 1;
    int64_t x = 1, out = 1;
    for (int k = rank - 1; k >= 0; k--) {
        p.x_strides[k] = x, p.out_strides[k] = out;
        x = x * p.extents[k] + slabs[_i].pad;
        out = out * p.extents[k] + slabs[_i].pad + 1;
    }
    gm_plan *plan = plan_of(&p, variant(&gm_family_permute, 1, 1, 1));
    const struct gm_permute_params *params = plan->params;
    ck_assert_int_eq(params->walk.rank, slabs[_i].rank);
    ck_assert_uint_eq(params->inner_chunks, slabs[_i].inner);
    ck_assert_int_eq(params->slab_extent, slabs[_i].extent);
    ck_assert_int_eq(params->pieces, slabs[_i].pieces);
    ck_assert_int_eq(params->slabs, slabs[_i].slabs);
    ck_assert((int64_t)params->inner_chunks * params->slab_extent <= INT32_MAX);
    gm_plan_destroy(plan);
}
END_TEST

/* A problem that the variant takes: of elements which nothing joins. */
static struct gm_permute_problem taken_by(const struct gm_kernel *kernel) {
    if (kernel->family == &gm_family_permute_rows)
        return padded(48, 81, 2);
    const int is_tile = kernel->family == &gm_family_permute_tile;
    const int x = kernel->columns[is_tile ? GM_PERMUTE_TILE_X_BYTES : GM_PERMUTE_X_BYTES];
    const int out = kernel->columns[is_tile ? GM_PERMUTE_TILE_OUT_BYTES : GM_PERMUTE_OUT_BYTES];
    struct gm_permute_problem p = permuted(is_tile ? "10" : "01", EXTENTS(48, 80), 0);
    p.type = x == 4 ? GM_FP32 : GM_BF16;
    p.out_type = out == 4 ? GM_FP32 : GM_FP16;
    p.element_bytes = x != out || (x == 2 && elements_of(kernel) == 8 && !is_tile) ? 0 : x;
    if (elements_of(kernel) == 1 && x < 16)
        p.x_align = x;
    return p;
}

START_TEST(every_variant_is_launched_by_name) {
    const struct gm_permute_args args = {.size = sizeof args, .x = ADDRESS_A, .out = ADDRESS_D};
    for (size_t i = 0; i < gm_kernel_count(); i++) {
        const struct gm_kernel *kernel = &gm_kernels[i];
        if (kernel->family->operation != &gm_operation_permute)
            continue;
        const struct gm_permute_problem p = taken_by(kernel);
        gm_plan *plan = plan_of(&p, kernel->name);
        fake_make_current(0);
        fake_clear_counts();
        assert_ok(gm_permute_execute(plan, &args, NULL));
        ck_assert_int_eq(fake_calls(), 1);
        ck_assert_int_eq(fake.launch.kernel, (int)i);
        ck_assert_uint_eq(fake.launch.config.blockDimX, (unsigned)kernel->threads);
        ck_assert_uint_eq(fake.launch.config.numAttrs, kernel->arch == GM_ARCH_SM90);
        gm_plan_destroy(plan);
    }
}
END_TEST

/* Nothing is launched where it is refused. */
static enum gm_status execute(const struct gm_permute_problem *p, gm_device_ptr x, gm_device_ptr out) {
    const struct gm_permute_args args = {.size = sizeof args, .x = x, .out = out};
    gm_plan *plan = plan_of(p, NULL);
    fake_make_current(0);
    fake_clear_counts();
    const enum gm_status status = gm_permute_execute(plan, &args, NULL);
    ck_assert_int_eq(fake_calls(), status == GM_OK);
    gm_plan_destroy(plan);
    return status;
}

START_TEST(bad_pointers_are_refused_by_name) {
    struct gm_permute_problem p = matrix(10, 64);
    const struct gm_permute_args old = {.size = 23};
    gm_plan *plan = plan_of(&p, NULL);
    assert_fails(gm_permute_execute(plan, &old, NULL), GM_ERROR_SIZE, "args.size is 23");
    gm_plan_destroy(plan);
    assert_fails(execute(&p, 0, ADDRESS_D), GM_ERROR_INVALID_ARGUMENT, "x is NULL");
    assert_fails(execute(&p, ADDRESS_A, 0), GM_ERROR_INVALID_ARGUMENT, "out is NULL");
    assert_fails(execute(&p, ADDRESS_A + 8, ADDRESS_D), GM_ERROR_MISALIGNED,
                 "not a multiple of 16 bytes: the plan was promised that");
    assert_fails(execute(&p, ADDRESS_A, ADDRESS_A), GM_ERROR_OVERLAP, "out (0x100000000000, 1280 bytes) overlaps x");
    assert_fails(execute(&p, ADDRESS_A, ADDRESS_A + 1264), GM_ERROR_OVERLAP, "overlaps x");
    assert_ok(execute(&p, ADDRESS_A, ADDRESS_A + 1280));
    p.x_align = p.out_align = 2;
    assert_fails(execute(&p, ADDRESS_A + 1, ADDRESS_D), GM_ERROR_MISALIGNED, "its element's size");
    p = permuted("012", EXTENTS(3, 5, 64), 2); /* joined to 16 bytes: the promise is still the caller's */
    assert_fails(execute(&p, ADDRESS_A + 2, ADDRESS_D), GM_ERROR_MISALIGNED, "the plan was promised that");
}
END_TEST

START_TEST(x_may_be_out_where_nothing_moves) {
    struct gm_permute_problem p = permuted("01", EXTENTS(10, 64), 0);
    p.out_type = GM_FP16;
    p.x_strides[0] = p.out_strides[0] = 80;
    assert_ok(execute(&p, ADDRESS_A, ADDRESS_A)); /* a cast in place */
    assert_fails(execute(&p, ADDRESS_A, ADDRESS_A + 16), GM_ERROR_OVERLAP, "only x = out with the same rows");
    p.out_strides[0] = 72;
    assert_fails(execute(&p, ADDRESS_A, ADDRESS_A), GM_ERROR_OVERLAP, "overlaps x");
    p.out_strides[0] = 80, p.out_type = GM_FP32; /* elements grow */
    assert_fails(execute(&p, ADDRESS_A, ADDRESS_A), GM_ERROR_OVERLAP, "overlaps x");
    p = permuted("10", EXTENTS(10, 64), 2);
    p.out_strides[0] = 1, p.out_strides[1] = 64; /* another order of the same places */
    assert_ok(execute(&p, ADDRESS_A, ADDRESS_A));
    p = permuted("01", EXTENTS(10, 64), 2); /* the left half of a matrix into the right one */
    p.x_strides[0] = p.out_strides[0] = 128;
    assert_ok(execute(&p, ADDRESS_A, ADDRESS_A + 128));
    assert_fails(execute(&p, ADDRESS_A, ADDRESS_A + 112), GM_ERROR_OVERLAP, "overlaps x");
    p = permuted("01", EXTENTS(10, 64), 2); /* windows of x are one range */
    p.x_strides[0] = 1, p.x_strides[1] = 1;
    assert_fails(execute(&p, ADDRESS_A, ADDRESS_A), GM_ERROR_OVERLAP, "overlaps x (0x100000000000, 146 bytes)");
}
END_TEST

START_TEST(a_budget_of_sms_limits_the_grid) {
    const struct gm_plan_options options = {.size = sizeof options, .sm_budget = 2};
    struct gm_permute_problem p = matrix(8192, 8192);
    for (int copies = 0; copies < 2; copies++) {
        gm_plan *plan = NULL;
        p.order[0] = !copies, p.order[1] = copies;
        assert_ok(gm_permute_plan_create(context, &p, &options, &plan));
        ck_assert_uint_le(plan->config.gridDimX, 2 * 16);
        gm_plan_destroy(plan);
    }
}
END_TEST

START_TEST(no_elements_launch_nothing) {
    const struct gm_permute_args args = {.size = sizeof args};
    const int launches = fake.count[FAKE_cuLaunchKernelEx];
    for (int d = 0; d < 3; d++) {
        struct gm_permute_problem p = permuted("201", EXTENTS(3, 4, 5), 2);
        p.extents[d] = 0;
        assert_ok(gm_permute(context, &p, &args, NULL));
    }
    ck_assert_int_eq(fake.count[FAKE_cuLaunchKernelEx], launches);
}
END_TEST

Suite *permute_suite(void) {
    Suite *suite = suite_create("permute");
    TCase *problems = tcase_create("problems"), *choices = tcase_create("choices"),
          *launches = tcase_create("launches");
    tcase_add_test(problems, zeros_mean_packed_and_aligned);
    tcase_add_loop_test(problems, every_bad_member_has_its_sentence, 0, sizeof bad / sizeof *bad);
    tcase_add_test(problems, elements_have_the_alignment_of_their_size);
    tcase_add_test(problems, x_may_share_elements_and_out_may_not);
    tcase_add_test(problems, a_problem_is_a_line_of_a_suite);
    tcase_add_test(problems, orders_are_words);
    tcase_add_test(problems, bytes_are_counted);
    tcase_add_loop_test(problems, problems_are_reduced, 0, sizeof reductions / sizeof *reductions);
    tcase_add_test(problems, strides_are_sorted_and_gaps_kept);
    tcase_add_test(problems, casts_are_not_joined);
    tcase_add_test(choices, transposes_go_by_tiles_and_copies_by_chunks);
    tcase_add_test(choices, what_is_not_aligned_goes_by_elements);
    tcase_add_test(choices, what_has_no_neighbours_goes_by_elements);
    tcase_add_test(choices, rows_that_begin_anywhere_are_shifted);
    tcase_add_test(choices, rows_that_need_no_shift_or_cannot_have_one_go_by_chunks);
    tcase_add_checked_fixture(launches, planned_set_up, planned_tear_down);
    tcase_add_test(launches, a_launch_of_tiles_is_told_what_the_call_says);
    tcase_add_test(launches, a_launch_of_chunks_is_told_what_the_call_says);
    tcase_add_test(launches, a_launch_of_rows_is_told_what_the_call_says);
    tcase_add_loop_test(launches, large_problems_come_in_slabs, 0, sizeof slabs / sizeof *slabs);
    tcase_add_test(launches, every_variant_is_launched_by_name);
    tcase_add_test(launches, bad_pointers_are_refused_by_name);
    tcase_add_test(launches, x_may_be_out_where_nothing_moves);
    tcase_add_test(launches, a_budget_of_sms_limits_the_grid);
    tcase_add_test(launches, no_elements_launch_nothing);
    suite_add_tcase(suite, problems);
    suite_add_tcase(suite, choices);
    suite_add_tcase(suite, launches);
    return suite;
}
