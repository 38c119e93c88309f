/* SPDX-License-Identifier: Apache-2.0 */
/* config.json -> what is computed. A key that is missing has the value that transformers' class of that architecture
 * gives it; a value that asks for something else than what this decoder computes is refused. */
#include "config.h"

#include "common.h"
#include "json.h"
#include "quantization.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Which layers have a window. */
enum windows { WINDOWS_NONE, WINDOWS_ALL, WINDOWS_LAST, WINDOWS_PATTERN };

/* Which layers have experts, and by which keys. */
enum mixture { MIXTURE_NONE, MIXTURE_QWEN3, MIXTURE_MIXTRAL };

/* An architecture, and the values of keys that are missing. 0: the key is needed, or its value follows from others. */
struct family {
    const char *name;
    enum windows windows;
    int64_t vocabulary, q_heads, kv_heads, head_dim, max_position, window;
    double theta, eps;
    enum mixture mixture;
    uint8_t has_qkv_bias, has_head_norm, is_gemma, is_nested;
};

static const struct family families[] = {
    {.name = "LlamaForCausalLM", .max_position = 2048, .theta = 1e4},
    {.name = "MistralForCausalLM",
     .windows = WINDOWS_ALL,
     .kv_heads = 8,
     .max_position = 131072,
     .window = 4096,
     .theta = 1e4},
    {.name = "Qwen2ForCausalLM",
     .windows = WINDOWS_LAST,
     .kv_heads = 32,
     .max_position = 32768,
     .window = 4096,
     .theta = 1e4,
     .has_qkv_bias = 1},
    {.name = "Qwen3ForCausalLM",
     .windows = WINDOWS_LAST,
     .kv_heads = 32,
     .head_dim = 128,
     .max_position = 32768,
     .window = 4096,
     .theta = 1e4,
     .has_head_norm = 1},
    {.name = "Qwen3MoeForCausalLM",
     .kv_heads = 4,
     .max_position = 32768,
     .theta = 1e4,
     .mixture = MIXTURE_QWEN3,
     .has_head_norm = 1},
    {.name = "MixtralForCausalLM",
     .windows = WINDOWS_ALL,
     .kv_heads = 8,
     .max_position = 131072,
     .theta = 1e6,
     .eps = 1e-5,
     .mixture = MIXTURE_MIXTRAL},
#define GEMMA3                                                                                                         \
    .windows = WINDOWS_PATTERN, .vocabulary = 262208, .q_heads = 8, .kv_heads = 4, .head_dim = 256,                    \
    .max_position = 131072, .window = 4096, .theta = 1e6, .has_head_norm = 1, .is_gemma = 1
    {.name = "Gemma3ForCausalLM", GEMMA3},
    {.name = "Gemma3ForConditionalGeneration", GEMMA3, .is_nested = 1},
};

/* A config.json that is being read. */
struct source {
    const char *path;
    const json_t *root, *text; /* the whole; what has the numbers: text_config, or the whole */
    const struct family *family;
};

/* ---- a key of an object -------------------------------------------------------------------------------- */

static _Noreturn void refuse(const struct source *source, const char *key, const json_t *value, const char *wanted) {
    refuse_value(source->path, key, value, wanted);
}

/* Of the text model, or of the whole. */
static const json_t *value_around(const struct source *source, const char *key) {
    const json_t *value = field(source->text, key);
    return value ? value : field(source->root, key);
}

/* An integer from `least` on. `missing` is that of a key without a value; below `least`: it is needed. */
static int64_t integer_of(const struct source *source, const json_t *object, const char *key, int64_t least,
                          int64_t missing) {
    const json_t *value = field(object, key);
    if (!value && missing >= least)
        return missing;
    if (!json_is_integer(value) || json_integer_value(value) < least || json_integer_value(value) > INT32_MAX) {
        char wanted[80];
        snprintf(wanted, sizeof wanted, "an integer from %" PRId64 " to %d is needed", least, INT32_MAX);
        refuse(source, key, value, wanted);
    }
    return json_integer_value(value);
}

