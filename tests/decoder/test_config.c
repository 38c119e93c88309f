/* SPDX-License-Identifier: Apache-2.0 */
/* The reader of config.json: what it makes of models that people have, and its sentence for what is not computed. */
#include "config.h"

#include "refusal.h"

#include <check.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

Suite *config_suite(void);

#define COUNT(array) (int)(sizeof(array) / sizeof *(array))

/* ---- models ---------------------------------------------------------------------------------------------- */

/* Keys of transformers 4, and of 5 where the text is another. */
static const char llama_8b[] =
    "{\"architectures\":[\"LlamaForCausalLM\"],\"attention_bias\":false,\"attention_dropout\":0.0,"
    "\"bos_token_id\":128000,\"eos_token_id\":[128001,128008,128009],\"hidden_act\":\"silu\",\"hidden_size\":4096,"
    "\"initializer_range\":0.02,\"intermediate_size\":14336,\"max_position_embeddings\":131072,\"mlp_bias\":false,"
    "\"model_type\":\"llama\",\"num_attention_heads\":32,\"num_hidden_layers\":32,\"num_key_value_heads\":8,"
    "\"pretraining_tp\":1,\"rms_norm_eps\":1e-05,\"rope_scaling\":{\"factor\":8.0,\"low_freq_factor\":1.0,"
    "\"high_freq_factor\":4.0,\"original_max_position_embeddings\":8192,\"rope_type\":\"llama3\"},"
    "\"rope_theta\":500000.0,\"tie_word_embeddings\":false,\"torch_dtype\":\"bfloat16\",\"use_cache\":true,"
    "\"vocab_size\":128256}";
static const char llama_8b_new[] =
    "{\"architectures\":[\"LlamaForCausalLM\"],\"attention_bias\":false,\"bos_token_id\":128000,\"dtype\":\"bfloat16\","
    "\"eos_token_id\":[128001,128008,128009],\"head_dim\":128,\"hidden_act\":\"silu\",\"hidden_size\":4096,"
    "\"intermediate_size\":14336,\"max_position_embeddings\":131072,\"mlp_bias\":false,\"num_attention_heads\":32,"
    "\"num_hidden_layers\":32,\"num_key_value_heads\":8,\"pad_token_id\":null,\"rms_norm_eps\":1e-05,"
    "\"rope_parameters\":{\"factor\":8.0,\"low_freq_factor\":1.0,\"high_freq_factor\":4.0,"
    "\"original_max_position_embeddings\":8192,\"rope_theta\":500000.0,\"rope_type\":\"llama3\"},"
    "\"tie_word_embeddings\":false,\"vocab_size\":128256}";
static const char llama_1b[] =
    "{\"architectures\":[\"LlamaForCausalLM\"],\"attention_bias\":false,\"bos_token_id\":128000,"
    "\"eos_token_id\":128001,\"head_dim\":64,\"hidden_act\":\"silu\",\"hidden_size\":2048,\"intermediate_size\":8192,"
    "\"max_position_embeddings\":131072,\"mlp_bias\":false,\"num_attention_heads\":32,\"num_hidden_layers\":16,"
    "\"num_key_value_heads\":8,\"rms_norm_eps\":1e-05,\"rope_scaling\":{\"factor\":32.0,\"high_freq_factor\":4.0,"
    "\"low_freq_factor\":1.0,\"original_max_position_embeddings\":8192,\"rope_type\":\"llama3\"},"
    "\"rope_theta\":500000.0,\"tie_word_embeddings\":true,\"torch_dtype\":\"bfloat16\",\"vocab_size\":128256}";
static const char llama_1b_new[] =
    "{\"architectures\":[\"LlamaForCausalLM\"],\"bos_token_id\":128000,\"dtype\":\"bfloat16\","
    "\"eos_token_id\":128001,\"head_dim\":64,\"hidden_act\":\"silu\",\"hidden_size\":2048,\"intermediate_size\":8192,"
    "\"max_position_embeddings\":131072,\"num_attention_heads\":32,\"num_hidden_layers\":16,"
    "\"num_key_value_heads\":8,\"rms_norm_eps\":1e-05,\"rope_parameters\":{\"factor\":32.0,\"high_freq_factor\":4.0,"
    "\"low_freq_factor\":1.0,\"original_max_position_embeddings\":8192,\"rope_theta\":500000.0,"
    "\"rope_type\":\"llama3\"},\"tie_word_embeddings\":true,\"vocab_size\":128256}";
static const char qwen2_7b[] =
    "{\"architectures\":[\"Qwen2ForCausalLM\"],\"attention_dropout\":0.0,\"bos_token_id\":151643,"
    "\"eos_token_id\":151645,\"hidden_act\":\"silu\",\"hidden_size\":3584,\"intermediate_size\":18944,"
    "\"max_position_embeddings\":32768,\"max_window_layers\":28,\"model_type\":\"qwen2\",\"num_attention_heads\":28,"
    "\"num_hidden_layers\":28,\"num_key_value_heads\":4,\"rms_norm_eps\":1e-06,\"rope_theta\":1000000.0,"
    "\"sliding_window\":131072,\"tie_word_embeddings\":false,\"torch_dtype\":\"bfloat16\","
    "\"use_sliding_window\":false,\"vocab_size\":152064}";
static const char qwen2_7b_new[] =
    "{\"architectures\":[\"Qwen2ForCausalLM\"],\"bos_token_id\":151643,\"dtype\":\"bfloat16\","
    "\"eos_token_id\":151645,\"hidden_act\":\"silu\",\"hidden_size\":3584,\"intermediate_size\":18944,"
    "\"layer_types\":[\"full_attention\",\"full_attention\",\"full_attention\",\"full_attention\",\"full_attention\","
    "\"full_attention\",\"full_attention\",\"full_attention\",\"full_attention\",\"full_attention\","
    "\"full_attention\",\"full_attention\",\"full_attention\",\"full_attention\",\"full_attention\","
    "\"full_attention\",\"full_attention\",\"full_attention\",\"full_attention\",\"full_attention\","
    "\"full_attention\",\"full_attention\",\"full_attention\",\"full_attention\",\"full_attention\","
    "\"full_attention\",\"full_attention\",\"full_attention\"],"
    "\"max_position_embeddings\":32768,\"max_window_layers\":28,\"num_attention_heads\":28,\"num_hidden_layers\":28,"
    "\"num_key_value_heads\":4,\"rms_norm_eps\":1e-06,\"rope_parameters\":{\"rope_theta\":1000000.0,"
    "\"rope_type\":\"default\"},\"sliding_window\":null,\"tie_word_embeddings\":false,\"use_sliding_window\":false,"
    "\"vocab_size\":152064}";
static const char qwen3_8b[] =
    "{\"architectures\":[\"Qwen3ForCausalLM\"],\"attention_bias\":false,\"bos_token_id\":151643,"
    "\"eos_token_id\":151645,\"head_dim\":128,\"hidden_act\":\"silu\",\"hidden_size\":4096,"
    "\"intermediate_size\":12288,\"max_position_embeddings\":40960,\"max_window_layers\":36,\"model_type\":\"qwen3\","
    "\"num_attention_heads\":32,\"num_hidden_layers\":36,\"num_key_value_heads\":8,\"rms_norm_eps\":1e-06,"
    "\"rope_scaling\":null,\"rope_theta\":1000000,\"sliding_window\":null,\"tie_word_embeddings\":false,"
    "\"torch_dtype\":\"bfloat16\",\"use_sliding_window\":false,\"vocab_size\":151936}";
static const char qwen3_8b_new[] =
    "{\"architectures\":[\"Qwen3ForCausalLM\"],\"attention_bias\":false,\"bos_token_id\":151643,"
    "\"dtype\":\"bfloat16\",\"eos_token_id\":151645,\"head_dim\":128,\"hidden_act\":\"silu\",\"hidden_size\":4096,"
    "\"intermediate_size\":12288,\"max_position_embeddings\":40960,\"max_window_layers\":36,"
    "\"num_attention_heads\":32,\"num_hidden_layers\":36,\"num_key_value_heads\":8,\"rms_norm_eps\":1e-06,"
    "\"rope_parameters\":{\"rope_theta\":1000000,\"rope_type\":\"default\"},\"sliding_window\":null,"
    "\"tie_word_embeddings\":false,\"use_sliding_window\":false,\"vocab_size\":151936}";
