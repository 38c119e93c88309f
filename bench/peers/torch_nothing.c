/* SPDX-License-Identifier: Apache-2.0 */
/* For torch_costs.py: a loop of C calls, and an operator of PyTorch that does nothing, with the arguments of
 * gristmill::rms_norm_out. What it costs is what PyTorch takes for any operator of a library. */
#include "bindings/tensors/torch_abi.h"

#include <time.h>

static struct torch_abi torch;

static void nothing(torch_value *stack, uint64_t inputs, uint64_t outputs) {
    (void)inputs, (void)outputs;
    for (int i = 0; i < 3; i++) {
        torch.aoti_torch_delete_tensor_object((torch_tensor)(uintptr_t)stack[i]);
    }
}

const char *register_nothing(void) {
    torch_library all, cuda;
    const char *missing = torch_abi_find(&torch);
    if (*missing) {
        return missing;
    }
    const char *schema = "nothing(Tensor(a!) out, Tensor x, Tensor weight, float eps=1e-6, float weight_offset=0.0, "
                         "bool round_early=False) -> ()";
    torch_error wrong = torch.aoti_torch_library_init_fragment("gristmill_bench", __FILE__, __LINE__, &all) ||
                        torch.aoti_torch_library_init_impl("gristmill_bench", "CUDA", __FILE__, __LINE__, &cuda) ||
                        torch.aoti_torch_library_def(all, schema) ||
                        torch.torch_library_impl(cuda, "nothing", nothing, TORCH_VERSION_WRITTEN_FOR);
    return wrong ? "PyTorch does not take the operator" : "";
}

/* Microseconds of a gm_x_execute(), of so many calls; -1: it failed. */
double loop(int (*execute)(const void *, const void *, void *), const void *plan, const void *args, void *stream,
            int calls) {
    struct timespec from, to;
    clock_gettime(CLOCK_MONOTONIC, &from);
    for (int i = 0; i < calls; i++) {
        if (execute(plan, args, stream)) {
            return -1;
        }
    }
    clock_gettime(CLOCK_MONOTONIC, &to);
    return ((double)(to.tv_sec - from.tv_sec) * 1e9 + (double)(to.tv_nsec - from.tv_nsec)) / 1e3 / calls;
}
