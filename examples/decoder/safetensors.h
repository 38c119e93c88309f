/* SPDX-License-Identifier: Apache-2.0 */
/* The tensors of a model's folder: model.safetensors, or where there is none the files that
 * model.safetensors.index.json names.
 *
 * A file is 8 bytes of N, little-endian, N bytes of JSON and the data. The JSON maps a name to dtype, shape and
 * data_offsets [begin, end), counted from behind the JSON. Data has no gaps, no overlaps and no bytes behind the last
 * tensor: a file that has is refused, as is one whose shape and bytes disagree. */
#ifndef DECODER_SAFETENSORS_H
#define DECODER_SAFETENSORS_H

#include <stddef.h>
#include <stdint.h>

enum { TENSOR_RANK_MAX = 8 };

struct tensor {
    char *name;
    const char *dtype; /* as the file says it: "BF16", "F16", "F32", "I64" ...; an element has whole bytes */
    int rank;
    int64_t shape[TENSOR_RANK_MAX];
    const char *path; /* of its file, for sentences */
    int file;         /* descriptor */
    uint64_t offset;  /* in the file, of the first byte */
    uint64_t bytes;
};

struct tensors {
    struct tensor *tensor; /* sorted by name */
    size_t count;
    int *files;   /* descriptors */
    char **paths; /* of the files */
    size_t file_count;
};

/* Opens and checks all files of the folder; die() where something is wrong. Reads no data. A tensor that the index maps
 * is in the file it names; one that it does not map is there nevertheless; none is in two files. */
struct tensors tensors_open(const char *folder);
/* One file alone, checked likewise. */
struct tensors tensors_open_file(const char *path);
/* NULL: there is none of that name. */
const struct tensor *tensors_find(const struct tensors *tensors, const char *name);
/* Bytes `from` to from + bytes - 1 of a tensor; die() where the file does not give them. Any thread. */
void tensor_read(const struct tensor *tensor, uint64_t from, uint64_t bytes, void *into);
void tensors_close(struct tensors *tensors);

#endif