static const char qwen3_30b[] =
    "{\"architectures\":[\"Qwen3MoeForCausalLM\"],\"attention_bias\":false,\"bos_token_id\":151643,"
    "\"decoder_sparse_step\":1,\"eos_token_id\":151645,\"head_dim\":128,\"hidden_act\":\"silu\",\"hidden_size\":2048,"
    "\"intermediate_size\":6144,\"max_position_embeddings\":40960,\"max_window_layers\":48,\"mlp_only_layers\":[],"
    "\"model_type\":\"qwen3_moe\",\"moe_intermediate_size\":768,\"norm_topk_prob\":true,\"num_attention_heads\":32,"
    "\"num_experts\":128,\"num_experts_per_tok\":8,\"num_hidden_layers\":48,\"num_key_value_heads\":4,"
    "\"output_router_logits\":false,\"rms_norm_eps\":1e-06,\"rope_scaling\":null,\"rope_theta\":1000000.0,"
    "\"router_aux_loss_coef\":0.001,\"sliding_window\":null,\"tie_word_embeddings\":false,"
    "\"torch_dtype\":\"bfloat16\",\"use_sliding_window\":false,\"vocab_size\":151936}";
static const char qwen3_30b_new[] =
    "{\"architectures\":[\"Qwen3MoeForCausalLM\"],\"attention_bias\":false,\"bos_token_id\":151643,"
    "\"decoder_sparse_step\":1,\"dtype\":\"bfloat16\",\"eos_token_id\":151645,\"head_dim\":128,"
    "\"hidden_act\":\"silu\",\"hidden_size\":2048,\"intermediate_size\":6144,\"max_position_embeddings\":40960,"
    "\"mlp_only_layers\":[],\"moe_intermediate_size\":768,\"norm_topk_prob\":true,\"num_attention_heads\":32,"
    "\"num_experts_per_tok\":8,\"num_hidden_layers\":48,\"num_key_value_heads\":4,\"num_local_experts\":128,"
    "\"rms_norm_eps\":1e-06,\"rope_parameters\":{\"rope_theta\":1000000.0,\"rope_type\":\"default\"},"
    "\"sliding_window\":null,\"tie_word_embeddings\":false,\"use_sliding_window\":false,\"vocab_size\":151936}";
static const char mixtral_8x7b[] =
    "{\"architectures\":[\"MixtralForCausalLM\"],\"bos_token_id\":1,\"eos_token_id\":2,\"hidden_act\":\"silu\","
    "\"hidden_size\":4096,\"intermediate_size\":14336,\"max_position_embeddings\":32768,\"model_type\":\"mixtral\","
    "\"num_attention_heads\":32,\"num_experts_per_tok\":2,\"num_hidden_layers\":32,\"num_key_value_heads\":8,"
    "\"num_local_experts\":8,\"output_router_logits\":false,\"rms_norm_eps\":1e-05,\"rope_theta\":1000000.0,"
    "\"router_aux_loss_coef\":0.02,\"sliding_window\":null,\"tie_word_embeddings\":false,"
    "\"torch_dtype\":\"bfloat16\",\"vocab_size\":32000}";
static const char mixtral_8x7b_new[] =
    "{\"architectures\":[\"MixtralForCausalLM\"],\"bos_token_id\":1,\"dtype\":\"bfloat16\",\"eos_token_id\":2,"
    "\"head_dim\":null,\"hidden_act\":\"silu\",\"hidden_size\":4096,\"intermediate_size\":14336,"
    "\"max_position_embeddings\":32768,\"num_attention_heads\":32,\"num_experts_per_tok\":2,"
    "\"num_hidden_layers\":32,\"num_key_value_heads\":8,\"num_local_experts\":8,\"rms_norm_eps\":1e-05,"
    "\"rope_parameters\":{\"rope_theta\":1000000.0,\"rope_type\":\"default\"},\"router_jitter_noise\":0.0,"
    "\"sliding_window\":null,\"tie_word_embeddings\":false,\"vocab_size\":32000}";
static const char mistral_7b[] =
    "{\"architectures\":[\"MistralForCausalLM\"],\"bos_token_id\":1,\"eos_token_id\":2,\"hidden_act\":\"silu\","
    "\"hidden_size\":4096,\"initializer_range\":0.02,\"intermediate_size\":14336,\"max_position_embeddings\":32768,"
    "\"model_type\":\"mistral\",\"num_attention_heads\":32,\"num_hidden_layers\":32,\"num_key_value_heads\":8,"
    "\"rms_norm_eps\":1e-05,\"rope_theta\":10000.0,\"sliding_window\":4096,\"tie_word_embeddings\":false,"
    "\"torch_dtype\":\"bfloat16\",\"use_cache\":true,\"vocab_size\":32000}";
static const char mistral_7b_new[] =
    "{\"architectures\":[\"MistralForCausalLM\"],\"bos_token_id\":1,\"dtype\":\"bfloat16\",\"eos_token_id\":2,"
    "\"head_dim\":null,\"hidden_act\":\"silu\",\"hidden_size\":4096,\"intermediate_size\":14336,"
    "\"max_position_embeddings\":32768,\"num_attention_heads\":32,\"num_hidden_layers\":32,"
    "\"num_key_value_heads\":8,\"rms_norm_eps\":1e-05,\"rope_parameters\":{\"rope_theta\":10000.0,"
    "\"rope_type\":\"default\"},\"sliding_window\":4096,\"tie_word_embeddings\":false,\"vocab_size\":32000}";
static const char gemma_1b[] =
    "{\"architectures\":[\"Gemma3ForCausalLM\"],\"attention_bias\":false,\"attn_logit_softcapping\":null,"
    "\"bos_token_id\":2,\"cache_implementation\":\"hybrid\",\"eos_token_id\":[1,106],"
    "\"final_logit_softcapping\":null,\"head_dim\":256,\"hidden_activation\":\"gelu_pytorch_tanh\","
    "\"hidden_size\":1152,\"intermediate_size\":6912,\"max_position_embeddings\":32768,"
    "\"model_type\":\"gemma3_text\",\"num_attention_heads\":4,\"num_hidden_layers\":26,\"num_key_value_heads\":1,"
    "\"pad_token_id\":0,\"query_pre_attn_scalar\":256,\"rms_norm_eps\":1e-06,\"rope_local_base_freq\":10000,"
    "\"rope_scaling\":null,\"rope_theta\":1000000,\"sliding_window\":512,\"sliding_window_pattern\":6,"
    "\"torch_dtype\":\"bfloat16\",\"use_cache\":true,\"vocab_size\":262144}";
#define SIX_LAYERS                                                                                                     \
    "\"sliding_attention\",\"sliding_attention\",\"sliding_attention\",\"sliding_attention\",\"sliding_attention\","   \
    "\"full_attention\","
static const char gemma_1b_new[] =
    "{\"_sliding_window_pattern\":6,\"architectures\":[\"Gemma3ForCausalLM\"],\"attention_bias\":false,"
    "\"attn_logit_softcapping\":null,\"bos_token_id\":2,\"dtype\":\"bfloat16\",\"eos_token_id\":[1,106],"
    "\"final_logit_softcapping\":null,\"head_dim\":256,\"hidden_activation\":\"gelu_pytorch_tanh\","
    "\"hidden_size\":1152,\"intermediate_size\":6912,\"layer_types\":[" SIX_LAYERS SIX_LAYERS SIX_LAYERS SIX_LAYERS
    "\"sliding_attention\",\"sliding_attention\"],\"max_position_embeddings\":32768,\"num_attention_heads\":4,"
    "\"num_hidden_layers\":26,\"num_key_value_heads\":1,\"query_pre_attn_scalar\":256,\"rms_norm_eps\":1e-06,"
    "\"rope_parameters\":{\"full_attention\":{\"rope_theta\":1000000,\"rope_type\":\"default\"},"
    "\"sliding_attention\":{\"rope_theta\":10000,\"rope_type\":\"default\"}},\"sliding_window\":512,"
    "\"tie_word_embeddings\":true,\"use_bidirectional_attention\":false,\"vocab_size\":262144}";