static int64_t size_of(const struct source *source, const json_t *object, const char *key, int64_t missing) {
    return integer_of(source, object, key, 1, missing);
}

/* A number above `least`. `missing` is that of a key without a value, NAN: it is needed. */
static double number_of(const struct source *source, const json_t *object, const char *key, double least,
                        double missing) {
    const json_t *value = field(object, key);
    if (!value && !isnan(missing))
        return missing;
    if (!json_is_number(value) || json_number_value(value) <= least) {
        char wanted[60];
        snprintf(wanted, sizeof wanted, "a number above %g is needed", least);
        refuse(source, key, value, wanted);
    }
    return json_number_value(value);
}

static int flag_of(const struct source *source, const char *key, const json_t *value, int missing) {
    if (value && !json_is_boolean(value))
        refuse(source, key, value, "true or false is possible");
    return value ? json_is_true(value) : missing;
}

static const char *word_of(const struct source *source, const char *key, const json_t *value, const char *missing) {
    if (value ? !json_is_string(value) : !missing)
        refuse(source, key, value, "a word is needed");
    return value ? json_string_value(value) : missing;
}

static void refuse_flag(const struct source *source, const char *key, const char *why) {
    const json_t *value = field(source->text, key);
    if (flag_of(source, key, value, 0))
        refuse(source, key, value, why);
}

/* ---- the architecture ---------------------------------------------------------------------------------- */

static const struct family *find_family(const struct source *source) {
    const json_t *list = field(source->root, "architectures"), *first = json_array_get(list, 0);
    char known[300] = "known are";
    for (size_t i = 0; i < sizeof families / sizeof *families; i++) {
        if (json_array_size(list) == 1 && json_is_string(first) && !strcmp(json_string_value(first), families[i].name))
            return &families[i];
        const size_t used = strlen(known);
        snprintf(known + used, sizeof known - used, "%s %s", i ? "," : "", families[i].name);
    }
    refuse(source, "architectures", list, known);
}

/* ---- what is refused ----------------------------------------------------------------------------------- */

static void refuse_unknown(const struct source *source) {
    const json_t *rotated = field(source->text, "partial_rotary_factor");
    if (!source->family->has_qkv_bias) /* Qwen2 has biases without such a key */
        refuse_flag(source, "attention_bias", "this architecture is computed without biases of projections");
    refuse_flag(source, "mlp_bias", "an MLP is computed without biases");
    refuse_flag(source, "use_bidirectional_attention", "a token is attended by those behind it only");
    if (rotated && json_number_value(rotated) != 1)
        refuse(source, "partial_rotary_factor", rotated, "all elements of a head are rotated");
}

/* A key that changes what experts are, where it is there with another value than the one that changes nothing. */
static void refuse_but(const struct source *source, const char *key, double harmless, const char *why) {
    const json_t *value = field(source->text, key);
    if (value && (!json_is_number(value) || json_number_value(value) != harmless))
        refuse(source, key, value, why);
}

static void refuse_mixture(const struct source *source) {
    static const char shared[] = "experts that every token has are not known", groups[] = "experts have no groups";
    const json_t *scoring = field(source->text, "scoring_func");
    if (scoring && strcmp(word_of(source, "scoring_func", scoring, NULL), "softmax") != 0)
        refuse(source, "scoring_func", scoring, "a router's scores are a softmax");
    refuse_but(source, "n_shared_experts", 0, shared);
    refuse_but(source, "num_shared_experts", 0, shared);
    refuse_but(source, "shared_expert_intermediate_size", 0, shared);
    refuse_but(source, "n_group", 1, groups);
    refuse_but(source, "topk_group", 1, groups);
    refuse_but(source, "routed_scaling_factor", 1, "the weights of experts are not scaled");
    refuse_flag(source, "moe_bias", "experts are computed without biases");
    if (source->family->windows == WINDOWS_NONE)
        refuse_flag(source, "use_sliding_window", "this architecture is computed without windows");
}

