/* SPDX-License-Identifier: Apache-2.0 */
/* gristmill: hand-written GPU kernels behind one C dispatch table. This header has what all operations share; each has
 * one of its own, such as gristmill/gemm.h, and gristmill/gristmill.h includes them all. gristmill/smem.h has the
 * arithmetic of shared memory.
 *
 *   gm_context  one per device. Thread-safe. Owns the loaded kernels, nothing else.
 *   gm_plan     one problem on one context: which kernel, which grid, which descriptors. Immutable; any
 *               number of threads and streams may execute one plan at once (a plan that asks for workspace
 *               needs one workspace for each execution that may overlap another in time).
 *   execute     checks its arguments and launches. It never allocates, loads, locks, asks the device or
 *               synchronises, so it may be captured into a CUDA graph.
 *
 * Device pointers and streams are passed as plain integers / void *, so no CUDA header is needed: a
 * gm_device_ptr is a CUdeviceptr, a stream is a CUstream or cudaStream_t (NULL: the default stream).
 *
 * Structs begin with their size: set `.size = sizeof(struct)`, leave the rest zero for the defaults. They
 * grow at the end only, so a program and a library of different versions understand each other:
 *   - of a struct that it reads, the library takes members that an older program's struct lacks for 0; what
 *     a newer program's struct has beyond the library's must be 0, else GM_ERROR_SIZE;
 *   - of a struct that it writes, the library fills as many bytes as both know, sets what a newer program's
 *     struct has beyond to 0, and leaves `size` as it is.
 * Structs without a size, or within another struct, never change. Enum values are never renumbered.
 * docs/VERSIONING.md has the rules.
 *
 * Errors: every fallible call returns enum gm_status. On an error nothing was launched, no output
 * parameter and no device memory was written, and gm_last_error() holds one sentence with the numbers
 * (thread-local, valid until the thread's next gristmill call). The library never prints, exits or aborts.
 *
 * The driver (libcuda.so.1) is opened at the first call that needs it; the library itself loads anywhere.
 */
#ifndef GRISTMILL_CORE_H
#define GRISTMILL_CORE_H

#include <stddef.h>
#include <stdint.h>

#if defined(_WIN32)
#define GM_API
#elif defined(__GNUC__)
#define GM_API __attribute__((visibility("default")))
#else
#define GM_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define GM_VERSION_MAJOR 0
#define GM_VERSION_MINOR 2
#define GM_VERSION_PATCH 0
#define GM_VERSION       (GM_VERSION_MAJOR * 10000 + GM_VERSION_MINOR * 100 + GM_VERSION_PATCH)

/* ---- status ------------------------------------------------------------------------------------- */

enum gm_status {
    GM_OK = 0,
    GM_ERROR_INVALID_ARGUMENT = 1, /* null, negative, unknown enum, stride smaller than the row ... */
    GM_ERROR_SIZE = 2,             /* a struct's size is that of no version, or it asks for what this one lacks */
    GM_ERROR_MISALIGNED = 3,       /* a pointer breaks its type's alignment or the plan's promise */
    GM_ERROR_OVERLAP = 4,          /* D overlaps A, B, bias, or C other than C == D exactly; or the workspace any */
    GM_ERROR_WORKSPACE = 5,        /* workspace missing or smaller than gm_plan_workspace_bytes() */
    GM_ERROR_NO_KERNEL = 6,        /* no kernel accepts the problem; gm_gemm_explain() and its like say why */
    GM_ERROR_UNKNOWN_KERNEL = 7,   /* the forced kernel name is not in the table */
    GM_ERROR_WRONG_DEVICE = 8,     /* plan and context, or plan and stream, are of different devices */
    GM_ERROR_NO_DRIVER = 9,        /* libcuda.so.1 is missing, too old, or refuses to start */
    GM_ERROR_NO_DEVICE = 10,       /* no such CUDA device */
    GM_ERROR_IMAGE = 11,           /* a kernel image failed to load */
    GM_ERROR_LAUNCH = 12,          /* the driver refused the launch */
    GM_ERROR_OUT_OF_MEMORY = 13,   /* host memory */
    GM_ERROR_DRIVER = 14,          /* any other driver call failed; see gm_last_cuda_result() */
    GM_ERROR_LEDGER = 15           /* a tuning ledger is unreadable, malformed, stale, or of another device */
};

