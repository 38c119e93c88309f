/* SPDX-License-Identifier: Apache-2.0 */
/* A program in C++17: explains a GEMM, plans it, runs it where GM_DRIVER says and checks the result. Plans, contexts
 * and memory are owned by unique_ptr; a status that is no GM_OK becomes an exception with the library's sentence. */
#include <gristmill/gristmill.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

template <auto destroy> struct Deleter {
    template <class T> void operator()(T *object) const { destroy(object); }
};
using Context = std::unique_ptr<gm_context, Deleter<gm_context_destroy>>;
using Plan = std::unique_ptr<gm_plan, Deleter<gm_plan_destroy>>;

/* A struct of the library's as all of them begin: their size, and zeros, which are the defaults. */
template <class T> T sized() {
    T value{};
    value.size = sizeof value;
    return value;
}

void check(gm_status status) {
    if (status != GM_OK)
        throw std::runtime_error(std::string(gm_status_name(status)) + ": " + gm_last_error());
}

Context make_context(int device) {
    gm_context *context = nullptr;
    check(gm_context_create(device, &context));
    return Context(context);
}

Plan make_plan(const Context &context, const gm_gemm_problem &problem) {
    gm_plan *plan = nullptr;
    check(gm_gemm_plan_create(context.get(), &problem, nullptr, &plan));
    return Plan(plan);
}

std::string chosen_kernel(const char *model, const gm_gemm_problem &problem) {
    auto device = sized<gm_device>();
    check(gm_device_model(model, &device));
    std::vector<gm_candidate> candidates(gm_kernel_count());
    size_t count = 0;
    check(gm_gemm_explain(&device, &problem, nullptr, candidates.data(), candidates.size(), &count));
    auto chosen = std::find_if(candidates.begin(), candidates.begin() + static_cast<std::ptrdiff_t>(count),
                               [](const gm_candidate &candidate) { return candidate.chosen; });
    auto kernel = sized<gm_kernel_info>();
    check(gm_kernel_get(static_cast<size_t>(chosen->kernel), &kernel));
    return kernel.name;
}

/* The driver that the library has open: a program has its own memory from the CUDA runtime, or elsewhere. */
class Driver {
  public:
    Driver() {
        void *context = nullptr;
        if (!library || call<int(void **, int)>("cuDevicePrimaryCtxRetain")(&context, 0) ||
            call<int(void *)>("cuCtxSetCurrent")(context))
            throw std::runtime_error("no CUDA context");
    }
    template <class Function> Function *call(const char *name) const {
        if (void *address = dlsym(library, name))
            return reinterpret_cast<Function *>(address);
        throw std::runtime_error(name);
    }

  private:
    static const char *file() {
        const char *choice = std::getenv("GM_DRIVER");
        return choice && std::strcmp(choice, "sim") == 0 ? "libgristmill-sim.so.0" : "libcuda.so.1";
    }
    void *library = dlopen(file(), RTLD_NOW);
};

class Buffer {
  public:
    template <class T> Buffer(const Driver &driver, const std::vector<T> &data) : driver(driver) {
        const size_t bytes = data.size() * sizeof(T);
        if (driver.call<int(gm_device_ptr *, size_t)>("cuMemAlloc_v2")(&address, bytes) ||
            driver.call<int(gm_device_ptr, const void *, size_t)>("cuMemcpyHtoD_v2")(address, data.data(), bytes))
            throw std::runtime_error("no device memory");
    }
    ~Buffer() { driver.call<int(gm_device_ptr)>("cuMemFree_v2")(address); }
    Buffer(const Buffer &) = delete;
    Buffer &operator=(const Buffer &) = delete;

    void read(std::vector<float> &data) const {
        if (driver.call<int(void *, gm_device_ptr, size_t)>("cuMemcpyDtoH_v2")(data.data(), address, data.size() * 4))
            throw std::runtime_error("no copy");
    }
    gm_device_ptr address = 0;

  private:
    const Driver &driver;
};

/* D = A B of ones and twos, in bf16: every element is 2 K. */
int multiply() {
    auto problem = sized<gm_gemm_problem>();
    problem.m = 48, problem.n = 40, problem.k = 64, problem.d_type = GM_FP32;
    std::printf("an H200 would run %s\n", chosen_kernel("h200", problem).c_str());

    const Context context = make_context(0);
    const Driver driver;
    const Plan plan = make_plan(context, problem);
    std::vector<float> result(static_cast<size_t>(problem.m * problem.n), std::nanf(""));
    const Buffer a(driver, std::vector<uint16_t>(static_cast<size_t>(problem.m * problem.k), 0x3f80));
    const Buffer b(driver, std::vector<uint16_t>(static_cast<size_t>(problem.n * problem.k), 0x4000));
    const Buffer d(driver, result);

    auto args = sized<gm_gemm_args>();
    args.a = a.address, args.b = b.address, args.d = d.address;
    check(gm_gemm_execute(plan.get(), &args, nullptr));
    d.read(result);
    const bool right = std::all_of(result.begin(), result.end(), [](float value) { return value == 2 * 64; });
    std::printf("the result is %s\n", right ? "right" : "wrong");
    return !right;
}

/* What the library refuses arrives as a sentence. */
bool refuses() {
    try {
        chosen_kernel("h300", sized<gm_gemm_problem>());
    } catch (const std::runtime_error &error) {
        return std::strstr(error.what(), "GM_ERROR_INVALID_ARGUMENT: ") && std::strstr(error.what(), "h300");
    }
    return false;
}

} // namespace

int main() {
    try {
        return !refuses() || multiply();
    } catch (const std::exception &error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
}