/* ---- sizes and switches -------------------------------------------------------------------------------- */

static void read_heads(const struct source *source, struct config *config) {
    const struct family *family = source->family;
    const json_t *text = source->text, *kv_heads = json_object_get(text, "num_key_value_heads");
    config->q_heads = size_of(source, text, "num_attention_heads", family->q_heads);
    config->kv_heads = family->kv_heads && !kv_heads ? family->kv_heads : config->q_heads; /* null: as many as of q */
    config->kv_heads = size_of(source, text, "num_key_value_heads", config->kv_heads);
    if (config->q_heads % config->kv_heads)
        die("%s: %" PRId64 " heads of q are no multiple of %" PRId64 " of k and v", source->path, config->q_heads,
            config->kv_heads);
    if (!field(text, "head_dim") && !family->head_dim && config->hidden % config->q_heads)
        die("%s: `head_dim` is missing, and a hidden size of %" PRId64 " is no multiple of %" PRId64 " heads",
            source->path, config->hidden, config->q_heads);
    const int64_t share = config->hidden < config->q_heads ? 1 : config->hidden / config->q_heads;
    config->head_dim = size_of(source, text, "head_dim", family->head_dim ? family->head_dim : share);
    if (config->head_dim % 8 || config->head_dim > 256)
        die("%s: heads have %" PRId64 " elements; a multiple of 8 up to 256 is possible", source->path,
            config->head_dim);
}

/* Whether `mlp_only_layers` has this layer. */
static int is_dense(const struct source *source, int64_t layer) {
    const json_t *list = field(source->text, "mlp_only_layers");
    int is_listed = 0;
    if (list && !json_is_array(list))
        refuse(source, "mlp_only_layers", list, "an array is needed");
    for (size_t i = 0; i < json_array_size(list); i++) {
        if (!json_is_integer(json_array_get(list, i)))
            refuse(source, "mlp_only_layers", list, "numbers of layers are needed");
        is_listed |= json_integer_value(json_array_get(list, i)) == layer;
    }
    return is_listed;
}

/* Every layer of Mixtral has experts; of Qwen3 every so manieth that is not listed, and others have an MLP. */
static void place_experts(const struct source *source, struct config *config) {
    const int is_qwen = source->family->mixture == MIXTURE_QWEN3;
    const int64_t every = is_qwen ? size_of(source, source->text, "decoder_sparse_step", 1) : 1;
    int64_t count = 0;
    for (int64_t i = 0; i < config->layers; i++) {
        config->has_experts[i] = (i + 1) % every == 0 && !(is_qwen && is_dense(source, i));
        count += config->has_experts[i];
    }
    if (count == 0)
        die("%s: no layer has experts, by `decoder_sparse_step` and `mlp_only_layers`", source->path);
    if (count < config->layers)
        config->intermediate = size_of(source, source->text, "intermediate_size", 0);
}

/* transformers 5 calls the number of Qwen3's experts num_local_experts, as that of Mixtral's was called ever. */
static void read_experts(const struct source *source, struct config *config) {
    const json_t *text = source->text;
    const int is_qwen = source->family->mixture == MIXTURE_QWEN3;
    const char *key = is_qwen && !field(text, "num_local_experts") ? "num_experts" : "num_local_experts";
    const char *columns = is_qwen ? "moe_intermediate_size" : "intermediate_size";
    refuse_mixture(source);
    config->experts = size_of(source, text, key, is_qwen ? 128 : 8);
    config->chosen = size_of(source, text, "num_experts_per_tok", is_qwen ? 8 : 2);
    config->expert_intermediate = size_of(source, text, columns, is_qwen ? 768 : 0);
    config->renormalizes = !is_qwen || flag_of(source, "norm_topk_prob", field(text, "norm_topk_prob"), 0);
    config->has_mixtral_names = !is_qwen;
    if (config->experts > EXPERTS_MAX)
        die("%s: `%s` is %" PRId64 "; %d are possible", source->path, key, config->experts, EXPERTS_MAX);
    if (config->chosen > config->experts || config->chosen > CHOSEN_MAX)
        die("%s: `num_experts_per_tok` is %" PRId64 "; %d are possible, and no more than there are, %" PRId64,
            source->path, config->chosen, CHOSEN_MAX, config->experts);
    if (config->hidden % 8 || config->expert_intermediate % 8)
        die("%s: experts of %" PRId64 " x %" PRId64 " elements; multiples of 8 are possible", source->path,
            config->expert_intermediate, config->hidden);
    place_experts(source, config);
}