/* As it is published: what transformers has as a value of a missing key is not there. */
static const char gemma_4b[] =
    "{\"architectures\":[\"Gemma3ForConditionalGeneration\"],\"boi_token_index\":255999,\"eoi_token_index\":256000,"
    "\"eos_token_id\":[1,106],\"image_token_index\":262144,\"initializer_range\":0.02,\"mm_tokens_per_image\":256,"
    "\"model_type\":\"gemma3\",\"text_config\":{\"hidden_size\":2560,\"intermediate_size\":10240,"
    "\"model_type\":\"gemma3_text\",\"num_hidden_layers\":34,\"rope_scaling\":{\"factor\":8.0,"
    "\"rope_type\":\"linear\"},\"sliding_window\":1024},\"torch_dtype\":\"bfloat16\","
    "\"vision_config\":{\"hidden_size\":1152,\"num_hidden_layers\":27}}";

/* ---- files ----------------------------------------------------------------------------------------------- */

static struct config config_of(const char *text) {
    folder_file("config.json", text, strlen(text));
    return config_read(folder());
}

static void put_generation(const char *text) {
    folder_file("generation_config.json", text, strlen(text));
}

/* The text with keys of another object in the place of its own. To be freed. */
static char *changed(const char *text, const char *change) {
    json_t *base = json_loads(text, 0, NULL), *over = json_loads(change, 0, NULL);
    ck_assert(base && over && json_object_update(base, over) == 0);
    char *both = json_dumps(base, 0);
    json_decref(base);
    json_decref(over);
    return both;
}

static struct config config_changed(const char *text, const char *change) {
    char *both = changed(text, change);
    const struct config config = config_of(both);
    free(both);
    return config;
}

static void read_folder(const char *path) {
    config_read(path);
}

static void assert_refused(const char *words) {
    char *sentence = sentence_of(read_folder, folder());
    ck_assert_msg(sentence && strncmp(sentence, "decoder: ", 9) == 0 && strstr(sentence, words), "%s\nhas not: %s",
                  sentence ? sentence : "no sentence", words);
    free(sentence);
}

static int windows_of(const struct config *config) {
    int count = 0;
    for (int i = 0; i < LAYERS_MAX; i++)
        count += config->has_window[i];
    return count;
}

static void assert_sizes(const struct config *config, int64_t vocabulary, int64_t hidden, int64_t layers,
                         int64_t q_heads, int64_t kv_heads, int64_t head_dim, int64_t intermediate) {
    ck_assert_int_eq(config->vocabulary, vocabulary);
    ck_assert_int_eq(config->hidden, hidden);
    ck_assert_int_eq(config->layers, layers);
    ck_assert_int_eq(config->q_heads, q_heads);
    ck_assert_int_eq(config->kv_heads, kv_heads);
    ck_assert_int_eq(config->head_dim, head_dim);
    ck_assert_int_eq(config->intermediate, intermediate);
}

/* No switch that only Gemma has. */
static void assert_plain(const struct config *config) {
    ck_assert(!config->has_sandwich && config->weight_offset == 0 && config->embedding_scale == 0);
    ck_assert(config->activation == ACTIVATION_SILU && config->attention_cap == 0 && config->logits_cap == 0);
    ck_assert(config->attention_scale == 1 / sqrt((double)config->head_dim));
    ck_assert(memcmp(&config->rope, &config->local_rope, sizeof config->rope) == 0);
    ck_assert_str_eq(config->tensor_prefix, "model.");
}

/* ---- good ones: by the older keys (_i is 0) and the newer ------------------------------------------------- */

static void assert_llama3(const struct config *config, double factor) {
    const struct rope_scaling *rope = &config->rope;
    ck_assert(rope->kind == ROPE_LLAMA3 && rope->theta == 5e5 && rope->factor == factor);
    ck_assert(rope->low_freq_factor == 1 && rope->high_freq_factor == 4 && rope->original_max_position == 8192);
    ck_assert(config->window == 0 && windows_of(config) == 0 && config->begin_token == 128000);
    ck_assert(config->dtype == DTYPE_BF16 && config->eps == 1e-5 && config->max_position == 131072);
    ck_assert(!config->has_qkv_bias && !config->has_head_norm);
    ck_assert_str_eq(config->architecture, "LlamaForCausalLM");
    assert_plain(config);
}

START_TEST(llama_8b_is_read) {
    const struct config config = config_of(_i ? llama_8b_new : llama_8b);
    assert_sizes(&config, 128256, 4096, 32, 32, 8, 128, 14336);
    assert_llama3(&config, 8);
    ck_assert(!config.has_tied_embeddings && config.end_token_count == 3 && config.end_tokens[2] == 128009);
}
END_TEST

START_TEST(llama_1b_is_read) {
    const struct config config = config_of(_i ? llama_1b_new : llama_1b);
    assert_sizes(&config, 128256, 2048, 16, 32, 8, 64, 8192);
    assert_llama3(&config, 32);
    ck_assert(config.has_tied_embeddings && config.end_token_count == 1 && config.end_tokens[0] == 128001);
}
END_TEST

START_TEST(qwen2_is_read) {
    const struct config config = config_of(_i ? qwen2_7b_new : qwen2_7b);
    assert_sizes(&config, 152064, 3584, 28, 28, 4, 128, 18944);
    assert_plain(&config);
    ck_assert(config.has_qkv_bias && !config.has_head_norm && !config.has_tied_embeddings);
    ck_assert(config.rope.kind == ROPE_PLAIN && config.rope.theta == 1e6 && config.eps == 1e-6);
    ck_assert(config.window == 0 && windows_of(&config) == 0 && config.max_position == 32768);
}
END_TEST

START_TEST(qwen3_is_read) {
    const struct config config = config_of(_i ? qwen3_8b_new : qwen3_8b);
    assert_sizes(&config, 151936, 4096, 36, 32, 8, 128, 12288);
    assert_plain(&config);
    ck_assert(!config.has_qkv_bias && config.has_head_norm && !config.has_tied_embeddings);
    ck_assert(config.rope.kind == ROPE_PLAIN && config.rope.theta == 1e6 && config.window == 0);
}
END_TEST

START_TEST(mistral_is_read) {
    const struct config config = config_of(_i ? mistral_7b_new : mistral_7b);
    assert_sizes(&config, 32000, 4096, 32, 32, 8, 128, 14336);
    assert_plain(&config);
    ck_assert(!config.has_qkv_bias && !config.has_head_norm && config.rope.theta == 1e4);
    ck_assert(config.window == 4096 && windows_of(&config) == 32 && config.has_window[31]);
}
END_TEST

static int64_t layers_with_experts(const struct config *config) {
    int64_t count = 0;
    for (int64_t i = 0; i < config->layers; i++)
        count += config->has_experts[i];
    return count;
}

static void assert_experts(const struct config *config, int64_t experts, int64_t chosen, int64_t columns) {
    ck_assert_int_eq(config->experts, experts);
    ck_assert_int_eq(config->chosen, chosen);
    ck_assert_int_eq(config->expert_intermediate, columns);
}

START_TEST(qwen3_moe_is_read) {
    const struct config config = config_of(_i ? qwen3_30b_new : qwen3_30b);
    assert_sizes(&config, 151936, 2048, 48, 32, 4, 128, 0);
    assert_plain(&config);
    assert_experts(&config, 128, 8, 768);
    ck_assert(config.renormalizes && !config.has_mixtral_names && layers_with_experts(&config) == 48);
    ck_assert(!config.has_qkv_bias && config.has_head_norm && config.rope.theta == 1e6 && config.window == 0);
}
END_TEST

