/* SPDX-License-Identifier: Apache-2.0 */
/* Tuning ledgers: a sentence for every text that is not one. */
#include "ledgers.h"

#include <stdlib.h>
#include <string.h>

/* Every line that is wrong, and the words of its sentence. */
START_TEST(malformed_texts_are_refused_with_line_and_word) {
    static const struct {
        const char *text, *words;
    } wrong[] = {
        {"", "the text: the ledger has no line `gristmill-ledger`"},
        {"\n \n# only remarks\n", "no line `gristmill-ledger`"},
        {"device NVIDIA H200\n", "the text:1: this is no ledger"},
        {"\x7f"
         "ELF",
         "begins no line of a ledger"},
        {"gristmill-ledger\n", "format ``"},
        {"gristmill-ledger 2\n", "format `2`; this library reads format 1"},
        {"gristmill-ledger 1 1\n", "`1` after the format"},
        {"gristmill-ledger 1\n", "no line `device`"},
        {"gristmill-ledger 1\ndevice D\ncc 9.0\nsms 1\nl2_bytes 1\n", "no line `dram_gbs`"},
        {"gristmill-ledger 1\ndevice\n", "the text:2: the device's name has 0 bytes"},
        {"gristmill-ledger 1\ndevice 0123456789012345678901234567890123456789012345678901234567890123\n",
         "has 64 bytes"},
        {"gristmill-ledger 1\ndevice \x1b[2JH200\n", "characters that are not shown: \\x1b[2JH200"},
        {"\xef\xbb\xbf\xef\xbb\xbfgristmill-ledger 1\n", "`\\xef\\xbb\\xbfgristmill-ledger` begins no line"},
        {HEAD "\xef\xbb\xbf"
              "device H200\n",
         "`\\xef\\xbb\\xbfdevice` begins no line"},
        {"gristmill-ledger 1\ncc 9\n", "`9` is no compute capability"},
        {"gristmill-ledger 1\ncc .0\n", "`.0` is no compute capability"},
        {"gristmill-ledger 1\ncc 9.10\n", "`9.10`"},
        {"gristmill-ledger 1\ncc\n", "`` is no compute capability"},
        {"gristmill-ledger 1\ncc 9.0 a\n", "`a` after the compute capability"},
        {"gristmill-ledger 1\nsms 0\n", "`0` is no number of SMs"},
        {"gristmill-ledger 1\nsms 1.5\n", "`1.5` is no number of SMs"},
        {"gristmill-ledger 1\nsms 2147483648\n", "`2147483648`"},
        {"gristmill-ledger 1\nl2_bytes 1e9\n", "`1e9` is no number of bytes of L2"},
        {"gristmill-ledger 1\ndram_gbs -1\n", "`-1` is no number of GB/s"},
        {"gristmill-ledger 1\ndram_gbs 9999999999999999999999\n", "`9999999999999999999999`"},
        {"gristmill-ledger 1\nmeasured\n", "`measured` wants `table`"},
        {"gristmill-ledger 1\nmeasured table 123\n", "16 hexadecimal digits, not `table 123`"},
        {"gristmill-ledger 1\nmeasured table 0123456789ABCDEF\n", "16 hexadecimal digits"},
        {"gristmill-ledger 1\nmeasured table 0123456789abcdef0\n", "16 hexadecimal digits"},
        {HEAD "sms 132\n", "the text:7: a second line that begins like this one: sms 132"},
        {HEAD "<<<<<<< HEAD\n", "`<<<<<<<` begins no line"},
        {HEAD "gemmm bf16\n", "`gemmm` begins no line"},
        {HEAD "gemm\n", "a is ``, which is none of its types"},
        {HEAD "gemm uint8 fp32 fp32 tn plain 1 1 1 *a 1 1 1 1\n", "a is `uint8`, which is none of its types"},
        {HEAD "gemm bf16 uint8 bf16 tn plain 1 1 1 *a 1 1 1 1\n", "b is `uint8`, which is none of its types"},
        {HEAD "gemm e5m2 e5m2 bf16 tn plain 1 1 1 *a 1 1 1 1\n",
         "b is e5m2, which no problem has beside what stands before it"},
        {HEAD "gemm bf16 fp16 bf16 tn plain 1 1 1 *a 1 1 1 1\n",
         "b is fp16, which no problem has beside what stands before it"},
        {HEAD "gemm bf16 bf16 tf32 tn plain 1 1 1 *a 1 1 1 1\n", "d is `tf32`, which is none of its types"},
        {HEAD "gemm bf16 bf16 bf16 xy plain 1 1 1 *a 1 1 1 1\n",
         "layout is `xy`, which is none of these: tn, nn, tt, nt"},
        {HEAD "gemm bf16 bf16 bf16 tn plains 1 1 1 *a 1 1 1 1\n",
         "epilogue is `plains`, which is none of these: plain, general"},
        {HEAD "gemm bf16 bf16 bf16 tn plain 0 1 1 *a 1 1 1 1\n", "m is `0`, not a size from 1 to 2147483647"},
        {HEAD "gemm bf16 bf16 bf16 tn plain 1 2147483648 1 *a 1 1 1 1\n", "n is `2147483648`"},
        {HEAD "gemm bf16 bf16 bf16 tn plain 1 1 18446744073709551617 *a 1 1 1 1\n", "k is `18446744073709551617`"},
        {HEAD "gemm bf16 bf16 bf16 tn plain 1 1\n", "k is ``"},
        {HEAD "gemm bf16 bf16 bf16 tn plain 1 1 1\n", "0 candidates"},
        {HEAD SHAPE "a 1 1 1 1\n", "1 candidates, 0 of them with the star"},
        {HEAD SHAPE "*a 1 1 1 1 *b 1 1 1 1\n", "2 candidates, 2 of them with the star"},
        {HEAD SHAPE "* 1 1 1 1\n", "`*` names no kernel"},
        {HEAD SHAPE "/k 1 1 1 1\n", "`/k` names no kernel"},
        {HEAD SHAPE "*a\n", "*a has `` for microseconds"},
        {HEAD SHAPE "*a 1 1\n", "*a has `` for microseconds"},
        {HEAD SHAPE "*a 1 1 1\n", "*a has `` for a number of rounds"},
        {HEAD SHAPE "*a 1 1 1 0\n", "`0` for a number of rounds"},
        {HEAD SHAPE "*a 0 0 0 1\n", "`0` for microseconds"},
        {HEAD SHAPE "*a nan 1 1 1\n", "`nan` for microseconds"},
        {HEAD SHAPE "*a inf 1 1 1\n", "`inf` for microseconds"},
        {HEAD SHAPE "*a 1,5 1 2 1\n", "`1,5` for microseconds"},
        {HEAD SHAPE "*a 1. 1 2 1\n", "`1.` for microseconds"},
        {HEAD SHAPE "*a .5 .5 1 1\n", "`.5` for microseconds"},
        {HEAD SHAPE "*a 1.0000001 1 2 1\n", "`1.0000001` for microseconds"},
        {HEAD SHAPE "*a 1.2.3 1 2 1\n", "`1.2.3` for microseconds"},
        {HEAD SHAPE "*a 1000000000000 1 2 1\n", "`1000000000000` for microseconds"},
        {HEAD SHAPE "*a 3 1 2 1\n", "median of 3.000 us outside p10 1.000 to p90 2.000"},
        {HEAD SHAPE "*a 1 2 2 1\n", "median of 1.000 us outside"},
        {HEAD SHAPE "*a 1 1 1 1\n" SHAPE "*b 1 1 1 1\n", "lines 7 and 8 answer for the same problem"},
        {HEAD SHAPE "gone 1 1 1 1 *a 2 2 2 1\n",
         "the text:7: the ledger is stale: the table has no kernel named gone; measure "
         "`gemm bf16 bf16 bf16 tn plain 64 2112 7168` again"},
    };
    gm_ledger *ledger = NULL;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_fails(ledger_try(wrong[i].text, &ledger), GM_ERROR_LEDGER, wrong[i].words);
    ck_assert_ptr_null(ledger);
}
END_TEST

