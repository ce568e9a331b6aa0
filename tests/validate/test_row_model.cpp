// From a measured row to a workload and a protocol.
#include "sim/core/error.h"
#include "sim/validate/row_model.h"
#include "sim/workload/model.h"
#include "tests/catch.h"

using namespace rafter;
using namespace rafter::validate;
using Catch::Matchers::Contains;

namespace {

Row row(const std::string& op, const std::string& shape, const std::string& protocol = "kernel_only;l2=cold",
        const std::string& dtype = "fp16") {
    Row r;
    r.gpu = "a100-sxm4-80gb", r.op = op, r.dtype = dtype, r.shape = shape, r.protocol = protocol, r.time_us = 10;
    return r;
}

workload::Layer last_layer(const Row& r) {
    const Simulation s = to_simulation(r);
    INFO(s.reason << s.workload);
    REQUIRE(s.reason == "");
    return workload::parse(s.workload, "row").phases.front().blocks.front().layers.back();
}

std::string reason(const Row& r) { return to_simulation(r).reason; }

const char* const kConv = "n=2;c=64;h=14;w=28;k=128;r=3;s=3;stride_h=1;stride_w=2;pad_h=1;pad_w=1;p=14;q=14;pass=";

}  // namespace

TEST_CASE("every op of the format becomes a workload with its work", "[row_model]") {
    const auto macs = [](const Row& r) { return workload::count(last_layer(r)).macs; };
    const auto bytes = [](const Row& r) { return workload::count(last_layer(r)).total_bytes().value; };
    CHECK(macs(row("gemm", "m=3;n=5;k=7;transA=N;transB=T;bias=1")) == 3 * 5 * 7);
    CHECK(macs(row("bmm", "batch=2;m=3;n=5;k=7")) == 2 * 3 * 5 * 7);
    CHECK(macs(row("conv", std::string(kConv) + "fwd")) == Count(2) * 128 * 14 * 14 * 64 * 9);
    CHECK(macs(row("lstm", "hidden=64;batch=2;steps=5;layers=1;input_gemm=skipped;pass=fwd")) == Count(5) * 2 * 4 * 64 * 64);
    CHECK(macs(row("gru", "hidden=64;batch=2;steps=5;layers=1;input_gemm=skipped;pass=bwd_weights")) ==
          Count(5) * 2 * 3 * 64 * 64);
    CHECK(macs(row("rnn", "hidden=64;batch=2;steps=5;pass=bwd")) == 2 * Count(5) * 2 * 64 * 128);
    CHECK(reason(row("rnn", "hidden=64;batch=2;steps=5;pass=bwd_bias")) ==
          "rnn pass=bwd_bias is not modelled; known: fwd, bwd, bwd_data, bwd_weights");
    CHECK(macs(row("attention_decode", "batch=2;heads=8;kv_heads=2;head_dim=64;seq_q=1;seq_kv=100;causal=1;kv_dtype=fp16")) ==
          Count(2) * 8 * 100 * 128);
    CHECK(macs(row("attention_prefill", "batch=1;heads=2;kv_heads=2;head_dim=64;seq_q=4;seq_kv=4;causal=1;kv_dtype=fp16")) ==
          Count(2) * 10 * 128);
    CHECK(bytes(row("elementwise", "rows=10;cols=20;reads=2;writes=1;fn=add")) == 10 * 20 * 2 * 3);
    CHECK(bytes(row("elementwise", "rows=10;cols=20;reads=1;writes=0.5;fn=quantise")) == 10 * 20 * 3);
    CHECK(bytes(row("softmax", "rows=10;cols=20;reads=1;writes=1")) == 10 * 20 * 2 * 2);
    CHECK(bytes(row("rmsnorm", "rows=10;cols=20;reads=2;writes=2")) == 10 * 20 * 2 * 4 + 20 * 2);
    CHECK(bytes(row("embedding", "tokens=10;dim=64;table_rows=1000")) == 10 * 64 * 2 * 2);
    CHECK(bytes(row("embedding", "tables=3;rows=1000;dim=64;pooling=4;batch=10;alpha=1.05")) == 3 * 10 * 64 * 2 * 5);
}

