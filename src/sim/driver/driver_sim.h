/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the simulated driver share: handles, contexts, the lock, work on streams. */
#ifndef SIM_DRIVER_SIM_H
#define SIM_DRIVER_SIM_H

#include <pthread.h>

#include "host/cuda_abi.h"
#include "sim/machine/devices.h"
#include "sim/machine/machine.h"
#include "sim/memory/memory.h"
#include "sim/sim.h"

#define SIM_EXPORT __attribute__((visibility("default")))
/* The name under which the real driver has the same function. */
#define SIM_ALIAS(name, of) SIM_EXPORT __typeof__(of) name __attribute__((alias(#of)))

#define DRIVER(name, abi, need, params) SIM_EXPORT CUresult name params;
#include "sim/driver/driver_extra.def"
#include "host/driver.def"
#undef DRIVER

/* ---- handles (driver_handles.c) -------------------------------------------------------------------------------- */

/* A handle is the address of one of the structs below. It is looked up among the live ones before it is followed, so a
 * wrong one is an error and not a crash. `serial` tells it from a later one at the same address. */
enum sim_handle_kind {
    SIM_HANDLE_LIBRARY,
    SIM_HANDLE_KERNEL,
    SIM_HANDLE_FUNCTION,
    SIM_HANDLE_MODULE,
    SIM_HANDLE_STREAM,
    SIM_HANDLE_EVENT,
    SIM_HANDLE_GRAPH,
    SIM_HANDLE_GRAPH_NODE,
    SIM_HANDLE_GRAPH_EXEC
};
struct sim_handle {
    enum sim_handle_kind kind;
    uint64_t serial;
    CUcontext context;          /* that it belongs to; NULL: to none */
    void (*free)(void *handle); /* frees what the handle owns, but not itself; NULL: it owns nothing */
    /* Of a handle that has things in contexts without belonging to one: the context ends, and they go. Or NULL. */
    void (*leave)(void *handle, CUcontext context);
};

/* A zeroed struct of `bytes` that begins with a handle; NULL: no memory. */
void *sim_handle_new(size_t bytes, enum sim_handle_kind kind, CUcontext context);
/* With what it owns. Of what is no live handle: nothing. */
void sim_handle_free(void *handle);
/* The same pointer when it is a live handle of that kind, else NULL. */
void *sim_handle_find(const void *handle, enum sim_handle_kind kind);
/* The live handles of a kind, in no order: NULL after the last. */
void *sim_handle_at(size_t index, enum sim_handle_kind kind);
/* Ends everything that belongs to a context. */
void sim_handles_end(CUcontext context);

/* Every entry holds the one lock. It is recursive: a step function may ask for reports and set options. */
int sim_driver_lock(void);
void sim_driver_unlock(const int *locked);
#define SIM_LOCKED() __attribute__((cleanup(sim_driver_unlock), unused)) const int sim_locked_ = sim_driver_lock()

/* ---- devices and contexts (driver_state.c, driver_context.c) --------------------------------------------------- */

struct CUctx_st {
    int retained;   /* 0: it is destroyed */
    CUresult fault; /* what every call returns since a launch faulted; the process must end */
    struct sim_memory *memory;
};

/* Starts the driver: every ordinal presents this device, with so many SMs (0: its own). */
void sim_device_present(const struct sim_device *device, int sms);
/* NULL: the driver is not started. */
const struct sim_device *sim_device_presented(void);
bool sim_device_exists(CUdevice device);
/* A launch begins or has ended. */
void sim_set_launch_runs(bool runs);
/* CUDA_ERROR_NOT_INITIALIZED before cuInit(), CUDA_ERROR_NOT_PERMITTED from inside a launch: what a trace or step
 * function may call is sim.h. */
