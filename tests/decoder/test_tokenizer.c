/* SPDX-License-Identifier: Apache-2.0 */
/* The decoder's tokenizer against what Hugging Face's `tokenizers` made of the same texts (make_tokenizers.py), and its
 * refusals. FIXTURES is the folder of this file. */
#include "common.h"
#include "tokenizer.h"

#include <check.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

Suite *tokenizer_suite(void);

static const char *const names[] = {"llama3", "qwen2",  "mistral",  "mistral3", "gemma3",
                                    "gpt2",   "tekken", "deepseek", "pieces"};
enum { NAMES = sizeof names / sizeof *names };

static struct tokenizer *open_fixture(const char *name) {
    char *folder = path_of(FIXTURES "/tokenizers", name);
    struct tokenizer *tokenizer = tokenizer_open(folder);
    free(folder);
    return tokenizer;
}

static json_t *expected_of(const char *name) {
    char *folder = path_of(FIXTURES "/tokenizers", name), *path = path_of(folder, "expected.json");
    json_t *json = json_load_file(path, 0, NULL);
    ck_assert_msg(json != NULL, "cannot read %s", path);
    free(folder);
    free(path);
    return json;
}

/* ---- the corpus ----------------------------------------------------------------------------------- */

/* before + ids + behind are all of `got`. */
static void assert_ids(const char *what, const int32_t *got, size_t count, json_t *const parts[], size_t part_count) {
    size_t at = 0;
    for (size_t p = 0; p < part_count; p++)
        for (size_t i = 0; i < json_array_size(parts[p]); i++, at++) {
            const int32_t wanted = (int32_t)json_integer_value(json_array_get(parts[p], i));
            ck_assert_msg(at < count && got[at] == wanted, "%s: id %zu of %zu is %d, not %d", what, at, count,
                          at < count ? (int)got[at] : -1, (int)wanted);
        }
    ck_assert_msg(at == count, "%s: %zu ids, not %zu", what, count, at);
}

static void assert_decodes(const char *what, const struct tokenizer *tokenizer, const int32_t *ids, size_t count,
                           int skips_special, const char *wanted) {
    char *got = tokenizer_decode(tokenizer, ids, count, skips_special);
    ck_assert_msg(strcmp(got, wanted) == 0, "%s: decoded to \"%s\", not \"%s\"", what, got, wanted);
    free(got);
}

/* One text: [ids, decoded or null, decoded without special tokens or null]. */
static void check_text(const struct tokenizer *tokenizer, json_t *expected, json_t *wanted, const char *what,
                       const char *text) {
    json_t *const parts[] = {json_object_get(expected, "before"), json_array_get(wanted, 0),
                             json_object_get(expected, "behind")};
    const char *decoded = json_string_value(json_array_get(wanted, 1));
    const char *skipped = json_string_value(json_array_get(wanted, 2));
    int32_t *ids;
    size_t count = tokenizer_encode(tokenizer, text, strlen(text), 0, &ids);
    assert_ids(what, ids, count, &parts[1], 1);
    decoded = decoded ? decoded : text;
    assert_decodes(what, tokenizer, ids, count, 0, decoded);
    free(ids);
    count = tokenizer_encode(tokenizer, text, strlen(text), 1, &ids);
    assert_ids(what, ids, count, parts, 3);
    assert_decodes(what, tokenizer, ids, count, 1, skipped ? skipped : decoded);
    free(ids);
}

START_TEST(texts_are_those_of_hugging_face) {
    struct tokenizer *tokenizer = open_fixture(names[_i]);
    json_t *expected = expected_of(names[_i]), *texts = json_object_get(expected, "texts");
    char *corpus = read_file(FIXTURES "/tokenizers/corpus.txt", NULL), what[100];
    const size_t count = json_array_size(texts);
    check_text(tokenizer, expected, json_array_get(texts, count - 1), names[_i], corpus);
    char *line = corpus;
    for (size_t i = 0; i + 1 < count; i++) {
        char *end = strchr(line, '\n');
        ck_assert_msg((end != NULL) == (i + 2 < count), "the corpus has not %zu lines", count - 1);
        if (end)
            *end = 0;
        snprintf(what, sizeof what, "%s, line %zu", names[_i], i + 1);
        check_text(tokenizer, expected, json_array_get(texts, i), what, line);
        line = end ? end + 1 : line;
    }
    free(corpus);
    json_decref(expected);
    tokenizer_close(tokenizer);
}
END_TEST

