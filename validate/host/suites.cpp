// The shapes that are measured. `quick` takes minutes and touches every kernel; `full` adds the shapes of real networks.
#include <algorithm>

#include <fmt/format.h>

#include "sim/core/error.h"
#include "validate/host/case.h"
#include "validate/twins/parameters.h"

namespace rafter::validate {

namespace {

const Protocol kEach{Calls::event_per_call, Caches::warm_if_fits, {}};
const Protocol kEachCold{Calls::event_per_call, Caches::cold, {}};
const Protocol kGraph{Calls::graph_replay, Caches::warm_if_fits, {}};
const Protocol kGraphWeights{Calls::graph_replay, Caches::cold_weights, {}};
const Protocol kBackToBack{Calls::back_to_back_stream, Caches::warm_if_fits, {}};
const Protocol kGraphWrites{Calls::graph_replay, Caches::warm_if_fits, "kv_write"};

class Builder {
public:
    explicit Builder(bool full) : full_(full) {}

    std::vector<Case> build() {
        gemm();
        conv();
        prefill();
        decode();
        embedding();
        recurrent();
        elementwise();
        rows();
        return std::move(cases_);
    }

private:
    void add(const std::string& op, DType dtype, const Shape& shape, const std::vector<std::string>& kernels,
             const std::vector<Protocol>& protocols) {
        for (const auto& kernel : kernels) {
            for (const Protocol& protocol : protocols) cases_.push_back({op, dtype, shape, kernel, protocol});
        }
    }

    void gemm(DType dtype, std::int64_t m, std::int64_t n, std::int64_t k, const std::vector<Protocol>& protocols) {
        add("gemm", dtype, Shape{}.set("m", m).set("n", n).set("k", k), {"twin", "cublaslt"}, protocols);
    }
    void gemm() {
        for (const std::int64_t size : {256, 512, 1024, 2048, 4096}) gemm(DType::fp16, size, size, size, {kEach, kGraphWeights});
        for (const std::int64_t m : {1, 8, 16, 64, 128, 129, 256, 1024}) gemm(DType::fp16, m, 4096, 4096, {kGraphWeights});
        gemm(DType::bf16, 512, 4096, 4096, {kGraphWeights});
        gemm(DType::fp32, 1024, 1024, 1024, {kEach});
        gemm(DType::fp16, 1000, 1001, 1003, {kEach});  // not aligned
        if (!full_) return;
        for (const DType dtype : {DType::fp16, DType::bf16}) {
            for (const std::int64_t m :
                 {1, 2, 4, 8, 16, 32, 64, 96, 128, 192, 256, 384, 512, 768, 1024, 1536, 2048, 4096, 8192}) {
                gemm(dtype, m, 12288, 4096, {kGraphWeights});
                gemm(dtype, m, 4096, 14336, {kGraphWeights});
                gemm(dtype, m, 28672, 4096, {kGraphWeights, kEachCold});
            }
        }
        for (const std::int64_t size : {128, 768, 1536, 3072, 6144, 8192})
            gemm(DType::fp16, size, size, size, {kEach, kBackToBack});
        for (const std::int64_t size : {512, 2048, 4096}) gemm(DType::fp32, size, size, size, {kEach, kEachCold});
    }

