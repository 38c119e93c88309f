/* SPDX-License-Identifier: Apache-2.0 */
/* NVRTC, the CUDA compiler as a library: opened at run time, where there is one and no nvcc. Its interface is that of
 * CUDA's nvrtc.h, which has not changed since 7.0. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "program/base/messages.h"
#include "program/sim/launch_compile.h"
#include "program/base/whole_file.h"
#include "program/sim/launch_elements.h"

enum { OPTIONS_MAX = 80 };

struct nvrtc {
    void *library;
    int (*create)(void **program, const char *source, const char *name, int headers, const char *const *texts,
                  const char *const *names);
    int (*compile)(void *program, int count, const char *const *options);
    int (*log_size)(void *program, size_t *bytes);
    int (*log)(void *program, char *text);
    int (*ptx_size)(void *program, size_t *bytes);
    int (*ptx)(void *program, char *text);
    int (*destroy)(void **program);
};

static void *open_library(void) {
    static const char *const names[] = {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"};
    const char *home = launch_cuda_home();
    char path[4096];
    void *library = NULL;
    for (size_t i = 0; i < sizeof names / sizeof *names && !library; i++) {
        snprintf(path, sizeof path, "%s/lib64/%s", home ? home : "/usr/local/cuda", names[i]);
        library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        if (!library && !home)
            library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    }
    return library;
}

static bool open_nvrtc(struct nvrtc *nvrtc) {
    const struct {
        const char *name;
        void **function;
    } wanted[] = {
        {"nvrtcCreateProgram", (void **)&nvrtc->create},       {"nvrtcCompileProgram", (void **)&nvrtc->compile},
        {"nvrtcGetProgramLogSize", (void **)&nvrtc->log_size}, {"nvrtcGetProgramLog", (void **)&nvrtc->log},
        {"nvrtcGetPTXSize", (void **)&nvrtc->ptx_size},        {"nvrtcGetPTX", (void **)&nvrtc->ptx},
        {"nvrtcDestroyProgram", (void **)&nvrtc->destroy},
    };
    nvrtc->library = open_library();
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted && nvrtc->library; i++) {
        *wanted[i].function = dlsym(nvrtc->library, wanted[i].name);
        if (!*wanted[i].function) {
            dlclose(nvrtc->library);
            nvrtc->library = NULL;
        }
    }
    return nvrtc->library != NULL;
}

static void print_log(const struct nvrtc *nvrtc, void *program) {
    size_t bytes = 0;
    char *text = nvrtc->log_size(program, &bytes) == 0 && bytes > 1 ? malloc(bytes + 1) : NULL;
    if (text && nvrtc->log(program, text) == 0) {
        text[bytes] = '\0';
        fputs(text, stderr);
    }
    free(text);
}

static char *take_ptx(const struct nvrtc *nvrtc, void *program) {
    size_t bytes = 0;
    char *text = nvrtc->ptx_size(program, &bytes) == 0 ? calloc(bytes + 1, 1) : NULL;
    if (text && nvrtc->ptx(program, text) != 0) {
        free(text);
        text = NULL;
    }
    return text;
}

/* The folder of the file is searched for headers, as nvcc does. */
static char *compile(const struct nvrtc *nvrtc, const char *path, const char *source, const char *architecture,
                     char *const *flags) {
    char arch[40], folder[4096 + 4], headers[4096 + 16];
    const char *slash = strrchr(path, '/'), *home = launch_cuda_home();
    const char *options[OPTIONS_MAX] = {"-lineinfo", arch, folder, headers};
    int count = 4;
    void *program = NULL;
    snprintf(arch, sizeof arch, "--gpu-architecture=compute_%s", architecture);
    snprintf(folder, sizeof folder, "-I%.*s", slash ? (int)(slash - path) + 1 : 1, slash ? path : ".");
    snprintf(headers, sizeof headers, "-I%s/include", home ? home : "/usr/local/cuda");
    for (; *flags && count < OPTIONS_MAX; flags++)
        options[count++] = *flags;
    if (nvrtc->create(&program, source, path, 0, NULL, NULL) != 0) {
        complain("NVRTC cannot begin to compile %s", path);
        return NULL;
    }
    const int result = nvrtc->compile(program, count, options);
    print_log(nvrtc, program);
    char *text = result == 0 ? take_ptx(nvrtc, program) : NULL;
    nvrtc->destroy(&program);
    if (!text)
        complain("NVRTC could not compile %s; it takes kernels without host code", path);
    return text;
}

char *launch_nvrtc(const char *path, const char *architecture, char *const *flags, int *found) {
    struct nvrtc nvrtc = {0};
    size_t bytes;
    *found = open_nvrtc(&nvrtc);
    char *source = *found ? file_read_or_complain(path, &bytes) : NULL;
    char *text = source ? compile(&nvrtc, path, source, architecture, flags) : NULL;
    free(source);
    return text;
}