START_TEST(any_ids_are_decoded) {
    struct tokenizer *tokenizer = open_fixture(names[_i]);
    json_t *expected = expected_of(names[_i]), *mix;
    size_t m;
    json_array_foreach(json_object_get(expected, "mixes"), m, mix) {
        json_t *list = json_array_get(mix, 0);
        int32_t ids[32];
        ck_assert_uint_le(json_array_size(list), 32);
        for (size_t i = 0; i < json_array_size(list); i++)
            ids[i] = (int32_t)json_integer_value(json_array_get(list, i));
        for (size_t skips = 0; skips < 2; skips++)
            assert_decodes(names[_i], tokenizer, ids, json_array_size(list), (int)skips,
                           json_string_value(json_array_get(mix, 1 + skips)));
    }
    ck_assert_int_eq(tokenizer_size(tokenizer), json_integer_value(json_object_get(expected, "size")));
    json_decref(expected);
    tokenizer_close(tokenizer);
}
END_TEST

/* ---- other texts ---------------------------------------------------------------------------------- */

START_TEST(a_byte_of_0_is_a_character) {
    struct tokenizer *tokenizer = open_fixture(names[_i]);
    json_t *expected = expected_of(names[_i]), *const wanted[] = {json_object_get(expected, "nul")};
    int32_t *ids;
    const size_t count = tokenizer_encode(tokenizer, "a\0b", 3, 0, &ids);
    assert_ids(names[_i], ids, count, wanted, 1);
    free(ids);
    json_decref(expected);
    tokenizer_close(tokenizer);
}
END_TEST

START_TEST(bytes_that_are_no_utf8_are_u_fffd) {
    /* A lone continuation; an overlong form; a surrogate; beyond U+10FFFF; ends that never come; bytes that never are. */
    static const char bad[] = "a\x80 \xC0\xAF \xED\xA0\x80 \xF4\x90\x80\x80 \xE2\x82 \xF0\x9F\x98x\xFF\xC3";
#define X "\xEF\xBF\xBD"
    static const char good[] = "a" X " " X X " " X X X " " X X X X " " X " " X "x" X X;
#undef X
    struct tokenizer *tokenizer = open_fixture(names[_i]);
    int32_t *of_bad, *of_good;
    const size_t count = tokenizer_encode(tokenizer, bad, sizeof bad - 1, 1, &of_bad);
    ck_assert_uint_eq(count, tokenizer_encode(tokenizer, good, sizeof good - 1, 1, &of_good));
    ck_assert_mem_eq(of_bad, of_good, count * sizeof *of_bad);
    free(of_bad);
    free(of_good);
    tokenizer_close(tokenizer);
}
END_TEST

START_TEST(an_empty_text_has_the_special_ids_only) {
    struct tokenizer *tokenizer = open_fixture(names[_i]);
    json_t *expected = expected_of(names[_i]);
    json_t *const parts[] = {json_object_get(expected, "before"), json_object_get(expected, "behind")};
    int32_t *ids;
    ck_assert_uint_eq(tokenizer_encode(tokenizer, "", 0, 0, &ids), 0);
    assert_decodes("no ids", tokenizer, ids, 0, 0, "");
    free(ids);
    const size_t count = tokenizer_encode(tokenizer, NULL, 0, 1, &ids);
    assert_ids(names[_i], ids, count, parts, 2);
    free(ids);
    json_decref(expected);
    tokenizer_close(tokenizer);
}
END_TEST

START_TEST(a_word_of_a_megabyte_takes_no_time) {
    enum { BYTES = 1 << 20 };
    static const char *const patterns[] = {"a", "freedom", " ", "!", "\xE4\xBA\xBA", "1", " <", "\r\n"};
    struct tokenizer *tokenizer = open_fixture(names[_i]);
    char *text = grab(BYTES + 1, 1);
    for (size_t p = 0; p < sizeof patterns / sizeof *patterns; p++) {
        const size_t bytes = strlen(patterns[p]), all = BYTES / bytes * bytes;
        for (size_t i = 0; i < all; i++)
            text[i] = patterns[p][i % bytes];
        text[all] = 0;
        int32_t *ids;
        const clock_t begin = clock(); /* of this process: others may keep it waiting */
        const size_t count = tokenizer_encode(tokenizer, text, all, 0, &ids);
        const double took = (double)(clock() - begin) / CLOCKS_PER_SEC;
        ck_assert_msg(took < 3, "%s: %zu bytes of \"%s\" took %.1f s", names[_i], all, patterns[p], took);
        ck_assert_uint_gt(count, 0);
        free(ids);
    }
    free(text);
    tokenizer_close(tokenizer);
}
END_TEST

START_TEST(tokens_have_ids) {
    struct tokenizer *tokenizer = open_fixture("llama3");
    ck_assert_int_eq(tokenizer_size(tokenizer), 467);
    ck_assert_int_eq(tokenizer_id(tokenizer, "<|begin_of_text|>"), 461);
    ck_assert_int_eq(tokenizer_id(tokenizer, "(round"), 460);
    ck_assert_int_eq(tokenizer_id(tokenizer, "!"), 0);
    ck_assert_int_eq(tokenizer_id(tokenizer, "<|no such token|>"), -1);
    const int32_t ids[] = {-1, 0, 467, 461, INT32_MAX};
    assert_decodes("ids of no token", tokenizer, ids, 5, 1, "!");
    tokenizer_close(tokenizer);
}
END_TEST

