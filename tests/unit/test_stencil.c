/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"
Suite *stencil_suite(void) { return suite_create("stencil"); }
