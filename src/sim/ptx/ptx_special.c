/* SPDX-License-Identifier: Apache-2.0 */
/* Special registers by name. */
#include "sim/ptx/ptx_internal.h"

#include <string.h>

static const char *const names[] = {
    [PTX_TID_X] = "%tid.x",
    [PTX_TID_Y] = "%tid.y",
    [PTX_TID_Z] = "%tid.z",
    [PTX_NTID_X] = "%ntid.x",
    [PTX_NTID_Y] = "%ntid.y",
    [PTX_NTID_Z] = "%ntid.z",
    [PTX_CTAID_X] = "%ctaid.x",
    [PTX_CTAID_Y] = "%ctaid.y",
    [PTX_CTAID_Z] = "%ctaid.z",
    [PTX_NCTAID_X] = "%nctaid.x",
    [PTX_NCTAID_Y] = "%nctaid.y",
    [PTX_NCTAID_Z] = "%nctaid.z",
    [PTX_LANEID] = "%laneid",
    [PTX_WARPID] = "%warpid",
    [PTX_NWARPID] = "%nwarpid",
    [PTX_SMID] = "%smid",
    [PTX_NSMID] = "%nsmid",
    [PTX_CLUSTERID_X] = "%clusterid.x",
    [PTX_CLUSTERID_Y] = "%clusterid.y",
    [PTX_CLUSTERID_Z] = "%clusterid.z",
    [PTX_NCLUSTERID_X] = "%nclusterid.x",
    [PTX_NCLUSTERID_Y] = "%nclusterid.y",
    [PTX_NCLUSTERID_Z] = "%nclusterid.z",
    [PTX_CLUSTER_CTAID_X] = "%cluster_ctaid.x",
    [PTX_CLUSTER_CTAID_Y] = "%cluster_ctaid.y",
    [PTX_CLUSTER_CTAID_Z] = "%cluster_ctaid.z",
    [PTX_CLUSTER_NCTAID_X] = "%cluster_nctaid.x",
    [PTX_CLUSTER_NCTAID_Y] = "%cluster_nctaid.y",
    [PTX_CLUSTER_NCTAID_Z] = "%cluster_nctaid.z",
    [PTX_CLUSTER_CTARANK] = "%cluster_ctarank",
    [PTX_CLUSTER_NCTARANK] = "%cluster_nctarank",
    [PTX_LANEMASK_EQ] = "%lanemask_eq",
    [PTX_LANEMASK_LT] = "%lanemask_lt",
    [PTX_LANEMASK_LE] = "%lanemask_le",
    [PTX_LANEMASK_GT] = "%lanemask_gt",
    [PTX_LANEMASK_GE] = "%lanemask_ge",
    [PTX_DYNAMIC_SMEM_SIZE] = "%dynamic_smem_size",
    [PTX_TOTAL_SMEM_SIZE] = "%total_smem_size",
    [PTX_ENVREG_ZERO] = "%envreg0",
    [PTX_CLOCK_LO] = "%clock",
    [PTX_CLOCK_HI] = "%clock_hi",
    [PTX_CLOCK64] = "%clock64",
    [PTX_GLOBALTIMER] = "%globaltimer",
};
enum { NAMES = sizeof names / sizeof *names };

int ptx_special_find(const char *name, size_t length) {
    if (length < 5 || name[0] != '%')
        return -1;
    for (int special = 0; special < NAMES; special++)
        if (names[special][1] == name[1] && strlen(names[special]) == length &&
            memcmp(names[special], name, length) == 0)
            return special;
    /* %envreg1 to %envreg31 hold nothing either */
    return length > 7 && length < 10 && memcmp(name, "%envreg", 7) == 0 ? PTX_ENVREG_ZERO : -1;
}

const char *ptx_special_name(unsigned special) {
    return special < NAMES ? names[special] : "?";
}
