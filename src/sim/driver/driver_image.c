/* SPDX-License-Identifier: Apache-2.0 */
/* Images: a module of PTX in a library, and its variables in the memory of a context. */
#include "sim/driver/driver_sim.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A NUL-terminated text, a fat binary, or an ELF file: their first bytes. */
enum sim_image_kind sim_image_kind_of(const void *image) {
    static const unsigned char fatbin[] = {0x50, 0xed, 0x55, 0xba}, elf[] = {0x7f, 'E', 'L', 'F'};
    const unsigned char *bytes = image;
    for (size_t i = 0; i < sizeof fatbin && bytes[i] == fatbin[i]; i++)
        if (i == sizeof fatbin - 1)
            return SIM_IMAGE_MACHINE_CODE;
    for (size_t i = 0; i < sizeof elf && bytes[i] == elf[i]; i++)
        if (i == sizeof elf - 1)
            return SIM_IMAGE_MACHINE_CODE;
    return (bytes[0] >= ' ' && bytes[0] < 0x7f) || strchr("\t\r\n", bytes[0]) ? SIM_IMAGE_TEXT : SIM_IMAGE_UNKNOWN;
}

/* PTX for an older target runs on every newer device; with an `a` on that one only. */
static bool runs_here(const struct ptx_module *module) {
    const struct sim_device *device = sim_device_presented();
    const unsigned capability = (unsigned)(device->major * 10 + device->minor);
    return module->target_accelerated ? module->target == capability : module->target <= capability;
}

static CUresult add_image(CUlibrary library, const char *text, size_t bytes, bool from_table, struct sim_image **out) {
    char message[400] = "";
    struct sim_image *image = calloc(1, sizeof *image);
    if (!image)
        return CUDA_ERROR_OUT_OF_MEMORY;
    image->module = ptx_parse(text, bytes, message, sizeof message);
    if (!image->module) {
        const CUresult result = errno == ENOMEM ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_ERROR_INVALID_PTX;
        free(image);
        sim_say("this PTX cannot be loaded: %s", message);
        return result;
    }
    if (!runs_here(image->module)) {
        sim_say("PTX for sm_%u%s does not run on %s", image->module->target,
                image->module->target_accelerated ? "a" : "", sim_device_presented()->name);
        ptx_free(image->module);
        free(image);
        return CUDA_ERROR_NO_BINARY_FOR_GPU;
    }
    image->from_table = from_table;
    image->next = library->images;
    library->images = image;
    *out = image;
    return CUDA_SUCCESS;
}

CUresult sim_image_add_text(CUlibrary library, struct sim_image **image) {
    return add_image(library, library->text, strlen(library->text), false, image);
}

CUresult sim_image_add_from_table(CUlibrary library, const char *kernel, struct sim_image **image) {
    size_t bytes;
    char *text;
    CUresult result = sim_table_ptx(kernel, &text, &bytes);
    if (result != CUDA_SUCCESS)
        return result;
    result = add_image(library, text, bytes, true, image);
    free(text);
    return result;
}

struct sim_image *sim_image_find(CUlibrary library, const char *kernel, CUcontext context) {
    for (struct sim_image *image = library->images; image; image = image->next)
        if ((!context || !image->context || image->context == context) && ptx_find_function(image->module, kernel))
            return image;
    return NULL;
}

static bool needs_memory(const struct ptx_variable *variable) {
    return (variable->space == PTX_SPACE_GLOBAL || variable->space == PTX_SPACE_CONST) && variable->bytes > 0;
}

static void take_back(struct sim_image *image, CUcontext context) {
    for (uint32_t i = 0; i < image->module->variable_count; i++) {
        struct ptx_variable *variable = &image->module->variables[i];
        if (needs_memory(variable) && variable->address)
            sim_memory_release(context->memory, variable->address);
        if (needs_memory(variable))
            ptx_place_variable(image->module, variable, 0);
    }
}

static bool place(struct ptx_module *module, struct ptx_variable *variable, struct sim_memory *memory) {
    const uint64_t address = sim_memory_allocate(memory, variable->bytes);
    void *bytes = sim_memory_view(memory, address, variable->bytes);
    if (!bytes)
        return false;
    ptx_place_variable(module, variable, address);
    memset(bytes, 0, variable->bytes);
    if (variable->initial)
        memcpy(bytes, variable->initial, variable->bytes);
    sim_memory_mark(memory, address, variable->bytes);
    return true;
}

CUresult sim_image_place(struct sim_image *image, CUcontext context) {
    for (uint32_t i = 0; i < image->module->variable_count; i++) {
        struct ptx_variable *variable = &image->module->variables[i];
        if (!needs_memory(variable) || place(image->module, variable, context->memory))
            continue;
        take_back(image, context);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    image->context = context;
    return CUDA_SUCCESS;
}

void sim_image_free(struct sim_image *image) {
    if (image->context && image->context->memory)
        take_back(image, image->context);
    ptx_free(image->module);
    free(image);
}
