/* SPDX-License-Identifier: Apache-2.0 */
/* The results file: {"meta": {...}, "rows": [...]}. */
#include "bench/report/results.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bench/baseline/baseline.h"
#include "program/base/json.h"
#include "program/base/paths.h"
#include "program/base/shared_file.h"

static const char *or_null(const char *text) {
    return text && text[0] ? text : NULL;
}

static double or_none(double value) {
    return value > 0 ? value : NAN;
}

static void write_ceilings(struct json *json, const struct bench_ceilings *ceilings) {
    json_object_begin(json, "ceilings");
    json_put_number(json, "copy_gbs", ceilings->copy_gbs);
    json_put_number(json, "write_gbs", ceilings->write_gbs);
    json_put_number(json, "read_gbs", ceilings->read_gbs);
    json_put_string(json, "read_source", or_null(ceilings->read_source));
    json_put_number(json, "tensor_tflops", ceilings->tensor_tflops);
    json_put_string(json, "tensor_source", or_null(ceilings->tensor_source));
    json_put_number(json, "launch_us", ceilings->launch_us);
    json_put_string(json, "launch_source", or_null(ceilings->launch_source));
    json_put_number(json, "launch_host_ns", or_none(ceilings->launch_host_ns));
    json_object_end(json);
}

static void write_method(struct json *json, const struct bench_meta *meta) {
    json_object_begin(json, "method");
    json_put_string(json, "operands", "N(0,1), fixed seed");
    json_put_string(json, "l2", results_l2(meta));
    json_put_number(json, "rotated_over_l2", meta->rotate_l2);
    json_put_string(json, "timing", "events around CUDA graphs of many launches, contenders interleaved in each round");
    json_put_integer(json, "rounds", meta->rounds);
    json_put_number(json, "round_ms", meta->round_ms);
    json_put_number(json, "warmup_s", meta->warmup_s);
    json_put_number(json, "energy_s", meta->energy_s);
    json_put_number(json, "workspace_bytes", meta->workspace_bytes);
    json_put_string(json, "energy_source", or_null(meta->energy_source));
    json_put_string(json, "ratio", "median of the per-round ratios, above 1: gristmill is faster");
    json_put_string(json, "ratio_alone",
                    "best over ours, each alone for energy_s in two turns, timed behind a lead-in");
    json_put_integer(json, "baseline_heuristics", meta->ways_asked);
    json_put_integer(json, "baseline_workspace_bytes",
                     or_null(meta->baseline) ? (long long)BASELINE_WORKSPACE_BYTES : 0);
    json_object_end(json);
}

static void write_meta(struct json *json, const struct bench_meta *meta) {
    json_object_begin(json, "meta");
    json_put_string(json, "gpu", meta->gpu);
    json_put_integer(json, "sm_count", meta->device.sm_count);
    json_put_integer(json, "l2_bytes", meta->device.l2_bytes);
    json_put_integer(json, "sm_clock_max_mhz", meta->device.sm_clock_mhz);
    json_put_number(json, "power_limit_watts", meta->power_limit_watts);
    json_put_string(json, "driver", meta->driver);
    json_put_string(json, "toolkit", or_null(meta->toolkit));
    json_put_string(json, "revision", or_null(meta->revision));
    json_put_string(json, "version", gm_version_string());
    json_put_string(json, "date", meta->date);
    json_put_string(json, "suite", meta->suite);
    json_put_string(json, "command", meta->command);
    json_put_string(json, "baseline", or_null(meta->baseline));
    json_put_number(json, "execute_ns", or_none(meta->execute_ns));
    json_put_number(json, "execute_recurring_ns", or_none(meta->execute_recurring_ns));
    json_put_number(json, "execute_plain_ns", or_none(meta->execute_plain_ns));
    json_put_number(json, "baseline_execute_ns", or_none(meta->baseline_execute_ns));
    write_ceilings(json, &meta->ceilings);
    write_method(json, meta);
    json_object_end(json);
}