/* Cut anywhere, and with any byte replaced, a text is read or refused; the sanitizers and valgrind watch. */
START_TEST(damaged_texts_do_no_harm) {
    static const char whole[] =
        HEAD "measured table 0123456789abcdef driver 1\n" SHAPE "b 11.98 11.9 12 7 *a 12 12 13 3\n";
    static const unsigned char bytes[] = {0, ' ', '\n', '*', '9', '.', 0xff};
    char text[sizeof whole];
    size_t read = 0;
    for (size_t i = 0; i < sizeof whole - 1; i++) {
        for (size_t j = 0; j < sizeof bytes; j++) {
            gm_ledger *damaged = NULL;
            memcpy(text, whole, sizeof whole);
            text[i] = (char)bytes[j];
            read += ledger_try_bytes(text, sizeof whole - 1, &damaged) == GM_OK;
            gm_ledger_destroy(damaged);
        }
        gm_ledger *cut = NULL;
        char *exact = malloc(i + 1); /* nothing may be read behind it */
        memcpy(exact, whole, i);
        read += ledger_try_bytes(exact, i, &cut) == GM_OK;
        gm_ledger_destroy(cut);
        free(exact);
    }
    ck_assert_uint_gt(read, 100);
    gm_ledger *ledger = NULL;
    assert_fails(ledger_try_bytes("gristmill\0ledger", 16, &ledger), GM_ERROR_LEDGER, "zero byte");
}
END_TEST

START_TEST(candidates_beyond_the_limit_are_refused) {
    char text[8192] = HEAD SHAPE "*a 1 1 1 1";
    for (int i = 1; i < GM_LEDGER_CANDIDATES_MAX; i++)
        strcat(text, " gone 2 2 2 1");
    gm_ledger *ledger = NULL;
    assert_ok(ledger_try(text, &ledger)); /* of the losers, none need be in the table */
    gm_ledger_destroy(ledger);
    ledger = NULL;
    strcat(text, " gone 2 2 2 1");
    assert_fails(ledger_try(text, &ledger), GM_ERROR_LEDGER, "65 candidates");
}
END_TEST

Suite *ledger_refusals_suite(void) {
    Suite *suite = suite_create("ledger refusals");
    TCase *cases = tcase_create("text");
    tcase_add_test(cases, malformed_texts_are_refused_with_line_and_word);
    tcase_add_test(cases, damaged_texts_do_no_harm);
    tcase_add_test(cases, candidates_beyond_the_limit_are_refused);
    suite_add_tcase(suite, cases);
    return suite;
}