START_TEST(mixtral_is_read) {
    const struct config config = config_of(_i ? mixtral_8x7b_new : mixtral_8x7b);
    assert_sizes(&config, 32000, 4096, 32, 32, 8, 128, 0);
    assert_plain(&config);
    assert_experts(&config, 8, 2, 14336);
    ck_assert(config.renormalizes && config.has_mixtral_names && layers_with_experts(&config) == 32);
    ck_assert(!config.has_head_norm && config.rope.theta == 1e6 && config.window == 0 && config.eps == 1e-5);
}
END_TEST

START_TEST(gemma_is_read) {
    const struct config config = config_of(_i ? gemma_1b_new : gemma_1b);
    assert_sizes(&config, 262144, 1152, 26, 4, 1, 256, 6912);
    ck_assert(config.has_sandwich && config.has_head_norm && config.weight_offset == 1 && !config.has_qkv_bias);
    ck_assert(config.embedding_scale == 34 && config.attention_scale == 1. / 16 && config.has_tied_embeddings);
    ck_assert(config.activation == ACTIVATION_GELU_TANH && config.attention_cap == 0 && config.logits_cap == 0);
    ck_assert(config.rope.kind == ROPE_PLAIN && config.rope.theta == 1e6);
    ck_assert(config.local_rope.kind == ROPE_PLAIN && config.local_rope.theta == 1e4);
    ck_assert(config.window == 512 && windows_of(&config) == 22 && config.has_window[4] && config.has_window[25]);
    ck_assert(!config.has_window[5] && !config.has_window[23] && config.begin_token == 2);
    ck_assert(config.end_token_count == 2 && config.end_tokens[0] == 1 && config.end_tokens[1] == 106);
    ck_assert_str_eq(config.tensor_prefix, "model.");
}
END_TEST

START_TEST(a_nested_gemma_is_read) {
    put_generation("{\"bos_token_id\":2,\"eos_token_id\":[1,106],\"top_k\":64}");
    const struct config config = config_of(gemma_4b);
    assert_sizes(&config, 262208, 2560, 34, 8, 4, 256, 10240);
    ck_assert(config.embedding_scale == 50.5 && config.attention_scale == 1. / 16 && config.has_tied_embeddings);
    ck_assert(config.rope.kind == ROPE_LINEAR && config.rope.factor == 8 && config.rope.theta == 1e6);
    ck_assert(config.local_rope.kind == ROPE_PLAIN && config.local_rope.theta == 1e4);
    ck_assert(config.window == 1024 && windows_of(&config) == 29 && config.max_position == 131072);
    ck_assert(config.begin_token == 2 && config.end_token_count == 2 && config.eps == 1e-6);
    ck_assert_str_eq(config.tensor_prefix, "language_model.model.");
    ck_assert_str_eq(config.architecture, "Gemma3ForConditionalGeneration");
}
END_TEST

/* ---- good ones: keys one by one --------------------------------------------------------------------------- */

START_TEST(missing_keys_have_values) {
    const char *sizes = "{\"architectures\":[\"%s\"],\"dtype\":\"float16\",\"vocab_size\":100,\"hidden_size\":1024,"
                        "\"intermediate_size\":64,\"num_hidden_layers\":30,\"num_attention_heads\":32}";
    char text[300];
    snprintf(text, sizeof text, sizes, "LlamaForCausalLM");
    struct config config = config_of(text);
    assert_sizes(&config, 100, 1024, 30, 32, 32, 32, 64);
    assert_plain(&config);
    ck_assert(config.dtype == DTYPE_FP16 && config.eps == 1e-6 && config.rope.theta == 1e4);
    ck_assert(config.begin_token == -1 && config.end_token_count == 0 && config.window == 0);
    snprintf(text, sizeof text, sizes, "MistralForCausalLM");
    config = config_of(text);
    ck_assert(config.kv_heads == 8 && config.window == 4096 && windows_of(&config) == 30);
    snprintf(text, sizeof text, sizes, "Qwen3ForCausalLM");
    config = config_changed(text, "{\"use_sliding_window\":true,\"num_key_value_heads\":null}");
    ck_assert(config.kv_heads == 32 && config.head_dim == 128 && config.window == 4096);
    ck_assert(windows_of(&config) == 2 && config.has_window[28] && config.has_window[29]);
}
END_TEST

START_TEST(windows_follow_their_keys) {
    struct config config = config_changed(mistral_7b, "{\"sliding_window\":null}");
    ck_assert(config.window == 0 && windows_of(&config) == 0);
    config = config_changed(qwen2_7b, "{\"use_sliding_window\":true}"); /* from the 28th layer of 28 on */
    ck_assert(config.window == 0 && windows_of(&config) == 0);
    config = config_changed(qwen2_7b, "{\"use_sliding_window\":true,\"max_window_layers\":0}");
    ck_assert(config.window == 131072 && windows_of(&config) == 28);
    config = config_changed(qwen3_8b, "{\"num_hidden_layers\":2,\"use_sliding_window\":true,\"sliding_window\":7,"
                                      "\"layer_types\":[\"sliding_attention\",\"full_attention\"]}");
    ck_assert(config.window == 7 && windows_of(&config) == 1 && config.has_window[0]);
    config = config_changed(gemma_1b, "{\"sliding_window_pattern\":2}");
    ck_assert(config.window == 512 && windows_of(&config) == 13 && config.has_window[0] && !config.has_window[1]);
}
END_TEST

START_TEST(experts_follow_their_keys) {
    struct config config = config_changed(qwen3_30b, "{\"decoder_sparse_step\":2,\"norm_topk_prob\":null}");
    ck_assert(layers_with_experts(&config) == 24 && !config.has_experts[0] && config.has_experts[1]);
    ck_assert(config.intermediate == 6144 && !config.renormalizes);
    config = config_changed(qwen3_30b, "{\"mlp_only_layers\":[0,47,99],\"num_experts\":1024,\"norm_topk_prob\":false}");
    ck_assert(layers_with_experts(&config) == 46 && !config.has_experts[0] && !config.has_experts[47]);
    ck_assert(config.experts == 1024 && config.intermediate == 6144 && !config.renormalizes);
    config = config_changed(qwen3_30b, "{\"num_experts\":null,\"num_experts_per_tok\":null,\"head_dim\":null,"
                                       "\"moe_intermediate_size\":null,\"intermediate_size\":null}");
    assert_experts(&config, 128, 8, 768);
    ck_assert(config.head_dim == 64);
    config = config_changed(qwen3_30b, "{\"scoring_func\":\"softmax\",\"n_shared_experts\":0,\"n_group\":1,"
                                       "\"topk_group\":1,\"routed_scaling_factor\":1.0}");
    assert_experts(&config, 128, 8, 768);
    config = config_changed(mixtral_8x7b, "{\"num_local_experts\":null,\"num_experts_per_tok\":null,"
                                          "\"sliding_window\":4096,\"rms_norm_eps\":null,\"rope_theta\":null}");
    assert_experts(&config, 8, 2, 14336);
    ck_assert(config.window == 4096 && windows_of(&config) == 32 && config.eps == 1e-5 && config.rope.theta == 1e6);
}
END_TEST

