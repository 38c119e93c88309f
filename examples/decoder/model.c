/* SPDX-License-Identifier: Apache-2.0 */
#include "model.h"

#include "common.h"
#include "device.h"
#include "rope_table.h"
#include "safetensors.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ALIGNMENT = 256, NAME_BYTES = 160, RANK_MAX = 3 };

/* ---- where every tensor goes ---------------------------------------------------------------------------- */

/* A tensor of the files: a row, rows of columns, or such rows of every expert. */
struct piece {
    char name[NAME_BYTES];
    int rank;
    int64_t shape[RANK_MAX];
    gm_device_ptr to;
};

/* How files name experts: layers.N.BLOCK.gate.weight is the router, layers.N.BLOCK.experts.E.GATE.weight a matrix.
 * Without a gate all experts' matrices are one tensor each, gate and up together. */
struct expert_names {
    const char *block, *gate, *up, *down;
};

enum { NAMES_QWEN, NAMES_MIXTRAL, NAMES_FUSED, NAMES_KNOWN };
static const struct expert_names known_names[NAMES_KNOWN] = {
    [NAMES_QWEN] = {"mlp", "gate_proj", "up_proj", "down_proj"},
    [NAMES_MIXTRAL] = {"block_sparse_moe", "w1", "w3", "w2"},
    [NAMES_FUSED] = {"mlp", NULL, "gate_up_proj", "down_proj"}, /* as transformers 5 has them in memory */
};

struct plan {
    const struct config *config;
    const struct expert_names *names;
    struct piece *piece;
    size_t count, room;
    gm_device_ptr base;
    size_t bytes; /* used so far */
};

/* The last `rank` of the sizes are the tensor's shape, the others 1. */
static gm_device_ptr place(struct plan *plan, const char *name, int rank, int64_t experts, int64_t rows,
                           int64_t columns) {
    const int64_t sizes[RANK_MAX] = {experts, rows, columns};
    plan->piece = grown(plan->piece, plan->count, &plan->room, sizeof *plan->piece);
    struct piece *piece = &plan->piece[plan->count++];
    *piece = (struct piece){.rank = rank, .to = plan->base + plan->bytes};
    memcpy(piece->shape, sizes + RANK_MAX - rank, (size_t)rank * sizeof *sizes);
    snprintf(piece->name, sizeof piece->name, "%s", name);
    plan->bytes += (size_t)(experts * rows * columns) * ELEMENT_BYTES;
    return piece->to;
}

