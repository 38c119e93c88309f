/* SPDX-License-Identifier: Apache-2.0 */
/* The problems to measure: suite files, --shape arguments, and the names of types and layouts. */
#include "bench/suite.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/operation.h"
#include "host/types.h"
#include "program/base/say.h"

#define MAX_SIZE INT64_C(0x7fffffff)

bool suite_type(const char *name, enum gm_type *type) {
    const int found = gm_type_named(name, strlen(name));
    if (found >= 0)
        *type = (enum gm_type)found;
    return found >= 0;
}

bool suite_layout(const char *name, enum gm_major *a, enum gm_major *b) {
    const struct gm_field *field = &gm_operation_gemm.fields[gm_field_named(&gm_operation_gemm, "layout")];
    struct gm_gemm_problem problem = {.size = sizeof problem};
    int64_t layout;
    if (!gm_field_parse(field, name, strlen(name), &layout) || !gm_field_set(field, &problem, layout))
        return false;
    *a = problem.a_major;
    *b = problem.b_major;
    return true;
}

static bool parse_size(const char *text, char **end, int64_t *value) {
    errno = 0;
    long long parsed = strtoll(text, end, 10);
    if (errno || *end == text || parsed < 1 || parsed > MAX_SIZE)
        return false;
    *value = parsed;
    return true;
}

bool suite_parse_shape(const char *text, int64_t *m, int64_t *n, int64_t *k) {
    int64_t *const into[3] = {m, n, k};
    for (int i = 0; i < 3; i++) {
        char *end;
        if (!parse_size(text, &end, into[i]))
            return false;
        bool separator = *end == 'x' || *end == 'X' || *end == ',';
        if (i == 2 ? *end != 0 : !separator)
            return false;
        text = end + 1;
    }
    return true;
}

/* Whether anybody computes a case is for the library to say; but it is said in words that there are. */
static int check_names(const struct bench_case *problem, char *error, size_t error_bytes) {
    static const char *const known[] = {"bf16", "fp16", "fp32", "e4m3", "e5m2"};
    const char *const types[] = {problem->a, problem->b, problem->d};
    enum gm_major a, b;
    if (strcmp(problem->op, "gemm") != 0) {
        snprintf(error, error_bytes, "the one operation is gemm, not %s", problem->op);
        return -1;
    }
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        size_t at = 0;
        while (at < sizeof known / sizeof *known && strcmp(known[at], types[i]) != 0)
            at++;
        if (at == sizeof known / sizeof *known) {
            snprintf(error, error_bytes, "type %s is none of bf16, fp16, fp32, e4m3, e5m2", types[i]);
            return -1;
        }
    }
    if (!suite_layout(problem->layout, &a, &b)) {
        snprintf(error, error_bytes, "layout %s is none of tn, nn, nt, tt", problem->layout);
        return -1;
    }
    return 0;
}

int suite_parse_line(const char *line, struct bench_case *out, char *error, size_t error_bytes) {
    char sizes[3][24], more[2];
    *out = (struct bench_case){0};
    line += strspn(line, " \t\r\n");
    if (*line == 0 || *line == '#')
        return 0;
    int fields = sscanf(line, "%15s %7s %7s %7s %3s %23s %23s %23s %1s", out->op, out->a, out->b, out->d, out->layout,
                        sizes[0], sizes[1], sizes[2], more);
    if (fields < 8 || (fields > 8 && more[0] != '#')) {
        snprintf(error, error_bytes, "a line is `op a b d layout M N K`");
        return -1;
    }
    int64_t *const into[3] = {&out->m, &out->n, &out->k};
    for (int i = 0; i < 3; i++) {
        char *end;
        if (!parse_size(sizes[i], &end, into[i]) || *end) {
            snprintf(error, error_bytes, "%c is %s, not a size from 1 to %" PRId64, "MNK"[i], sizes[i], MAX_SIZE);
            return -1;
        }
    }
    return check_names(out, error, error_bytes) == 0 ? 1 : -1;
}

int suite_add(struct bench_suite *suite, const struct bench_case *add) {
    if (suite->count == suite->capacity) {
        size_t capacity = suite->capacity ? suite->capacity * 2 : 64;
        struct bench_case *cases = realloc(suite->cases, capacity * sizeof *cases);
        if (!cases)
            return complain("out of host memory");
        suite->cases = cases;
        suite->capacity = capacity;
    }
    suite->cases[suite->count++] = *add;
    return 0;
}

void suite_free(struct bench_suite *suite) {
    free(suite->cases);
    *suite = (struct bench_suite){0};
}