/* "GM_ERROR_OVERLAP"; "GM_STATUS_UNKNOWN" for a value that is none of the above. Never NULL. */
GM_API const char *gm_status_name(enum gm_status status);
/* One general sentence for the status. Never NULL. */
GM_API const char *gm_status_string(enum gm_status status);
/* The sentence of this thread's last failed call, "" if none failed. Never NULL. */
GM_API const char *gm_last_error(void);
/* The CUresult behind it, 0 when the driver was not the cause. */
GM_API int gm_last_cuda_result(void);

/* ---- versions and logging ----------------------------------------------------------------------- */

GM_API int gm_version(void);                /* GM_VERSION of the library that was loaded */
GM_API const char *gm_version_string(void); /* "0.2.0" */
/* One JSON object: version, revision, toolkit, targets, minimum driver, kernel count, image bytes. */
GM_API const char *gm_build_info(void);

enum gm_log_level { GM_LOG_OFF = 0, GM_LOG_ERROR = 1, GM_LOG_INFO = 2, GM_LOG_TRACE = 3 };
typedef void (*gm_log_fn)(enum gm_log_level level, const char *message, void *user);
/* Send messages of `level` and below to `fn` (NULL: stop). Without a callback, the environment's
 * GM_LOG_LEVEL=1..3 sends them to stderr; neither ever changes a result. Not to be called while another
 * thread is inside the library. */
GM_API void gm_set_log_callback(gm_log_fn fn, enum gm_log_level level, void *user);

/* The driver is opened at the first call that needs it. The environment's GM_DRIVER says which: unset or "cuda" is
 * libcuda.so.1; "sim" is the simulated GPU, libgristmill-sim, which computes what a GPU would and finds the races that
 * a GPU hides, slowly (GM_SIM_DEVICE = a100, h100, h200 or rtx4090 says which GPU); a value with a slash is the path
 * of a driver. */

/* ---- devices ------------------------------------------------------------------------------------ */

enum gm_arch { GM_ARCH_SM80 = 1, GM_ARCH_SM90 = 2 }; /* bits of an arch mask; 0 as a mask = all */

/* What the planner knows of a device. Fill it from hardware with gm_device_query(), from the built-in
 * models with gm_device_model(), or by hand: the planner is a pure function of it. A field outside the bounds that
 * stand beside it is GM_ERROR_INVALID_ARGUMENT. */
struct gm_device {
    size_t size;
    char name[64];                /* with its end */
    int32_t ordinal;              /* CUDA device number; -1 for a model; any */
    int32_t cc_major, cc_minor;   /* compute capability, 1.0 to 99.9 */
    int32_t sm_count;             /* 1 to 65536 */
    int32_t smem_per_block_bytes; /* opt-in maximum, e.g. 232448 on 9.0, 166912 on 8.0, 101376 on 8.6 / 8.9; 1 to
                                   * 2^24 */
    int32_t smem_per_sm_bytes;    /* 0 to 2^24 */
    int32_t max_threads_per_sm;   /* 0 to 65536 */
    int32_t sm_clock_mhz;         /* maximum; 0 = unknown, or up to 100000 */
    int64_t l2_bytes;             /* 0 to 2^50 */
    int64_t memory_bytes;         /* 0 to 2^50 */
    double dram_gbs;              /* datasheet memory bandwidth, 1e9 bytes a second; 0 = unknown, or 1e-3 to 1e6 */
    double tensor_tflops;         /* dense bf16, fp32 accumulation, datasheet; 0 = unknown, or 1e-3 to 1e6 */
    int32_t driver_version;       /* as cuDriverGetVersion, 13000 = 13.0; 0 for a model; any */
};

GM_API enum gm_status gm_device_count(int *count);
GM_API enum gm_status gm_device_query(int ordinal, struct gm_device *device);
/* "a100", "h100", "h200", "a10", "rtx4090" (case-insensitive). Needs no driver. */
GM_API enum gm_status gm_device_model(const char *name, struct gm_device *device);

/* ---- the kernel table --------------------------------------------------------------------------- */

/* Element types; each operation says which it takes. E4M3 has no infinity (its NaN is 0x7f), E5M2 has. TF32 is FP32 in
 * memory, multiplied with 10 bits of mantissa; TF32X3 is FP32 in memory, multiplied by three products of TF32. */
