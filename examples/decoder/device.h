/* SPDX-License-Identifier: Apache-2.0 */
/* The GPU's memory, stream and graphs, by the driver that gristmill itself has opened: libcuda.so.1, or the simulated GPU where
 * GM_DRIVER is "sim". Every call that the driver refuses ends in die(). */
#ifndef DECODER_DEVICE_H
#define DECODER_DEVICE_H

#include <gristmill/core.h>

/* Opens a GPU and returns gristmill's context of it. All that follows is of this GPU, and of one stream. */
gm_context *device_open(int ordinal);
void device_close(gm_context *context);
void *device_stream(void);

/* Bytes that are free, and bytes that this program has allocated. */
size_t device_free_bytes(void);
size_t device_used_bytes(void);

/* Memory aligned to 256 bytes; `what` is named where there is too little. 0 bytes are none. */
gm_device_ptr device_allocate(size_t bytes, const char *what);
gm_device_ptr device_zeros(size_t bytes, const char *what);
void device_release(gm_device_ptr address);
/* Memory of the host that the GPU copies from and to while the program goes on. */
void *pinned_allocate(size_t bytes);
void pinned_release(void *memory);

/* In the stream's order. What a copy from the host reads must stay as it is until the stream has come that far. */
void copy_to_device(gm_device_ptr to, const void *from, size_t bytes);
void copy_to_host(void *to, gm_device_ptr from, size_t bytes);
void copy_on_device(gm_device_ptr to, gm_device_ptr from, size_t bytes);
void fill_bytes(gm_device_ptr to, unsigned char value, size_t bytes);
void device_wait(void); /* for all that the stream has */

struct mark; /* a place in the stream's order */
struct mark *mark_create(void);
void mark_destroy(struct mark *mark);
void mark_here(struct mark *mark);
void mark_wait(struct mark *mark);
double mark_milliseconds(struct mark *from, struct mark *to); /* both are waited for */

/* All that goes to the stream between begin and end becomes a graph instead of running. */
struct graph;
void graph_begin(void);
struct graph *graph_end(void);
void graph_launch(struct graph *graph);
void graph_destroy(struct graph *graph);

#endif
