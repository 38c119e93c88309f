/* SPDX-License-Identifier: Apache-2.0 */
/* The reader of safetensors files: what it makes of good ones, and its sentence for each kind of bad one. */
#include "safetensors.h"

#include "common.h"
#include "refusal.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

Suite *safetensors_suite(void);

#define COUNT(array) (int)(sizeof(array) / sizeof *(array))

/* ---- files ----------------------------------------------------------------------------------------------- */

static unsigned char file_bytes[1 << 14];

/* A file in file_bytes: the header's length, the header, and bytes of data, each of which is its place. Its length. */
static size_t make_file(const char *header, size_t data) {
    const size_t length = strlen(header);
    ck_assert(8 + length + data <= sizeof file_bytes);
    for (size_t i = 0; i < 8; i++)
        file_bytes[i] = (unsigned char)(i < 4 ? length >> 8 * i : 0);
    memcpy(file_bytes + 8, header, length);
    for (size_t i = 0; i < data; i++)
        file_bytes[8 + length + i] = (unsigned char)i;
    return 8 + length + data;
}

static const char *put_file(const char *name, const char *header, size_t data) {
    return folder_file(name, file_bytes, make_file(header, data));
}

static void put_text(const char *name, const char *text) {
    folder_file(name, text, strlen(text));
}

static void open_folder(const char *path) {
    struct tensors tensors = tensors_open(path);
    tensors_close(&tensors);
}

static void open_file(const char *path) {
    struct tensors tensors = tensors_open_file(path);
    tensors_close(&tensors);
}

/* The folder is refused with a sentence that has these words. */
static void assert_refused(const char *words) {
    char *sentence = sentence_of(open_folder, folder());
    ck_assert_msg(sentence && strncmp(sentence, "decoder: ", 9) == 0 && strstr(sentence, words), "%s\nhas not: %s",
                  sentence ? sentence : "no sentence", words);
    free(sentence);
}

/* ---- good files ------------------------------------------------------------------------------------------ */

static const struct {
    const char *name;
    unsigned bytes;
} dtypes[] = {{"BOOL", 1}, {"U8", 1},  {"I8", 1},  {"F8_E5M2", 1}, {"F8_E4M3", 1}, {"F8_E8M0", 1},
              {"I16", 2},  {"U16", 2}, {"F16", 2}, {"BF16", 2},    {"I32", 4},     {"U32", 4},
              {"F32", 4},  {"I64", 8}, {"U64", 8}, {"F64", 8}};

START_TEST(every_dtype_is_read) {
    char header[200];
    snprintf(header, sizeof header, "{\"a\":{\"dtype\":\"%s\",\"shape\":[2,3],\"data_offsets\":[0,%u]}}",
             dtypes[_i].name, 6 * dtypes[_i].bytes);
    put_file("model.safetensors", header, 6 * dtypes[_i].bytes);
    struct tensors tensors = tensors_open(folder());
    ck_assert(tensors.count == 1 && tensors.file_count == 1);
    const struct tensor *a = tensors_find(&tensors, "a");
    ck_assert_ptr_nonnull(a);
    ck_assert_str_eq(a->dtype, dtypes[_i].name);
    ck_assert(a->rank == 2 && a->shape[0] == 2 && a->shape[1] == 3 && a->bytes == 6 * dtypes[_i].bytes);
    ck_assert(a->offset == 8 + strlen(header));
    tensors_close(&tensors);
    ck_assert(tensors.count == 0 && !tensors.tensor);
}
END_TEST