    void conv(DType dtype, const Conv& c, bool depthwise = false) {
        Shape shape;
        shape.set("n", c.n).set("c", c.c).set("h", c.h).set("w", c.w).set("k", c.k).set("r", c.r).set("s", c.s);
        shape.set("stride_h", c.stride_h).set("stride_w", c.stride_w).set("pad_h", c.pad_h).set("pad_w", c.pad_w);
        shape.set("p", c.p()).set("q", c.q());
        if (depthwise) shape.set("groups", c.c);
        shape.set("pass", "fwd");
        std::vector<std::string> kernels{"twin"};
        if (!depthwise) kernels.emplace_back("cudnn");
        add("conv", dtype, shape, kernels, {kEach, kGraph});
    }
    void conv() {
        conv(DType::fp16, {16, 64, 56, 56, 64, 3, 3, 1, 1, 1, 1});
        conv(DType::fp16, {16, 256, 14, 14, 256, 3, 3, 1, 1, 1, 1});
        conv(DType::fp16, {16, 512, 7, 7, 2048, 1, 1, 1, 1, 0, 0});
        conv(DType::fp16, {16, 3, 224, 224, 64, 7, 7, 2, 2, 3, 3});
        conv(DType::fp16, {16, 192, 28, 28, 192, 3, 3, 1, 1, 1, 1}, true);
        if (!full_) return;
        for (const int n : {1, 64}) {
            conv(DType::fp16, {n, 64, 56, 56, 64, 3, 3, 1, 1, 1, 1});
            conv(DType::fp16, {n, 128, 28, 28, 128, 3, 3, 1, 1, 1, 1});
            conv(DType::fp16, {n, 256, 14, 14, 256, 3, 3, 1, 1, 1, 1});
            conv(DType::bf16, {n, 512, 7, 7, 512, 3, 3, 1, 1, 1, 1});
            conv(DType::fp16, {n, 256, 56, 56, 512, 1, 1, 2, 2, 0, 0});
            conv(DType::fp16, {n, 1024, 14, 14, 256, 1, 1, 1, 1, 0, 0});
            conv(DType::fp16, {n, 960, 7, 7, 960, 5, 5, 1, 1, 2, 2}, true);
        }
    }

    static Shape attention(std::int64_t batch, std::int64_t heads, std::int64_t kv_heads, std::int64_t dim, std::int64_t seq_q,
                           std::int64_t seq_kv, DType dtype) {
        Shape shape;
        shape.set("batch", batch).set("heads", heads).set("kv_heads", kv_heads).set("head_dim", dim);
        shape.set("seq_q", seq_q).set("seq_kv", seq_kv).set("causal", 1).set("kv_dtype", std::string(name(dtype)));
        return shape;
    }
    void prefill() {
        const auto one = [&](DType dtype, std::int64_t batch, std::int64_t heads, std::int64_t kv, std::int64_t dim,
                             std::int64_t seq) {
            add("attention_prefill", dtype, attention(batch, heads, kv, dim, seq, seq, dtype), {"twin"}, {kEach, kGraph});
        };
        for (const std::int64_t seq : {128, 1024, 4096}) one(DType::bf16, 1, 32, 8, 128, seq);
        one(DType::fp16, 8, 12, 12, 64, 512);
        if (!full_) return;
        for (const std::int64_t seq : {256, 512, 1000, 2048, 8192, 16384}) one(DType::bf16, 1, 32, 8, 128, seq);
        for (const std::int64_t seq : {128, 512, 2048}) one(DType::bf16, 16, 16, 16, 128, seq);
    }

    void decode() {
        const auto one = [&](DType dtype, std::int64_t batch, std::int64_t heads, std::int64_t kv, std::int64_t dim,
                             std::int64_t held) {
            add("attention_decode", dtype, attention(batch, heads, kv, dim, 1, held, dtype), {"twin"}, {kGraphWrites});
        };
        for (const std::int64_t batch : {1, 32}) {
            for (const std::int64_t held : {256, 4096}) one(DType::bf16, batch, 32, 8, 128, held);
        }
        one(DType::fp16, 8, 12, 12, 64, 1000);
        if (!full_) return;
        for (const std::int64_t batch : {1, 8, 64, 128}) {
            for (const std::int64_t held : {1024, 8192, 16384}) one(DType::bf16, batch, 32, 8, 128, held);
        }
        one(DType::bf16, 1, 64, 8, 128, 131072);
    }

