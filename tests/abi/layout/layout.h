/* SPDX-License-Identifier: Apache-2.0 */
/* Where every member of every public struct lies, on 64-bit hosts, and what every enumerator is: a file for each header
 * that compiles or does not. Lines are added, and never changed: docs/VERSIONING.md says what may grow, and how. */
#ifndef LAYOUT_H
#define LAYOUT_H

#include <stddef.h>

#define MEMBER(type, member, offset) _Static_assert(offsetof(struct type, member) == (offset), #type "." #member);
/* The first version's structs end in up to 4 bytes of padding, which a new member must not use: older programs leave
 * anything there. A struct that has grown ends with its last member. */
#define END(type, last, first_size)                                                                                    \
    _Static_assert(sizeof(struct type) == (first_size) ||                                                              \
                       (offsetof(struct type, last) >= (first_size) &&                                                 \
                        sizeof(struct type) == offsetof(struct type, last) + sizeof(((struct type *)0)->last)),        \
                   #type " ends in padding");
/* Elements of arrays without a size of their own, and structs within others: they have one size in every version. */
#define FIXED(type, bytes)  _Static_assert(sizeof(struct type) == (bytes), #type " cannot grow");
#define VALUE(name, number) _Static_assert((int)(name) == (number), #name);

#endif