enum gm_type {
    GM_BF16 = 0,
    GM_FP16 = 1,
    GM_FP32 = 2,
    GM_E4M3 = 3,
    GM_E5M2 = 4,
    GM_INT8 = 5,
    GM_UINT8 = 6,
    GM_INT32 = 7,
    GM_INT64 = 8,
    GM_TF32 = 9,
    GM_TF32X3 = 10
};
enum gm_major { GM_K_MAJOR = 0, GM_MN_MAJOR = 1 }; /* which index of an operand is contiguous */
/* Whether what is computed on the way to a result is kept in fp32, or rounded to the operands' type where another
 * implementation rounds it: each operation says what. */
enum gm_rounding { GM_ROUND_LATE = 0 /* kept in fp32 */, GM_ROUND_EARLY = 1 /* rounded to the type first */ };
/* What a norm has to do with a residual. */
enum gm_residual {
    GM_RESIDUAL_NONE = 0,
    GM_RESIDUAL_BEFORE = 1, /* x + residual is normalised, and written back to residual */
    GM_RESIDUAL_AFTER = 2,  /* out = residual + norm(x); out may be residual */
    GM_RESIDUAL_BETWEEN = 3 /* residual + norm(x) is written back to residual, and normalised once more: that is out */
};

/* NaN stays NaN, +inf stays +inf, and zeros keep their sign. SiLU and both GELU of -inf are -0, their limit, where a
 * formula such as x / (1 + exp(-x)) gives NaN. A negative argument's value falls like exp(-y): y is |x| of SiLU,
 * x^2 / 2 of GELU_ERF, 1.6 |x| + 0.071 |x|^3 of GELU_TANH. In fp32, before the rounding to D's type, the relative error
 * is below 2^-20 + 2^-22 y, of GELU_ERF 2^-19 + 2^-27 y, plus half a unit in the last place, which may be a denormal's.
 */
enum gm_activation { GM_ACT_NONE = 0, GM_ACT_RELU = 1, GM_ACT_GELU_TANH = 2, GM_ACT_GELU_ERF = 3, GM_ACT_SILU = 4 };

/* One kernel of the table: everything the registries and the compiler say of it. */
struct gm_kernel_info {
    size_t size;
    const char *name;      /* e.g. gemm_sm90_bf16_tn_128x256x64_s4_c2x1_w2_sw128 */
    const char *operation; /* that it computes: "gemm" */
    const char *family;    /* of kernels made from one source, e.g. "gemm_sm90", "gemm_sm80", "gemv" */
    enum gm_arch arch;
    int32_t production;             /* 1: the planner may choose it; 0: built and tested only */
    enum gm_type type;              /* of the operands it multiplies, or reads */
    int32_t threads;                /* of one CTA */
    int32_t smem_bytes;             /* dynamic shared memory of one CTA */
    int32_t cluster_ctas;           /* CTAs of a cluster; 1 where there are none */
    int32_t registers, spill_bytes; /* as ptxas reports for the kernel's first target; registers at entry */
    const char *columns;            /* of its family's registry: "layout=tn tile_m=128 tile_n=256 ..." */
    const char *targets;            /* "sm_90a" or "sm_80 sm_90 compute_80" */
    size_t image_bytes;             /* embedded size */
};

GM_API size_t gm_kernel_count(void);
GM_API enum gm_status gm_kernel_get(size_t index, struct gm_kernel_info *info);

/* ---- tuning ledgers ------------------------------------------------------------------------------ */

/* What was measured on one kind of device: for a problem, the row that was fastest. The planner asks a ledger before
 * its model. `gristmill tune` writes one, docs/LEDGER.md describes the text. Immutable: any number of threads may use
 * one at once. Nothing is ever measured by the library itself. */
typedef struct gm_ledger gm_ledger;

struct gm_ledger_info {
    size_t size;
    char device[64]; /* the name, as gm_device.name */
    int32_t cc_major, cc_minor, sm_count;
    size_t entries;
};

/* GM_ERROR_LEDGER, with the line and what is wrong with it, for a text that is not one, or that names a row which the
 * table does not have: it is stale, and is to be measured again. gm_ledger_read() takes a file under 64 MiB. */
GM_API enum gm_status gm_ledger_parse(const char *text, size_t bytes, gm_ledger **ledger);
GM_API enum gm_status gm_ledger_read(const char *path, gm_ledger **ledger);
/* NULL is allowed. Plans that were made with it are not disturbed. */
GM_API void gm_ledger_destroy(gm_ledger *ledger);
/* The ledger that the library brings for this device, until the library is closed; not to be destroyed. NULL: there is
 * none, or host memory did not suffice to read it, and the next call tries again. */
