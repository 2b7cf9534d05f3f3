// The part of CUDA C that our kernels use, on one thread of a CPU.
//
// Blocks run one after another. The threads of a block are coroutines: each runs until __syncthreads(), then it is
// the next one's turn; when all are there, the first one goes on. What waits for a thread that never comes ends in
// an error.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <ucontext.h>
#include <vector>

#define __device__ static
#define __global__
#define __shared__

struct float2 { float x, y; };
struct dim3 { unsigned x, y, z; };
static inline float2 make_float2(float x, float y) { return {x, y}; }
static inline float __fmul_rn(float a, float b) { return a * b; }
static inline double __dmul_rn(double a, double b) { return a * b; }  // compiled without contraction
static inline int __float_as_int(float value) { int bits; memcpy(&bits, &value, 4); return bits; }
static inline float __int_as_float(int bits) { float value; memcpy(&value, &bits, 4); return value; }

static dim3 threadIdx, blockIdx, blockDim, gridDim;
float2 shared[1 << 16];
using std::isnan;

static ucontext_t scheduler;
static std::vector<ucontext_t> contexts;
static std::vector<char> ended;
static std::function<void()> body;
static unsigned current;

static inline void __syncthreads() { swapcontext(&contexts[current], &scheduler); }

static void run_thread()
{
    body();
    ended[current] = 1;
    swapcontext(&contexts[current], &scheduler);
}

// 0; 1 if some threads of a block ended while others waited for them
static int run_block(dim3 block, std::vector<char>& stacks)
{
    const unsigned threads = block.x * block.y;
    const size_t stack = stacks.size() / threads;
    memset(shared, 0xff, sizeof shared);  // NaN: what was not written must not be read
    ended.assign(threads, 0);
    for (current = 0; current < threads; ++current) {
        getcontext(&contexts[current]);
        contexts[current].uc_stack.ss_sp = stacks.data() + current * stack;
        contexts[current].uc_stack.ss_size = stack;
        contexts[current].uc_link = nullptr;
        makecontext(&contexts[current], run_thread, 0);
    }
    for (unsigned alive = threads; alive;) {
        for (current = 0; current < threads; ++current) {
            threadIdx = {current % block.x, current / block.x, 0};
            swapcontext(&scheduler, &contexts[current]);
            alive -= ended[current];
        }
        if (alive && alive != threads) return 1;
    }
    return 0;
}

template <class... Args, size_t... I>
static int launch(void (*kernel)(Args...), dim3 grid, dim3 block, void** arguments, std::index_sequence<I...>)
{
    std::vector<char> stacks(block.x * block.y * (size_t)65536);
    contexts.resize(block.x * block.y);
    gridDim = grid, blockDim = block;
    body = [=] { kernel(*static_cast<Args*>(arguments[I])...); };
    for (blockIdx = {0, 0, 0}; blockIdx.y < grid.y; ++blockIdx.y)
        for (blockIdx.x = 0; blockIdx.x < grid.x; ++blockIdx.x)
            if (run_block(block, stacks)) return 1;
    return 0;
}

#define LAUNCHER(kernel)                                                                                         \
    template <class... Args>                                                                                     \
    static int start_##kernel(void (*function)(Args...), dim3 grid, dim3 block, void** arguments)                \
    {                                                                                                            \
        return launch(function, grid, block, arguments, std::index_sequence_for<Args...>());                     \
    }                                                                                                            \
    extern "C" int launch_##kernel(unsigned blocks, unsigned x, unsigned y, void** arguments)                    \
    {                                                                                                            \
        return start_##kernel(&kernel, {blocks, 1, 1}, {x, y, 1}, arguments);                                    \
    }