START_TEST(tensors_are_found_by_name_and_read_in_part) {
    /* b is first in the file, empty ones lie between, a scalar last; spaces behind the header */
    put_file("model.safetensors",
             "{\"__metadata__\":{\"format\":\"pt\"},"
             "\"z.s\":{\"dtype\":\"F32\",\"shape\":[],\"data_offsets\":[16,20]},"
             "\"a\":{\"dtype\":\"U8\",\"shape\":[2,5],\"data_offsets\":[6,16]},"
             "\"empty\":{\"dtype\":\"F32\",\"shape\":[3,0],\"data_offsets\":[6,6]},"
             "\"empty.last\":{\"dtype\":\"F32\",\"shape\":[0],\"data_offsets\":[20,20]},"
             "\"b\":{\"dtype\":\"BF16\",\"shape\":[3],\"data_offsets\":[0,6]}}       ",
             20);
    struct tensors tensors = tensors_open(folder());
    ck_assert_uint_eq(tensors.count, 5);
    ck_assert(!tensors_find(&tensors, "c") && !tensors_find(&tensors, "") && !tensors_find(&tensors, "__metadata__"));
    const struct tensor *a = tensors_find(&tensors, "a"), *scalar = tensors_find(&tensors, "z.s");
    ck_assert(scalar->rank == 0 && scalar->bytes == 4 && tensors_find(&tensors, "empty")->bytes == 0);
    ck_assert(tensors_find(&tensors, "empty.last")->rank == 1);
    unsigned char bytes[10] = {0};
    tensor_read(a, 0, 10, bytes);
    ck_assert(bytes[0] == 6 && bytes[9] == 15);
    tensor_read(a, 3, 2, bytes);
    ck_assert(bytes[0] == 9 && bytes[1] == 10 && bytes[2] == 8);
    tensor_read(a, 10, 0, bytes);
    tensor_read(scalar, 1, 3, bytes);
    ck_assert(bytes[0] == 17 && bytes[2] == 19);
    tensors_close(&tensors);
}
END_TEST

START_TEST(a_file_without_tensors_is_read) {
    struct tensors tensors = tensors_open_file(put_file("none", _i ? "{\"__metadata__\":{}}" : "{}", 0));
    ck_assert(tensors.count == 0 && tensors.file_count == 1 && !tensors_find(&tensors, "a"));
    tensors_close(&tensors);
}
END_TEST

static const char tensor_a[] = "{\"a\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":[0,4]}}";
static const char tensors_bc[] = "{\"c\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[2,3]},"
                                 "\"b\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[0,2]}}";

static void put_shards(const char *index) {
    put_file("model-1.safetensors", tensor_a, 4);
    put_file("model-2.safetensors", tensors_bc, 3);
    put_text("model.safetensors.index.json", index);
}

START_TEST(shards_are_those_of_the_index) {
    put_shards("{\"metadata\":{\"total_size\":7},\"weight_map\":{\"a\":\"model-1.safetensors\","
               "\"b\":\"model-2.safetensors\",\"c\":\"model-2.safetensors\"}}");
    struct tensors tensors = tensors_open(folder());
    ck_assert(tensors.count == 3 && tensors.file_count == 2);
    unsigned char byte;
    tensor_read(tensors_find(&tensors, "c"), 0, 1, &byte);
    ck_assert_int_eq(byte, 2);
    ck_assert(strstr(tensors_find(&tensors, "c")->path, "/model-2.safetensors"));
    ck_assert(strstr(tensors_find(&tensors, "a")->path, "/model-1.safetensors"));
    ck_assert(tensors_find(&tensors, "a")->file != tensors_find(&tensors, "b")->file);
    tensors_close(&tensors);
    put_file("model.safetensors", tensor_a, 4); /* comes before an index */
    tensors = tensors_open(folder());
    ck_assert(tensors.count == 1 && tensors.file_count == 1);
    tensors_close(&tensors);
}
END_TEST

START_TEST(a_tensor_that_the_index_does_not_map_is_there) {
    put_shards("{\"weight_map\":{\"a\":\"model-1.safetensors\",\"b\":\"model-2.safetensors\"}}");
    struct tensors tensors = tensors_open(folder());
    ck_assert(tensors.count == 3 && tensors_find(&tensors, "c"));
    tensors_close(&tensors);
}
END_TEST

/* ---- bad files ------------------------------------------------------------------------------------------- */

/* A header and its bytes of data -> words of the sentence. */
#define ONE(dtype, shape, begin, end)                                                                                  \
    "{\"a.w\":{\"dtype\":\"" dtype "\",\"shape\":" shape ",\"data_offsets\":[" begin "," end "]}}"
#define TWO(begin, end, second_begin, second_end)                                                                      \
    "{\"a.w\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":[" begin "," end "]},"                                  \
    "\"b.w\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":[" second_begin "," second_end "]}}"