static void read_sizes(const struct source *source, struct config *config) {
    const json_t *text = source->text;
    config->vocabulary = size_of(source, text, "vocab_size", source->family->vocabulary);
    config->hidden = size_of(source, text, "hidden_size", 0);
    config->layers = size_of(source, text, "num_hidden_layers", 0);
    config->max_position = size_of(source, text, "max_position_embeddings", source->family->max_position);
    if (config->layers > LAYERS_MAX)
        die("%s: `num_hidden_layers` is %" PRId64 "; %d are possible", source->path, config->layers, LAYERS_MAX);
    read_heads(source, config);
    if (source->family->mixture == MIXTURE_NONE)
        config->intermediate = size_of(source, text, "intermediate_size", 0);
    else
        read_experts(source, config);
}

static enum dtype read_dtype(const struct source *source) {
    const char *key = value_around(source, "dtype") ? "dtype" : "torch_dtype"; /* that of transformers 5; the older */
    const json_t *value = value_around(source, key);
    const char *word = value ? word_of(source, key, value, NULL) : "";
    if (!value)
        refuse(source, "dtype", value, "add the dtype of the tensors, \"bfloat16\" or \"float16\"");
    if (strcmp(word, "bfloat16") != 0 && strcmp(word, "float16") != 0)
        refuse(source, key, value,
               "\"bfloat16\" and \"float16\" are computed: load the model with that dtype in transformers and save it "
               "again");
    return word[0] == 'b' ? DTYPE_BF16 : DTYPE_FP16;
}

static enum activation read_activation(const struct source *source) {
    const int is_gemma = source->family->is_gemma;
    const char *key = is_gemma ? "hidden_activation" : "hidden_act";
    const json_t *value = field(source->text, key);
    const char *word = word_of(source, key, value, is_gemma ? "gelu_pytorch_tanh" : "silu");
    if (strcmp(word, "silu") == 0)
        return ACTIVATION_SILU;
    if (strcmp(word, "gelu_pytorch_tanh") == 0)
        return ACTIVATION_GELU_TANH;
    refuse(source, key, value, "known are \"silu\" and \"gelu_pytorch_tanh\"");
}

/* The nearest value of the dtype, of a normal number; of two as near, the even one. */
static double rounded(double value, enum dtype dtype) {
    const int bits = dtype == DTYPE_BF16 ? 8 : 11;
    int exponent;
    const double part = frexp(value, &exponent);
    return ldexp(rint(ldexp(part, bits)), exponent - bits);
}

static void read_gemma(const struct source *source, struct config *config) {
    const json_t *text = source->text;
    config->has_sandwich = 1;
    config->weight_offset = 1;
    config->embedding_scale = rounded(sqrt((double)config->hidden), config->dtype);
    config->attention_scale = 1 / sqrt(number_of(source, text, "query_pre_attn_scalar", 0, 256));
    config->attention_cap = number_of(source, text, "attn_logit_softcapping", 0, 0);
    config->logits_cap = number_of(source, text, "final_logit_softcapping", 0, 0);
}

