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

/* How a tensor lies in the files and on the device. */
enum kind {
    KIND_DTYPE,  /* elements of the model's dtype */
    KIND_E4M3,   /* e4m3 */
    KIND_SCALES, /* floats, made of what the files have of 16 or 32 bits: one for each row of a matrix, or one for all */
    KIND_BLOCK_SCALES, /* such floats as they lie, one for each block of a matrix */
    KIND_GROUP_SCALES, /* and these once for each row of a block */
    KIND_INPUT_SCALE,  /* a float; of several with one place the largest */
    KINDS
};
static const int kind_bytes[KINDS] = {[KIND_DTYPE] = ELEMENT_BYTES,        [KIND_E4M3] = 1,
                                      [KIND_SCALES] = sizeof(float),       [KIND_BLOCK_SCALES] = sizeof(float),
                                      [KIND_GROUP_SCALES] = sizeof(float), [KIND_INPUT_SCALE] = sizeof(float)};

/* A tensor of the files, with the shape that it has on the device: a row, rows of columns, or such rows of every expert. */
struct piece {
    char name[NAME_BYTES];
    enum kind kind;
    int rank;
    int64_t shape[RANK_MAX];
    gm_device_ptr to;
};

static int is_scale(const struct piece *piece) {
    return piece->kind >= KIND_SCALES;
}

static int64_t elements_of(const struct piece *piece) {
    int64_t elements = 1;
    for (int i = 0; i < piece->rank; i++)
        elements *= piece->shape[i];
    return elements;
}

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
static gm_device_ptr place(struct plan *plan, const char *name, enum kind kind, int rank, int64_t experts, int64_t rows,
                           int64_t columns) {
    const int64_t sizes[RANK_MAX] = {experts, rows, columns};
    plan->piece = grown(plan->piece, plan->count, &plan->room, sizeof *plan->piece);
    struct piece *piece = &plan->piece[plan->count++];
    *piece = (struct piece){.kind = kind, .rank = rank, .to = plan->base + plan->bytes};
    memcpy(piece->shape, sizes + RANK_MAX - rank, (size_t)rank * sizeof *sizes);
    snprintf(piece->name, sizeof piece->name, "%s", name);
    plan->bytes += (size_t)(experts * rows * columns * kind_bytes[kind]);
    return piece->to;
}

