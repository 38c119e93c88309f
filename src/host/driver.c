/* SPDX-License-Identifier: Apache-2.0 */
/* Opens libcuda.so.1, or the driver that GM_DRIVER names, at run time, and fills the table of its functions. */
#include "host/driver.h"

#include "host/driver_load.h"
#include "host/error.h"
#include "host/text.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_OF(number) #number
#define TEXT(macro)     TEXT_OF(macro)
#define LIBCUDA         "libcuda.so.1"
#define LIBSIM          "libgristmill-sim.so." TEXT(GM_VERSION_MAJOR)

#define MIN_DRIVER 12000 /* cuLibrary*, cuTensorMap* */

typedef CUresult (*get_v2_fn)(const char *, void **, int, uint64_t, int *);
typedef CUresult (*get_v1_fn)(const char *, void **, int, uint64_t);

static const struct gm_driver *installed;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of what follows, until the driver is open */
static struct gm_driver loaded;
static void *loaded_library; /* stays open: a driver has threads of its own, which run in it */
static struct gm_driver_failure failure = {.status = GM_ERROR_NO_DRIVER, .may_pass = 1}; /* not tried yet */

static const char *error_name(const struct gm_driver *driver, CUresult result) {
    static _Thread_local char unknown[32];
    const char *name = NULL;
    if (driver && driver->cuGetErrorName && driver->cuGetErrorName(result, &name) == CUDA_SUCCESS && name)
        return name;
    snprintf(unknown, sizeof unknown, "CUresult %d", result);
    return unknown;
}

__attribute__((format(printf, 3, 4))) static struct gm_driver_failure failed(enum gm_status status, CUresult result,
                                                                             const char *format, ...) {
    struct gm_driver_failure what = {.status = status, .result = result};
    va_list arguments;
    va_start(arguments, format);
    gm_format(what.sentence, sizeof what.sentence, format, arguments);
    va_end(arguments);
    return what;
}

/* A function of the driver at the ABI version our prototype has. NULL: this driver has none. */
static void *find(void *get_v2, void *get_v1, const char *name, int abi) {
    void *address = NULL;
    int found = 0; /* CUdriverProcAddressQueryResult, unused: a missing function also leaves the address NULL */
    CUresult result =
        get_v2 ? ((get_v2_fn)get_v2)(name, &address, abi, 0, &found) : ((get_v1_fn)get_v1)(name, &address, abi, 0);
    return result == CUDA_SUCCESS ? address : NULL;
}

#define NEED_core  1
#define NEED_speed 0
#define NEED_tool  0

struct gm_driver_failure gm_driver_load(struct gm_driver *driver, gm_symbol_fn symbol, void *library) {
    memset(driver, 0, sizeof *driver);
    void *get_v2 = symbol(library, "cuGetProcAddress_v2");
    void *get_v1 = get_v2 ? NULL : symbol(library, "cuGetProcAddress");
    if (!get_v2 && !get_v1)
        return failed(GM_ERROR_NO_DRIVER, CUDA_SUCCESS,
                      "the CUDA driver is older than 12.0: it has no cuGetProcAddress");