static const struct {
    const char *header;
    size_t data;
    const char *words;
} bad[] = {
    {"", 0, "model.safetensors has a header of 0 bytes that does not begin with '{'"},
    {" {}", 0, "a header of 3 bytes that does not begin with '{'"},
    {"[]", 0, "does not begin with '{'"},
    {"{", 0, "line 1, column 1 of its JSON"},
    {"{}{}", 0, "end of file expected"},
    {"{\"a\":{},\"a\":{}}", 0, "duplicate object key"},
    {"{\"a\\u0000b\":{}}", 0, "of its JSON: "},
    {"{\"\xff\":{}}", 0, "of its JSON: "},
    {"{\"a.w\":3}", 0, "a.w is no object"},
    {"{\"a\\u001b[2J\":3}", 0, "(a word with control characters) is no object"},
    {"{\"a.w\":{\"shape\":[],\"data_offsets\":[0,1]}}", 1, "a.w has no dtype"},
    {"{\"a.w\":{\"dtype\":\"U8\",\"data_offsets\":[0,1]}}", 1, "a.w has no shape"},
    {"{\"a.w\":{\"dtype\":\"U8\",\"shape\":[1]}}", 1, "a.w has no two integers as data_offsets"},
    {"{\"a.w\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0]}}", 1, "a.w has no two integers"},
    {"{\"a.w\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1,2]}}", 1, "a.w has no two integers"},
    {ONE("U8", "[1]", "0", "1.0"), 1, "a.w has no two integers"},
    {ONE("F4", "[2]", "0", "1"), 1, "a.w has the dtype F4, which is unknown here"},
    {ONE("bf16", "[2]", "0", "4"), 4, "the dtype bf16"},
    {ONE("U8", "3", "0", "3"), 3, "a.w has no shape"},
    {ONE("U8", "[3,1.0]", "0", "3"), 3, "no size of 0 or more in dimension 1"},
    {ONE("U8", "[\"3\"]", "0", "3"), 3, "in dimension 0"},
    {ONE("U8", "[-3]", "0", "3"), 3, "in dimension 0"},
    {ONE("U8", "[1,1,1,1,1,1,1,1,1]", "0", "1"), 1, "a.w has 9 dimensions; 8 are possible"},
    {ONE("U8", "[4294967296,4294967296]", "0", "1"), 1, "the shape of a.w makes more than 2^63 bytes"},
    {ONE("F64", "[1152921504606846976]", "0", "1"), 1, "more than 2^63 bytes"},
    {ONE("U8", "[9223372036854775807,2,0]", "0", "0"), 0, "more than 2^63 bytes"},
    {ONE("U8", "[9223372036854775808]", "0", "1"), 1, "too big integer"},
    {ONE("U8", "[2]", "3", "1"), 3, "a.w has the data_offsets 3 to 1"},
    {ONE("U8", "[2]", "-1", "1"), 1, "a.w has the data_offsets -1 to 1"},
    {ONE("U8", "[4]", "0", "4"), 3, "a.w ends at byte 4 of data, of which the file has 3"},
    {ONE("U8", "[4]", "0", "9223372036854775807"), 4, "ends at byte 9223372036854775807"},
    {ONE("BF16", "[4]", "0", "4"), 4, "a.w has 4 bytes, and a shape of BF16 that makes 8"},
    {ONE("U8", "[0]", "0", "1"), 1, "a.w has 1 bytes, and a shape of U8 that makes 0"},
    {ONE("U8", "[]", "0", "0"), 0, "a.w has 0 bytes, and a shape of U8 that makes 1"},
    {TWO("0", "4", "3", "7"), 7, "b.w begins at byte 120 of the file, in a.w, which ends at 121"},
    {TWO("0", "4", "0", "4"), 4, "which ends at"},
    {TWO("0", "4", "5", "9"), 9, "there is a gap of 1 bytes before b.w"},
    {TWO("4", "8", "8", "12"), 12, "there is a gap of 4 bytes before a.w"},
    {TWO("0", "4", "4", "8"), 9, "model.safetensors has 1 bytes behind its last tensor"},
    {"{}", 1, "has 1 bytes behind its last tensor"},
    {"{\"__metadata__\":[]}", 0, "__metadata__ is no map"},
    {"{\"__metadata__\":{\"format\":3}}", 0, "__metadata__ maps format to something that is no string"},
};

START_TEST(every_bad_header_has_its_sentence) {
    put_file("model.safetensors", bad[_i].header, bad[_i].data);
    assert_refused(bad[_i].words);
}
END_TEST

