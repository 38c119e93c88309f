/* SPDX-License-Identifier: Apache-2.0 */
/* What state the driver is in: which device it presents since it was started, and whether a launch runs. */
#include "sim/driver/driver_sim.h"

static const struct sim_device *presented;
static struct sim_device with_sms; /* the device, with the SMs that GM_SIM_SMS says */
static bool launch_runs;

void sim_device_present(const struct sim_device *device, int sms) {
    with_sms = *device;
    if (sms)
        with_sms.sm_count = sms;
    presented = &with_sms;
}

const struct sim_device *sim_device_presented(void) {
    return presented;
}

bool sim_device_exists(CUdevice device) {
    return presented && device >= 0 && device < sim_setup_now()->devices;
}

void sim_set_launch_runs(bool runs) {
    launch_runs = runs;
}

CUresult sim_check_started(void) {
    if (launch_runs) /* a step function calls */
        return CUDA_ERROR_NOT_PERMITTED;
    return presented ? CUDA_SUCCESS : CUDA_ERROR_NOT_INITIALIZED;
}