static FILE *open_suite(const char *name, char *path, size_t path_bytes) {
    static const char *const patterns[] = {"%s", "%s.txt", GM_SUITE_DIR "/%s", GM_SUITE_DIR "/%s.txt",
                                           "bench/suites/%s.txt"};
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++) {
        const char *hole = strstr(patterns[i], "%s");
        snprintf(path, path_bytes, "%.*s%s%s", (int)(hole - patterns[i]), patterns[i], name, hole + 2);
        FILE *file = fopen(path, "r");
        if (file)
            return file;
    }
    return NULL;
}

/* "dir/gemm-quick.txt" -> "gemm-quick", joined with + to the names already there. */
static void add_name(struct bench_suite *suite, const char *path) {
    const char *base = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
    size_t used = strlen(suite->name);
    size_t length = strlen(base);
    if (length > 4 && strcmp(base + length - 4, ".txt") == 0)
        length -= 4;
    snprintf(suite->name + used, sizeof suite->name - used, "%s%.*s", used ? "+" : "", (int)length, base);
}

/* Some editors put a byte order mark before UTF-8, which says nothing. */
static const char *without_mark(const char *line) {
    return strncmp(line, "\xef\xbb\xbf", 3) == 0 ? line + 3 : line;
}

static int read_lines(struct bench_suite *suite, FILE *file, const char *path) {
    char line[512], error[128];
    int status = 0;
    for (int number = 1; status == 0 && fgets(line, sizeof line, file); number++) {
        struct bench_case parsed;
        if (!strchr(line, '\n') && !feof(file))
            return complain("%s:%d: a line has at most %zu characters", path, number, sizeof line - 2);
        int kind = suite_parse_line(number == 1 ? without_mark(line) : line, &parsed, error, sizeof error);
        if (kind < 0)
            status = complain("%s:%d: %s", path, number, error);
        else if (kind > 0)
            status = suite_add(suite, &parsed);
    }
    return status == 0 && ferror(file) ? complain("cannot read %s: %s", path, strerror(errno)) : status;
}

int suite_load(struct bench_suite *suite, const char *name) {
    char path[4096];
    const size_t before = suite->count;
    FILE *file = open_suite(name, path, sizeof path);
    if (!file)
        return complain("there is no suite %s (looked at that path and in %s)", name, GM_SUITE_DIR);
    add_name(suite, path);
    int status = read_lines(suite, file, path);
    fclose(file);
    if (status == 0 && suite->count == before)
        status = complain("%s has no problem: a line is `op a b d layout M N K`", path);
    return status;
}

int suite_add_shapes(struct bench_suite *suite, const char *const *shapes, size_t count) {
    for (size_t i = 0; i < count; i++) {
        struct bench_case problem = {.op = "gemm", .a = "bf16", .b = "bf16", .d = "bf16", .layout = "tn"};
        if (!suite_parse_shape(shapes[i], &problem.m, &problem.n, &problem.k))
            return complain("--shape wants MxNxK, each from 1 to 2147483647, not `%s`", shapes[i]);
        if (suite_add(suite, &problem) != 0)
            return -1;
    }
    return 0;
}

int suite_check_override(const char *dtype, const char *out, const char *layout) {
    enum gm_type type;
    enum gm_major a, b;
    if (dtype && (!suite_type(dtype, &type) || type == GM_FP32))
        return complain("--dtype is bf16 or fp16, not `%s`", dtype);
    if (out && !suite_type(out, &type))
        return complain("--out is bf16, fp16 or fp32, not `%s`", out);
    if (layout && !suite_layout(layout, &a, &b))
        return complain("--layout is tn, nn, nt or tt, not `%s`", layout);
    return 0;
}

void suite_override(struct bench_case *problem, const char *dtype, const char *out, const char *layout) {
    const bool d_follows = strcmp(problem->d, problem->a) == 0;
    if (dtype) {
        snprintf(problem->a, sizeof problem->a, "%s", dtype);
        snprintf(problem->b, sizeof problem->b, "%s", dtype);
    }
    if (out || (dtype && d_follows))
        snprintf(problem->d, sizeof problem->d, "%s", out ? out : dtype);
    if (layout)
        snprintf(problem->layout, sizeof problem->layout, "%s", layout);
}

bool suite_problem(const struct bench_case *from, struct gm_gemm_problem *problem) {
    enum gm_type b_type;
    *problem = (struct gm_gemm_problem){.size = sizeof *problem, .m = from->m, .n = from->n, .k = from->k};
    return strcmp(from->op, "gemm") == 0 && suite_type(from->a, &problem->ab_type) && suite_type(from->b, &b_type) &&
           b_type == problem->ab_type && b_type != GM_FP32 && suite_type(from->d, &problem->d_type) &&
           suite_layout(from->layout, &problem->a_major, &problem->b_major);
}