GM_API const gm_ledger *gm_ledger_builtin(const struct gm_device *device);
GM_API enum gm_status gm_ledger_get_info(const gm_ledger *ledger, struct gm_ledger_info *info);

/* ---- context ------------------------------------------------------------------------------------ */

typedef struct gm_context gm_context;
typedef uint64_t gm_device_ptr;

/* Retains the device's primary context (the one the CUDA runtime and PyTorch use). Whoever resets that context
 * (cudaDeviceReset) ends all plans on it: destroy them and the gm_context, and make them anew. */
GM_API enum gm_status gm_context_create(int device_ordinal, gm_context **context);
/* NULL is allowed. All plans of the context must be destroyed first. */
GM_API void gm_context_destroy(gm_context *context);
GM_API enum gm_status gm_context_device(const gm_context *context, struct gm_device *device);

/* ---- plans -------------------------------------------------------------------------------------- */

enum gm_plan_flags {
    GM_PLAN_MODEL_ONLY = 1,   /* ask no ledger, not even the built-in one */
    GM_PLAN_PLAIN_LAUNCH = 2, /* keep no graph to launch by; gm_gemm_execute() says what of */
    /* Do not let the kernel set itself up while the one before it on the stream still runs (programmatic dependent
     * launch). It reads and writes no operand before that one has ended, with or without this flag; with overlap, L2 is
     * asked for the first k-blocks of A and B earlier, which shows in no result: what the GPU is still writing goes to
     * L2 as well. What the CPU writes into mapped host memory while the kernel before runs does not: such operands
     * want this flag. */
    GM_PLAN_NO_OVERLAP = 4,
    /* B is constant (weights): nothing that may still be running when the plan is executed writes it. The kernel then
     * loads B's first k-blocks, as many as its shared memory holds, while the one before it on the stream runs; A it
     * still reads only after that one has ended. Pays where kernels follow each other closely, as in a replayed graph
     * of a decoding step. On sm90 rows, gemv's included (as much as its registers hold); without effect on others and
     * with GM_PLAN_NO_OVERLAP. */
    GM_PLAN_CONSTANT_B = 8,
    /* Batch invariance: a row of D has the same bits whatever M is and whatever the other rows of A hold. The order in
     * which K is summed then follows from N, K, types, layouts, strides, promised alignments and the device alone, and
     * is the same in all rows that may be chosen: no CTAs and no warps share a K, no workspace is used, no gemv row is
     * taken, and sm80 rows only where the strides or alignments are not TMA's. Between plans whose M differs, give the
     * same lda (an M-major A that is packed has another for each M), ldd, epilogue and flags. With `kernel` the caller
     * has chosen the order. It costs time where few tiles have a long K: docs/DECODING.md has it for each shape. */
    GM_PLAN_BATCH_INVARIANT = 16
};

struct gm_plan_options {
    size_t size;
    uint32_t arch_mask; /* of enum gm_arch; 0: any */
    /* Exact row name, production or not; NULL: the planner chooses. "/k" behind it says that the row is to divide its
     * last tiles by k-blocks, "/k3" each into 3 equal pieces (2 to 8, of rows made for that), for which
     * workspace_limit must allow (else GM_ERROR_NO_KERNEL); without, the planner decides. */
    const char *kernel;
    int32_t sm_budget;       /* SMs that it may occupy, e.g. to leave some to communication; 0: all. With less
                              * than all the model chooses: ledgers are measured with all */
    uint32_t flags;          /* of enum gm_plan_flags */
    const gm_ledger *ledger; /* read during the call; NULL: the built-in one of the device, if there is one */
    /* Bytes of workspace that the plan may ask for; 0: none. With it a row may divide the tiles of a last, ragged
     * wave by their k-blocks among all CTAs (stream-K, split-K) where that is predicted to be faster; 32 MiB hold any
     * division on up to 132 SMs. The order of summation is fixed by the plan: the same bits on every run, but not
     * those of another division. And GEMM may copy there what of A and B has rows that TMA cannot load, where that is
     * predicted to be faster than the kernels which take them as they lie: rows x columns, rounded up to 128 bytes, of
     * each; the plan launches two or three kernels then. */
    size_t workspace_limit;
    /* How many sets of arguments recur, such as one for each layer that shares the plan: 1 to GM_ARGUMENT_SETS_MAX; 0
     * is 1. The plan keeps as many graphs to launch by, so that the driver is told arguments only when they are not
     * among those last met. A graph costs time and memory of the host when the plan is made. Without effect with
     * GM_PLAN_PLAIN_LAUNCH; other numbers are GM_ERROR_INVALID_ARGUMENT. */
    int32_t argument_sets;
};
#define GM_ARGUMENT_SETS_MAX 256

