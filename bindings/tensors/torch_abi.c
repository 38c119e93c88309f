/* SPDX-License-Identifier: Apache-2.0 */
#include "torch_abi.h"

#include <dlfcn.h>
#include <stdio.h>

/* A library that the process has loaded already; Python loads libtorch without making its symbols everybody's. */
static void *loaded(const char *name) {
    return dlopen(name, RTLD_NOW | RTLD_NOLOAD);
}

const char *torch_abi_find(struct torch_abi *torch) {
    static char sentence[160];
    void *cpu = loaded("libtorch_cpu.so"), *cuda = loaded("libtorch_cuda.so"), *cxx = loaded("libstdc++.so.6");
    if (!cpu) {
        return "PyTorch is not loaded: import torch first";
    }
    if (!cuda) {
        return "this PyTorch has no CUDA: libtorch_cuda.so is not loaded";
    }
#define FIND(library, returns, name, parameters)                                                                       \
    *(void **)&torch->name = dlsym(library, #name);                                                                    \
    if (!torch->name) {                                                                                                \
        snprintf(sentence, sizeof sentence, "this PyTorch lacks %s: 2.10 is the oldest that will do", #name);          \
        return sentence;                                                                                               \
    }
    TORCH_FUNCTIONS(FIND)
#undef FIND
    *(void **)&torch->free_value = dlsym(cpu, "torch_delete_stable_ivalue"); /* of 2.13 and newer */
    if (!torch->free_value) {
        *(void **)&torch->free_value =
            cxx ? dlsym(cxx, "_ZdlPv") : NULL; /* operator delete(void *), which frees it before */
    }
    return torch->free_value ? "" : "libstdc++.so.6 is not loaded, or has no operator delete";
}