START_TEST(lengths_that_are_not_there_are_refused) {
    unsigned char bytes[8] = {2};
    folder_file("model.safetensors", bytes, 7);
    assert_refused("has 7 bytes; the length of a header alone takes 8");
    folder_file("model.safetensors", bytes, 8);
    assert_refused("has a header of 2 bytes in a file of 8");
    memcpy(bytes, "\1\341\365\5\0\0\0\0", 8); /* 1e8 + 1 */
    folder_file("model.safetensors", bytes, 8);
    assert_refused("has a header of 100000001 bytes; 100000000 are possible");
    memset(bytes, 0xff, 8);
    folder_file("model.safetensors", bytes, 8);
    assert_refused("has a header of 18446744073709551615 bytes");
}
END_TEST

START_TEST(what_is_no_file_is_refused) {
    char *sentence;
    assert_refused("has neither model.safetensors nor model.safetensors.index.json");
    ck_assert_ptr_nonnull(sentence = sentence_of(open_file, folder()));
    ck_assert(strstr(sentence, "is no file"));
    free(sentence);
    ck_assert_ptr_nonnull(sentence = sentence_of(open_file, "/nowhere/at/all"));
    ck_assert_str_eq(sentence, "decoder: cannot open /nowhere/at/all: No such file or directory");
    free(sentence);
}
END_TEST

static const struct {
    const char *index, *words;
} bad_indices[] = {
    {"", "model.safetensors.index.json: line 1, column 0 of its JSON"},
    {"[]", "index.json: its JSON is no object"},
    {"{}", "index.json has no weight_map of tensors"},
    {"{\"weight_map\":[\"a\"]}", "has no weight_map of tensors"},
    {"{\"weight_map\":{}}", "has no weight_map of tensors"},
    {"{\"weight_map\":{\"a\":1}}", "maps a to something that is no name of a file"},
    {"{\"weight_map\":{\"a\":\"../model-1.safetensors\"}}",
     "maps a to \"../model-1.safetensors\", which is no name of a file in its folder"},
    {"{\"weight_map\":{\"a\":\"\"}}", "maps a to \"\", which is no name"},
    {"{\"weight_map\":{\"a\":\"..\"}}", "/.. is no file"},
    {"{\"weight_map\":{\"a\":\"model-3.safetensors\"}}", "maps a to model-3.safetensors, which is missing"},
    {"{\"weight_map\":{\"d\":\"model-1.safetensors\"}}", "maps d to model-1.safetensors, which lacks it"},
    {"{\"weight_map\":{\"a\":\"model-1.safetensors\",\"b\":\"model-1.safetensors\",\"c\":\"model-2.safetensors\"}}",
     "maps b to model-1.safetensors, which lacks it"},
    {"{\"weight_map\":{\"a\":\"model-1.safetensors\",\"a\":\"model-2.safetensors\"}}", "duplicate object key"},
};

START_TEST(every_bad_index_has_its_sentence) {
    put_shards(bad_indices[_i].index);
    assert_refused(bad_indices[_i].words);
}
END_TEST

START_TEST(a_tensor_in_two_files_is_refused) {
    put_shards("{\"weight_map\":{\"a\":\"model-1.safetensors\",\"b\":\"model-2.safetensors\"}}");
    put_file("model-2.safetensors",
             "{\"b\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[0,2]},"
             "\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[2,3]}}",
             3);
    assert_refused("a is in two files, ");
}
END_TEST

/* ---- reading --------------------------------------------------------------------------------------------- */

static void read_too_far(const char *path) {
    struct tensors tensors = tensors_open_file(path);
    char bytes[8];
    tensor_read(tensors_find(&tensors, "a"), 3, 2, bytes);
}

static void read_from_behind(const char *path) {
    struct tensors tensors = tensors_open_file(path);
    char byte;
    tensor_read(tensors_find(&tensors, "a"), UINT64_MAX, 2, &byte);
}

/* The file is cut when it is open already. */
static void read_what_was_cut(const char *path) {
    struct tensors tensors = tensors_open_file(path);
    char bytes[4];
    FILE *file = fopen(path, "wb");
    if (file)
        fclose(file);
    tensor_read(tensors_find(&tensors, "a"), 0, 4, bytes);
}