static void read_switches(const struct source *source, struct config *config) {
    const struct family *family = source->family;
    const json_t *tied = value_around(source, "tie_word_embeddings");
    snprintf(config->tensor_prefix, sizeof config->tensor_prefix, "%smodel.",
             family->is_nested ? "language_model." : "");
    config->architecture = family->name;
    config->dtype = read_dtype(source);
    config->eps = number_of(source, source->text, "rms_norm_eps", 0, family->eps > 0 ? family->eps : 1e-6);
    config->has_tied_embeddings = flag_of(source, "tie_word_embeddings", tied, family->is_gemma);
    config->has_qkv_bias = family->has_qkv_bias;
    config->has_head_norm = family->has_head_norm;
    config->activation = read_activation(source);
    config->attention_scale = 1 / sqrt((double)config->head_dim);
    if (family->is_gemma)
        read_gemma(source, config);
}

/* ---- rotary embedding ---------------------------------------------------------------------------------- */

static enum rope_kind read_rope_kind(const struct source *source, const json_t *object) {
    static const char *const words[] = {
        [ROPE_PLAIN] = "default", [ROPE_LINEAR] = "linear", [ROPE_LLAMA3] = "llama3", [ROPE_YARN] = "yarn"};
    const char *key = !field(object, "rope_type") && field(object, "type") ? "type" : "rope_type";
    const json_t *value = field(object, key);
    const char *word = word_of(source, key, value, "default");
    for (int kind = ROPE_PLAIN; kind <= ROPE_YARN; kind++)
        if (strcmp(word, words[kind]) == 0)
            return (enum rope_kind)kind;
    refuse(source, key, value, "known are \"default\", \"linear\", \"llama3\" and \"yarn\"");
}

/* How much YaRN scales what is rotated. */
static double yarn_size(double factor, double scale) {
    return factor <= 1 ? 1 : 0.1 * scale * log(factor) + 1;
}

/* Keys of YaRN. An mscale of 0 is as good as none. */
static void read_yarn(const struct source *source, const json_t *object, struct rope_scaling *rope) {
    const json_t *truncate = field(object, "truncate");
    const double scale = number_of(source, object, "mscale", -1, 0);
    const double scale_all = number_of(source, object, "mscale_all_dim", -1, 0);
    double size = yarn_size(rope->factor, 1);
    if (scale != 0 && scale_all != 0)
        size = yarn_size(rope->factor, scale) / yarn_size(rope->factor, scale_all);
    rope->attention_factor = number_of(source, object, "attention_factor", 0, size);
    rope->beta_fast = number_of(source, object, "beta_fast", 0, 32);
    rope->beta_slow = number_of(source, object, "beta_slow", 0, 1);
    rope->truncate = flag_of(source, "truncate", truncate, 1);
    if (rope->beta_fast <= rope->beta_slow)
        die("%s: `beta_fast` is %g, which is not above `beta_slow`, %g", source->path, rope->beta_fast,
            rope->beta_slow);
}

static void read_llama3(const struct source *source, const json_t *object, struct rope_scaling *rope) {
    rope->low_freq_factor = number_of(source, object, "low_freq_factor", 0, NAN);
    rope->high_freq_factor = number_of(source, object, "high_freq_factor", 0, NAN);
    if (rope->high_freq_factor <= rope->low_freq_factor)
        die("%s: `high_freq_factor` is %g, which is not above `low_freq_factor`, %g", source->path,
            rope->high_freq_factor, rope->low_freq_factor);
}

