/* SPDX-License-Identifier: Apache-2.0 */
/* The headers of safetensors files -> tensors, with a sentence for everything that is wrong with them. */
#include "safetensors.h"

#include "common.h"
#include "json.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define HEADER_MAX 100000000u /* bytes of JSON */
#define READ_MAX   (1u << 30) /* bytes that one call of pread() is asked for: Linux gives less than 2 GiB */

_Static_assert(sizeof(off_t) == 8, "files of models are longer than 2 GiB: define _FILE_OFFSET_BITS=64");

/* Dtypes and the bytes of an element. Those of less than a byte are unknown here. */
static const struct dtype {
    const char *name;
    uint64_t bytes;
} dtypes[] = {{"BOOL", 1}, {"U8", 1},  {"I8", 1},  {"F8_E5M2", 1}, {"F8_E4M3", 1}, {"F8_E8M0", 1},
              {"I16", 2},  {"U16", 2}, {"F16", 2}, {"BF16", 2},    {"I32", 4},     {"U32", 4},
              {"F32", 4},  {"I64", 8}, {"U64", 8}, {"F64", 8}};

/* A file whose header is read. */
struct source {
    const char *path;
    int file;
    uint64_t size, data; /* bytes of the file; where its data begins */
};

/* ---- bytes ------------------------------------------------------------------------------------------ */

static struct source source_open(const char *path) {
    struct source source = {.path = path, .file = open(path, O_RDONLY | O_CLOEXEC)};
    struct stat stat;
    if (source.file < 0 || fstat(source.file, &stat) != 0)
        die("cannot open %s: %s", printable(path), strerror(errno));
    if (!S_ISREG(stat.st_mode))
        die("%s is no file", printable(path));
    source.size = (uint64_t)stat.st_size;
    return source;
}

static void read_at(const char *path, int file, uint64_t offset, uint64_t bytes, void *into) {
    char *at = into;
    while (bytes > 0) {
        const ssize_t got = pread(file, at, bytes < READ_MAX ? (size_t)bytes : READ_MAX, (off_t)offset);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            die("cannot read %s at byte %" PRIu64 ": %s", printable(path), offset, strerror(errno));
        if (got == 0)
            die("%s has ended at byte %" PRIu64 ", where %" PRIu64 " more were wanted", printable(path), offset, bytes);
        at += got;
        offset += (uint64_t)got;
        bytes -= (uint64_t)got;
    }
}

/* ---- the header -------------------------------------------------------------------------------------- */

/* Bytes of JSON, which lie behind the 8 that say how many they are. */
static uint64_t header_bytes(const struct source *source) {
    unsigned char raw[8];
    uint64_t bytes = 0;
    if (source->size < sizeof raw)
        die("%s has %" PRIu64 " bytes; the length of a header alone takes 8", source->path, source->size);
    read_at(source->path, source->file, 0, sizeof raw, raw);
    for (int i = 7; i >= 0; i--)
        bytes = bytes << 8 | raw[i];
    if (bytes > HEADER_MAX)
        die("%s has a header of %" PRIu64 " bytes; %u are possible", source->path, bytes, HEADER_MAX);
    if (bytes > source->size - sizeof raw)
        die("%s has a header of %" PRIu64 " bytes in a file of %" PRIu64, source->path, bytes, source->size);
    return bytes;
}

static json_t *read_header(struct source *source) {
    const uint64_t bytes = header_bytes(source);
    char *text = grab((size_t)bytes, 1);
    read_at(source->path, source->file, 8, bytes, text);
    if (bytes == 0 || text[0] != '{')
        die("%s has a header of %" PRIu64 " bytes that does not begin with '{'", source->path, bytes);
    json_t *header = parse_object(source->path, text, (size_t)bytes, 0);
    free(text);
    source->data = 8 + bytes;
    return header;
}

static void check_metadata(const struct source *source, json_t *metadata) {
    const char *key;
    json_t *value;
    if (!json_is_object(metadata))
        die("%s: __metadata__ is no map", source->path);
    json_object_foreach(metadata, key, value) {
        if (!json_is_string(value))
            die("%s: __metadata__ maps %s to something that is no string", source->path, printable(key));
    }
}

/* ---- a tensor of the header -------------------------------------------------------------------------- */

static const struct dtype *parse_dtype(const struct source *source, const char *name, const json_t *value) {
    if (!json_is_string(value))
        die("%s: %s has no dtype", source->path, printable(name));
    for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++)
        if (strcmp(dtypes[i].name, json_string_value(value)) == 0)
            return &dtypes[i];
    die("%s: %s has the dtype %s, which is unknown here", source->path, printable(name),
        printable(json_string_value(value)));
}

