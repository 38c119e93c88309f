/* SPDX-License-Identifier: Apache-2.0 */
/* The PTX of this build's kernels, embedded gzip-compressed.
 *
 * An image of the library holds machine code, and of sm90 rows nothing else, which no simulator of PTX can run. The
 * build keeps the PTX that the machine code was made of; it is found here by the name of the kernel. A row of the
 * registry is a file of its name with that one kernel; a module of the laboratory has several, found by looking for
 * ".entry". */
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "sim/driver/driver_sim.h"

#define PTX(symbol) extern const unsigned char gm_image_##symbol[], gm_image_##symbol##_end[];
#include "sim_kernels.def"
#include "sim_modules.def"
#undef PTX

struct packed {
    const char *name; /* "ptx_gemm_...", "ptx_lab_..." */
    const unsigned char *begin, *end;
};
#define PTX(symbol) {#symbol, gm_image_##symbol, gm_image_##symbol##_end},
static const struct packed kernels[] = {
#include "sim_kernels.def"
    {NULL, NULL, NULL}};
static const struct packed modules[] = {
#include "sim_modules.def"
    {NULL, NULL, NULL}};
#undef PTX

#define PREFIX "ptx_"

/* ---- unpacking ------------------------------------------------------------------------------------------------- */

/* The last four bytes of a gzip file say how long its contents are. */
static size_t length_of(const struct packed *packed) {
    const unsigned char *tail = packed->end - 4;
    return (size_t)tail[0] | (size_t)tail[1] << 8 | (size_t)tail[2] << 16 | (size_t)tail[3] << 24;
}

/* Fills text[0, length). zlib allocates its state at the begin and its window on the way. */
static CUresult inflate_all(const struct packed *packed, char *text, size_t length) {
    enum { GZIP_WINDOW = 15 + 16 };
    z_stream stream = {.next_in = (Bytef *)(uintptr_t)packed->begin,
                       .avail_in = (uInt)(packed->end - packed->begin),
                       .next_out = (Bytef *)text,
                       .avail_out = (uInt)length};
    int result = inflateInit2(&stream, GZIP_WINDOW);
    if (result == Z_OK) {
        result = inflate(&stream, Z_FINISH);
        inflateEnd(&stream);
    }
    if (result == Z_STREAM_END)
        return CUDA_SUCCESS;
    return result == Z_MEM_ERROR ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_ERROR_INVALID_IMAGE;
}

static CUresult unpack(const struct packed *packed, char **text, size_t *bytes) {
    const size_t length = length_of(packed);
    char *room = malloc(length + 1);
    const CUresult result = room ? inflate_all(packed, room, length) : CUDA_ERROR_OUT_OF_MEMORY;
    if (result != CUDA_SUCCESS) {
        free(room);
        return result;
    }
    room[length] = '\0';
    *text = room;
    *bytes = length;
    return CUDA_SUCCESS;
}

/* ---- which module has which kernel ----------------------------------------------------------------------------- */

/* True when the text has ".entry name". */
static bool has_entry(const char *text, const char *kernel) {
    const size_t length = strlen(kernel);
    for (const char *at = text; (at = strstr(at, ".entry")); at++) {
        const char *name = at + strlen(".entry");
        name += strspn(name, " \t\r\n");
        if (strncmp(name, kernel, length) == 0 && strchr(" \t\r\n({", name[length]))
            return true;
    }
    return false;
}

/* A kernel is looked for once for every library that is loaded, so the modules' texts are not kept. */
static CUresult search_modules(const char *kernel, char **text, size_t *bytes) {
    for (const struct packed *module = modules; module->name; module++) {
        const CUresult result = unpack(module, text, bytes);
        if (result != CUDA_SUCCESS || has_entry(*text, kernel))
            return result;
        free(*text);
    }
    return CUDA_ERROR_NOT_FOUND;
}

CUresult sim_table_ptx(const char *kernel, char **text, size_t *bytes) {
    for (const struct packed *row = kernels; row->name; row++)
        if (strcmp(row->name + strlen(PREFIX), kernel) == 0)
            return unpack(row, text, bytes);
    return search_modules(kernel, text, bytes);
}

/* ---- what ptxas said ------------------------------------------------------------------------------------------- */

int sim_table_registers(const char *kernel) {
    static const struct {
        const char *name;
        int registers;
    } resources[] = {
#define RESOURCE(row, registers, spill) {#row, registers},
#include "kernel_resources.inc"
#undef RESOURCE
    };
    for (size_t i = 0; i < sizeof resources / sizeof *resources; i++)
        if (strcmp(resources[i].name, kernel) == 0)
            return resources[i].registers;
    return 0;
}
