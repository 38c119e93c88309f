/* SPDX-License-Identifier: Apache-2.0 */
/* Opens the library, plans with it and closes it, many times: reload LIBRARY ROUNDS. The heap must not grow. With
 * GM_DRIVER=sim the driver is opened as well, and stays open: a driver has threads of its own. */
#include <dlfcn.h>
#include <gristmill/gristmill.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>

static enum gm_status (*model)(const char *name, struct gm_device *device);
static enum gm_status (*explain)(const struct gm_device *device, const struct gm_gemm_problem *problem,
                                 const struct gm_plan_options *options, struct gm_candidate *candidates,
                                 size_t capacity, size_t *count);
static const gm_ledger *(*builtin)(const struct gm_device *device);
static enum gm_status (*devices)(int *count);
static const char *(*build_info)(void);

static void *find(void *library, const char *name) {
    void *address = dlsym(library, name);
    if (!address)
        exit(fprintf(stderr, "%s\n", dlerror()));
    return address;
}

static void one_round(const char *path) {
    struct gm_device device = {.size = sizeof device};
    struct gm_gemm_problem problem = {.size = sizeof problem, .m = 64, .n = 2112, .k = 7168};
    size_t count = 0;
    int gpus = 0;
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        exit(fprintf(stderr, "%s\n", dlerror()));
    *(void **)&model = find(library, "gm_device_model");
    *(void **)&explain = find(library, "gm_gemm_explain");
    *(void **)&builtin = find(library, "gm_ledger_builtin");
    *(void **)&devices = find(library, "gm_device_count");
    *(void **)&build_info = find(library, "gm_build_info");
    if (model("h200", &device) != GM_OK || explain(&device, &problem, NULL, NULL, 0, &count) != GM_OK || count == 0 ||
        !builtin(&device) || build_info()[0] != '{')
        exit(fprintf(stderr, "the library does not explain\n"));
    devices(&gpus); /* or fails, with a sentence */
    dlclose(library);
    if (dlopen(path, RTLD_NOW | RTLD_NOLOAD))
        exit(fprintf(stderr, "the library stays loaded\n"));
}

int main(int argc, char **argv) {
    const int rounds = argc > 2 ? atoi(argv[2]) : 0;
    size_t before = 0, after;
    for (int i = 0; i < rounds; i++) {
        one_round(argv[1]);
        if (i == rounds / 2) /* the loader and the C library have what they keep */
            before = mallinfo2().uordblks;
    }
    after = mallinfo2().uordblks;
    printf("%zu bytes in use after %d rounds, %zu after %d\n", before, rounds / 2 + 1, after, rounds);
    return rounds < 50 || after > before;
}
