/* SPDX-License-Identifier: Apache-2.0 */
#include "quantization.h"

#define PCRE2_CODE_UNIT_WIDTH 8

#include "common.h"
#include "json.h"

#include <inttypes.h>
#include <pcre2.h>
#include <stdio.h>
#include <string.h>

/* A quantization_config that is being read, or an object of it: `within` stands before a key in sentences. */
struct source {
    const char *path, *within;
    const json_t *object;
};

static _Noreturn void refuse(const struct source *source, const char *key, const char *wanted) {
    char whole[120];
    snprintf(whole, sizeof whole, "%s.%s", source->within, key);
    refuse_value(source->path, whole, field(source->object, key), wanted);
}

/* Whether a key has that word. */
static int says(const struct source *source, const char *key, const char *word) {
    const json_t *value = field(source->object, key);
    return json_is_string(value) && strcmp(json_string_value(value), word) == 0;
}

static void demand_none(const struct source *source, const char *key, const char *wanted) {
    const json_t *value = field(source->object, key);
    if (value && !(json_is_object(value) && json_object_size(value) == 0))
        refuse(source, key, wanted);
}

/* ---- what is left in 16 bits ---------------------------------------------------------------------------- */

/* Whether a name begins as an expression of Python says, which is as PCRE2 reads it. */
static int begins_as(const struct source *source, const char *key, const char *pattern, const char *name) {
    int error;
    PCRE2_SIZE at;
    pcre2_code *code = pcre2_compile((PCRE2_SPTR)pattern, PCRE2_ZERO_TERMINATED, PCRE2_ANCHORED, &error, &at, NULL);
    if (!code)
        refuse(source, key, "an expression behind \"re:\" is not understood");
    pcre2_match_data *match = pcre2_match_data_create_from_pattern(code, NULL);
    const int found = pcre2_match(code, (PCRE2_SPTR)name, strlen(name), 0, 0, match, NULL);
    pcre2_match_data_free(match);
    pcre2_code_free(code);
    if (found < 0 && found != PCRE2_ERROR_NOMATCH)
        refuse(source, key, "an expression behind \"re:\" takes too long");
    return found >= 0;
}

/* Whether the list of that key has a module: by its name, or by "re:" and an expression. */
static int is_listed(const struct source *source, const char *key, const char *module) {
    const json_t *list = field(source->object, key);
    if (list && !json_is_array(list))
        refuse(source, key, "an array is needed");
    for (size_t i = 0; i < json_array_size(list); i++) {
        const char *word = json_string_value(json_array_get(list, i));
        if (!word)
            refuse(source, key, "names of modules are needed");
        if (strncmp(word, "re:", 3) == 0 ? begins_as(source, key, word + 3, module) : strcmp(word, module) == 0)
            return 1;
    }
    return 0;
}

/* Matrices that are of one type, by their modules. */
static const struct group {
    enum e4m3 bit;
    int count;
    const char *module[3];
} groups[] = {
    {E4M3_QKV, 3, {"self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj"}},
    {E4M3_ATTENTION_OUT, 1, {"self_attn.o_proj"}},
    {E4M3_MLP, 3, {"mlp.gate_proj", "mlp.up_proj", "mlp.down_proj"}},
};

static int is_e4m3(const struct source *source, const char *ignored, const struct config *config, int64_t layer,
                   const struct group *group) {
    int listed = 0;
    for (int i = 0; i < group->count; i++) {
        char name[120];
        snprintf(name, sizeof name, "%slayers.%" PRId64 ".%s", config->tensor_prefix, layer, group->module[i]);
        listed += is_listed(source, ignored, name);
    }
    if (listed && listed < group->count)
        die("%s: `%s.%s` has some of layer %" PRId64 "'s %s ... %s; all or none are possible", source->path,
            source->within, ignored, layer, group->module[0], group->module[group->count - 1]);
    return !listed;
}

static void read_layers(const struct source *source, const char *ignored, struct config *config) {
    if (config->experts)
        refuse(source, "quant_method", "experts are computed in 16 bits only");
    for (int64_t i = 0; i < config->layers; i++) {
        for (size_t j = 0; j < sizeof groups / sizeof *groups; j++)
            if (is_e4m3(source, ignored, config, i, &groups[j]))
                config->e4m3[i] |= (uint8_t)groups[j].bit;
        config->any_e4m3 |= config->e4m3[i];
    }
}

/* ---- compressed-tensors --------------------------------------------------------------------------------- */

/* Numbers of e4m3, symmetric. */
static void demand_e4m3(const struct source *source) {
    const json_t *bits = field(source->object, "num_bits"), *symmetric = field(source->object, "symmetric");
    if (json_integer_value(bits) != 8)
        refuse(source, "num_bits", "8 are possible");
    if (!says(source, "type", "float"))
        refuse(source, "type", "\"float\" is possible");
    if (symmetric && !json_is_true(symmetric))
        refuse(source, "symmetric", "zeros are not moved");
}

/* Blocks of 128 rows by 128 columns. */
static void demand_blocks(const struct source *source, const char *key) {
    const json_t *sizes = field(source->object, key);
    if (json_array_size(sizes) != 2 || json_integer_value(json_array_get(sizes, 0)) != SCALES_BLOCK ||
        json_integer_value(json_array_get(sizes, 1)) != SCALES_BLOCK)
        refuse(source, key, "scales of blocks of [128, 128] are computed");
}