/* How many bytes the shape makes. */
static uint64_t parse_shape(const struct source *source, struct tensor *tensor, const json_t *shape, uint64_t bytes) {
    const char *name = printable(tensor->name);
    if (!json_is_array(shape))
        die("%s: %s has no shape", source->path, name);
    if (json_array_size(shape) > TENSOR_RANK_MAX)
        die("%s: %s has %zu dimensions; %d are possible", source->path, name, json_array_size(shape), TENSOR_RANK_MAX);
    for (; tensor->rank < (int)json_array_size(shape); tensor->rank++) {
        const json_t *size = json_array_get(shape, (size_t)tensor->rank);
        if (!json_is_integer(size) || json_integer_value(size) < 0)
            die("%s: %s has no size of 0 or more in dimension %d of its shape", source->path, name, tensor->rank);
        tensor->shape[tensor->rank] = json_integer_value(size);
        const uint64_t factor = (uint64_t)json_integer_value(size);
        if (factor && bytes > INT64_MAX / factor)
            die("%s: the shape of %s makes more than 2^63 bytes", source->path, name);
        bytes *= factor;
    }
    return bytes;
}

/* [begin, end) of the data -> offset in the file and bytes. */
static void parse_offsets(const struct source *source, struct tensor *tensor, const json_t *offsets) {
    const json_t *begin = json_array_get(offsets, 0), *end = json_array_get(offsets, 1); /* NULL of what is no array */
    const uint64_t held = source->size - source->data;
    const char *name = printable(tensor->name);
    if (json_array_size(offsets) != 2 || !json_is_integer(begin) || !json_is_integer(end))
        die("%s: %s has no two integers as data_offsets", source->path, name);
    const int64_t first = json_integer_value(begin), behind = json_integer_value(end);
    if (first < 0 || behind < first)
        die("%s: %s has the data_offsets %" PRId64 " to %" PRId64, source->path, name, first, behind);
    if ((uint64_t)behind > held)
        die("%s: %s ends at byte %" PRId64 " of data, of which the file has %" PRIu64, source->path, name, behind,
            held);
    tensor->offset = source->data + (uint64_t)first;
    tensor->bytes = (uint64_t)(behind - first);
}

static struct tensor parse_tensor(const struct source *source, const char *name, const json_t *value) {
    struct tensor tensor = {.path = source->path, .file = source->file};
    tensor.name = grab(strlen(name) + 1, 1);
    memcpy(tensor.name, name, strlen(name));
    if (!json_is_object(value))
        die("%s: %s is no object of dtype, shape and data_offsets", source->path, printable(name));
    const struct dtype *dtype = parse_dtype(source, name, json_object_get(value, "dtype"));
    tensor.dtype = dtype->name;
    const uint64_t bytes = parse_shape(source, &tensor, json_object_get(value, "shape"), dtype->bytes);
    parse_offsets(source, &tensor, json_object_get(value, "data_offsets"));
    if (tensor.bytes != bytes)
        die("%s: %s has %" PRIu64 " bytes, and a shape of %s that makes %" PRIu64, source->path, printable(name),
            tensor.bytes, dtype->name, bytes);
    return tensor;
}

/* ---- the tensors of a file --------------------------------------------------------------------------- */

/* By the first byte; those without bytes come before what begins where they lie. */
static int by_place(const void *a, const void *b) {
    const struct tensor *left = a, *right = b;
    if (left->offset != right->offset)
        return left->offset < right->offset ? -1 : 1;
    return (left->bytes > right->bytes) - (left->bytes < right->bytes);
}

/* Of a file's tensors, sorted by place: each begins where the one before ends, and the last ends with the file. */
static void check_places(const struct source *source, const struct tensor *tensor, size_t count) {
    uint64_t end = source->data;
    for (size_t i = 0; i < count; end = tensor[i].offset + tensor[i].bytes, i++) {
        const char *name = printable(tensor[i].name);
        if (tensor[i].offset < end)
            die("%s: %s begins at byte %" PRIu64 " of the file, in %s, which ends at %" PRIu64, source->path, name,
                tensor[i].offset, printable(tensor[i - 1].name), end);
        if (tensor[i].offset > end)
            die("%s: there is a gap of %" PRIu64 " bytes before %s", source->path, tensor[i].offset - end, name);
    }
    if (end != source->size)
        die("%s has %" PRIu64 " bytes behind its last tensor", source->path, source->size - end);
}

/* Memory for more elements, those that there are kept. */
static void *enlarged(void *old, size_t count, size_t more, size_t bytes) {
    void *memory = grab(count + more, bytes);
    if (count)
        memcpy(memory, old, count * bytes);
    free(old);
    return memory;
}

/* One file more. The path is kept, and freed by tensors_close(). */
static void add_file(struct tensors *tensors, char *path) {
    struct source source = source_open(path);
    json_t *header = read_header(&source);
    const size_t before = tensors->count;
    tensors->tensor = enlarged(tensors->tensor, before, json_object_size(header), sizeof *tensors->tensor);
    const char *name;
    json_t *value;
    json_object_foreach(header, name, value) {
        if (strcmp(name, "__metadata__") == 0)
            check_metadata(&source, value);
        else
            tensors->tensor[tensors->count++] = parse_tensor(&source, name, value);
    }
    json_decref(header);
    qsort(tensors->tensor + before, tensors->count - before, sizeof *tensors->tensor, by_place);
    check_places(&source, tensors->tensor + before, tensors->count - before);
    tensors->files = enlarged(tensors->files, tensors->file_count, 1, sizeof *tensors->files);
    tensors->paths = enlarged(tensors->paths, tensors->file_count, 1, sizeof *tensors->paths);
    tensors->files[tensors->file_count] = source.file;
    tensors->paths[tensors->file_count++] = path;
}