/* The workspace: device memory of gm_plan_workspace_bytes() bytes, aligned to 16, apart from the operands. It may hold
 * any bytes before; what it holds after means nothing. Executions on one stream, replays of a graph and different
 * plans may share one; two executions that may overlap in time need one each. */

typedef struct gm_plan gm_plan;

/* NULL is allowed. Work already launched is not disturbed. */
GM_API void gm_plan_destroy(gm_plan *plan);

GM_API size_t gm_plan_workspace_bytes(const gm_plan *plan); /* 0 for NULL */
GM_API int gm_plan_kernel(const gm_plan *plan);             /* index for gm_kernel_get(); -1 for NULL */
GM_API double gm_plan_predicted_us(const gm_plan *plan);    /* the planner's model; 0 for NULL */

/* ---- explain ------------------------------------------------------------------------------------ */

/* Why a row can or cannot run a problem on a device. */
enum gm_reason {
    GM_ACCEPTED = 0,
    GM_REASON_MASKED = 1,   /* its architecture is not in the arch mask */
    GM_REASON_NO_IMAGE = 2, /* no image of it runs on this compute capability */
    GM_REASON_TYPE = 3,
    GM_REASON_LAYOUT = 4,
    GM_REASON_SMEM = 5,            /* needs more shared memory than a block may have */
    GM_REASON_STRIDE = 6,          /* a stride is not a multiple of 16 bytes: TMA needs it */
    GM_REASON_ALIGNMENT = 7,       /* a promised pointer alignment is under 16 bytes: TMA needs it */
    GM_REASON_SIZE = 8,            /* a size or stride is outside what the kernel's addressing or registers cover; or
                                    * M over 8, for which no gemv kernel is chosen */
    GM_REASON_EMPTY_K = 9,         /* K = 0 leaves TMA nothing to describe */
    GM_REASON_NOT_PRODUCTION = 10, /* legal, but only by name */
    GM_REASON_NOT_NAMED = 11,      /* another kernel was asked for by name */
    GM_REASON_SMS = 12,            /* its cluster has more CTAs than there are SMs, or than sm_budget allows */
    GM_REASON_ORDER = 13,          /* it sums in another order than the plan promises, whatever the number of rows */
    GM_REASON_DIVISION = 14,       /* its tiles cannot be divided as the name asked for says; or it is a row that cuts
                                    * tiles into pieces, which does not pay or fit the workspace_limit */
    GM_REASON_EPILOGUE = 15,       /* it has a gate or an extended epilogue, and the problem none, or the reverse */
    GM_REASON_BATCH = 16           /* it finds the matrices of batches, or of pointer arrays, or does not */
};

/* "GM_REASON_STRIDE"; "GM_REASON_UNKNOWN" for a value that is none of the above. Never NULL. */
GM_API const char *gm_reason_name(enum gm_reason reason);
/* How many reasons the loaded library has: they are numbered from GM_ACCEPTED = 0 without a gap. A later version may
 * have more than this header. */
GM_API int gm_reason_count(void);

/* Where the planner's choice comes from. */
enum gm_source {
    GM_SOURCE_NONE = 0,       /* not chosen */
    GM_SOURCE_MODEL = 1,      /* the least predicted time */
    GM_SOURCE_LEDGER = 2,     /* measured, for this M, N, K */
    GM_SOURCE_NEIGHBOURS = 3, /* measured for the next smaller and the next larger M alike; the model agrees */
    GM_SOURCE_NAME = 4        /* asked for by name */
};

struct gm_candidate {
    int32_t kernel; /* index for gm_kernel_get() */
    int32_t chosen; /* 1 for exactly one candidate, if any is accepted */
    enum gm_reason reason;
    double predicted_us;   /* the planner's model, for legal rows (accepted or GM_REASON_NOT_PRODUCTION) */
    char sentence[232];    /* the reason with its numbers and the smallest fix; of the chosen, its source */
    enum gm_source source; /* of the chosen candidate */
    double measured_us;    /* with GM_SOURCE_LEDGER: its median (of bf16 where fp16 has none); else 0 */
};

#ifdef __cplusplus
}
#endif
#endif