/* ---- refusals ------------------------------------------------------------------------------------- */

/* Parts of a tokenizer.json, each of which a case replaces. */
struct parts {
    const char *type, *vocab, *merges, *more, *added, *normalizer, *pre_tokenizer, *post_processor, *decoder;
};

#define TOKEN(id, text, more) "[{\"id\":" #id ",\"content\":\"" text "\"" more "}]"
#define SPLIT(pattern)        "{\"type\":\"Split\",\"pattern\":{\"Regex\":\"" pattern "\"},\"behavior\":\"Isolated\"}"

static const struct parts refused[] = {
    {.type = "WordPiece"},
    {.vocab = "[]"},
    {.vocab = "{\"a\":0,\"b\":0}"},
    {.vocab = "{\"a\":-1}"},
    {.vocab = "{\"a\":0.5}"},
    {.vocab = "{\"a\":99999999999}"},
    {.vocab = "{\"a\":0,\"a\":1}"}, /* one name twice */
    {.merges = "null"},
    {.merges = "[\"a x\"]"}, /* no such token */
    {.merges = "[\"b a\"]"}, /* nor both together */
    {.merges = "[\"ab\"]"},
    {.merges = "[\"a b c\"]"},
    {.merges = "[[\"a\",\"b\",\"c\"]]"},
    {.merges = "[1]"},
    {.more = ",\"dropout\":0.1"},
    {.more = ",\"continuing_subword_prefix\":\"##\""},
    {.more = ",\"end_of_word_suffix\":\"</w>\""},
    {.more = ",\"unk_token\":\"<unk>\""},
    {.more = ",\"byte_fallback\":1"},
    {.more = "}"}, /* no JSON */
    {.added = "{}"},
    {.added = "[{\"content\":\"x\"}]"},
    {.added = TOKEN(9, "", "")},
    {.added = TOKEN(9, "a", "")}, /* 0 in the vocabulary */
    {.added = TOKEN(0, "x", "")}, /* "a" in the vocabulary */
    {.added = TOKEN(9, "x", ",\"single_word\":true")},
    {.added = "[{\"id\":3,\"content\":\"x\"},{\"id\":3,\"content\":\"y\"}]"},
    {.added = "[{\"id\":3,\"content\":\"x\"},{\"id\":4,\"content\":\"x\"}]"},
    {.normalizer = "{\"type\":\"NFKC\"}"},
    {.normalizer = "{\"type\":\"Sequence\",\"normalizers\":[{\"type\":\"NFC\"},{\"type\":\"Lowercase\"}]}"},
    {.normalizer = "{\"type\":\"Replace\",\"pattern\":{\"Regex\":\"a\"},\"content\":\"b\"}"},
    {.normalizer = "{\"type\":\"Replace\",\"pattern\":{\"String\":\"\"},\"content\":\"b\"}"},
    {.normalizer = "{\"type\":\"Prepend\"}"},
    {.normalizer = "{}"},
    {.pre_tokenizer = "{\"type\":\"BertPreTokenizer\"}"},
    {.pre_tokenizer = "{\"type\":\"Sequence\",\"pretokenizers\":[{\"type\":\"WhitespaceSplit\"}]}"},
    {.pre_tokenizer = "{\"type\":\"Split\",\"pattern\":{\"Regex\":\"a\"},\"behavior\":\"Twice\"}"},
    {.pre_tokenizer = "{\"type\":\"Metaspace\",\"replacement\":\"_\",\"prepend_scheme\":\"last\"}"},
    {.pre_tokenizer = SPLIT("(a")}, /* PCRE2 cannot compile it */
    {.pre_tokenizer = SPLIT("a*")}, /* matches the empty text */
    {.pre_tokenizer = SPLIT("")},
    {.pre_tokenizer = SPLIT("\\\\h+")}, /* another meaning in Oniguruma: these */
    {.pre_tokenizer = SPLIT("\\\\w+")},
    {.pre_tokenizer = SPLIT("a\\\\b")},
    {.pre_tokenizer = SPLIT("\\\\p{Han}")},
    {.pre_tokenizer = SPLIT("[[:alpha:]]")},
    {.pre_tokenizer = SPLIT("a{1,3}+")},
    {.pre_tokenizer = SPLIT("(?im:a.)")},
    {.pre_tokenizer = SPLIT("[a-z&&b]")},
    {.pre_tokenizer = SPLIT("[a[bc]]")},
    {.post_processor = "{\"type\":\"BertProcessing\"}"},
    {.post_processor = "{\"type\":\"TemplateProcessing\",\"single\":[],\"special_tokens\":{}}"},
    {.post_processor = "{\"type\":\"TemplateProcessing\",\"single\":[{\"Sequence\":{\"id\":\"B\"}}]}"},
    {.post_processor = "{\"type\":\"TemplateProcessing\",\"single\":[{\"SpecialToken\":{\"id\":\"a\"}}],"
                       "\"special_tokens\":{}}"},
    {.decoder = "{\"type\":\"WordPiece\"}"},
    {.decoder = "{\"type\":\"Sequence\",\"decoders\":[{\"type\":\"Fuse\"},{\"type\":\"CTC\"}]}"},
    {.decoder = "null"},
};
enum { REFUSED = sizeof refused / sizeof *refused };