START_TEST(ropes_follow_their_keys) {
    struct config config = config_changed(qwen3_8b, "{\"rope_scaling\":{\"type\":\"yarn\",\"factor\":4.0,"
                                                    "\"original_max_position_embeddings\":32768}}");
    const struct rope_scaling *rope = &config.rope;
    ck_assert(rope->kind == ROPE_YARN && rope->factor == 4 && rope->original_max_position == 32768);
    ck_assert(rope->beta_fast == 32 && rope->beta_slow == 1 && rope->truncate == 1 && rope->theta == 1e6);
    ck_assert(fabs(rope->attention_factor - (0.1 * log(4) + 1)) < 1e-15);
    config = config_changed(qwen3_8b, "{\"rope_parameters\":{\"rope_type\":\"yarn\",\"factor\":40,\"mscale\":0.5,"
                                      "\"mscale_all_dim\":1,\"beta_fast\":16,\"beta_slow\":2,\"truncate\":false,"
                                      "\"attention_factor\":null}}");
    ck_assert(rope->beta_fast == 16 && rope->beta_slow == 2 && rope->truncate == 0);
    ck_assert(rope->original_max_position == 40960 && rope->theta == 1e6); /* the key outside */
    ck_assert(fabs(rope->attention_factor - (0.05 * log(40) + 1) / (0.1 * log(40) + 1)) < 1e-15);
    config = config_changed(qwen3_8b, "{\"rope_scaling\":{\"rope_type\":\"yarn\",\"factor\":4,"
                                      "\"attention_factor\":1.25}}");
    ck_assert(rope->attention_factor == 1.25);
    config = config_changed(mistral_7b, "{\"rope_scaling\":{\"type\":\"linear\",\"factor\":2}}");
    ck_assert(rope->kind == ROPE_LINEAR && rope->factor == 2 && config.local_rope.kind == ROPE_LINEAR);
    config = config_changed(gemma_1b_new, "{\"rope_parameters\":{\"full_attention\":{\"rope_type\":\"linear\","
                                          "\"factor\":8.0,\"rope_theta\":2e6}}}");
    ck_assert(rope->kind == ROPE_LINEAR && rope->factor == 8 && rope->theta == 2e6);
    ck_assert(config.local_rope.kind == ROPE_PLAIN && config.local_rope.theta == 1e4);
}
END_TEST

START_TEST(numbers_of_gemma_follow_their_keys) {
    const struct config config = config_changed(
        gemma_1b, "{\"query_pre_attn_scalar\":168,\"attn_logit_softcapping\":50.0,\"final_logit_softcapping\":30,"
                  "\"tie_word_embeddings\":false,\"torch_dtype\":\"float16\",\"hidden_activation\":\"silu\"}");
    ck_assert(config.attention_scale == 1 / sqrt(168.) && config.attention_cap == 50 && config.logits_cap == 30);
    ck_assert(!config.has_tied_embeddings && config.activation == ACTIVATION_SILU);
    ck_assert(config.embedding_scale == 33.9375); /* 33.941 in steps of 1/32 */
}
END_TEST

START_TEST(end_tokens_of_both_files_are_united) {
    put_generation("{\"eos_token_id\":[151645,151643],\"bos_token_id\":7}");
    struct config config = config_of(qwen3_8b);
    ck_assert(config.end_token_count == 2 && config.end_tokens[0] == 151645 && config.end_tokens[1] == 151643);
    ck_assert_int_eq(config.begin_token, 151643);
    config = config_changed(qwen3_8b, "{\"eos_token_id\":null,\"bos_token_id\":null}");
    ck_assert(config.end_token_count == 2 && config.begin_token == 7);
}
END_TEST

/* ---- quantised ------------------------------------------------------------------------------------------- */

#define ARGUMENTS(bits, type, strategy, dynamic)                                                                       \
    "{\"num_bits\":" bits ",\"type\":\"" type "\",\"symmetric\":true,\"strategy\":\"" strategy                         \
    "\",\"dynamic\":" dynamic "}"
#define SIZED(strategy, dynamic, size)                                                                                 \
    "{\"num_bits\":8,\"type\":\"float\",\"symmetric\":true,\"strategy\":\"" strategy "\",\"dynamic\":" dynamic         \
    "," size "}"
#define BLOCKS        SIZED("block", "false", "\"block_structure\":[128,128]")
#define GROUPS        SIZED("group", "true", "\"group_size\":128")
#define BLOCKS_OF_FP8 ",\"fmt\":\"e4m3\",\"weight_block_size\":[128,128]"
#define CHANNEL       ARGUMENTS("8", "float", "channel", "false")
#define TENSOR        ARGUMENTS("8", "float", "tensor", "false")
#define TOKEN         ARGUMENTS("8", "float", "token", "true")
#define COMPRESSED(format, ignored, target, weights, rows, more)                                                       \
    "{\"quantization_config\":{\"quant_method\":\"compressed-tensors\",\"format\":\"" format "\",\"ignore\":[" ignored \
    "],\"config_groups\":{\"group_0\":{\"targets\":[\"" target "\"],\"output_activations\":null,\"weights\":" weights  \
    ",\"input_activations\":" rows "}}" more "}}"
#define FP8(scheme, more)                                                                                              \
    "{\"quantization_config\":{\"quant_method\":\"fp8\",\"activation_scheme\":\"" scheme "\"" more "}}"

/* A config, how many layers have all matrices in e4m3, what layer 1 has, and what has scales. */
static const struct {
    const char *text, *change;
    int whole_layers;
    uint8_t second;
    enum scaled scaled;
    int has_input_scales;
} quantized[] = {
    {llama_8b, COMPRESSED("float-quantized", "\"lm_head\"", "Linear", CHANNEL, TOKEN, ",\"kv_cache_scheme\":null"), 32,
     E4M3_ALL, SCALED_CHANNELS, 0},
    {qwen2_7b, COMPRESSED("float-quantized", "\"lm_head\"", "Linear", TENSOR, TOKEN, ",\"sparsity_config\":{}"), 28,
     E4M3_ALL, SCALED_TENSORS, 0},
    {llama_1b, COMPRESSED("float-quantized", "", "Linear", CHANNEL, TOKEN, ""), 16, E4M3_ALL, SCALED_CHANNELS,
     0}, /* tied */
    {llama_8b,
     COMPRESSED("float-quantized", "\"re:.*lm_head\",\"re:.*layers[.]1[.]mlp\"", "Linear", CHANNEL, TOKEN, ""), 31,
     E4M3_QKV | E4M3_ATTENTION_OUT, SCALED_CHANNELS, 0},
    {llama_8b, COMPRESSED("float-quantized", "\"lm_head\",\"re:layers\"", "Linear", CHANNEL, TOKEN, ""), 32, E4M3_ALL,
     SCALED_CHANNELS, 0}, /* names begin so, or not */
    {llama_8b, FP8("dynamic", ",\"ignored_layers\":[\"lm_head\",\"model.layers.1.self_attn.o_proj\"]"), 31,
     E4M3_QKV | E4M3_MLP, SCALED_TENSORS, 0},
    {llama_8b, FP8("dynamic", ",\"modules_to_not_convert\":[\"model.layers.1.self_attn.o_proj\"]"), 31,
     E4M3_QKV | E4M3_MLP, SCALED_TENSORS, 0},
    {llama_8b, FP8("dynamic", ",\"weight_block_size\":null"), 32, E4M3_ALL, SCALED_TENSORS, 0},
    {llama_8b, COMPRESSED("float-quantized", "\"lm_head\"", "Linear", TENSOR, TENSOR, ""), 32, E4M3_ALL, SCALED_TENSORS,
     1},
    {llama_8b, FP8("static", ",\"ignored_layers\":[]"), 32, E4M3_ALL, SCALED_TENSORS, 1},
    {llama_8b, FP8("dynamic", BLOCKS_OF_FP8), 32, E4M3_ALL, SCALED_BLOCKS, 0},
    {llama_8b, FP8("dynamic", BLOCKS_OF_FP8 ",\"modules_to_not_convert\":[\"model.layers.1.self_attn.o_proj\"]"), 31,
     E4M3_QKV | E4M3_MLP, SCALED_BLOCKS, 0},
    {llama_8b, COMPRESSED("float-quantized", "\"lm_head\"", "Linear", BLOCKS, GROUPS, ""), 32, E4M3_ALL, SCALED_BLOCKS,
     0},
    {llama_8b, "{\"quantization_config\":null}", 0, 0, SCALED_CHANNELS, 0},
};

START_TEST(quantised_matrices_are_known) {
    const struct config config = config_changed(quantized[_i].text, quantized[_i].change);
    int whole_layers = 0;
    for (int64_t i = 0; i < LAYERS_MAX; i++)
        whole_layers += config.e4m3[i] == E4M3_ALL;
    ck_assert_int_eq(whole_layers, quantized[_i].whole_layers);
    ck_assert_int_eq(config.e4m3[1], quantized[_i].second);
    ck_assert_int_eq(config.any_e4m3, whole_layers ? E4M3_ALL : 0);
    ck_assert_int_eq(config.scaled, quantized[_i].scaled);
    ck_assert_int_eq(config.has_input_scales, quantized[_i].has_input_scales);
    ck_assert_int_eq(config.has_inverse_names, strstr(quantized[_i].change, BLOCKS_OF_FP8) != NULL);
}
END_TEST

