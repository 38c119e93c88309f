/* SPDX-License-Identifier: Apache-2.0 */
/* Where libcublasLt may be. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/baseline/cublaslt.h"

static const char *const file_names[] = {"libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so"};

/* `folder` "" leaves the search to the loader: LD_LIBRARY_PATH, then the system's folders. */
static void *open_in(const char *folder) {
    for (size_t i = 0; i < sizeof file_names / sizeof *file_names; i++) {
        char path[4096];
        const char *slash = folder[0] ? "/" : "";
        if (snprintf(path, sizeof path, "%s%s%s", folder, slash, file_names[i]) >= (int)sizeof path)
            continue;
        void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        if (library)
            return library;
    }
    return NULL;
}

static void *open_under(const char *root, const char *const *folders, size_t count) {
    for (size_t i = 0; i < count; i++) {
        char folder[4096];
        if (snprintf(folder, sizeof folder, "%s/%s", root, folders[i]) >= (int)sizeof folder)
            continue;
        void *library = open_in(folder);
        if (library)
            return library;
    }
    return NULL;
}

/* pip installs CUDA's libraries under a Python package that is called nvidia. */
static void *open_in_python(const char *python) {
    static const char *const folders[] = {"cu13/lib", "cublas/lib"};
    char command[256], root[4096];
    snprintf(command, sizeof command, "%s -c 'import nvidia; print(\"\\n\".join(nvidia.__path__))' 2>/dev/null",
             python);
    FILE *pipe = popen(command, "r");
    void *library = NULL;
    while (pipe && !library && fgets(root, sizeof root, pipe)) {
        root[strcspn(root, "\r\n")] = 0;
        library = open_under(root, folders, 2);
    }
    if (pipe)
        pclose(pipe);
    return library;
}

void *lt_find(const char *path) {
    static const char *const folders[] = {"lib64", "lib"};
    if (!path)
        path = getenv("GM_CUBLASLT");
    if (path) {
        void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        if (!library)
            complain("cannot open %s: %s", path, dlerror());
        return library;
    }
    const char *roots[] = {getenv("CUDA_HOME"), getenv("CUDA_PATH"), "/usr/local/cuda"};
    void *library = open_in("");
    for (size_t i = 0; !library && i < sizeof roots / sizeof *roots; i++) {
        if (roots[i])
            library = open_under(roots[i], folders, 2);
    }
    if (!library)
        library = open_in_python("python3");
    return library ? library : open_in_python("python");
}