/* The operation, every field of its suites, and of its options those that are not usual: sizes as numbers. */
static void write_problem(struct json *json, const struct bench_case *problem) {
    const struct gm_operation *operation = problem->operation->operation;
    json_put_string(json, "op", operation->name);
    for (int i = 0; i < operation->field_count; i++) {
        const struct gm_field *field = &operation->fields[i];
        const int64_t value = gm_field_get(field, problem->problem.bytes);
        char text[GM_FIELD_TEXT_BYTES];
        if (!case_tells(problem, field))
            continue;
        if (field->kind == GM_FIELD_SIZE)
            json_put_integer(json, field->name, value);
        else
            json_put_string(json, field->name, gm_field_print(field, value, text));
    }
}

static void write_row(struct json *json, const struct bench_row *row) {
    json_line_begin(json, NULL);
    write_problem(json, &row->problem);
    json_put_string(json, "kernel", row->kernel);
    json_put_number(json, "us", row->us.median);
    json_put_number(json, "us_p10", row->us.p10);
    json_put_number(json, "us_p90", row->us.p90);
    json_put_number(json, "tflops", row->tflops);
    json_put_number(json, "gbs", row->gbs);
    json_put_number(json, "default_us", row->default_us.median);
    json_put_number(json, "best_us", row->best_us.median);
    json_put_number(json, "ratio_default", row->ratio_default.median);
    json_put_number(json, "ratio_best", row->ratio_best.median);
    json_put_number(json, "ratio_best_p10", row->ratio_best.p10);
    json_put_number(json, "ratio_best_p90", row->ratio_best.p90);
    json_put_number(json, "floor_us", row->floor_us);
    json_put_number(json, "sm_mhz", row->sm_mhz);
    json_put_number(json, "watts", row->watts);
    json_put_string(json, "throttle", or_null(row->throttle));
    json_put_number(json, "ours_joules", row->ours_joules);
    json_put_number(json, "best_joules", row->best_joules);
    json_put_number(json, "tflops_per_watt", row->tflops_per_watt);
    json_put_number(json, "best_tflops_per_watt", row->best_tflops_per_watt);
    json_put_number(json, "ours_alone_us", row->ours_alone_us);
    json_put_number(json, "best_alone_us", row->best_alone_us);
    json_put_number(json, "ratio_alone", row->ratio_alone);
    json_put_number(json, "predicted_us", row->predicted_us);
    json_put_string(json, "best", or_null(row->best_name));
    json_put_integer(json, "best_heuristic", row->best_way);
    json_put_integer(json, "heuristics", row->ways);
    json_put_number(json, "max_difference", row->max_difference);
    json_put_numbers(json, "us_rounds", row->ours.us, row->ours.count);
    json_put_numbers(json, "best_us_rounds", row->best.us, row->best.count);
    json_put_numbers(json, "default_us_rounds", row->baseline_default.us, row->baseline_default.count);
    json_object_end(json);
}

int results_write_json(const struct bench_results *results, const char *path) {
    struct draft draft;
    struct json json;
    if (draft_begin(&draft, path) != 0)
        return -1;
    json_start(&json, draft.out);
    json_object_begin(&json, NULL);
    write_meta(&json, &results->meta);
    json_array_begin(&json, "rows");
    for (size_t i = 0; i < results->count; i++)
        write_row(&json, &results->rows[i]);
    json_array_end(&json);
    json_object_end(&json);
    return draft_end(&draft);
}

void results_fill_name(char *slug, size_t bytes, const char *gpu_name) {
    size_t used = 0;
    if (strncmp(gpu_name, "NVIDIA ", 7) == 0)
        gpu_name += 7;
    for (; *gpu_name && used + 1 < bytes; gpu_name++) {
        if (isalnum((unsigned char)*gpu_name))
            slug[used++] = (char)tolower((unsigned char)*gpu_name);
        else if (used && slug[used - 1] != '-')
            slug[used++] = '-';
    }
    while (used && slug[used - 1] == '-')
        used--;
    slug[used] = 0;
}

int results_path(char *path, size_t bytes, const char *pattern, const struct bench_meta *meta) {
    const struct path_word words[] = {{"gpu", meta->slug}, {"suite", meta->suite}};
    return path_fill(path, bytes, pattern, words, sizeof words / sizeof *words);
}
