/* SPDX-License-Identifier: Apache-2.0 */
/* Whole numbers on the command line. */
#include "program/smem/numbers.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>

#include "program/base/messages.h"

bool number_take_64(const char **text, uint64_t most, uint64_t *value) {
    const char *digits = *text;
    const bool hexadecimal = digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X');
    digits += hexadecimal ? 2 : 0;
    if (!(hexadecimal ? isxdigit((unsigned char)*digits) : isdigit((unsigned char)*digits)))
        return false;
    char *end;
    errno = 0;
    const unsigned long long number = strtoull(digits, &end, hexadecimal ? 16 : 10);
    if (errno != 0 || number > most)
        return false;
    *text = end;
    *value = number;
    return true;
}

bool number_take(const char **text, uint32_t most, uint32_t *value) {
    uint64_t number;
    if (!number_take_64(text, most, &number))
        return false;
    *value = (uint32_t)number;
    return true;
}

int number_read(const char *option, const char *text, uint32_t least, uint32_t most, uint32_t *value) {
    const char *end = text;
    uint32_t number;
    if (!number_take(&end, most, &number) || *end || number < least)
        return complain("%s wants a whole number from %u to %u, not `%.40s`", option, least, most, text);
    *value = number;
    return 0;
}