static void align(struct plan *plan) {
    plan->bytes = (plan->bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

static gm_device_ptr matrix(struct plan *plan, const char *name, int64_t rows, int64_t columns) {
    return place(plan, name, KIND_DTYPE, 2, 1, rows, columns);
}

/* Behind what was placed before, without a gap. */
static gm_device_ptr row(struct plan *plan, const char *name, int64_t columns) {
    return place(plan, name, KIND_DTYPE, 1, 1, 1, columns);
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
        place(plan, name, KIND_DTYPE, RANK_MAX, plan->config->experts, rows, columns);
}

/* The router; gate and up of the first expert, of the second ...; down of each. */
static void place_experts(struct plan *plan, struct layer *layer, int64_t number) {
    const struct config *c = plan->config;
    const struct expert_names *names = plan->names;
    const int64_t tensors = names->gate ? c->experts : 1, columns = c->expert_intermediate;
    char name[NAME_BYTES];
    snprintf(name, sizeof name, "%slayers.%" PRId64 ".%s.gate.weight", c->tensor_prefix, number, names->block);
    layer->router.weights = matrix(plan, name, c->experts, c->hidden);
    align(plan);
    layer->gate_up.weights = plan->base + plan->bytes;
    for (int64_t i = 0; i < tensors; i++) {
        if (names->gate)
            place_expert(plan, number, i, names->gate, columns, c->hidden);
        place_expert(plan, number, i, names->up, names->gate ? columns : 2 * columns, c->hidden);
    }
    align(plan);
    layer->down.weights = plan->base + plan->bytes;
    for (int64_t i = 0; i < tensors; i++)
        place_expert(plan, number, i, names->down, c->hidden, columns);
}

/* A module of a layer, with a matrix of so many rows. */
struct part {
    const char *module;
    int64_t rows;
};

enum { PARTS_MAX = 3 };

/* Whether scales of blocks of the matrices, behind each other, are those of the whole: all but the last have whole blocks. */
static int blocks_line_up(const struct part part[PARTS_MAX]) {
    for (int i = 0; i + 1 < PARTS_MAX && part[i + 1].module; i++)
        if (part[i].rows % SCALES_BLOCK)
            return 0;
    return 1;
}

static enum gm_granularity granularity_of(const struct config *config, const struct part part[PARTS_MAX]) {
    if (config->scaled != SCALED_BLOCKS)
        return GM_PER_ROW;
    return blocks_line_up(part) ? GM_PER_BLOCK : GM_PER_GROUP;
}

static void place_scales(struct plan *plan, const char *name, enum gm_granularity granularity, int64_t rows,
                         int64_t columns) {
    if (granularity == GM_PER_BLOCK)
        place(plan, name, KIND_BLOCK_SCALES, 2, 1, blocks_of(rows), blocks_of(columns));
    else if (granularity == GM_PER_GROUP)
        place(plan, name, KIND_GROUP_SCALES, 2, 1, rows, blocks_of(columns));
    else
        place(plan, name, KIND_SCALES, 1, 1, 1, rows);
}

/* Modules whose matrices lie behind each other, and so their scales and biases, whose kinds those are that follow. */
static struct linear place_linear(struct plan *plan, int64_t layer, int is_e4m3, int has_bias, int64_t columns,
                                  const struct part part[PARTS_MAX]) {
    struct linear linear = {0};
    char name[NAME_BYTES];
#define EACH(i)                                                                                                        \
    int i = 0;                                                                                                         \
    i < PARTS_MAX &&part[i].module;                                                                                    \
    i++
#define NAMED(i, ending)                                                                                               \
    (snprintf(name, sizeof name, "%slayers.%" PRId64 ".%s." ending, plan->config->tensor_prefix, layer,                \
              part[i].module),                                                                                         \
     name)
    align(plan);
    linear.weights = plan->base + plan->bytes;
    for (EACH(i))
        place(plan, NAMED(i, "weight"), is_e4m3 ? KIND_E4M3 : KIND_DTYPE, 2, 1, part[i].rows, columns);
    align(plan);
    linear.scales = is_e4m3 ? plan->base + plan->bytes : 0;
    linear.granularity = is_e4m3 ? granularity_of(plan->config, part) : GM_PER_NONE;
    for (EACH(i))
        if (is_e4m3)
            place_scales(plan,
                         plan->config->has_inverse_names ? NAMED(i, "weight_scale_inv") : NAMED(i, "weight_scale"),
                         linear.granularity, part[i].rows, columns);
    align(plan);
    const size_t place_of_all = plan->bytes;
    linear.input_scale = is_e4m3 && plan->config->has_input_scales ? plan->base + plan->bytes : 0;
    for (EACH(i)) {
        if (!is_e4m3 || !plan->config->has_input_scales)
            break;
        plan->bytes = place_of_all;
        place(plan, NAMED(i, "input_scale"), KIND_INPUT_SCALE, 1, 1, 1, 1);
    }
    align(plan);
    linear.bias = has_bias ? plan->base + plan->bytes : 0;
    for (EACH(i))
        if (has_bias)
            row(plan, NAMED(i, "bias"), part[i].rows);
#undef NAMED
#undef EACH
    return linear;
}

static void place_mlp(struct plan *plan, struct layer *layer, int64_t number) {
    const struct config *c = plan->config;
    const int is_e4m3 = c->e4m3[number] & E4M3_MLP;
    layer->gate_up = place_linear(
        plan, number, is_e4m3, 0, c->hidden,
        (const struct part[PARTS_MAX]){{"mlp.gate_proj", c->intermediate}, {"mlp.up_proj", c->intermediate}});
    layer->down = place_linear(plan, number, is_e4m3, 0, c->intermediate,
                               (const struct part[PARTS_MAX]){{"mlp.down_proj", c->hidden}});
}

static void place_layer(struct plan *plan, struct layer *layer, int64_t number) {
    const struct config *c = plan->config;
    const int64_t q = c->q_heads * c->head_dim, kv = c->kv_heads * c->head_dim;
    char name[NAME_BYTES];
#define NAMED(words) (snprintf(name, sizeof name, "%slayers.%" PRId64 "." words, c->tensor_prefix, number), name)
    *layer = (struct layer){.attention_norm = vector(plan, NAMED("input_layernorm.weight"), c->hidden)};
    layer->qkv = place_linear(
        plan, number, c->e4m3[number] & E4M3_QKV, c->has_qkv_bias, c->hidden,
        (const struct part[PARTS_MAX]){{"self_attn.q_proj", q}, {"self_attn.k_proj", kv}, {"self_attn.v_proj", kv}});
    if (c->has_head_norm) {
        layer->q_norm = vector(plan, NAMED("self_attn.q_norm.weight"), c->head_dim);
        layer->k_norm = vector(plan, NAMED("self_attn.k_norm.weight"), c->head_dim);
    }
    layer->attention_out = place_linear(plan, number, c->e4m3[number] & E4M3_ATTENTION_OUT, 0, q,
                                        (const struct part[PARTS_MAX]){{"self_attn.o_proj", c->hidden}});
    if (c->has_sandwich) {
        layer->after_attention_norm = vector(plan, NAMED("post_attention_layernorm.weight"), c->hidden);
        layer->mlp_norm = vector(plan, NAMED("pre_feedforward_layernorm.weight"), c->hidden);
        layer->after_mlp_norm = vector(plan, NAMED("post_feedforward_layernorm.weight"), c->hidden);
    } else {
        layer->mlp_norm = vector(plan, NAMED("post_attention_layernorm.weight"), c->hidden);
    }
    align(plan);
    if (c->has_experts[number])
        place_experts(plan, layer, number);
    else
        place_mlp(plan, layer, number);
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
    model->head = (struct linear){.weights = model->embeddings};
    align(&plan);
    if (!config->has_tied_embeddings)
        model->head.weights = matrix(&plan, head, config->vocabulary, config->hidden);
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

static int has_shape(const struct tensor *t, const int64_t *shape, int rank) {
    return t->rank == rank && memcmp(t->shape, shape, (size_t)rank * sizeof *shape) == 0;
}

/* Whether the files have one scale for the piece, not one for each row. */
static int is_one_scale(const struct piece *piece, const struct config *config) {
    return piece->kind == KIND_INPUT_SCALE || config->scaled == SCALED_TENSORS;
}

static int is_of_blocks(const struct piece *piece) {
    return piece->kind == KIND_BLOCK_SCALES || piece->kind == KIND_GROUP_SCALES;
}

/* Scales of channels are [rows, 1], or [rows]; those of blocks [rows of blocks, blocks of a row]; the one of all is one
 * element of any rank. */
static const struct tensor *scales_of(const struct tensor *t, const struct piece *piece, const struct config *config) {
    const int is_one = is_one_scale(piece, config), is_column = !is_one && !is_of_blocks(piece);
    const int64_t rows = is_one ? 1 : piece->kind == KIND_GROUP_SCALES ? blocks_of(piece->shape[0]) : piece->shape[0];
    const int64_t shape[2] = {rows, is_of_blocks(piece) ? piece->shape[1] : 1};
    int64_t elements = 1;
    if (strcmp(t->dtype, "BF16") != 0 && strcmp(t->dtype, "F16") != 0 && strcmp(t->dtype, "F32") != 0)
        die("%s is of %s; scales of BF16, F16 and F32 are known", t->name, t->dtype);
    for (int i = 0; i < t->rank; i++)
        elements *= t->shape[i];
    if (is_one ? elements != 1 : !has_shape(t, shape, 2) && !(is_column && has_shape(t, shape, 1)))
        die("%s has not the shape that config.json asks for, %" PRId64 " x %" PRId64, t->name, shape[0], shape[1]);
    return t;
}

static const struct tensor *tensor_of(const struct tensors *tensors, const struct piece *piece,
                                      const struct config *config) {
    const char *dtype = piece->kind == KIND_E4M3 ? "F8_E4M3" : config->dtype == DTYPE_BF16 ? "BF16" : "F16";
    const struct tensor *t = tensors_find(tensors, piece->name);
    if (!t)
        die("the files have no tensor %s", piece->name);
    if (is_scale(piece))
        return scales_of(t, piece, config);
    if (strcmp(t->dtype, dtype) != 0)
        die("%s is of %s; config.json says that weights are %s", t->name, t->dtype, dtype);
    char shape[80] = "";
    for (int i = 0; i < piece->rank; i++)
        snprintf(shape + strlen(shape), sizeof shape - strlen(shape), "%s%" PRId64, i ? " x " : "", piece->shape[i]);
    if (!has_shape(t, piece->shape, piece->rank))
        die("%s has not the shape that config.json asks for, %s", t->name, shape);
    return t;
}

/* Weights of 8 bits mean nothing without a word on their scales. */
static void check_8_bits(const struct tensors *tensors, const struct config *config) {
    for (size_t i = 0; i < tensors->count && !config->any_e4m3; i++)
        if (strncmp(tensors->tensor[i].dtype, "F8_", 3) == 0)
            die("%s is of %s, and config.json has no quantization_config", tensors->tensor[i].name,
                tensors->tensor[i].dtype);
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

/* Bytes as they are. */
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

/* Of fp16's or bf16's bits. */
static float float_of(uint16_t bits, int is_bf16) {
    const uint32_t sign = (uint32_t)(bits & 0x8000) << 16, rest = bits & 0x7fff;
    const uint32_t whole = is_bf16 ? sign | rest << 16 : sign | rest << 13; /* of fp16 less by 2^112 */
    float value;
    memcpy(&value, &whole, sizeof value);
    if (is_bf16)
        return value;
    return rest >= 0x7c00 ? NAN : value * 0x1p112f;
}

/* Rows are divided by theirs, so that it is not 0. */
static float scale_of(const struct tensor *tensor, enum kind kind, const void *data, int64_t i) {
    const int is_float = strcmp(tensor->dtype, "F32") == 0;
    const float value =
        is_float ? ((const float *)data)[i] : float_of(((const uint16_t *)data)[i], tensor->dtype[0] == 'B');
    if (!isfinite(value) || value < 0 || (value == 0 && kind == KIND_INPUT_SCALE))
        die("%s has a scale of %g", tensor->name, (double)value);
    return value;
}

/* Where the files have the scale that is number i on the device. */
static int64_t place_in_files(const struct piece *piece, const struct config *config, int64_t i) {
    if (is_one_scale(piece, config))
        return 0;
    return piece->kind == KIND_GROUP_SCALES ? i / piece->shape[1] / SCALES_BLOCK * piece->shape[1] + i % piece->shape[1]
                                            : i;
}

/* Scales become floats, the one of a tensor one for each row, and that of a block, where it must, too. */
static void carry_scales(struct ferry *ferry, const struct tensor *tensor, const struct piece *piece,
                         const struct config *config) {
    const int64_t all = elements_of(piece), most = FERRY_BYTES / (int64_t)sizeof(float);
    void *data = grab(tensor->bytes, 1);
    tensor_read(tensor, 0, tensor->bytes, data);
    for (int64_t from = 0; from < all; from += most) {
        const int64_t count = all - from < most ? all - from : most;
        const int turn = ferry->turn ^= 1;
        float *scales = (float *)(void *)ferry->buffer[turn];
        mark_wait(ferry->copied[turn]);
        for (int64_t i = 0; i < count; i++)
            scales[i] = scale_of(tensor, piece->kind, data, place_in_files(piece, config, from + i));
        copy_to_device(piece->to + (size_t)from * sizeof *scales, scales, (size_t)count * sizeof *scales);
        mark_here(ferry->copied[turn]);
    }
    free(data);
}

/* The largest of the scales that have the place of this one, up to it; the last one's is the largest of all. A matrix of
 * several is multiplied with rows that all of their scales have room for. */
static void carry_input_scale(const struct tensors *tensors, const struct plan *plan, size_t number) {
    const struct piece *piece = &plan->piece[number];
    float largest = 0;
    for (size_t i = number + 1; i-- > 0 && plan->piece[i].to == piece->to;) {
        float data;
        const struct tensor *tensor = tensor_of(tensors, &plan->piece[i], plan->config);
        tensor_read(tensor, 0, tensor->bytes, &data);
        largest = fmaxf(largest, scale_of(tensor, piece->kind, &data, 0));
    }
    copy_to_device(piece->to, &largest, sizeof largest);
    device_wait(); /* `largest` is no longer there */
}

static void carry_all(const struct tensors *tensors, const struct plan *plan) {
    struct ferry ferry = {.total = plan->bytes};
    for (int i = 0; i < 2; i++) {
        ferry.buffer[i] = pinned_allocate(FERRY_BYTES);
        ferry.copied[i] = mark_create();
    }
    for (size_t i = 0; i < plan->count; i++) {
        const struct tensor *tensor = tensor_of(tensors, &plan->piece[i], plan->config);
        if (plan->piece[i].kind == KIND_INPUT_SCALE)
            carry_input_scale(tensors, plan, i);
        else if (is_scale(&plan->piece[i]))
            carry_scales(&ferry, tensor, &plan->piece[i], plan->config);
        else
            carry(&ferry, tensor, plan->piece[i].to);
    }
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
    check_8_bits(&tensors, config);
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

/* A number of e4m3, not NaN: of all sizes alike often. */
static uint8_t random_e4m3(uint64_t *state) {
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    const uint8_t bits = (uint8_t)(*state >> 56);
    return (bits & 0x7f) == 0x7f ? 0 : bits;
}

/* The pattern again and again. */
static void fill(gm_device_ptr to, size_t size, const void *pattern, size_t bytes) {
    for (size_t from = 0; from < size; from += bytes)
        copy_to_device(to + from, pattern, size - from < bytes ? size - from : bytes);
}

/* Patterns of each kind are repeated; rows do not begin where they do. */
enum { PATTERN = (16 << 20) + 8 * 127 };

static void fill_pieces(const struct plan *plan, enum kind kind, const void *pattern) {
    for (size_t i = 0; i < plan->count; i++) {
        const struct piece *piece = &plan->piece[i];
        if (piece->kind == kind)
            fill(piece->to, (size_t)(elements_of(piece) * kind_bytes[kind]), pattern, PATTERN);
    }
    device_wait();
}

struct model *model_random(const struct config *config, int64_t positions) {
    struct model *model = model_of(config, positions);
    const struct plan plan = place_model(model, config, NULL, model->weights);
    uint16_t *pattern = pinned_allocate(PATTERN * sizeof *pattern);
    uint8_t *bytes = (uint8_t *)pattern;
    float *scales = (float *)(void *)pattern;
    uint64_t state = 1;
    for (size_t i = 0; i < PATTERN; i++)
        pattern[i] = random_element(&state, config->dtype);
    fill(model->weights, plan.bytes, pattern, PATTERN * sizeof *pattern);
    device_wait();
    for (size_t i = 0; i < PATTERN && config->any_e4m3; i++)
        bytes[i] = random_e4m3(&state);
    fill_pieces(&plan, KIND_E4M3, pattern);
    for (size_t i = 0; i < PATTERN / sizeof *scales; i++)
        scales[i] = 1.0f / 4096;
    for (int kind = KIND_SCALES; kind < KINDS; kind++)
        fill_pieces(&plan, (enum kind)kind, pattern);
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