CUresult sim_check_started(void);
CUcontext sim_context_of(CUdevice device);
/* The thread's current context, alive and well; else why not. */
CUresult sim_context_current(CUcontext *context);
/* A stream of the context. CUDA_SUCCESS with *stream NULL for the default streams. */
CUresult sim_stream_find(CUcontext context, CUstream handle, CUstream *stream);
/* CU_STREAM_LEGACY and CU_STREAM_PER_THREAD are small numbers. */
static inline bool sim_stream_is_default(const struct CUstream_st *handle) {
    return (uintptr_t)handle <= 2;
}
/* "CUDA_ERROR_INVALID_VALUE", NULL: no code of the driver. */
const char *sim_error_name(CUresult result);

/* ---- libraries, kernels, functions (driver_{library,image,table,function}.c) ----------------------------------- */

/* A module of a library, placed in one context (NULL: in none yet). */
struct sim_image {
    struct sim_image *next;
    struct ptx_module *module;
    CUcontext context;
    bool from_table; /* one of the project's own kernels: with what ptxas knows of it */
};

struct CUlib_st {
    struct sim_handle handle;
    bool of_module; /* which frees it */
    char *text;     /* PTX; NULL: an image of machine code, whose kernels are found by name */
    struct sim_image *images;
};

struct CUmod_st {
    struct sim_handle handle;
    CUlibrary library;
};

struct CUkern_st {
    struct sim_handle handle;
    CUlibrary library;
    char *name;
};

struct CUfunc_st {
    struct sim_handle handle;
    CUlibrary library;
    struct sim_image *image;
    struct ptx_function *code;
    int registers, dynamic_shared_max, carveout, scheduling;
    bool any_cluster_size;
};

enum sim_image_kind { SIM_IMAGE_TEXT, SIM_IMAGE_MACHINE_CODE, SIM_IMAGE_UNKNOWN };
enum sim_image_kind sim_image_kind_of(const void *image);
/* Parse, and add the image to the library: its own text, or a kernel of the table. */
CUresult sim_image_add_text(CUlibrary library, struct sim_image **image);
CUresult sim_image_add_from_table(CUlibrary library, const char *kernel, struct sim_image **image);
/* An image in which the kernel stands, and which is in this context or in none yet (`context` NULL: in any). */
struct sim_image *sim_image_find(CUlibrary library, const char *kernel, CUcontext context);
/* The module's variables get their memory. */
CUresult sim_image_place(struct sim_image *image, CUcontext context);
void sim_image_free(struct sim_image *image);

/* CUDA_ERROR_INVALID_HANDLE: no such function. A kernel's handle serves as its function in the current context. */
CUresult sim_function_find(CUfunction handle, CUcontext context, CUfunction *function);
/* Takes the PTX of a kernel out of the table of this build: text to be freed. CUDA_ERROR_NOT_FOUND: it has none. */
CUresult sim_table_ptx(const char *kernel, char **text, size_t *bytes);
/* What ptxas gave a kernel of the table; 0: not known. */
int sim_table_registers(const char *kernel);
CUresult sim_library_load(CUlibrary *library, const void *data);
CUresult sim_kernel_get(CUkernel *kernel, CUlibrary library, const char *name);
CUresult sim_function_get(CUfunction *function, CUkernel kernel, CUcontext context);

/* ---- work on streams (driver_{works,work,run,launch,capture}.c) ------------------------------------------------- */

struct sim_launch {
    uint32_t grid[3], block[3], cluster[3], dynamic_shared, resident_clusters;
    CUfunction function;
    uint64_t serial; /* of the function: a graph may outlive it */
    uint8_t *params; /* function->code->parameter_bytes of them, from sim_params_new() */
};

/* One thing to do: now, or when a graph is launched. */
struct sim_work {
    enum { SIM_WORK_LAUNCH, SIM_WORK_TO_DEVICE, SIM_WORK_TO_HOST, SIM_WORK_ON_DEVICE, SIM_WORK_FILL } kind;
    struct sim_launch launch;
    uint64_t to, from, bytes;
    uint8_t value;
};

struct sim_works { /* shared by a graph and its executables */
    unsigned owners;
    size_t count, room;
    struct sim_work *work;
};

struct sim_capture {
    int mode;
    pthread_t thread;
    CUstream origin;
    bool invalidated;
    struct sim_works *works;
};