static char folder[] = "/tmp/test_tokenizer.XXXXXX";

static void make_folder(void) {
    strcpy(strrchr(folder, '.'), ".XXXXXX");
    ck_assert(mkdtemp(folder) != NULL);
}

static void remove_folder(void) {
    char *path = path_of(folder, "tokenizer.json");
    unlink(path);
    rmdir(folder);
    free(path);
}

static void write_parts(struct parts parts) {
    char *path = path_of(folder, "tokenizer.json");
    FILE *file = fopen(path, "wb");
    ck_assert(file != NULL);
#define PART(name, usual) (parts.name ? parts.name : usual)
    fprintf(file, "{\"model\":{\"type\":\"%s\",\"vocab\":%s,\"merges\":%s%s},", PART(type, "BPE"),
            PART(vocab, "{\"a\":0,\"b\":1,\"ab\":2}"), PART(merges, "[\"a b\"]"), PART(more, ""));
    fprintf(file, "\"added_tokens\":%s,\"normalizer\":%s,\"pre_tokenizer\":%s,\"post_processor\":%s,\"decoder\":%s}",
            PART(added, "null"), PART(normalizer, "null"), PART(pre_tokenizer, "null"), PART(post_processor, "null"),
            PART(decoder, "{\"type\":\"Fuse\"}"));
#undef PART
    fclose(file);
    free(path);
}

START_TEST(what_is_not_supported_is_refused) {
    write_parts(refused[_i]);
    tokenizer_open(folder);
}
END_TEST

START_TEST(a_missing_file_is_refused) {
    tokenizer_open(folder);
}
END_TEST

START_TEST(what_the_refused_ones_change_is_read) {
    write_parts((struct parts){0});
    struct tokenizer *tokenizer = tokenizer_open(folder);
    int32_t *ids;
    ck_assert_uint_eq(tokenizer_encode(tokenizer, "?abba", 5, 1, &ids), 3); /* no token of "?": it vanishes */
    ck_assert(ids[0] == 2 && ids[1] == 1 && ids[2] == 0);
    assert_decodes("abba", tokenizer, ids, 3, 0, "abba");
    free(ids);
    tokenizer_close(tokenizer);
    write_parts((struct parts){.pre_tokenizer = SPLIT("[\\\\]b&]|[^]\\\\p{^Lu}x]{1,2}|(?i:b)++|\\\\["),
                               .more = ",\"dropout\":0.0"});
    tokenizer_close(tokenizer_open(folder));
}
END_TEST

Suite *tokenizer_suite(void) {
    Suite *suite = suite_create("tokenizer");
    TCase *texts = tcase_create("texts"), *longest = tcase_create("long words"), *refusals = tcase_create("refusals");
    tcase_set_tags(longest, "long");
    tcase_set_timeout(texts, 120);
    tcase_set_timeout(longest, 120);
    tcase_add_loop_test(texts, texts_are_those_of_hugging_face, 0, NAMES);
    tcase_add_loop_test(texts, any_ids_are_decoded, 0, NAMES);
    tcase_add_loop_test(texts, a_byte_of_0_is_a_character, 0, NAMES);
    tcase_add_loop_test(texts, bytes_that_are_no_utf8_are_u_fffd, 0, NAMES);
    tcase_add_loop_test(texts, an_empty_text_has_the_special_ids_only, 0, NAMES);
    tcase_add_loop_test(longest, a_word_of_a_megabyte_takes_no_time, 0, NAMES);
    tcase_add_test(texts, tokens_have_ids);
    tcase_add_checked_fixture(refusals, make_folder, remove_folder);
    tcase_add_loop_exit_test(refusals, what_is_not_supported_is_refused, 1, 0, REFUSED);
    tcase_add_exit_test(refusals, a_missing_file_is_refused, 1);
    tcase_add_test(refusals, what_the_refused_ones_change_is_read);
    suite_add_tcase(suite, texts);
    suite_add_tcase(suite, longest);
    suite_add_tcase(suite, refusals);
    return suite;
}