static int by_name(const void *a, const void *b) {
    return strcmp(((const struct tensor *)a)->name, ((const struct tensor *)b)->name);
}

/* Of all files, when they are read. */
static void sort(struct tensors *tensors) {
    struct tensor *tensor = tensors->tensor;
    qsort(tensor, tensors->count, sizeof *tensor, by_name);
    for (size_t i = 1; i < tensors->count; i++)
        if (by_name(&tensor[i - 1], &tensor[i]) == 0)
            die("%s is in two files, %s and %s", printable(tensor[i].name), tensor[i - 1].path, tensor[i].path);
}

/* ---- the files of an index --------------------------------------------------------------------------- */

/* The path of a file that is open, by its name in the folder; NULL: it is not open yet. */
static const char *path_named(const struct tensors *tensors, size_t folder_bytes, const char *name) {
    for (size_t i = 0; i < tensors->file_count; i++)
        if (strcmp(tensors->paths[i] + folder_bytes + 1, name) == 0)
            return tensors->paths[i];
    return NULL;
}

static void add_shards(struct tensors *tensors, const char *folder, const char *index, json_t *map) {
    const char *name;
    json_t *value;
    json_object_foreach(map, name, value) {
        if (!json_is_string(value))
            die("%s maps %s to something that is no name of a file", index, printable(name));
        const char *file = json_string_value(value);
        if (strchr(file, '/') || !*file)
            die("%s maps %s to \"%s\", which is no name of a file in its folder", index, printable(name),
                printable(file));
        if (path_named(tensors, strlen(folder), file))
            continue;
        char *path = path_of(folder, file);
        if (access(path, F_OK) != 0)
            die("%s maps %s to %s, which is missing", index, printable(name), printable(file));
        add_file(tensors, path);
    }
}

/* Each tensor is in the file that the index says. */
static void check_map(const struct tensors *tensors, const char *folder, const char *index, json_t *map) {
    const char *name;
    json_t *value;
    json_object_foreach(map, name, value) {
        const struct tensor *tensor = tensors_find(tensors, name);
        const char *file = json_string_value(value);
        if (!tensor || tensor->path != path_named(tensors, strlen(folder), file))
            die("%s maps %s to %s, which lacks it", index, printable(name), printable(file));
    }
}

static struct tensors open_index(const char *folder, const char *index) {
    struct tensors tensors = {0};
    json_t *root = read_object(index, 0);
    json_t *map = json_object_get(root, "weight_map");
    if (json_object_size(map) == 0) /* of what is no object, too */
        die("%s has no weight_map of tensors", index);
    add_shards(&tensors, folder, index, map);
    sort(&tensors);
    check_map(&tensors, folder, index, map);
    json_decref(root);
    return tensors;
}

/* ---- the interface ----------------------------------------------------------------------------------- */

struct tensors tensors_open_file(const char *path) {
    struct tensors tensors = {0};
    char *copy = grab(strlen(path) + 1, 1);
    memcpy(copy, path, strlen(path));
    add_file(&tensors, copy);
    sort(&tensors);
    return tensors;
}

struct tensors tensors_open(const char *folder) {
    char *file = path_of(folder, "model.safetensors"), *index = path_of(folder, "model.safetensors.index.json");
    const int has_file = access(file, F_OK) == 0;
    if (!has_file && access(index, F_OK) != 0)
        die("%s has neither model.safetensors nor model.safetensors.index.json", folder);
    struct tensors tensors = has_file ? tensors_open_file(file) : open_index(folder, index);
    free(file);
    free(index);
    return tensors;
}

const struct tensor *tensors_find(const struct tensors *tensors, const char *name) {
    char *key = (char *)(uintptr_t)name; /* the member is not const; by_name() does not write */
    const struct tensor wanted = {.name = key};
    return bsearch(&wanted, tensors->tensor, tensors->count, sizeof wanted, by_name);
}

void tensor_read(const struct tensor *tensor, uint64_t from, uint64_t bytes, void *into) {
    if (from > tensor->bytes || bytes > tensor->bytes - from)
        die("%s: %s has %" PRIu64 " bytes; %" PRIu64 " from byte %" PRIu64 " on were wanted", tensor->path,
            printable(tensor->name), tensor->bytes, bytes, from);
    read_at(tensor->path, tensor->file, tensor->offset + from, bytes, into);
}

void tensors_close(struct tensors *tensors) {
    for (size_t i = 0; i < tensors->count; i++)
        free(tensors->tensor[i].name);
    for (size_t i = 0; i < tensors->file_count; i++) {
        close(tensors->files[i]);
        free(tensors->paths[i]);
    }
    free(tensors->tensor);
    free(tensors->files);
    free(tensors->paths);
    *tensors = (struct tensors){0};
}