    *(void **)&driver->cuDriverGetVersion = find(get_v2, get_v1, "cuDriverGetVersion", 2020);
    if (!driver->cuDriverGetVersion || driver->cuDriverGetVersion(&driver->version) != CUDA_SUCCESS)
        return failed(GM_ERROR_NO_DRIVER, CUDA_SUCCESS, "the CUDA driver does not tell its version");
    if (driver->version < MIN_DRIVER)
        return failed(GM_ERROR_NO_DRIVER, CUDA_SUCCESS,
                      "the CUDA driver is for CUDA %d.%d; gristmill needs %d.%d or newer", driver->version / 1000,
                      driver->version % 1000 / 10, MIN_DRIVER / 1000, MIN_DRIVER % 1000 / 10);

#define DRIVER(name, abi, need, params)                                                                                \
    *(void **)&driver->name = (abi) <= driver->version ? find(get_v2, get_v1, #name, abi) : NULL;                      \
    if (!driver->name && NEED_##need)                                                                                  \
        return failed(GM_ERROR_NO_DRIVER, CUDA_SUCCESS, "the CUDA driver (%d.%d) has no %s", driver->version / 1000,   \
                      driver->version % 1000 / 10, #name);
#include "host/driver.def"
#undef DRIVER

    CUresult result = driver->cuInit(0);
    if (result == CUDA_ERROR_NO_DEVICE)
        return failed(GM_ERROR_NO_DEVICE, result, "the CUDA driver found no device (cuInit: %s)",
                      error_name(driver, result));
    if (result != CUDA_SUCCESS) {
        struct gm_driver_failure what = failed(
            GM_ERROR_NO_DRIVER, result, "the CUDA driver does not start (cuInit: %s)", error_name(driver, result));
        what.may_pass = result == CUDA_ERROR_OUT_OF_MEMORY || result == CUDA_ERROR_SYSTEM_NOT_READY;
        return what;
    }
    return (struct gm_driver_failure){.status = GM_OK};
}

const char *gm_driver_file(const char *choice) {
    if (!choice || !*choice || strcmp(choice, "cuda") == 0)
        return LIBCUDA;
    if (strcmp(choice, "sim") == 0)
        return LIBSIM;
    return strchr(choice, '/') ? choice : NULL;
}

static void open_driver(const char *choice) {
    const char *file = gm_driver_file(choice);
    if (!file) {
        failure = failed(GM_ERROR_NO_DRIVER, CUDA_SUCCESS,
                         "GM_DRIVER is \"%.60s\"; it can be cuda, sim, or the path of a driver, with a slash", choice);
        return;
    }
    void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        failure = failed(GM_ERROR_NO_DRIVER, CUDA_SUCCESS, "there is no %s: %s",
                         strcmp(file, LIBCUDA) == 0  ? "CUDA driver"
                         : strcmp(file, LIBSIM) == 0 ? "simulated GPU"
                                                     : "driver where GM_DRIVER says",
                         dlerror());
        failure.may_pass = 1; /* dlopen() fails without memory as well, and says so in words only */
        return;
    }
    failure = gm_driver_load(&loaded, dlsym, library);
    if (failure.status == GM_OK)
        loaded_library = library;
    else if (failure.result == CUDA_SUCCESS) /* cuInit never ran: nothing of it is alive */
        dlclose(library);
}

/* Opens the driver where it is not open and the last failure may pass. NULL: `*why` says why. */
static const struct gm_driver *opened(struct gm_driver_failure *why) {
    if (installed)
        return installed;
    pthread_mutex_lock(&lock);
    if (failure.may_pass)
        open_driver(getenv("GM_DRIVER"));
    *why = failure;
    pthread_mutex_unlock(&lock);
    return why->status == GM_OK ? &loaded : NULL;
}

int gm_driver_fall_back(void) {
    struct gm_driver_failure first;
    const char *choice = getenv("GM_DRIVER");
    if (opened(&first) || (choice && *choice))
        return 0;
    open_driver("sim");
    if (failure.status == GM_OK)
        return 1;
    failure = first;
    return 0;
}

void *gm_driver_symbol(const char *name) {
    struct gm_driver_failure why;
    return opened(&why) && !installed && loaded_library ? dlsym(loaded_library, name) : NULL;
}

const struct gm_driver *gm_driver(void) {
    struct gm_driver_failure why;
    const struct gm_driver *driver = opened(&why);
    if (!driver)
        gm_fail_sentence(why.status, why.result, why.sentence);
    return driver;
}

int gm_driver_is_simulated(void) {
    return gm_driver_symbol("gm_sim_report_count") != NULL;
}

void gm_driver_install(const struct gm_driver *driver) {
    installed = driver;
}

const char *gm_driver_error_name(CUresult result) {
    struct gm_driver_failure why;
    return error_name(opened(&why), result);
}

enum gm_status gm_fail_cuda(enum gm_status status, CUresult result, const char *format, ...) {
    char sentence[512];
    va_list arguments;
    va_start(arguments, format);
    const size_t length = gm_format(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    gm_print(sentence + length, sizeof sentence - length, ": %s (%d)", gm_driver_error_name(result), result);
    return gm_fail_sentence(status, result, sentence);
}