static void align(struct plan *plan) {
    plan->bytes = (plan->bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

static gm_device_ptr matrix(struct plan *plan, const char *name, int64_t rows, int64_t columns) {
    return place(plan, name, 2, 1, rows, columns);
}

/* Behind what was placed before, without a gap. */
static gm_device_ptr row(struct plan *plan, const char *name, int64_t columns) {
    return place(plan, name, 1, 1, 1, columns);
}

static gm_device_ptr vector(struct plan *plan, const char *name, int64_t columns) {
    align(plan);
    return row(plan, name, columns);
}

/* A matrix of an expert: "model.layers.7.mlp.experts.3.down_proj.weight", or of all experts in one tensor
 * "model.layers.7.mlp.experts.down_proj". */
static void name_expert(const struct plan *plan, char name[NAME_BYTES], int64_t layer, int64_t expert,
                        const char *matrix_name) {
    const char *prefix = plan->config->tensor_prefix, *block = plan->names->block;
    if (plan->names->gate)
        snprintf(name, NAME_BYTES, "%slayers.%" PRId64 ".%s.experts.%" PRId64 ".%s.weight", prefix, layer, block,
                 expert, matrix_name);
    else
        snprintf(name, NAME_BYTES, "%slayers.%" PRId64 ".%s.experts.%s", prefix, layer, block, matrix_name);
}

static void place_expert(struct plan *plan, int64_t layer, int64_t expert, const char *matrix_name, int64_t rows,
                         int64_t columns) {
    char name[NAME_BYTES];
    name_expert(plan, name, layer, expert, matrix_name);
    if (plan->names->gate)
        matrix(plan, name, rows, columns);
    else
        place(plan, name, RANK_MAX, plan->config->experts, rows, columns);
}

/* The router; gate and up of the first expert, of the second ...; down of each. */
static void place_experts(struct plan *plan, struct layer *layer, int64_t number) {
    const struct config *c = plan->config;
    const struct expert_names *names = plan->names;
    const int64_t tensors = names->gate ? c->experts : 1, columns = c->expert_intermediate;
    char name[NAME_BYTES];
    snprintf(name, sizeof name, "%slayers.%" PRId64 ".%s.gate.weight", c->tensor_prefix, number, names->block);
    layer->router = matrix(plan, name, c->experts, c->hidden);
    align(plan);
    layer->gate_up = plan->base + plan->bytes;
    for (int64_t i = 0; i < tensors; i++) {
        if (names->gate)
            place_expert(plan, number, i, names->gate, columns, c->hidden);
        place_expert(plan, number, i, names->up, names->gate ? columns : 2 * columns, c->hidden);
    }
    align(plan);
    layer->down = plan->base + plan->bytes;
    for (int64_t i = 0; i < tensors; i++)
        place_expert(plan, number, i, names->down, c->hidden, columns);
}

static void place_layer(struct plan *plan, struct layer *layer, int64_t number) {
    const struct config *c = plan->config;
    const int64_t q = c->q_heads * c->head_dim, kv = c->kv_heads * c->head_dim;
    char name[NAME_BYTES];
#define NAMED(words) (snprintf(name, sizeof name, "%slayers.%" PRId64 "." words, c->tensor_prefix, number), name)
    *layer = (struct layer){.attention_norm = vector(plan, NAMED("input_layernorm.weight"), c->hidden)};
    align(plan);
    layer->qkv = matrix(plan, NAMED("self_attn.q_proj.weight"), q, c->hidden);
    matrix(plan, NAMED("self_attn.k_proj.weight"), kv, c->hidden);
    matrix(plan, NAMED("self_attn.v_proj.weight"), kv, c->hidden);
    if (c->has_qkv_bias) {
        layer->qkv_bias = vector(plan, NAMED("self_attn.q_proj.bias"), q);
        row(plan, NAMED("self_attn.k_proj.bias"), kv);
        row(plan, NAMED("self_attn.v_proj.bias"), kv);
    }
    if (c->has_head_norm) {
        layer->q_norm = vector(plan, NAMED("self_attn.q_norm.weight"), c->head_dim);
        layer->k_norm = vector(plan, NAMED("self_attn.k_norm.weight"), c->head_dim);
    }
    align(plan);
    layer->attention_out = matrix(plan, NAMED("self_attn.o_proj.weight"), c->hidden, q);
    if (c->has_sandwich) {
        layer->after_attention_norm = vector(plan, NAMED("post_attention_layernorm.weight"), c->hidden);
        layer->mlp_norm = vector(plan, NAMED("pre_feedforward_layernorm.weight"), c->hidden);
        layer->after_mlp_norm = vector(plan, NAMED("post_feedforward_layernorm.weight"), c->hidden);
    } else {
        layer->mlp_norm = vector(plan, NAMED("post_attention_layernorm.weight"), c->hidden);
    }
    align(plan);
    if (c->has_experts[number]) {
        place_experts(plan, layer, number);
        return;
    }
    layer->gate_up = matrix(plan, NAMED("mlp.gate_proj.weight"), c->intermediate, c->hidden);
    matrix(plan, NAMED("mlp.up_proj.weight"), c->intermediate, c->hidden);
    align(plan);
    layer->down = matrix(plan, NAMED("mlp.down_proj.weight"), c->hidden, c->intermediate);
#undef NAMED
}

/* The last matrix stands beside "model.", not within. */
static void name_head(const struct config *config, char name[NAME_BYTES]) {
    const int before = (int)(strlen(config->tensor_prefix) - strlen("model."));
    snprintf(name, NAME_BYTES, "%.*slm_head.weight", before, config->tensor_prefix);
}

/* All tensors from `base` on; with base 0 it only counts. `names` NULL: any, since no place depends on them. */
static struct plan place_model(struct model *model, const struct config *config, const struct expert_names *names,
                               gm_device_ptr base) {
    struct plan plan = {.config = config, .names = names ? names : known_names, .base = base};
    char name[NAME_BYTES], head[NAME_BYTES];
    name_head(config, head);
    snprintf(name, sizeof name, "%sembed_tokens.weight", config->tensor_prefix);
    model->embeddings = matrix(&plan, name, config->vocabulary, config->hidden);
    model->head = model->embeddings;
    align(&plan);
    if (!config->has_tied_embeddings)
        model->head = matrix(&plan, head, config->vocabulary, config->hidden);
    for (int64_t i = 0; i < config->layers; i++)
        place_layer(&plan, &model->layer[i], i);
    snprintf(name, sizeof name, "%snorm.weight", config->tensor_prefix);
    model->final_norm = vector(&plan, name, config->hidden);
    align(&plan);
    return plan;
}

static size_t weight_bytes(const struct config *config) {
    struct model *model = grab(1, sizeof *model);
    const struct plan plan = place_model(model, config, NULL, 0);
    free(plan.piece);
    free(model);
    return plan.bytes;
}

/* Of all layers' experts. */
static double expert_bytes(const struct config *c) {
    int64_t layers = 0;
    for (int64_t i = 0; i < c->layers; i++)
        layers += c->has_experts[i];
    return (double)(layers * c->experts * 3 * c->expert_intermediate * c->hidden * ELEMENT_BYTES);
}

double model_step_bytes(const struct config *c, int64_t rows) {
    const double table = c->has_tied_embeddings ? 0 : (double)(c->vocabulary * c->hidden * ELEMENT_BYTES);
    const double idle = c->experts ? pow(1 - (double)c->chosen / (double)c->experts, (double)rows) : 0;
    return (double)weight_bytes(c) - table - idle * expert_bytes(c);
}

static size_t table_bytes(const struct config *config, int64_t positions) {
    return (size_t)(positions * config->head_dim) * sizeof(float);
}

size_t model_bytes(const struct config *config, int64_t positions) {
    return weight_bytes(config) + (config->window ? 2 : 1) * table_bytes(config, positions);
}

/* ---- from files ----------------------------------------------------------------------------------------- */

/* What files have beside weights of the text, or twice. */
static int is_left_out(const struct config *config, const char *name) {
    static const char *const words[] = {"rotary_emb.inv_freq", "vision_tower.", "multi_modal_projector."};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strstr(name, words[i]))
            return 1;
    char head[NAME_BYTES];
    name_head(config, head);
    return config->has_tied_embeddings && strcmp(name, head) == 0;
}

static const struct tensor *tensor_of(const struct tensors *tensors, const struct piece *piece,
                                      const struct config *config) {
    const char *dtype = config->dtype == DTYPE_BF16 ? "BF16" : "F16";
    const struct tensor *t = tensors_find(tensors, piece->name);
    if (!t)
        die("the files have no tensor %s", piece->name);
    if (strcmp(t->dtype, dtype) != 0)
        die("%s is of %s; config.json says that weights are %s", t->name, t->dtype, dtype);
    char shape[80] = "";
    for (int i = 0; i < piece->rank; i++)
        snprintf(shape + strlen(shape), sizeof shape - strlen(shape), "%s%" PRId64, i ? " x " : "", piece->shape[i]);
    if (t->rank != piece->rank || memcmp(t->shape, piece->shape, (size_t)t->rank * sizeof *t->shape) != 0)
        die("%s has not the shape that config.json asks for, %s", t->name, shape);
    return t;
}

/* The names that the files have for the experts of the first layer with some; else the architecture's. */
static const struct expert_names *names_of(const struct tensors *tensors, const struct config *config) {
    char name[NAME_BYTES];
    int64_t layer = 0;
    while (config->experts && !config->has_experts[layer])
        layer++;
    for (int i = 0; i < NAMES_KNOWN; i++) {
        const struct plan plan = {.config = config, .names = &known_names[i]};
        name_expert(&plan, name, layer, 0, plan.names->down);
        if (tensors_find(tensors, name))
            return plan.names;
    }
    return &known_names[config->has_mixtral_names ? NAMES_MIXTRAL : NAMES_QWEN];
}

/* Every tensor of the files is placed, or known to be of no use: a bias that nobody adds would be a wrong model. */
static void check_all_used(const struct tensors *tensors, const struct plan *plan) {
    size_t used = 0;
    for (size_t i = 0; i < tensors->count; i++)
        used += (size_t)!is_left_out(plan->config, tensors->tensor[i].name);
    if (used == plan->count)
        return;
    for (size_t i = 0; i < tensors->count; i++) {
        const char *name = tensors->tensor[i].name;
        int is_placed = is_left_out(plan->config, name);
        for (size_t j = 0; j < plan->count && !is_placed; j++)
            is_placed = strcmp(plan->piece[j].name, name) == 0;
        if (!is_placed)
            die("the files have a tensor %s, which %s is not known to have", name, plan->config->architecture);
    }
}

/* Two buffers of the host by turns: one is read into while the other is copied from. */
struct ferry {
    char *buffer[2];
    struct mark *copied[2];
    int turn;
    uint64_t done, total;
    double shown;
};

enum { FERRY_BYTES = 32 << 20 };

static void show_progress(struct ferry *ferry) {
    enum { WIDTH = 40 };
    const double now = seconds(), share = (double)ferry->done / (double)ferry->total;
    if (!isatty(STDERR_FILENO) || (now - ferry->shown < 0.05 && ferry->done < ferry->total))
        return;
    ferry->shown = now;
    const int full = (int)(share * WIDTH);
    fprintf(stderr, "\rweights [%.*s%*s] %3.0f %%%s", full, "########################################", WIDTH - full,
            "", 100 * share, ferry->done < ferry->total ? "" : "\r\033[K");
    fflush(stderr);
}

static void carry(struct ferry *ferry, const struct tensor *tensor, gm_device_ptr to) {
    for (uint64_t from = 0; from < tensor->bytes;) {
        const uint64_t bytes = tensor->bytes - from < FERRY_BYTES ? tensor->bytes - from : FERRY_BYTES;
        const int turn = ferry->turn ^= 1;
        mark_wait(ferry->copied[turn]);
        tensor_read(tensor, from, bytes, ferry->buffer[turn]);
        copy_to_device(to + from, ferry->buffer[turn], bytes);
        mark_here(ferry->copied[turn]);
        from += bytes;
        ferry->done += bytes;
        show_progress(ferry);
    }
}

static void carry_all(const struct tensors *tensors, const struct plan *plan) {
    struct ferry ferry = {.total = plan->bytes};
    for (int i = 0; i < 2; i++) {
        ferry.buffer[i] = pinned_allocate(FERRY_BYTES);
        ferry.copied[i] = mark_create();
    }
    for (size_t i = 0; i < plan->count; i++)
        carry(&ferry, tensor_of(tensors, &plan->piece[i], plan->config), plan->piece[i].to);
    ferry.done = ferry.total;
    show_progress(&ferry);
    device_wait();
    for (int i = 0; i < 2; i++) {
        pinned_release(ferry.buffer[i]);
        mark_destroy(ferry.copied[i]);
    }
}

/* ---- a model -------------------------------------------------------------------------------------------- */

static gm_device_ptr table_on_device(const struct config *config, const struct rope_scaling *scaling,
                                     int64_t positions) {
    const size_t bytes = table_bytes(config, positions);
    float *table = rope_table(scaling, config->head_dim, positions);
    const gm_device_ptr address = device_allocate(bytes, "the table of angles");
    copy_to_device(address, table, bytes);
    device_wait();
    free(table);
    return address;
}

static struct model *model_of(const struct config *config, int64_t positions) {
    struct model *model = grab(1, sizeof *model);
    model->config = *config;
    model->positions = positions;
    model->weight_bytes = weight_bytes(config);
    model->weights = device_allocate(model->weight_bytes, "the weights");
    model->rope = table_on_device(config, &config->rope, positions);
    if (config->window)
        model->local_rope = table_on_device(config, &config->local_rope, positions);
    return model;
}

struct model *model_load(const char *folder, const struct config *config, int64_t positions) {
    struct tensors tensors = tensors_open(folder);
    struct model *model = model_of(config, positions);
    const struct plan plan = place_model(model, config, names_of(&tensors, config), model->weights);
    check_all_used(&tensors, &plan);
    carry_all(&tensors, &plan);
    free(plan.piece);
    tensors_close(&tensors);
    return model;
}

/* bf16 or fp16 of about n / 512, n from -128 to 127: what a trained matrix might hold, but not what it means. */
static uint16_t random_element(uint64_t *state, enum dtype dtype) {
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    const float value = (float)((int)(*state >> 56) - 128) / 4096;
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    if (dtype == DTYPE_BF16)
        return (uint16_t)(bits >> 16); /* 8 significant bits at most: exact */
    if (value == 0)
        return 0;
    return (uint16_t)((bits >> 16 & 0x8000) | (((bits >> 23 & 0xff) - 127 + 15) << 10) | (bits >> 13 & 0x3ff));
}

struct model *model_random(const struct config *config, int64_t positions) {
    enum { ELEMENTS = (16 << 20) + 8 * 127 }; /* repeated; rows do not begin where it does */
    struct model *model = model_of(config, positions);
    const struct plan plan = place_model(model, config, NULL, model->weights);
    uint16_t *pattern = pinned_allocate(ELEMENTS * sizeof *pattern);
    uint64_t state = 1;
    for (size_t i = 0; i < ELEMENTS; i++)
        pattern[i] = random_element(&state, config->dtype);
    const size_t bytes = ELEMENTS * sizeof *pattern;
    for (size_t from = 0; from < plan.bytes; from += bytes)
        copy_to_device(model->weights + from, pattern, plan.bytes - from < bytes ? plan.bytes - from : bytes);
    device_wait();
    pinned_release(pattern);
    free(plan.piece);
    return model;
}

void model_free(struct model *model) {
    device_release(model->weights);
    device_release(model->rope);
    device_release(model->local_rope);
    free(model);
}