static void read_weights(const struct source *source, struct config *config) {
    if (!json_is_object(source->object))
        refuse_value(source->path, source->within, source->object, "an object is needed");
    demand_e4m3(source);
    if (says(source, "strategy", "channel"))
        config->scaled = SCALED_CHANNELS;
    else if (says(source, "strategy", "tensor"))
        config->scaled = SCALED_TENSORS;
    else if (says(source, "strategy", "block"))
        config->scaled = SCALED_BLOCKS;
    else
        refuse(source, "strategy", "\"channel\", \"tensor\" and \"block\" are possible");
    if (config->scaled == SCALED_BLOCKS)
        demand_blocks(source, "block_structure");
}

/* Of weights that have scales of blocks. */
static void read_groups(const struct source *source) {
    if (!json_is_true(field(source->object, "dynamic")))
        refuse(source, "dynamic", "rows before scales of blocks are quantised as they come");
    if (!says(source, "strategy", "group"))
        refuse(source, "strategy", "rows before scales of blocks have a scale for each 128 columns, \"group\"");
    if (json_integer_value(field(source->object, "group_size")) != SCALES_BLOCK)
        refuse(source, "group_size", "128 are possible");
}

static void read_rows(const struct source *source, struct config *config) {
    const json_t *dynamic = field(source->object, "dynamic");
    if (!json_is_object(source->object))
        refuse_value(source->path, source->within, source->object,
                     "rows are quantised too, so that an object is needed");
    demand_e4m3(source);
    if (config->scaled == SCALED_BLOCKS) {
        read_groups(source);
        return;
    }
    if (dynamic && !json_is_boolean(dynamic))
        refuse(source, "dynamic", "true or false is possible");
    config->has_input_scales = !json_is_true(dynamic);
    if (!says(source, "strategy", config->has_input_scales ? "tensor" : "token"))
        refuse(source, "strategy",
               config->has_input_scales ? "rows by scales of the files have one for all, \"tensor\""
                                        : "rows that are quantised as they come have a scale each, \"token\"");
}

static void read_compressed(const struct source *source, struct config *config) {
    json_t *list = field(source->object, "config_groups");
    const json_t *group = json_object_iter_value(json_object_iter(list));
    const struct source inner = {source->path, "quantization_config.config_groups.*", group};
    const json_t *targets = field(group, "targets"), *target = json_array_get(targets, 0);
    if (!says(source, "format", "float-quantized"))
        refuse(source, "format", "\"float-quantized\" is possible");
    demand_none(source, "kv_cache_scheme", "the cache has 16 bits");
    demand_none(source, "sparsity_config", "matrices are dense");
    demand_none(source, "transform_config", "nothing is transformed");
    if (json_object_size(list) != 1)
        refuse(source, "config_groups", "one group is possible");
    if (json_array_size(targets) != 1 || !json_is_string(target) || strcmp(json_string_value(target), "Linear") != 0)
        refuse(&inner, "targets", "[\"Linear\"] is possible");
    if (field(group, "format") && !says(&inner, "format", "float-quantized"))
        refuse(&inner, "format", "\"float-quantized\" is possible");
    demand_none(&inner, "output_activations", "what a matrix makes has 16 bits");
    read_weights(&(struct source){source->path, "quantization_config.config_groups.*.weights", field(group, "weights")},
                 config);
    read_rows(&(struct source){source->path, "quantization_config.config_groups.*.input_activations",
                               field(group, "input_activations")},
              config);
    if (!config->has_tied_embeddings && !is_listed(source, "ignore", "lm_head"))
        refuse(source, "ignore", "\"lm_head\" has 16 bits, and must be among them");
    read_layers(source, "ignore", config);
}

/* ---- fp8 ------------------------------------------------------------------------------------------------ */

static void read_fp8(const struct source *source, struct config *config) {
    const char *ignored = field(source->object, "ignored_layers") ? "ignored_layers" : "modules_to_not_convert";
    const int has_blocks = field(source->object, "weight_block_size") != NULL;
    demand_none(source, "scale_fmt", "scales of rows are not rounded to powers of 2");
    if (field(source->object, "fmt") && !says(source, "fmt", "e4m3"))
        refuse(source, "fmt", "\"e4m3\" is possible");
    config->has_input_scales = says(source, "activation_scheme", "static");
    if (!config->has_input_scales && !says(source, "activation_scheme", "dynamic"))
        refuse(source, "activation_scheme", "\"dynamic\" and \"static\" are possible");
    if (has_blocks)
        demand_blocks(source, "weight_block_size");
    if (has_blocks && config->has_input_scales)
        refuse(source, "activation_scheme", "rows before scales of blocks are quantised as they come, \"dynamic\"");
    config->scaled = has_blocks ? SCALED_BLOCKS : SCALED_TENSORS;
    config->has_inverse_names = has_blocks;
    read_layers(source, ignored, config);
}

void read_quantization(const char *path, const json_t *object, struct config *config) {
    const struct source source = {path, "quantization_config", object};
    if (!object)
        return;
    if (says(&source, "quant_method", "compressed-tensors"))
        read_compressed(&source, config);
    else if (says(&source, "quant_method", "fp8"))
        read_fp8(&source, config);
    else
        refuse(
            &source, "quant_method",
            "known are \"compressed-tensors\" and \"fp8\": take another quantisation, or the model that was quantised");
}