/* Of rope_scaling, rope_parameters or one layer type of it; NULL: there is none. `theta` is that of a missing key. */
static struct rope_scaling read_rope(const struct source *source, const json_t *object, double theta,
                                     int64_t max_position) {
    struct rope_scaling rope = {.kind = read_rope_kind(source, object)};
    const json_t *rotated = field(object, "partial_rotary_factor");
    rope.theta = number_of(source, object, "rope_theta", 1, theta);
    if (rotated && json_number_value(rotated) != 1)
        refuse(source, "partial_rotary_factor", rotated, "all elements of a head are rotated");
    if (rope.kind != ROPE_PLAIN)
        rope.factor = number_of(source, object, "factor", 0, NAN);
    if (rope.kind == ROPE_LLAMA3 || rope.kind == ROPE_YARN)
        rope.original_max_position =
            size_of(source, object, "original_max_position_embeddings", rope.kind == ROPE_YARN ? max_position : 0);
    if (rope.kind == ROPE_LLAMA3)
        read_llama3(source, object, &rope);
    if (rope.kind == ROPE_YARN)
        read_yarn(source, object, &rope);
    return rope;
}

/* The object of that key; NULL: there is none, or it is empty. */
static const json_t *rope_object(const struct source *source, const json_t *object, const char *key) {
    const json_t *value = field(object, key);
    if (value && !json_is_object(value))
        refuse(source, key, value, "an object is needed");
    return json_object_size(value) ? value : NULL;
}

/* Layers of Gemma-3 with a window have a rope of their own. */
static void read_ropes(const struct source *source, struct config *config) {
    const json_t *older = rope_object(source, source->text, "rope_scaling");
    const json_t *newer = rope_object(source, source->text, "rope_parameters");
    const json_t *full = rope_object(source, newer, "full_attention");
    const json_t *sliding = rope_object(source, newer, "sliding_attention");
    const int is_gemma = source->family->is_gemma, is_map = full || sliding;
    const double theta = number_of(source, source->text, "rope_theta", 1, source->family->theta);
    if (older && newer && !json_equal(older, newer))
        die("%s: `rope_scaling` and `rope_parameters` are there and differ", source->path);
    if (newer && is_map != is_gemma)
        refuse(source, "rope_parameters", newer,
               is_gemma ? "Gemma-3 has them by layer type, full_attention and sliding_attention"
                        : "this architecture has one rope for all layer types");
    config->rope = read_rope(source, is_map ? full : newer ? newer : older, theta, config->max_position);
    config->local_rope = config->rope;
    if (is_gemma)
        config->local_rope = read_rope(source, sliding, number_of(source, source->text, "rope_local_base_freq", 1, 1e4),
                                       config->max_position);
}

/* ---- windows ------------------------------------------------------------------------------------------- */

/* Tokens that a layer with a window sees; 0: no layer has one. */
static int64_t read_window(const struct source *source) {
    const struct family *family = source->family;
    const json_t *window = json_object_get(source->text, "sliding_window");
    const json_t *is_used = field(source->text, "use_sliding_window");
    if (family->windows == WINDOWS_NONE)
        return 0;
    if (family->windows == WINDOWS_LAST && !flag_of(source, "use_sliding_window", is_used, 0))
        return 0;
    if (family->windows == WINDOWS_PATTERN && json_is_null(window))
        refuse(source, "sliding_window", window, "layers of Gemma-3 have one");
    if (!window && !family->window)
        return 0;
    return json_is_null(window) ? 0 : size_of(source, source->text, "sliding_window", family->window);
}

/* Whether a layer has a window, where layer_types does not tell. */
static int has_window_by_rule(const struct source *source, int64_t layer) {
    const json_t *text = source->text;
    const char *pattern = "sliding_window_pattern";
    switch (source->family->windows) {
    case WINDOWS_NONE:
        break;
    case WINDOWS_ALL:
        return 1;
    case WINDOWS_LAST:
        return layer >= integer_of(source, text, "max_window_layers", 0, 28);
    case WINDOWS_PATTERN: /* transformers saves it with an underscore */
        return (layer + 1) % size_of(source, text, field(text, pattern) ? pattern : "_sliding_window_pattern", 6) != 0;
    }
    return 0;
}

static int has_window_by_type(const struct source *source, const json_t *type) {
    const char *word = word_of(source, "layer_types", type, NULL);
    if (strcmp(word, "sliding_attention") != 0 && strcmp(word, "full_attention") != 0)
        refuse(source, "layer_types", type, "known are \"full_attention\" and \"sliding_attention\"");
    return word[0] == 's';
}

