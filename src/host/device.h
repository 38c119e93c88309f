/* SPDX-License-Identifier: Apache-2.0 */
/* Devices that a caller describes. */
#ifndef GM_DEVICE_H
#define GM_DEVICE_H

#include "gristmill/gristmill.h"

/* GM_TAKE() of a caller's device. GM_OK when every field is within its bounds, with which no arithmetic of the library
 * overflows; the bounds stand in the public header. A field may still be 0 where a function needs more. */
enum gm_status gm_device_take(const struct gm_device **device, struct gm_device *today);

#endif
