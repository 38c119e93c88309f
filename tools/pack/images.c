/* SPDX-License-Identifier: Apache-2.0 */
/* Packs the kernels' images for the library. An image, a fatbin, has a part for each target: a cubin or PTX, of which a
 * device needs one. Parts are packed as differences to each other.
 *
 *   pack_images LIST OUTPUT INDEX
 *
 * LIST has a line "name path" for each image. OUTPUT receives the packed parts. INDEX has a line PART(target, offset,
 * packed_bytes, bytes, base) for each, where target is 80 for a cubin of compute capability 8.0 and 0 for PTX, and base
 * the number of another part, -1 for none; and a line IMAGE(name, first, count, packed_bytes) for each image, with its parts. */
#include "pack.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define IMAGES_MOST  8192
#define PARTS_MOST   (4 * IMAGES_MOST)
#define THREADS_MOST 16

struct image {
    char name[256], path[4096];
    int first, count; /* parts */
};

static struct image images[IMAGES_MOST];
static struct part parts[PARTS_MOST];
static int image_count, part_count;

__attribute__((noreturn)) static void fail(const char *what, const char *which) {
    fprintf(stderr, "pack_images: %s %s\n", what, which);
    exit(1);
}

void *allocate(size_t bytes) {
    void *memory = calloc(bytes ? bytes : 1, 1);
    if (!memory)
        fail("out of memory for", "an image");
    return memory;
}

/* ---- images and their parts ------------------------------------------------------------------------- */

static unsigned char *read_file(const char *path, size_t *size) {
    FILE *in = fopen(path, "rb");
    if (!in || fseek(in, 0, SEEK_END) != 0)
        fail("cannot read", path);
    const long end = ftell(in);
    rewind(in);
    *size = end > 0 ? (size_t)end : 0;
    unsigned char *bytes = allocate(*size);
    if (fread(bytes, 1, *size, in) != *size)
        fail("cannot read", path);
    fclose(in);
    return bytes;
}

static uint64_t number_at(const unsigned char *bytes, int size) {
    uint64_t number = 0;
    memcpy(&number, bytes, (size_t)size);
    return number;
}

/* A fatbin: 16 bytes { magic, version, header bytes, size of all parts }, then the parts, each { u16 kind, version;
 * u32 header bytes; u64 bytes behind the header; ...; u32 compute capability at byte 28; ... }. */
static void take_parts(struct image *image, unsigned char *bytes, size_t size) {
    static const unsigned char head[8] = {0x50, 0xed, 0x55, 0xba, 1, 0, 16, 0};
    image->first = part_count;
    if (size < 16 || memcmp(bytes, head, sizeof head) != 0 || number_at(bytes + 8, 8) != size - 16)
        fail("no fatbin:", image->path);
    for (size_t at = 16; at < size; at += parts[part_count++].size) {
        if (size - at < 32 || part_count == PARTS_MOST)
            fail("cannot take apart", image->path);
        const uint64_t kind = number_at(bytes + at, 2), behind = number_at(bytes + at + 8, 8);
        const uint64_t part_size = number_at(bytes + at + 4, 4) + behind;
        if (part_size < 32 || behind > size - at || part_size > size - at || kind < 1 || kind > 2)
            fail("cannot take apart", image->path);
        parts[part_count] = (struct part){
            .target = kind == 2 ? (int)number_at(bytes + at + 28, 4) : 0, .bytes = bytes + at, .size = part_size};
    }
    image->count = part_count - image->first;
}

static void read_list(const char *path) {
    FILE *in = fopen(path, "r");
    if (!in)
        fail("cannot read", path);
    for (struct image *image = images; fscanf(in, "%255s %4095s", image->name, image->path) == 2; image++) {
        size_t size;
        unsigned char *bytes = read_file(image->path, &size);
        take_parts(image, bytes, size);
        if (++image_count == IMAGES_MOST)
            fail("too many images in", path);
    }
    fclose(in);
}

/* ---- packing ---------------------------------------------------------------------------------------- */

static size_t chain_bytes(int number) {
    const int base = parts[number].base;
    return parts[number].size + (base < 0 ? 0 : gm_packing_aligned(chain_bytes(base)));
}

static int unpack_chain(struct gm_unpacker *unpacker, int number) {
    const struct part *part = &parts[number];
    return (part->base < 0 || unpack_chain(unpacker, part->base)) &&
           gm_unpack(unpacker, part->packed, part->packed_size, part->size);
}

