/* SPDX-License-Identifier: Apache-2.0 */
#include "device.h"

#include "common.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Functions of the driver: their names, with the version of today, and what they take. */
#define FUNCTIONS(F)                                                                                                   \
    F(retain, "cuDevicePrimaryCtxRetain", (void **, int))                                                              \
    F(release, "cuDevicePrimaryCtxRelease_v2", (int))                                                                  \
    F(make_current, "cuCtxSetCurrent", (void *))                                                                       \
    F(error_string, "cuGetErrorString", (int, const char **))                                                          \
    F(memory_info, "cuMemGetInfo_v2", (size_t *, size_t *))                                                            \
    F(allocate, "cuMemAlloc_v2", (gm_device_ptr *, size_t))                                                            \
    F(free, "cuMemFree_v2", (gm_device_ptr))                                                                           \
    F(host_to_device, "cuMemcpyHtoDAsync_v2", (gm_device_ptr, const void *, size_t, void *))                           \
    F(device_to_host, "cuMemcpyDtoHAsync_v2", (void *, gm_device_ptr, size_t, void *))                                 \
    F(device_to_device, "cuMemcpyDtoDAsync_v2", (gm_device_ptr, gm_device_ptr, size_t, void *))                        \
    F(fill, "cuMemsetD8Async", (gm_device_ptr, unsigned char, size_t, void *))                                         \
    F(stream_create, "cuStreamCreate", (void **, unsigned))                                                            \
    F(stream_destroy, "cuStreamDestroy_v2", (void *))                                                                  \
    F(stream_synchronize, "cuStreamSynchronize", (void *))                                                             \
    F(event_create, "cuEventCreate", (void **, unsigned))                                                              \
    F(event_destroy, "cuEventDestroy_v2", (void *))                                                                    \
    F(event_record, "cuEventRecord", (void *, void *))                                                                 \
    F(event_synchronize, "cuEventSynchronize", (void *))                                                               \
    F(event_elapsed, "cuEventElapsedTime", (float *, void *, void *))                                                  \
    F(capture_begin, "cuStreamBeginCapture_v2", (void *, int))                                                         \
    F(capture_end, "cuStreamEndCapture", (void *, void **))                                                            \
    F(graph_instantiate, "cuGraphInstantiateWithFlags", (void **, void *, unsigned long long))                         \
    F(graph_launch, "cuGraphLaunch", (void *, void *))                                                                 \
    F(graph_exec_destroy, "cuGraphExecDestroy", (void *))                                                              \
    F(graph_destroy, "cuGraphDestroy", (void *))

static struct {
#define MEMBER(name, symbol, parameters) int(*name) parameters;
    FUNCTIONS(MEMBER)
    int (*pinned_allocate)(void **, size_t); /* NULL: the simulated GPU copies from any memory */
    int (*pinned_free)(void *);
} cuda;

static void *stream;
static int ordinal_in_use;
static size_t used_bytes;

static void check(int result, const char *what) {
    const char *words = NULL;
    if (result == 0)
        return;
    if (cuda.error_string)
        cuda.error_string(result, &words);
    die("%s: the driver says %d, %s", what, result, words ? words : "an unknown error");
}

static void load_functions(void) {
    const char *choice = getenv("GM_DRIVER");
    const char *file = !choice || !*choice || strcmp(choice, "cuda") == 0 ? "libcuda.so.1" : choice;
    if (strcmp(file, "sim") == 0)
        file = "libgristmill-sim.so.0";
    void *library = dlopen(file, RTLD_NOW); /* gristmill has it open already */
    if (!library)
        die("%s", dlerror());
#define LOAD(name, symbol, parameters)                                                                                 \
    *(void **)&cuda.name = dlsym(library, symbol);                                                                     \
    if (!cuda.name)                                                                                                    \
        die("%s has no %s", file, symbol);
    FUNCTIONS(LOAD)
    *(void **)&cuda.pinned_allocate = dlsym(library, "cuMemAllocHost_v2");
    *(void **)&cuda.pinned_free = dlsym(library, "cuMemFreeHost");
}

gm_context *device_open(int ordinal) {
    gm_context *context = NULL;
    void *primary = NULL;
    if (gm_context_create(ordinal, &context) != GM_OK)
        die("%s", gm_last_error());
    load_functions();
    ordinal_in_use = ordinal;
    check(cuda.retain(&primary, ordinal), "no context");
    check(cuda.make_current(primary), "no context");
    check(cuda.stream_create(&stream, 1 /* apart from the default stream */), "no stream");
    return context;
}