/* ---- refused ---------------------------------------------------------------------------------------------- */

/* A model, keys in the place of its own, words of the sentence. */
static const struct {
    const char *text, *change, *words;
} bad[] = {
    {llama_8b, "{\"architectures\":[\"GPT2LMHeadModel\"]}",
     "config.json: `architectures` is [\"GPT2LMHeadModel\"]; known are LlamaForCausalLM, MistralForCausalLM, "},
    {llama_8b, "{\"architectures\":null}", "`architectures` is missing; known are"},
    {llama_8b, "{\"architectures\":[]}", "`architectures` is []; known are"},
    {llama_8b, "{\"architectures\":[\"LlamaForCausalLM\",\"Other\"]}", "`architectures` is ["},
    {llama_8b, "{\"architectures\":\"LlamaForCausalLM\"}", "`architectures` is \"LlamaForCausalLM\""},
    {gemma_4b, "{\"text_config\":null}", "`text_config` is missing; an object is needed"},
    {llama_8b, "{\"quantization_config\":{\"quant_method\":\"gptq\",\"bits\":4}}",
     "`quantization_config.quant_method` is \"gptq\"; known are \"compressed-tensors\" and \"fp8\""},
    {llama_8b, "{\"quantization_config\":{}}", "`quantization_config.quant_method` is missing"},
    {llama_8b, COMPRESSED("naive-quantized", "\"lm_head\"", "Linear", CHANNEL, TOKEN, ""),
     "`quantization_config.format` is \"naive-quantized\"; \"float-quantized\" is possible"},
    {llama_8b, COMPRESSED("float-quantized", "", "Linear", CHANNEL, TOKEN, ""),
     "`quantization_config.ignore` is []; \"lm_head\" has 16 bits, and must be among them"},
    {llama_8b, COMPRESSED("float-quantized", "\"lm_head\",7", "Linear", CHANNEL, TOKEN, ""),
     "`quantization_config.ignore` is [\"lm_head\",7]; names of modules are needed"},
    {llama_8b, COMPRESSED("float-quantized", "\"lm_head\",\"re:(\"", "Linear", CHANNEL, TOKEN, ""),
     "an expression behind \"re:\" is not understood"},
    {llama_8b, COMPRESSED("float-quantized", "\"lm_head\",\"re:.*k_proj\"", "Linear", CHANNEL, TOKEN, ""),
     "`quantization_config.ignore` has some of layer 0's self_attn.q_proj ... self_attn.v_proj; all or none are"},
    {llama_8b, COMPRESSED("float-quantized", "\"lm_head\"", "re:.*mlp.*", CHANNEL, TOKEN, ""),
     "config_groups.*.targets` is [\"re:.*mlp.*\"]; [\"Linear\"] is possible"},
    {llama_8b,
     COMPRESSED("float-quantized", "\"lm_head\"", "Linear", ARGUMENTS("8", "int", "channel", "false"), TOKEN, ""),
     "config_groups.*.weights.type` is \"int\"; \"float\" is possible"},
    {llama_8b,
     COMPRESSED("float-quantized", "\"lm_head\"", "Linear", ARGUMENTS("4", "float", "channel", "false"), TOKEN, ""),
     "config_groups.*.weights.num_bits` is 4; 8 are possible"},
    {llama_8b,
     COMPRESSED("float-quantized", "\"lm_head\"", "Linear", ARGUMENTS("8", "float", "block", "false"), GROUPS, ""),
     "weights.block_structure` is missing; scales of blocks of [128, 128] are computed"},
    {llama_8b,
     COMPRESSED("float-quantized", "\"lm_head\"", "Linear", SIZED("block", "false", "\"block_structure\":\"128x128\""),
                GROUPS, ""),
     "weights.block_structure` is \"128x128\"; scales of blocks of [128, 128] are computed"},
    {llama_8b,
     COMPRESSED("float-quantized", "\"lm_head\"", "Linear", SIZED("block", "false", "\"block_structure\":[128,64]"),
                GROUPS, ""),
     "weights.block_structure` is [128,64]; scales of blocks of [128, 128] are computed"},
    {llama_8b, COMPRESSED("float-quantized", "\"lm_head\"", "Linear", BLOCKS, TOKEN, ""),
     "input_activations.strategy` is \"token\"; rows before scales of blocks have a scale for each 128 columns"},
    {llama_8b,
     COMPRESSED("float-quantized", "\"lm_head\"", "Linear", BLOCKS, SIZED("group", "true", "\"group_size\":64"), ""),
     "input_activations.group_size` is 64; 128 are possible"},
    {llama_8b,
     COMPRESSED("float-quantized", "\"lm_head\"", "Linear", BLOCKS, SIZED("group", "false", "\"group_size\":128"), ""),
     "input_activations.dynamic` is false; rows before scales of blocks are quantised as they come"},
    {llama_8b, COMPRESSED("float-quantized", "\"lm_head\"", "Linear", CHANNEL, GROUPS, ""),
     "input_activations.strategy` is \"group\"; rows that are quantised as they come have a scale each, \"token\""},
    {llama_8b,
     COMPRESSED("float-quantized", "\"lm_head\"", "Linear", ARGUMENTS("8", "float", "group", "false"), TOKEN, ""),
     "weights.strategy` is \"group\"; \"channel\", \"tensor\" and \"block\" are possible"},
    {llama_8b, COMPRESSED("float-quantized", "\"lm_head\"", "Linear", "null", TOKEN, ""),
     "config_groups.*.weights` is missing; an object is needed"},
    {llama_8b,
     COMPRESSED("float-quantized", "\"lm_head\"", "Linear", "{\"num_bits\":8,\"type\":\"float\",\"symmetric\":false}",
                TOKEN, ""),
     "weights.symmetric` is false; zeros are not moved"},
    {llama_8b, COMPRESSED("float-quantized", "\"lm_head\"", "Linear", CHANNEL, "null", ""),
     "config_groups.*.input_activations` is missing; rows are quantised too"},
    {llama_8b,
     COMPRESSED("float-quantized", "\"lm_head\"", "Linear", CHANNEL, ARGUMENTS("8", "float", "tensor", "true"), ""),
     "input_activations.strategy` is \"tensor\"; rows that are quantised as they come have a scale each, \"token\""},
    {llama_8b,
     COMPRESSED("float-quantized", "\"lm_head\"", "Linear", CHANNEL, ARGUMENTS("8", "float", "token", "false"), ""),
     "input_activations.strategy` is \"token\"; rows by scales of the files have one for all, \"tensor\""},
    {llama_8b,
     COMPRESSED("float-quantized", "\"lm_head\"", "Linear", CHANNEL, ARGUMENTS("8", "float", "token", "\"local\""), ""),
     "input_activations.dynamic` is \"local\"; true or false is possible"},
    {llama_8b,
     COMPRESSED("float-quantized", "\"lm_head\"", "Linear", CHANNEL, TOKEN, ",\"kv_cache_scheme\":{\"num_bits\":8}"),
     "`quantization_config.kv_cache_scheme` is {\"num_bits\":8}; the cache has 16 bits"},
    {llama_8b,
     COMPRESSED("float-quantized", "\"lm_head\"", "Linear", CHANNEL, TOKEN,
                ",\"sparsity_config\":{\"format\":\"sparse-24-bitmask\"}"),
     "`quantization_config.sparsity_config` is {\"format\":\"sparse-24-bitmask\"}; matrices are dense"},
    {llama_8b,
     COMPRESSED("float-quantized", "\"lm_head\"", "Linear", CHANNEL, TOKEN, ",\"transform_config\":{\"a\":1}"),
     "`quantization_config.transform_config` is {\"a\":1}; nothing is transformed"},
    {llama_8b,
     "{\"quantization_config\":{\"quant_method\":\"compressed-tensors\",\"format\":\"float-quantized\","
     "\"config_groups\":{\"group_0\":{},\"group_1\":{}}}}",
     "`quantization_config.config_groups` is {\"group_0\":{},\"group_1\":{}}; one group is possible"},
    {qwen3_30b, COMPRESSED("float-quantized", "\"lm_head\"", "Linear", CHANNEL, TOKEN, ""),
     "`quantization_config.quant_method` is \"compressed-tensors\"; experts are computed in 16 bits only"},
    {llama_8b, FP8("none", ""),
     "`quantization_config.activation_scheme` is \"none\"; \"dynamic\" and \"static\" are possible"},
    {llama_8b, FP8("dynamic", ",\"weight_block_size\":[64,128]"),
     "`quantization_config.weight_block_size` is [64,128]; scales of blocks of [128, 128] are computed"},
    {llama_8b, FP8("dynamic", ",\"weight_block_size\":[128]"),
     "`quantization_config.weight_block_size` is [128]; scales"},
    {llama_8b, FP8("dynamic", ",\"weight_block_size\":128"), "`quantization_config.weight_block_size` is 128; scales"},
    {llama_8b, FP8("static", BLOCKS_OF_FP8),
     "`quantization_config.activation_scheme` is \"static\"; rows before scales of blocks are quantised as they come"},
    {llama_8b, FP8("dynamic", BLOCKS_OF_FP8 ",\"scale_fmt\":\"ue8m0\""),
     "`quantization_config.scale_fmt` is \"ue8m0\"; scales of rows are not rounded to powers of 2"},
    {llama_8b, FP8("dynamic", ",\"fmt\":\"e5m2\""), "`quantization_config.fmt` is \"e5m2\"; \"e4m3\" is possible"},
    {qwen3_30b, FP8("dynamic", BLOCKS_OF_FP8),
     "`quantization_config.quant_method` is \"fp8\"; experts are computed in 16 bits only"},
    {llama_8b, FP8("dynamic", ",\"ignored_layers\":\"lm_head\""),
     "`quantization_config.ignored_layers` is \"lm_head\"; an array is needed"},
    {llama_8b, "{\"torch_dtype\":\"float32\"}",
     "`torch_dtype` is \"float32\"; \"bfloat16\" and \"float16\" are computed"},
    {llama_8b, "{\"dtype\":\"float8_e4m3fn\"}", "`dtype` is \"float8_e4m3fn\"; "},
    {llama_8b, "{\"torch_dtype\":null}", "`dtype` is missing; add the dtype of the tensors"},
    {llama_8b, "{\"dtype\":16}", "`dtype` is 16; a word is needed"},
    {llama_8b, "{\"hidden_size\":null}", "`hidden_size` is missing; an integer from 1 to 2147483647 is needed"},
    {llama_8b, "{\"hidden_size\":4096.0}", "`hidden_size` is 4096.0; an integer"},
    {llama_8b, "{\"vocab_size\":0}", "`vocab_size` is 0; an integer"},
    {llama_8b, "{\"vocab_size\":null}", "`vocab_size` is missing"},
    {llama_8b, "{\"intermediate_size\":-1}", "`intermediate_size` is -1; an integer"},
    {llama_8b, "{\"intermediate_size\":2147483648}", "`intermediate_size` is 2147483648; an integer"},
    {llama_8b, "{\"num_hidden_layers\":null}", "`num_hidden_layers` is missing"},
    {llama_8b, "{\"num_hidden_layers\":257}", "`num_hidden_layers` is 257; 256 are possible"},
    {llama_8b, "{\"num_attention_heads\":\"32\"}", "`num_attention_heads` is \"32\"; an integer"},
    {llama_8b, "{\"num_key_value_heads\":6}", "32 heads of q are no multiple of 6 of k and v"},
    {llama_8b, "{\"num_attention_heads\":24}", "a hidden size of 4096 is no multiple of 24 heads"},
    {llama_8b, "{\"num_attention_heads\":8192,\"hidden_size\":1024}", "is no multiple of 8192 heads"},
    {llama_8b, "{\"head_dim\":100}", "heads have 100 elements; a multiple of 8 up to 256 is possible"},
    {llama_8b, "{\"head_dim\":264}", "heads have 264 elements"},
    {llama_8b, "{\"max_position_embeddings\":0}", "`max_position_embeddings` is 0"},
    {llama_8b, "{\"rms_norm_eps\":0}", "`rms_norm_eps` is 0; a number above 0 is needed"},
    {llama_8b, "{\"rms_norm_eps\":\"1e-5\"}", "`rms_norm_eps` is \"1e-5\"; a number"},
    {llama_8b, "{\"hidden_act\":\"relu\"}", "`hidden_act` is \"relu\"; known are \"silu\" and \"gelu_pytorch_tanh\""},
    {gemma_1b, "{\"hidden_activation\":\"gelu\"}", "`hidden_activation` is \"gelu\"; known are"},
    {llama_8b, "{\"attention_bias\":true}", "`attention_bias` is true; this architecture is computed without biases"},
    {mistral_7b, "{\"attention_bias\":true}", "`attention_bias` is true"},
    {qwen3_8b, "{\"attention_bias\":true}", "`attention_bias` is true"},
    {gemma_1b, "{\"attention_bias\":true}", "`attention_bias` is true"},
    {llama_8b, "{\"attention_bias\":1}", "`attention_bias` is 1; true or false is possible"},
    {llama_8b, "{\"mlp_bias\":true}", "`mlp_bias` is true; an MLP is computed without biases"},
    {gemma_1b, "{\"use_bidirectional_attention\":true}", "`use_bidirectional_attention` is true"},
    {llama_8b, "{\"partial_rotary_factor\":0.5}", "`partial_rotary_factor` is 0.5; all elements of a head are rotated"},
    {llama_8b, "{\"tie_word_embeddings\":\"no\"}", "`tie_word_embeddings` is \"no\"; true or false"},
    {llama_8b, "{\"rope_scaling\":{\"rope_type\":\"dynamic\",\"factor\":2}}", "`rope_type` is \"dynamic\"; known are"},
    {llama_8b, "{\"rope_scaling\":{\"type\":\"longrope\"}}",
     "`type` is \"longrope\"; known are \"default\", \"linear\""},
    {llama_8b, "{\"rope_scaling\":{\"type\":7}}", "`type` is 7; a word is needed"},
    {llama_8b, "{\"rope_scaling\":8}", "`rope_scaling` is 8; an object is needed"},
    {llama_8b, "{\"rope_scaling\":{\"rope_type\":\"linear\"}}", "`factor` is missing; a number above 0 is needed"},
    {llama_8b,
     "{\"rope_scaling\":{\"rope_type\":\"llama3\",\"factor\":8,\"low_freq_factor\":1,\"high_freq_factor\":4}}",
     "`original_max_position_embeddings` is missing"},
    {llama_8b,
     "{\"rope_scaling\":{\"rope_type\":\"llama3\",\"factor\":8,\"low_freq_factor\":4,\"high_freq_factor\":4,"
     "\"original_max_position_embeddings\":8192}}",
     "`high_freq_factor` is 4, which is not above `low_freq_factor`, 4"},
    {llama_8b, "{\"rope_scaling\":{\"rope_type\":\"yarn\",\"factor\":8,\"beta_slow\":32}}",
     "`beta_fast` is 32, which is not above `beta_slow`, 32"},
    {llama_8b, "{\"rope_scaling\":{\"partial_rotary_factor\":0.25}}", "`partial_rotary_factor` is 0.25"},
    {llama_8b, "{\"rope_theta\":1}", "`rope_theta` is 1; a number above 1 is needed"},
    {llama_8b, "{\"rope_parameters\":{\"rope_theta\":1e4}}",
     "`rope_scaling` and `rope_parameters` are there and differ"},
    {qwen3_8b_new, "{\"rope_parameters\":{\"full_attention\":{\"rope_theta\":1e6}}}",
     "has one rope for all layer types"},
    {gemma_1b_new, "{\"rope_parameters\":{\"rope_theta\":1e6}}", "Gemma-3 has them by layer type"},
    {mistral_7b, "{\"sliding_window\":0}", "`sliding_window` is 0; an integer from 1"},
    {gemma_1b, "{\"sliding_window\":null}", "`sliding_window` is null; layers of Gemma-3 have one"},
    {gemma_1b, "{\"sliding_window_pattern\":0}", "`sliding_window_pattern` is 0; an integer from 1"},
    {qwen2_7b, "{\"use_sliding_window\":true,\"max_window_layers\":-1}",
     "`max_window_layers` is -1; an integer from 0"},
    {llama_8b, "{\"num_hidden_layers\":1,\"layer_types\":[\"sliding_attention\"]}",
     "`layer_types` gives layer 0 a window, of which no size is known"},
    {mistral_7b, "{\"num_hidden_layers\":1,\"layer_types\":[\"full_attention\"]}",
     "`layer_types` gives layer 0 no window; all layers of MistralForCausalLM have one"},
    {gemma_1b, "{\"num_hidden_layers\":1,\"layer_types\":[\"linear_attention\"]}",
     "`layer_types` is \"linear_attention\"; known are"},
    {gemma_1b, "{\"layer_types\":[\"full_attention\"]}", "`layer_types` is [\"full_attention\"]; an array is needed"},
    {gemma_1b, "{\"query_pre_attn_scalar\":0}", "`query_pre_attn_scalar` is 0; a number above 0"},
    {gemma_1b, "{\"final_logit_softcapping\":-1}", "`final_logit_softcapping` is -1"},
    {qwen3_30b, "{\"num_experts\":0}", "`num_experts` is 0; an integer from 1"},
    {qwen3_30b_new, "{\"num_local_experts\":1025}", "`num_local_experts` is 1025; 1024 are possible"},
    {qwen3_30b, "{\"num_experts_per_tok\":129}",
     "`num_experts_per_tok` is 129; 32 are possible, and no more than there"},
    {qwen3_30b, "{\"num_experts_per_tok\":33}", "`num_experts_per_tok` is 33; 32 are possible"},
    {mixtral_8x7b, "{\"num_experts_per_tok\":9}", "no more than there are, 8"},
    {qwen3_30b, "{\"moe_intermediate_size\":100}", "experts of 100 x 2048 elements; multiples of 8 are possible"},
    {mixtral_8x7b, "{\"intermediate_size\":null}", "`intermediate_size` is missing"},
    {qwen3_30b, "{\"norm_topk_prob\":1}", "`norm_topk_prob` is 1; true or false"},
    {qwen3_30b, "{\"decoder_sparse_step\":0}", "`decoder_sparse_step` is 0; an integer from 1"},
    {qwen3_30b, "{\"decoder_sparse_step\":49}", "no layer has experts, by `decoder_sparse_step` and"},
    {qwen3_30b, "{\"mlp_only_layers\":3}", "`mlp_only_layers` is 3; an array is needed"},
    {qwen3_30b, "{\"mlp_only_layers\":[\"3\"]}", "`mlp_only_layers` is [\"3\"]; numbers of layers are needed"},
    {qwen3_30b, "{\"mlp_only_layers\":[0],\"intermediate_size\":null}", "`intermediate_size` is missing"},
    {qwen3_30b, "{\"scoring_func\":\"sigmoid\"}", "`scoring_func` is \"sigmoid\"; a router's scores are a softmax"},
    {qwen3_30b, "{\"n_shared_experts\":1}", "`n_shared_experts` is 1; experts that every token has are not known"},
    {qwen3_30b, "{\"num_shared_experts\":2}", "`num_shared_experts` is 2; experts that every token has"},
    {qwen3_30b, "{\"shared_expert_intermediate_size\":512}", "`shared_expert_intermediate_size` is 512; experts"},
    {mixtral_8x7b, "{\"n_group\":8}", "`n_group` is 8; experts have no groups"},
    {mixtral_8x7b, "{\"topk_group\":4}", "`topk_group` is 4; experts have no groups"},
    {qwen3_30b, "{\"routed_scaling_factor\":2.5}", "`routed_scaling_factor` is 2.5; the weights of experts are not"},
    {qwen3_30b, "{\"moe_bias\":true}", "`moe_bias` is true; experts are computed without biases"},
    {qwen3_30b, "{\"attention_bias\":true}", "`attention_bias` is true"},
    {qwen3_30b, "{\"use_sliding_window\":true}", "`use_sliding_window` is true; this architecture is computed without"},
    {llama_8b, "{\"eos_token_id\":128256}", "`eos_token_id` is 128256; a token from 0 to 128255 is needed"},
    {llama_8b, "{\"eos_token_id\":[1,\"</s>\"]}", "`eos_token_id` is \"</s>\"; a token"},
    {llama_8b, "{\"eos_token_id\":[0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16]}", "more than 16 tokens end the text"},
    {llama_8b, "{\"bos_token_id\":-1}", "`bos_token_id` is -1; a token from 0"},
};