/* Behind its base, as that unpacks; and unpacks it, since a build does not embed what it cannot read. */
static void pack_part(int number) {
    struct part *part = &parts[number];
    struct gm_unpacker *unpacker = allocate(sizeof *unpacker);
    struct gm_packing_model *model = allocate(sizeof *model);
    const size_t end = chain_bytes(number), start = end - part->size;
    unsigned char *bytes = allocate(end);
    gm_unpack_begin(unpacker, bytes, end);
    if (part->base >= 0 && !unpack_chain(unpacker, part->base))
        fail("cannot unpack", "a base");
    memcpy(bytes + start, part->bytes, part->size);
    *model = unpacker->model;
    part->packed = allocate(2 * part->size + 64);
    part->packed_size = pack_bytes(bytes, unpacker->start, start, end, model, part->packed);
    memset(bytes + unpacker->at, 0xa5, end - unpacker->at);
    if (!gm_unpack(unpacker, part->packed, part->packed_size, part->size) ||
        memcmp(bytes + start, part->bytes, part->size) != 0)
        fail("cannot unpack", "what was packed");
    free(bytes);
    free(model);
    free(unpacker);
}

/* ---- many at a time ---------------------------------------------------------------------------------- */

/* Threads take parts whose bases are packed: what is written does not depend on the order. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t packed_one = PTHREAD_COND_INITIALIZER;
static enum { PART_WAITS, PART_TAKEN, PART_PACKED } progress[PARTS_MOST];

/* The first that nobody has taken and whose base is packed, or -1; *left: there are others to come. */
static int first_ready(bool *left) {
    *left = false;
    for (int i = 0; i < part_count; i++) {
        if (progress[i] != PART_WAITS)
            continue;
        if (parts[i].base < 0 || progress[parts[i].base] == PART_PACKED)
            return i;
        *left = true;
    }
    return -1;
}

static void *pack_parts(void *unused) {
    pthread_mutex_lock(&lock);
    for (bool left = true; left;) {
        const int number = first_ready(&left);
        if (number < 0 && left)
            pthread_cond_wait(&packed_one, &lock);
        if (number < 0)
            continue;
        left = true;
        progress[number] = PART_TAKEN;
        pthread_mutex_unlock(&lock);
        pack_part(number);
        pthread_mutex_lock(&lock);
        progress[number] = PART_PACKED;
        pthread_cond_broadcast(&packed_one);
    }
    pthread_mutex_unlock(&lock);
    return unused;
}

/* A thread that cannot be had is done without. */
static void pack_all(void) {
    pthread_t threads[THREADS_MOST];
    const long processors = sysconf(_SC_NPROCESSORS_ONLN);
    int count = 0;
    while (count + 1 < processors && count < THREADS_MOST && !pthread_create(&threads[count], NULL, pack_parts, NULL))
        count++;
    pack_parts(NULL);
    while (count > 0)
        pthread_join(threads[--count], NULL);
}

static void write_all(const char *output, const char *index) {
    FILE *out = fopen(output, "wb"), *lines = fopen(index, "w");
    size_t offset = 0;
    if (!out || !lines)
        fail("cannot write", out ? index : output);
    fprintf(lines, "/* Generated by tools/pack: PART(target, offset, packed_bytes, bytes, base), IMAGE(name, first, "
                   "count, packed_bytes). */\n");
    for (int i = 0; i < part_count; i++) {
        fprintf(lines, "PART(%d, %zu, %zu, %zu, %d)\n", parts[i].target, offset, parts[i].packed_size, parts[i].size,
                parts[i].base);
        if (fwrite(parts[i].packed, 1, parts[i].packed_size, out) != parts[i].packed_size)
            fail("cannot write", output);
        offset += parts[i].packed_size;
    }
    for (const struct image *image = images; image < images + image_count; image++) {
        size_t packed_size = 0;
        for (int i = image->first; i < image->first + image->count; i++)
            packed_size += parts[i].packed_size;
        fprintf(lines, "IMAGE(%s, %d, %d, %zu)\n", image->name, image->first, image->count, packed_size);
    }
    if (fclose(out) != 0 || fclose(lines) != 0)
        fail("cannot write", output);
}

int main(int argc, char **argv) {
    if (argc != 4)
        fail("usage:", "pack_images LIST OUTPUT INDEX");
    read_list(argv[1]);
    choose_bases(parts, part_count);
    pack_all();
    write_all(argv[2], argv[3]);
    return 0;
}
