/* SPDX-License-Identifier: Apache-2.0 */
/* Unpacks an image. */
#include "host/unpack.h"

#include <string.h>

struct reader {
    const unsigned char *at, *end;
};

/* A number of up to 28 bits; SIZE_MAX: there is none. */
static size_t read_number(struct reader *reader) {
    size_t number = 0;
    for (int shift = 0; shift < 28 && reader->at < reader->end; shift += 7) {
        const unsigned char byte = *reader->at++;
        number |= (size_t)(byte & 127) << shift;
        if (byte < 128)
            return number;
    }
    return (size_t)-1;
}

/* Byte by byte where the match overlaps what it writes. */
static void copy(unsigned char *to, size_t distance, size_t length) {
    if (distance >= length) {
        memcpy(to, to - distance, length);
        return;
    }
    for (size_t i = 0; i < length; i++)
        to[i] = to[i - distance];
}

int gm_unpack(const unsigned char *packed, size_t packed_bytes, unsigned char *to, size_t start, size_t end) {
    struct reader reader = {packed, packed + packed_bytes};
    for (size_t at = start;;) {
        const size_t literals = read_number(&reader);
        if (literals > end - at || literals > (size_t)(reader.end - reader.at))
            return 0;
        memcpy(to + at, reader.at, literals);
        reader.at += literals;
        at += literals;
        const size_t length = read_number(&reader);
        if (length == 0)
            return at == end && reader.at == reader.end;
        const size_t distance = read_number(&reader);
        if (length > end - at || distance == 0 || distance > at)
            return 0;
        copy(to + at, distance, length);
        at += length;
    }
}
