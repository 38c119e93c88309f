/* SPDX-License-Identifier: Apache-2.0 */
/* gristmill info: devices, build, and the kernel table with its analytical limits. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "program/base/args.h"
#include "program/commands.h"
#include "bench/measure/gpu.h"
#include "program/base/text_table.h"
#include "host/family.h"
#include "host/types.h"
#include "program/base/json.h"
#include "program/row_limits.h"

static void print_build(void) {
    static const char *const facts[][2] = {{"revision", "revision"},
                                           {"toolkit", "CUDA toolkit"},
                                           {"targets", "targets"},
                                           {"min_driver", "minimum driver"},
                                           {"image_bytes", "image bytes"}};
    printf("gristmill %s", gm_version_string());
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++) {
        char value[128];
        build_fact(facts[i][0], value, sizeof value);
        if (value[0])
            printf(", %s %s", facts[i][1], value);
    }
    putchar('\n');
}

static void print_device(const struct gm_device *device) {
    if (device->ordinal >= 0)
        printf("device %" PRId32 ": %s, driver API %d.%d\n", device->ordinal, device->name,
               device->driver_version / 1000, device->driver_version % 1000 / 10);
    else
        printf("model device: %s\n", device->name);
    printf("  compute capability %d.%d, %d SMs at up to %d MHz, %d threads an SM\n", device->cc_major, device->cc_minor,
           device->sm_count, device->sm_clock_mhz, device->max_threads_per_sm);
    printf("  shared memory %d bytes a block (opt-in), %d an SM; L2 %.0f MiB; memory %.1f GiB\n",
           device->smem_per_block_bytes, device->smem_per_sm_bytes, (double)device->l2_bytes / (1 << 20),
           (double)device->memory_bytes / (1 << 30));
    if (device->dram_gbs > 0)
        printf("  datasheet: %.0f GB/s of memory", device->dram_gbs);
    if (device->tensor_tflops > 0)
        printf("%s%.0f TFLOPS dense bf16", device->dram_gbs > 0 ? ", " : "  datasheet: ", device->tensor_tflops);
    puts(device->dram_gbs > 0 || device->tensor_tflops > 0 ? "" : "  datasheet rates unknown");
}

static bool add_kernel(struct text_table *table, const struct gm_kernel *kernel, const struct gm_device *device) {
    struct kernel_limits limits = limits_of(kernel, device);
    char registers[16] = "?", tflops[16] = "-";
    if (kernel->registers > 0)
        snprintf(registers, sizeof registers, "%d", kernel->registers);
    if (limits.ctas_per_sm > 0 && limits.tensor_tflops > 0)
        snprintf(tflops, sizeof tflops, "%.0f", limits.tensor_tflops);
    return text_table_add(table, "%s|%s|%s|%d|%d|%s|%d|%zu|%s|%d|%.0f|%.0f|%s", kernel->family->operation->name,
                          kernel->family->name, kernel->name, kernel->threads, kernel->smem_bytes, registers,
                          kernel->spill_bytes, kernel->image.packed_bytes, kernel->production ? "prod" : "test",
                          limits.ctas_per_sm, limits.flop_per_fill_byte, limits.flop_per_l2_byte, tflops);
}

static int print_table(const struct gm_device *device) {
    struct text_table table;
    bool good = text_table_start(&table, "<operation|<family|<kernel|threads|smem B|regs|spill B|image B|<state|CTA/SM|"
                                         "FLOP/B fill|FLOP/B L2|TFLOPS bound");
    for (size_t i = 0; good && i < gm_kernel_count(); i++)
        good = add_kernel(&table, &gm_kernels[i], device);
    if (good)
        text_table_print(&table, stdout);
    text_table_free(&table);
    if (!good)
        return complain("the kernel table cannot be listed: %s", gm_last_error());
    printf(
        "\n%zu kernels, seen on %s. CTA/SM: CTAs that fit one SM (0: none). FLOP/B fill, L2: operations for each byte "
        "that\nfills shared memory, or comes from L2 after multicast. TFLOPS bound: what the kernel's MMA shape can "
        "reach of the\ndatasheet's dense rate (wgmma m64nNk16 takes max(N/2, 16 + N/4) cycles).\n",
        gm_kernel_count(), device->name);
    return 0;
}

static void json_device(struct json *json, const struct gm_device *device) {
    json_object_begin(json, NULL);
    json_put_string(json, "name", device->name);
    json_put_integer(json, "ordinal", device->ordinal);
    json_put_integer(json, "cc_major", device->cc_major);
    json_put_integer(json, "cc_minor", device->cc_minor);
    json_put_integer(json, "sm_count", device->sm_count);
    json_put_integer(json, "smem_per_block_bytes", device->smem_per_block_bytes);
    json_put_integer(json, "smem_per_sm_bytes", device->smem_per_sm_bytes);
    json_put_integer(json, "max_threads_per_sm", device->max_threads_per_sm);
    json_put_integer(json, "sm_clock_mhz", device->sm_clock_mhz);
    json_put_integer(json, "l2_bytes", device->l2_bytes);
    json_put_integer(json, "memory_bytes", device->memory_bytes);
    json_put_number(json, "dram_gbs", device->dram_gbs);
    json_put_number(json, "tensor_tflops", device->tensor_tflops);
    json_put_integer(json, "driver_version", device->driver_version);
    json_object_end(json);
}

/* "layout=tn tile_m=128": each word a member, a number where it is one. */
static void json_columns(struct json *json, const char *words) {
    char name[32], value[32];
    int used = 0;
    json_object_begin(json, "columns");
    for (; sscanf(words, " %31[^=]=%31s%n", name, value, &used) == 2; words += used) {
        if (value[strspn(value, "0123456789")] == 0)
            json_put_integer(json, name, strtoll(value, NULL, 10));
        else
            json_put_string(json, name, value);
    }
    json_object_end(json);
}