void device_close(gm_context *context) {
    check(cuda.stream_destroy(stream), "the stream");
    gm_context_destroy(context);
    check(cuda.release(ordinal_in_use), "the context");
}

void *device_stream(void) {
    return stream;
}

/* ---- memory --------------------------------------------------------------------------------------------- */

size_t device_free_bytes(void) {
    size_t free_bytes = 0, total = 0;
    check(cuda.memory_info(&free_bytes, &total), "memory");
    return free_bytes;
}

size_t device_used_bytes(void) {
    return used_bytes;
}

gm_device_ptr device_allocate(size_t bytes, const char *what) {
    gm_device_ptr address = 0;
    if (bytes == 0)
        return 0;
    if (cuda.allocate(&address, bytes) != 0)
        die("%s: %.2f GB of the GPU's memory are needed, %.2f are free", what, 1e-9 * (double)bytes,
            1e-9 * (double)device_free_bytes());
    used_bytes += bytes;
    return address;
}

gm_device_ptr device_zeros(size_t bytes, const char *what) {
    const gm_device_ptr address = device_allocate(bytes, what);
    fill_bytes(address, 0, bytes);
    return address;
}

void device_release(gm_device_ptr address) {
    if (address)
        check(cuda.free(address), "free");
}

void *pinned_allocate(size_t bytes) {
    void *memory = NULL;
    if (!cuda.pinned_allocate)
        return grab(bytes, 1);
    check(cuda.pinned_allocate(&memory, bytes ? bytes : 1), "pinned memory");
    memset(memory, 0, bytes);
    return memory;
}

void pinned_release(void *memory) {
    if (!cuda.pinned_free)
        free(memory);
    else if (memory)
        check(cuda.pinned_free(memory), "pinned memory");
}

void copy_to_device(gm_device_ptr to, const void *from, size_t bytes) {
    if (bytes)
        check(cuda.host_to_device(to, from, bytes, stream), "copy to the GPU");
}

void copy_to_host(void *to, gm_device_ptr from, size_t bytes) {
    if (bytes)
        check(cuda.device_to_host(to, from, bytes, stream), "copy from the GPU");
}

void copy_on_device(gm_device_ptr to, gm_device_ptr from, size_t bytes) {
    if (bytes)
        check(cuda.device_to_device(to, from, bytes, stream), "copy on the GPU");
}

void fill_bytes(gm_device_ptr to, unsigned char value, size_t bytes) {
    if (bytes)
        check(cuda.fill(to, value, bytes, stream), "fill");
}

void device_wait(void) {
    check(cuda.stream_synchronize(stream), "the GPU failed");
}

/* ---- marks ---------------------------------------------------------------------------------------------- */

struct mark {
    void *event;
};

struct mark *mark_create(void) {
    struct mark *mark = grab(1, sizeof *mark);
    check(cuda.event_create(&mark->event, 0), "event");
    return mark;
}

void mark_destroy(struct mark *mark) {
    check(cuda.event_destroy(mark->event), "event");
    free(mark);
}

void mark_here(struct mark *mark) {
    check(cuda.event_record(mark->event, stream), "event");
}

void mark_wait(struct mark *mark) {
    check(cuda.event_synchronize(mark->event), "the GPU failed");
}

double mark_milliseconds(struct mark *from, struct mark *to) {
    float ms = 0;
    mark_wait(to);
    check(cuda.event_elapsed(&ms, from->event, to->event), "event");
    return ms;
}

/* ---- graphs --------------------------------------------------------------------------------------------- */

struct graph {
    void *exec;
};

void graph_begin(void) {
    check(cuda.capture_begin(stream, 2 /* relaxed: other threads may go on */), "begin of a graph");
}

struct graph *graph_end(void) {
    struct graph *graph = grab(1, sizeof *graph);
    void *captured = NULL;
    check(cuda.capture_end(stream, &captured), "end of a graph");
    check(cuda.graph_instantiate(&graph->exec, captured, 0), "a graph");
    check(cuda.graph_destroy(captured), "a graph");
    return graph;
}

void graph_launch(struct graph *graph) {
    check(cuda.graph_launch(graph->exec, stream), "launch of a graph");
}

void graph_destroy(struct graph *graph) {
    if (graph)
        check(cuda.graph_exec_destroy(graph->exec), "a graph");
    free(graph);
}