START_TEST(every_bad_value_has_its_sentence) {
    char *text = changed(bad[_i].text, bad[_i].change);
    folder_file("config.json", text, strlen(text));
    free(text);
    assert_refused(bad[_i].words);
}
END_TEST

START_TEST(what_is_no_json_is_refused) {
    assert_refused("cannot open ");
    folder_file("config.json", "{\"a\":1,\"a\":2}", 13);
    assert_refused("config.json: line 1, column 10 of its JSON: duplicate object key");
    folder_file("config.json", "[]", 2);
    assert_refused("config.json: its JSON is no object");
    folder_file("config.json", llama_8b, sizeof llama_8b); /* and a 0 */
    assert_refused("config.json: line 1, column");
    folder_file("config.json", llama_8b, sizeof llama_8b - 1);
    put_generation("7");
    assert_refused("generation_config.json: line 1, column");
    put_generation("{\"eos_token_id\":-2}");
    assert_refused("generation_config.json: `eos_token_id` is -2; a token from 0 to 128255");
}
END_TEST

START_TEST(long_values_are_cut_in_sentences) {
    char text[400];
    snprintf(text, sizeof text, "{\"architectures\":[\"%0200d\"]}", 0);
    folder_file("config.json", text, strlen(text));
    assert_refused("00000...; known are");
}
END_TEST