    void embedding(DType dtype, int tables, std::int64_t rows, int dim, int pooling, int batch, const std::string& alpha) {
        Shape shape;
        shape.set("tables", tables).set("rows", rows).set("dim", dim).set("pooling", pooling).set("batch", batch);
        shape.set("alpha", alpha);
        add("embedding", dtype, shape, {"twin"}, {kEach, kGraph});
    }
    void embedding() {
        for (const char* alpha : {"0", "1.05"}) {
            embedding(DType::fp32, 1, 1'000'000, 128, 32, 2048, alpha);
            embedding(DType::fp16, 8, 200'000, 64, 20, 1024, alpha);
        }
        if (!full_) return;
        for (const char* alpha : {"0", "0.8", "1.05", "1.5"}) {
            embedding(DType::fp32, 26, 500'000, 64, 1, 4096, alpha);
            embedding(DType::fp32, 1, 4'000'000, 128, 64, 4096, alpha);
            embedding(DType::fp16, 1, 4'000'000, 256, 32, 4096, alpha);
        }
    }

    void recurrent(const std::string& op, std::int64_t hidden, std::int64_t batch, std::int64_t steps) {
        Shape shape;
        shape.set("hidden", hidden).set("batch", batch).set("steps", steps).set("layers", 1);
        shape.set("input_gemm", "skipped").set("pass", "fwd");
        add(op, DType::fp16, shape, {"twin_steps"}, {kEach, kGraph});
        add(op, DType::fp16, shape, {"twin_persistent"}, {kEach});
    }
    void recurrent() {
        recurrent("lstm", 512, 16, 25);
        recurrent("gru", 512, 16, 25);
        recurrent("rnn", 512, 16, 25);
        recurrent("lstm", 2048, 64, 25);
        if (!full_) return;
        for (const std::int64_t hidden : {256, 1024, 1536, 2048, 4096}) {
            for (const std::int64_t batch : {16, 128}) recurrent("lstm", hidden, batch, 50);
            recurrent("gru", hidden, 32, 50);
        }
    }

    void elementwise(DType dtype, std::int64_t rows, std::int64_t cols, const std::string& fn) {
        Shape shape;
        shape.set("rows", rows).set("cols", cols).set("reads", fn == "add" ? 2 : 1).set("writes", 1).set("fn", fn);
        add("elementwise", dtype, shape, {"twin"}, {kEach, kGraph});
    }
    void elementwise() {
        for (const std::int64_t rows : {16, 1024, 16384}) elementwise(DType::fp16, rows, 4096, "copy");
        for (const char* fn : {"relu", "gelu", "add"}) elementwise(DType::fp16, 4096, 4096, fn);
        elementwise(DType::fp32, 4096, 4097, "add");
        if (!full_) return;
        for (const std::int64_t rows : {64, 256, 2048, 8192, 65536}) {
            for (const char* fn : {"copy", "gelu", "add"}) elementwise(DType::bf16, rows, 4096, fn);
        }
    }

    void rows(const std::string& op, DType dtype, std::int64_t count, std::int64_t cols) {
        add(op, dtype, Shape{}.set("rows", count).set("cols", cols).set("reads", 1).set("writes", 1), {"twin"}, {kEach, kGraph});
    }
    void rows() {
        for (const char* op : {"softmax", "layernorm", "rmsnorm"}) {
            rows(op, DType::fp16, 4096, 4096);
            rows(op, DType::fp16, 128, 1000);
            if (!full_) continue;
            for (const std::int64_t cols : {256, 1024, 8192, 32768, 131072}) rows(op, DType::bf16, 2048, cols);
            rows(op, DType::fp32, 8192, 4096);
        }
    }

    bool full_;
    std::vector<Case> cases_;
};

}  // namespace

std::vector<Case> suite(const std::string& name) {
    RAFTER_CHECK(name == "quick" || name == "full", "no suite '" + name + "'");
    return Builder(name == "full").build();
}

std::vector<std::string> operations() {
    std::vector<std::string> names;
    for (const Case& c : suite("full")) {
        if (std::find(names.begin(), names.end(), c.op) == names.end()) names.push_back(c.op);
    }
    return names;
}

}  // namespace rafter::validate