static void read_windows(const struct source *source, struct config *config) {
    const enum windows windows = source->family->windows;
    const json_t *types = field(source->text, "layer_types");
    const int64_t window = read_window(source);
    if (types && json_array_size(types) != (size_t)config->layers)
        refuse(source, "layer_types", types, "an array is needed that has the type of each layer");
    for (int64_t i = 0; i < config->layers; i++) {
        const int by_rule = window && has_window_by_rule(source, i);
        const int has_one = types ? has_window_by_type(source, json_array_get(types, (size_t)i)) : by_rule;
        if (has_one && !window)
            die("%s: `layer_types` gives layer %" PRId64 " a window, of which no size is known", source->path, i);
        if (has_one != by_rule && windows == WINDOWS_ALL)
            die("%s: `layer_types` gives layer %" PRId64 " no window; all layers of %s have one", source->path, i,
                source->family->name);
        config->has_window[i] = (uint8_t)has_one;
        config->window = has_one ? window : config->window;
    }
}

/* ---- tokens -------------------------------------------------------------------------------------------- */

static int64_t token_of(const struct source *source, const struct config *config, const char *key,
                        const json_t *value) {
    const int64_t token = json_is_integer(value) ? json_integer_value(value) : -1;
    if (token < 0 || token >= config->vocabulary) {
        char wanted[60];
        snprintf(wanted, sizeof wanted, "a token from 0 to %" PRId64 " is needed", config->vocabulary - 1);
        refuse(source, key, value, wanted);
    }
    return token;
}

static void add_end_token(const struct source *source, struct config *config, const json_t *value) {
    const int64_t token = token_of(source, config, "eos_token_id", value);
    for (int i = 0; i < config->end_token_count; i++)
        if (config->end_tokens[i] == token)
            return;
    if (config->end_token_count == END_TOKENS_MAX)
        die("%s: more than %d tokens end the text", source->path, END_TOKENS_MAX);
    config->end_tokens[config->end_token_count++] = token;
}

/* Of one object: those that end the text, and the one that begins it unless it is known already. */
static void read_tokens(const struct source *source, struct config *config, const json_t *object) {
    const json_t *end = field(object, "eos_token_id"), *begin = field(object, "bos_token_id");
    for (size_t i = 0; i < json_array_size(end); i++)
        add_end_token(source, config, json_array_get(end, i));
    if (end && !json_is_array(end))
        add_end_token(source, config, end);
    if (begin && config->begin_token < 0)
        config->begin_token = token_of(source, config, "bos_token_id", begin);
}

static void read_generation(const char *folder, struct config *config) {
    char *path = path_of(folder, "generation_config.json");
    if (access(path, F_OK) == 0) {
        json_t *root = read_object(path, 0);
        const struct source source = {.path = path, .root = root, .text = root};
        read_tokens(&source, config, root);
        json_decref(root);
    }
    free(path);
}

/* ---- all of it ----------------------------------------------------------------------------------------- */

struct config config_read(const char *folder) {
    struct config config = {.begin_token = -1};
    char *path = path_of(folder, "config.json");
    json_t *root = read_object(path, 0);
    struct source source = {.path = path, .root = root, .text = root};
    source.family = find_family(&source);
    if (source.family->is_nested)
        source.text = field(root, "text_config");
    if (!json_is_object(source.text))
        refuse(&source, "text_config", source.text, "an object is needed");
    refuse_unknown(&source);
    read_sizes(&source, &config);
    read_switches(&source, &config);
    read_quantization(path, value_around(&source, "quantization_config"), &config);
    read_ropes(&source, &config);
    read_windows(&source, &config);
    read_tokens(&source, &config, source.text);
    if (source.text != root)
        read_tokens(&source, &config, root);
    json_decref(root);
    free(path);
    read_generation(folder, &config);
    return config;
}
