/* SPDX-License-Identifier: Apache-2.0 */
/* What a results file says of the machine and the day. */
#include "bench/measure/environment.h"

#include <stdio.h>
#include <time.h>

void environment_driver(char *text, size_t bytes, const struct nvml *nvml, const struct gm_device *device) {
    char version[48];
    int api = device->driver_version;
    if (nvml_driver_version(nvml, version, sizeof version))
        snprintf(text, bytes, "%s (CUDA %d.%d)", version, api / 1000, api % 1000 / 10);
    else
        snprintf(text, bytes, "CUDA %d.%d", api / 1000, api % 1000 / 10);
}

void environment_date(char *text, size_t bytes) {
    time_t now = time(NULL);
    struct tm utc;
    strftime(text, bytes, "%Y-%m-%d", gmtime_r(&now, &utc));
}