struct CUstream_st {
    struct sim_handle handle;
    unsigned flags;
    struct sim_capture *capture; /* NULL: not capturing */
    uint64_t captured, joined;   /* steps captured; how many of them the capture's other streams have waited for */
};

struct CUevent_st {
    struct sim_handle handle;
    unsigned flags;
    bool recorded;
    uint64_t nanoseconds;
    struct sim_capture *capture; /* recorded in it; NULL: in none */
    CUstream stream;
    uint64_t captured; /* steps of the stream before it */
};

struct CUgraph_st {
    struct sim_handle handle;
    struct sim_works *works;
};

struct CUgraphNode_st { /* of a graph that was made node by node; lives as long as that */
    struct sim_handle handle;
    CUgraph graph;
    size_t index; /* in the graph's works, and in those of its executables */
};

struct CUgraphExec_st {
    struct sim_handle handle;
    struct sim_works *works;
    uint64_t graph; /* its serial */
    size_t nodes;   /* that the graph had then */
};

/* Does it at once. */
CUresult sim_work_run(CUcontext context, const struct sim_work *work);
/* Does it, or captures it when the stream (which may be 0, 1 or 2) captures. Takes over work->launch.params. */
CUresult sim_work_submit(CUcontext context, CUstream stream, struct sim_work *work);
CUresult sim_launch_run(CUcontext context, const struct sim_launch *launch);
/* Checks a launch and packs it up; work->launch.params is the caller's to free. */
CUresult sim_launch_make(CUcontext context, CUfunction handle, const CUlaunchConfig *config, void *const *values,
                         void *const *extra, struct sim_work *work);
/* The same launch with one attribute more. */
CUresult sim_launch_attribute(struct sim_launch *launch, const CUlaunchAttribute *attribute);
/* The configuration that gives a packed launch again; `cluster` becomes its only attribute. */
CUlaunchConfig sim_launch_config(const struct sim_launch *launch, CUlaunchAttribute *cluster);
/* 128-byte aligned; NULL: no memory. */
uint8_t *sim_params_new(const struct ptx_function *code);

/* With one owner; NULL: no memory. */
struct sim_works *sim_works_new(void);
void sim_works_release(struct sim_works *works);
/* The list becomes shorter. */
void sim_works_cut(struct sim_works *works, size_t count);
CUresult sim_works_add(struct sim_works *works, const struct sim_work *work);
/* A list of the owner's own, to be changed. */
CUresult sim_works_unshare(struct sim_works **works);
/* False: its function was unloaded. */
bool sim_work_lives(const struct sim_work *work);
/* A graph that is one owner more of the list; NULL: no memory. */
CUgraph sim_graph_new(struct sim_works *works);

/* Calls that wait, or that a captured sequence cannot hold: whether a capture forbids them here and now. */
CUresult sim_capture_allows_unsafe(CUcontext context);
/* The default stream, while a stream that synchronises with it captures. */
CUresult sim_capture_allows_default(CUcontext context);
/* Waiting for all of a context. */
CUresult sim_capture_allows_wait(CUcontext context);
/* One step more in the sequence that the stream captures. */
CUresult sim_capture_add(CUstream stream, const struct sim_work *work);
void sim_capture_invalidate(struct sim_capture *capture);
void sim_capture_end(struct sim_capture *capture);

/* ---- options, reports (options.c, driver_reports.c) ------------------------------------------------------------ */

struct sim_setup {
    int devices, sms; /* sms 0: the device's own */
};
/* False: a variable of the environment makes no sense, and a sentence on stderr says which. */
bool sim_options_read(void);
const struct sim_options *sim_options_now(void);
const struct sim_setup *sim_setup_now(void);
/* A sentence on stderr, unless GM_SIM_REPORTS is quiet. */
void sim_say(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The launch's reports join those of the process and are printed as the options say. False: no memory to keep
 * them. */
bool sim_reports_collect(const struct sim_reports *reports);

#endif
