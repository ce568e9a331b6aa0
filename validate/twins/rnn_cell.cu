// Launches of the recurrent cell (twin of sim/kernels/rnn_cell.cpp): a kernel a step, or one cooperative kernel.
#include "validate/twins/kernels/rnn_cell.h"

#include "validate/twins/launch.h"
#include "validate/twins/twins.h"

namespace rafter::validate {

namespace {

/// body(Shape) for the gates of a cell and tiles of 16 or 64 rows.
template <class T, class Body>
void with_shape(const Recurrent& p, const Body& body) {
    const bool small = p.batch <= 16;
    if (p.gates == 4) return small ? body(CellShape<T, 4, 16>{}) : body(CellShape<T, 4, 64>{});
    if (p.gates == 3) return small ? body(CellShape<T, 3, 16>{}) : body(CellShape<T, 3, 64>{});
    RAFTER_CHECK(p.gates == 1, "cells have 1, 3 or 4 gates");
    return small ? body(CellShape<T, 1, 16>{}) : body(CellShape<T, 1, 64>{});
}

template <class T>
CellArguments<T> arguments_of(const Recurrent& p, const CellBuffers& b) {
    return {p,
            static_cast<const T*>(b.inputs),
            static_cast<const T*>(b.weights),
            static_cast<T*>(b.states),
            b.cell,
            p.hidden % 8 == 0};
}

template <class Shape>
bool fits_at_once(const Recurrent& p, int shared_bytes, int sms) {
    const auto kernel = reinterpret_cast<const void*>(&rnn_persistent_kernel<Shape>);
    allow_shared(kernel, shared_bytes);
    int per_sm = 0;
    RAFTER_CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_sm, kernel, Shape::Tile::kThreads,
                                                              static_cast<std::size_t>(shared_bytes)));
    return Shape::grid(p) <= per_sm * sms;
}

template <class Shape>
void launch_cooperative(const Recurrent& p, bool resident, const CellBuffers& buffers, cudaStream_t stream) {
    CellArguments<typename Shape::T> arguments = arguments_of<typename Shape::T>(p, buffers);
    void* list[] = {&arguments, &resident};
    const auto kernel = reinterpret_cast<const void*>(&rnn_persistent_kernel<Shape>);
    const int shared = resident ? Shape::resident_bytes(p.hidden) : Shape::kStreamedBytes;
    allow_shared(kernel, shared);
    RAFTER_CUDA(cudaLaunchCooperativeKernel(kernel, dim3(checked_grid(Shape::grid(p))), dim3(Shape::Tile::kThreads), list,
                                            static_cast<std::size_t>(shared), stream));
}

}  // namespace

void launch_rnn_steps(DType dtype, const Recurrent& p, const CellBuffers& buffers, cudaStream_t stream) {
    with_half(dtype, [&](auto tag) {
        using T = typename decltype(tag)::type;
        with_shape<T>(p, [&](auto shape) {
            using Shape = decltype(shape);
            for (int step = 0; step < p.steps; ++step) {
                launch(rnn_step_kernel<Shape>, {Shape::grid(p), Shape::Tile::kThreads, Shape::kStreamedBytes}, stream,
                       arguments_of<T>(p, buffers), step);
            }
        });
    });
}

Persistence rnn_persistence(DType dtype, const Recurrent& p, int sms, int shared_limit) {
    Persistence best = Persistence::none;
    with_half(dtype, [&](auto tag) {
        using T = typename decltype(tag)::type;
        with_shape<T>(p, [&](auto shape) {
            using Shape = decltype(shape);
            const int resident = Shape::resident_bytes(p.hidden);
            if (Shape::kStreamedBytes <= shared_limit && fits_at_once<Shape>(p, Shape::kStreamedBytes, sms)) {
                best = Persistence::streamed;
            }
            if (resident <= shared_limit && fits_at_once<Shape>(p, resident, sms)) best = Persistence::resident;
        });
    });
    return best;
}

void launch_rnn_persistent(DType dtype, const Recurrent& p, Persistence persistence, const CellBuffers& buffers,
                           cudaStream_t stream) {
    RAFTER_CHECK(persistence != Persistence::none, "a cooperative kernel that does not fit the machine");
    with_half(dtype, [&](auto tag) {
        using T = typename decltype(tag)::type;
        with_shape<T>(p, [&](auto shape) {
            launch_cooperative<decltype(shape)>(p, persistence == Persistence::resident, buffers, stream);
        });
    });
}

}  // namespace rafter::validate