TEST_CASE("the protocol is part of what is simulated", "[row_model]") {
    const auto protocol = [](const std::string& text) { return to_simulation(row("gemm", "m=1;n=8;k=8", text)).protocol; };
    using engine::Caches;
    using engine::LaunchMode;
    constexpr auto kRandom = engine::Data::random;
    CHECK(protocol("graph_replay;weights=cold;activations=warm") ==
          engine::Protocol{LaunchMode::graph, Caches::weights_cold, 6, kRandom, 54});
    CHECK(protocol("graph_replay;l2=warm_if_fits") == engine::Protocol{LaunchMode::graph, Caches::warm, 6, kRandom, 9});
    CHECK(protocol("back_to_back_stream;l2=warm_if_fits") == engine::Protocol{LaunchMode::stream, Caches::warm, 6, kRandom, 0});
    CHECK(protocol("event_per_call;l2=cold") == engine::Protocol{LaunchMode::events, Caches::cold, 6, kRandom, 25});
    CHECK(protocol("kernel_only_1us_resolution;l2=producer_warm") ==
          engine::Protocol{LaunchMode::kernel_only, Caches::producer_warm, 6, kRandom, 20});
    CHECK(reason(row("gemm", "m=1;n=8;k=8", "graph_reply;l2=cold")) ==
          "protocol: unknown word 'graph_reply' (did you mean 'graph_replay'?)");
    CHECK_THAT(reason(row("gemm", "m=1;n=8;k=8", "l2=cold")), Contains("does not say how kernels were launched"));
    CHECK_THAT(reason(row("gemm", "m=1;n=8;k=8", "graph_replay")), Contains("does not say what the caches held"));
}

TEST_CASE("operands and length of the measuring loop come from the notes or the source", "[row_model][power]") {
    const auto loop = [](const std::string& source, const std::string& dtype, const std::string& notes) {
        Row r = row("gemm", "m=1;n=8;k=8", "back_to_back_stream;l2=warm_if_fits", dtype);
        r.source = source, r.notes = notes;
        return to_simulation(r).protocol;
    };
    CHECK(loop("deepbench", "fp16", "").data == engine::Data::zeros);
    CHECK(loop("deepbench", "fp32", "").data == engine::Data::random);
    CHECK(loop("deepbench", "fp32", "").passes == 400);
    CHECK(loop("baidu-research/DeepBench (Apache-2.0)", "int8", "").data == engine::Data::zeros);
    CHECK(loop("neusight", "fp32", "").data == engine::Data::zeros);
    CHECK(loop("neusight", "fp32", "torch;data=random;passes=7").data == engine::Data::random);
    CHECK(loop("neusight", "fp32", "torch;data=random;passes=7").passes == 7);
    CHECK(loop("mine", "fp16", "data=zeros").data == engine::Data::zeros);
}

TEST_CASE("what a measurement includes is simulated, too", "[row_model]") {
    const auto fp8 = row("gemm", "m=16;n=64;k=128", "graph_replay;weights=cold;activations=warm;includes=quantise", "fp8");
    const auto layers = workload::parse(to_simulation(fp8).workload, "row").phases.front().blocks.front().layers;
    REQUIRE(layers.size() == 2);
    CHECK(workload::count(layers[0]).read_bytes().value == 16 * 128 * 2);
    CHECK(workload::count(layers[0]).output_bytes.value == 16 * 128);
    CHECK(layers[1].inputs.front().id == layers[0].outputs.front().id);
    const auto decode = row("attention_decode", "batch=1;heads=8;kv_heads=8;head_dim=64;seq_q=1;seq_kv=9;causal=1;kv_dtype=bf16",
                            "graph_replay;l2=warm_if_fits;includes=kv_write", "bf16");
    CHECK(std::get<workload::Attention>(last_layer(decode).operation).writes_kv);
}

TEST_CASE("what cannot be simulated says why", "[row_model]") {
    CHECK(reason(row("gem", "m=1;n=1;k=1")) == "unknown op 'gem' (did you mean 'gemm'?)");
    CHECK(reason(row("gemm", "m=1;n=1;k=1", "kernel_only;l2=cold", "f16")) == "unknown dtype 'f16' (did you mean 'fp16'?)");
    CHECK(reason(row("gemm", "m=1;n=1")) == "shape: 'k' is missing");
    CHECK(reason(row("gemm", "m=1;n=1;k=1;batchs=3")) == "shape: unknown key 'batchs'");
    CHECK(reason(row("conv", std::string(kConv) + "sideways")) == "shape: pass=sideways: allowed: fwd, bwd_data, bwd_weights");
    CHECK(reason(row("conv", "n=1;c=8;h=6;w=6;k=8;r=3;s=3;pad_h=1;pad_w=1;p=6;q=5;pass=fwd")) ==
          "shape: q=5, but the other sizes give 6");
    CHECK(reason(row("embedding", "tables=3;rows=10;dim=64;pooling=4;batch=10;alpha=high")) ==
          "embedding with index reuse 'high': no distribution is given");
}

TEST_CASE("rows that ask for the same simulation have the same key", "[row_model]") {
    const auto key = [](const std::string& shape) { return to_simulation(row("gemm", shape)).key(); };
    CHECK(key("m=1;n=2;k=3") == key("k=3;n=2;m=1"));
    CHECK(key("m=1;n=2;k=3") != key("m=1;n=2;k=4"));
}