Suite *config_suite(void) {
    Suite *suite = suite_create("config");
    TCase *good = tcase_create("good"), *refused = tcase_create("refused");
    tcase_add_checked_fixture(good, folder_set_up, folder_tear_down);
    tcase_add_checked_fixture(refused, folder_set_up, folder_tear_down);
    tcase_add_loop_test(good, llama_8b_is_read, 0, 2);
    tcase_add_loop_test(good, llama_1b_is_read, 0, 2);
    tcase_add_loop_test(good, qwen2_is_read, 0, 2);
    tcase_add_loop_test(good, qwen3_is_read, 0, 2);
    tcase_add_loop_test(good, mistral_is_read, 0, 2);
    tcase_add_loop_test(good, qwen3_moe_is_read, 0, 2);
    tcase_add_loop_test(good, mixtral_is_read, 0, 2);
    tcase_add_loop_test(good, gemma_is_read, 0, 2);
    tcase_add_test(good, a_nested_gemma_is_read);
    tcase_add_test(good, missing_keys_have_values);
    tcase_add_test(good, windows_follow_their_keys);
    tcase_add_test(good, experts_follow_their_keys);
    tcase_add_test(good, ropes_follow_their_keys);
    tcase_add_test(good, numbers_of_gemma_follow_their_keys);
    tcase_add_test(good, end_tokens_of_both_files_are_united);
    tcase_add_loop_test(good, quantised_matrices_are_known, 0, COUNT(quantized));
    tcase_add_loop_test(refused, every_bad_value_has_its_sentence, 0, COUNT(bad));
    tcase_add_test(refused, what_is_no_json_is_refused);
    tcase_add_test(refused, long_values_are_cut_in_sentences);
    suite_add_tcase(suite, good);
    suite_add_tcase(suite, refused);
    return suite;
}