static void json_kernel(struct json *json, const struct gm_kernel *kernel, const struct gm_device *device) {
    struct kernel_limits limits = limits_of(kernel, device);
    json_line_begin(json, NULL);
    json_put_string(json, "name", kernel->name);
    json_put_string(json, "operation", kernel->family->operation->name);
    json_put_string(json, "family", kernel->family->name);
    json_put_string(json, "arch", gm_arch_name(kernel->arch));
    json_put_string(json, "type", gm_type_name(kernel->type));
    json_put_bool(json, "production", kernel->production);
    json_columns(json, kernel->words);
    json_put_integer(json, "threads", kernel->threads);
    json_put_integer(json, "smem_bytes", kernel->smem_bytes);
    json_put_integer(json, "cluster_ctas", kernel->cluster_ctas);
    json_put_integer(json, "registers", kernel->registers);
    json_put_integer(json, "spill_bytes", kernel->spill_bytes);
    json_put_string(json, "targets", kernel->targets);
    json_put_integer(json, "image_bytes", (int64_t)kernel->image.packed_bytes);
    json_put_integer(json, "ctas_per_sm", limits.ctas_per_sm);
    json_put_number(json, "flop_per_fill_byte", limits.flop_per_fill_byte);
    json_put_number(json, "flop_per_l2_byte", limits.flop_per_l2_byte);
    json_put_number(json, "tensor_share", limits.tensor_share);
    json_put_number(json, "tensor_tflops", limits.tensor_tflops);
    json_object_end(json);
}

static int print_json(const struct gm_device *devices, int count) {
    struct json json;
    json_start(&json, stdout);
    json_object_begin(&json, NULL);
    json_put_raw(&json, "build", gm_build_info());
    json_array_begin(&json, "devices");
    for (int i = 0; i < count; i++)
        json_device(&json, &devices[i]);
    json_array_end(&json);
    json_array_begin(&json, "kernels");
    for (size_t i = 0; i < gm_kernel_count(); i++)
        json_kernel(&json, &gm_kernels[i], &devices[0]);
    json_array_end(&json);
    json_object_end(&json);
    return 0;
}

#define DEVICES_MAX 16

/* All devices of the machine, which may be a simulated one; or the one that was asked for; or the default model. */
static int find_devices(const char *choice, struct gm_device *devices, char *why, size_t why_bytes) {
    int count = 1;
    if (!choice)
        gpu_count_or_simulate(why, why_bytes);
    if (device_from_option(choice, &devices[0], why, why_bytes) != 0)
        return -1;
    if (choice || devices[0].ordinal < 0)
        return count;
    char ignored[256];
    int present = gpu_count(ignored, sizeof ignored);
    for (int i = 1; i < present && i < DEVICES_MAX; i++, count++) {
        devices[i] = (struct gm_device){.size = sizeof devices[i]};
        enum gm_status status = gm_device_query(i, &devices[i]);
        if (status != GM_OK)
            return gpu_fail_library(status, "gm_device_query");
    }
    return count;
}

int command_info(int argc, char **argv) {
    const char *choice = NULL;
    bool as_json = false;
    const struct args_option options[] = {
        {"device", "N|MODEL", ARGS_TEXT, &choice, "device number, or a100, h100, h200, a10, rtx4090 (default: all)"},
        {"json", NULL, ARGS_FLAG, &as_json, "the same as one JSON object"},
    };
    const struct args_command command = {
        "gristmill info [options]",
        "Devices, library and toolkit versions, and the kernel table with what the compiler says of each row and what\n"
        "arithmetic says of it on the device. Without a GPU the table is shown for a simulated one.",
        options, sizeof options / sizeof *options};
    struct args_list words = {0};
    enum args_outcome outcome = args_parse(&command, argc, argv, &words);
    if (outcome != ARGS_GO)
        return outcome == ARGS_HELP ? EXIT_CODE_OK : EXIT_CODE_USAGE;
    if (words.count) {
        complain("info takes no words, only options; `%s` is one", words.items[0]);
        return EXIT_CODE_USAGE;
    }
    struct gm_device devices[DEVICES_MAX];
    char why[256];
    int count = find_devices(choice, devices, why, sizeof why);
    if (count < 0)
        return EXIT_CODE_FAILURE;
    if (as_json)
        return print_json(devices, count) == 0 ? EXIT_CODE_OK : EXIT_CODE_FAILURE;
    print_build();
    if (why[0])
        printf("There is no GPU here (%s), so the table is shown for the %s model.\n", why, devices[0].name);
    for (int i = 0; i < count; i++)
        print_device(&devices[i]);
    putchar('\n');
    return print_table(&devices[0]) == 0 ? EXIT_CODE_OK : EXIT_CODE_FAILURE;
}
