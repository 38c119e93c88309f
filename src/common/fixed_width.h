/* SPDX-License-Identifier: Apache-2.0 */
/* <stdint.h>, which NVRTC does not have: there the program that compiles a kernel supplies it. */
#ifndef GM_FIXED_WIDTH_H
#define GM_FIXED_WIDTH_H
#ifndef __CUDACC_RTC__
#include <stdint.h>
#endif
#endif