static const struct {
    void (*run)(const char *);
    const char *words;
} bad_reads[] = {{read_too_far, "a has 4 bytes; 2 from byte 3 on were wanted"},
                 {read_from_behind, "a has 4 bytes; 2 from byte 18446744073709551615 on were wanted"},
                 {read_what_was_cut, "has ended at byte 61, where 4 more were wanted"}};

START_TEST(bytes_that_are_not_there_are_refused) {
    char *sentence = sentence_of(bad_reads[_i].run, put_file("file", tensor_a, 4));
    ck_assert_msg(sentence && strncmp(sentence, "decoder: ", 9) == 0 && strstr(sentence, bad_reads[_i].words), "%s",
                  sentence ? sentence : "no sentence");
    free(sentence);
}
END_TEST

/* ---- any bytes ------------------------------------------------------------------------------------------- */

static uint32_t next_random(uint32_t *state) {
    *state ^= *state << 13;
    *state ^= *state >> 17;
    return *state ^= *state << 5;
}

#ifdef __SANITIZE_ADDRESS__
enum { ROUNDS = 500 }; /* there a process takes 20 ms */
#else
enum { ROUNDS = 2000 };
#endif

/* 1 to 4 bytes of a good file are others: it opens, or it is refused. */
START_TEST(changed_bytes_are_read_or_refused) {
    uint32_t state = 2463534242u;
    int refused = 0;
    for (int round = 0; round < ROUNDS; round++) {
        const size_t bytes = make_file("{\"__metadata__\":{\"f\":\"pt\"},"
                                       "\"a.w\":{\"dtype\":\"BF16\",\"shape\":[2,3],\"data_offsets\":[0,12]},"
                                       "\"b\":{\"dtype\":\"I8\",\"shape\":[0,3],\"data_offsets\":[12,12]},"
                                       "\"c\":{\"dtype\":\"F32\",\"shape\":[],\"data_offsets\":[12,16]}}  ",
                                       16);
        for (uint32_t changes = 1 + next_random(&state) % 4; changes > 0; changes--) {
            const size_t place = next_random(&state) % bytes;
            file_bytes[place] =
                (unsigned char)(next_random(&state) % 2 ? next_random(&state)
                                                        : file_bytes[place] ^ 1u << next_random(&state) % 8);
        }
        char *sentence = sentence_of(open_file, folder_file("changed", file_bytes, bytes));
        ck_assert_msg(!sentence || (strncmp(sentence, "decoder: ", 9) == 0 && !strchr(sentence, '\n')), "round %d: %s",
                      round, sentence);
        refused += sentence != NULL;
        free(sentence);
    }
    ck_assert_int_gt(refused, ROUNDS / 2);
    ck_assert_int_lt(refused, ROUNDS);
}
END_TEST

Suite *safetensors_suite(void) {
    Suite *suite = suite_create("safetensors");
    TCase *good = tcase_create("good"), *refused = tcase_create("refused");
    tcase_add_checked_fixture(good, folder_set_up, folder_tear_down);
    tcase_add_checked_fixture(refused, folder_set_up, folder_tear_down);
    tcase_set_timeout(refused, 60); /* memory checkers are slow */
    tcase_add_loop_test(good, every_dtype_is_read, 0, COUNT(dtypes));
    tcase_add_test(good, tensors_are_found_by_name_and_read_in_part);
    tcase_add_loop_test(good, a_file_without_tensors_is_read, 0, 2);
    tcase_add_test(good, shards_are_those_of_the_index);
    tcase_add_test(good, a_tensor_that_the_index_does_not_map_is_there);
    tcase_add_loop_test(refused, every_bad_header_has_its_sentence, 0, COUNT(bad));
    tcase_add_test(refused, lengths_that_are_not_there_are_refused);
    tcase_add_test(refused, what_is_no_file_is_refused);
    tcase_add_loop_test(refused, every_bad_index_has_its_sentence, 0, COUNT(bad_indices));
    tcase_add_test(refused, a_tensor_in_two_files_is_refused);
    tcase_add_loop_test(refused, bytes_that_are_not_there_are_refused, 0, COUNT(bad_reads));
    tcase_add_test(refused, changed_bytes_are_read_or_refused);
    suite_add_tcase(suite, good);
    suite_add_tcase(suite, refused);
    return suite;
}
