/* SPDX-License-Identifier: Apache-2.0 */
/* The format of packed images, which tools/pack_images.c writes at build time: one image as differences to another.
 *
 * The bytes of the image's base, if it has one, stand before its own. A packed image is a list of
 *
 *   number of literals | the literals | length of a match, 0: the image is complete | its distance back
 *
 * with numbers of 7 bits a byte, the lowest first, and the top bit set in all but the last byte of a number. A match
 * copies bytes that were written before, the base's too, and may overlap what it writes. */
#ifndef GM_UNPACK_H
#define GM_UNPACK_H

#include <stddef.h>

/* Unpacks to bytes [start, end) of `to`, before which the base stands. 0: the packed bytes are not such a list, or not
 * of this image. */
int gm_unpack(const unsigned char *packed, size_t packed_bytes, unsigned char *to, size_t start, size_t end);

#endif
