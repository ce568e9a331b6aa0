// Readers of the operations whose memory is indexed: embedding bags and attention over a cache.
#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>

#include "sim/workload/builder.h"

namespace rafter::workload {

namespace {

/// One index a line; blank lines and lines that begin with # are skipped. Errors name the file and the line.
std::vector<std::int64_t> read_indices(const std::string& path, std::int64_t rows, const config::Value& named) {
    std::vector<std::int64_t> indices;
    std::ifstream file(path);
    if (!file) {
        named.error(fmt::format("{}: cannot read '{}'", named.path(), path));
        return indices;
    }
    int number = 0;
    for (std::string line; std::getline(file, line);) {
        ++number;
        while (!line.empty() && (line.back() == '\r' || line.back() == ' ' || line.back() == ',')) line.pop_back();
        line.erase(0, line.find_first_not_of(' '));
        if (line.empty() || line.front() == '#') continue;
        std::int64_t index = 0;
        const auto [end, code] = std::from_chars(line.data(), line.data() + line.size(), index);
        if (code != std::errc() || end != line.data() + line.size()) {
            throw Error(Place{path, number, 1, line}, fmt::format("expected one index a line, found '{}'", line));
        }
        if (index < 0 || index >= rows) {
            throw Error(Place{path, number, 1, line},
                        fmt::format("index {} is outside the table; allowed: 0 to {}", index, rows - 1));
        }
        indices.push_back(index);
    }
    if (indices.empty()) named.error(fmt::format("{}: '{}' holds no index", named.path(), path));
    return indices;
}

/// `rows: 1000` with `tables: 26`, or the rows of each table: `rows: [1460, 583]`.
void read_tables(EmbeddingBag& e, Fields& f) {
    const config::Value rows = f.map().required("rows");
    if (!rows.is_list()) {
        e.tables = f.number_or("tables", 1, 1);
        e.rows = rows.defined() ? f.evaluated(rows, 1) : 1;
    } else {
        for (const config::Value& one : rows.list()) e.table_rows.push_back(f.evaluated(one, 1));
        if (e.table_rows.empty()) {
            rows.error(fmt::format("{}: a list names the rows of at least one table", rows.path()));
            e.table_rows.push_back(1);
        }
        const auto listed = static_cast<std::int64_t>(e.table_rows.size());
        e.tables = f.number_or("tables", listed, 1);
        if (e.tables != listed) f.error("tables", fmt::format("{} tables, but rows lists {}", e.tables, listed));
        e.tables = listed;
        e.rows = *std::max_element(e.table_rows.begin(), e.table_rows.end());
        f.elements({e.tables, e.rows});  // their sum is countable
    }
    constexpr std::int64_t kMostKernels = 65536;
    e.kernel_per_table = f.text_or("kernels", "table_batched", {"table_batched", "one_per_table"}) == "one_per_table";
    if (e.kernel_per_table && e.tables > kMostKernels)
        f.error("kernels", fmt::format("one_per_table takes at most {} tables, found {}", kMostKernels, e.tables));
}

/// How long the bags are, and what becomes of their rows.
void read_bags(EmbeddingBag& e, Fields& f) {
    const std::string mode = f.text_or("mode", "sum", {"sum", "mean", "weighted"});
    e.mode = mode == "mean" ? BagMode::mean : mode == "weighted" ? BagMode::weighted : BagMode::sum;
    e.pooling = f.number_or("pooling", 1, 1);
    const config::Value lengths = f.map().optional("lengths");
    if (!lengths.defined()) return;
    if (f.has("pooling")) f.error("lengths", "a bag has either a pooling or lengths");
    constexpr std::int64_t kMostLength = std::int64_t{1} << 30;
    config::Map map(lengths);
    const config::Value min = map.required("min"), max = map.required("max");
    map.finish();
    if (!min.defined() || !max.defined()) return;
    e.lengths = BagLengths{f.evaluated(min, 0), f.evaluated(max, 1), e.seed};
    e.pooling = e.lengths->max;
    if (e.pooling <= kMostLength && e.lengths->min <= e.pooling) return;
    max.error(fmt::format("{}: {} is out of range; allowed: min = {} to {}", max.path(), e.pooling, e.lengths->min, kMostLength));
    e.lengths.reset();
    e.pooling = 1;
}

/// `hot_set: {rows: 0.01, lookups: 0.9}`: shares, both more than 0.
void read_hot_set(EmbeddingBag& e, const config::Value& hot) {
    constexpr double kLeast = 1e-9;
    config::Map map(hot);
    const config::Value rows = map.required("rows"), lookups = map.required("lookups");
    map.finish();
    if (rows.defined()) e.hot_rows = rows.real(kLeast, 1);
    if (lookups.defined()) e.hot_lookups = lookups.real(kLeast, 1);
}

void read_pattern(EmbeddingBag& e, Fields& f, const Scope& scope) {
    const config::Value file = f.map().optional("indices"), hot = f.map().optional("hot_set");
    const std::string usual = file.defined() ? "file" : hot.defined() ? "hot_set" : "uniform";
    const std::string pattern = f.text_or("pattern", usual, {"uniform", "zipf", "hot_set", "sequential", "file"});
    e.pattern = pattern == "zipf"         ? IndexPattern::zipf
                : pattern == "hot_set"    ? IndexPattern::hot_set
                : pattern == "sequential" ? IndexPattern::sequential
                : pattern == "file"       ? IndexPattern::file
                                          : IndexPattern::uniform;
    e.alpha = f.real_or("alpha", 0, 0, 10);
    if (e.pattern == IndexPattern::zipf && !f.has("alpha")) f.error("pattern", "zipf needs alpha");
    if (e.pattern != IndexPattern::zipf && f.has("alpha")) f.error("alpha", "only zipf has an alpha");
    if (hot.defined()) read_hot_set(e, hot);
    if (e.pattern == IndexPattern::hot_set && !hot.defined())
        f.error("pattern", "hot_set needs hot_set: {rows: SHARE, lookups: SHARE}");
    if (e.pattern != IndexPattern::hot_set && hot.defined()) f.error("hot_set", "only the pattern hot_set has one");
    if (e.pattern == IndexPattern::file && !file.defined()) f.error("pattern", "file needs indices: FILE");
    if (e.pattern == IndexPattern::file && file.defined()) {
        e.index_file = (std::filesystem::path(scope.directory) / file.text()).string();
        const auto fewest = std::min_element(e.table_rows.begin(), e.table_rows.end());
        e.indices = read_indices(e.index_file, fewest == e.table_rows.end() ? e.rows : *fewest, file);
    }
}

void read_pass(EmbeddingBag& e, Fields& f) {
    const bool backward = f.text_or("pass", "forward", {"forward", "backward"}) == "backward";
    const std::string gradient = f.text_or("gradient", "sorted", {"atomics", "sorted"});
    const std::string optimizer = f.text_or("optimizer", "none", {"none", "sgd", "rowwise_adagrad"});
    for (const char* key : {"gradient", "optimizer"})
        if (!backward && f.has(key)) f.error(key, "only pass: backward has one");
    e.pass = backward ? Pass::backward : Pass::forward;
    e.gradient = gradient == "atomics" ? Gradient::atomics : Gradient::sorted;
    e.optimizer = optimizer == "sgd" ? Optimizer::sgd : optimizer == "none" ? Optimizer::none : Optimizer::rowwise_adagrad;
    if (!backward) return;
    if (e.kernel_per_table) f.error("kernels", "pass: backward has table_batched kernels only");
    if (e.placement != Placement::hbm) f.error("placement", "pass: backward needs its tables in hbm");
    if (e.gradient == Gradient::atomics && e.optimizer == Optimizer::rowwise_adagrad)
        f.error("optimizer", "rowwise_adagrad needs whole gradients, gradient: sorted; allowed with atomics: none, sgd");
    constexpr std::int64_t kMostSorted = std::int64_t{1} << 23;
    if (e.gradient == Gradient::sorted && std::max(e.lookups(), e.bags()) > kMostSorted)
        f.error("gradient",
                fmt::format("sorted takes at most {} look-ups and bags, found {}", kMostSorted, std::max(e.lookups(), e.bags())));
}

/// Operands of the backward pass: the gradients of the bags come in; rows, or their gradients, go out.
void shape_backward(Shape& shape, const EmbeddingBag& e, const Layer& layer, Fields& f) {
    shape.inputs = {f.elements({e.tables, e.batch, e.dim})};
    const std::int64_t rows = e.rows_before(e.tables);
    if (e.optimizer == Optimizer::rowwise_adagrad) shape.parameters.push_back({".state", rows, DType::fp32});
    shape.updates_parameters = e.optimizer != Optimizer::none;
    if (!shape.updates_parameters) shape.parameters.clear();
    shape.output_dtype = layer.weights;
    const std::int64_t written = e.gradient == Gradient::atomics ? rows : std::max<std::int64_t>(e.lookups(), 1);
    shape.output = {"", f.elements({written, e.dim}), written, e.dim, 0, 0, 0, 0};
}

}  // namespace

Shape read_embedding(const Layer& layer, Fields& f, const Scope& scope) {
    EmbeddingBag e;
    read_tables(e, f);
    e.dim = f.number("dim");
    e.batch = f.number("batch");
    e.seed = static_cast<std::uint64_t>(f.number_or("seed", 1, 0));
    const std::string placement = f.text_or("placement", "hbm", {"hbm", "host", "peer"});
    e.placement = placement == "host" ? Placement::host : placement == "peer" ? Placement::peer : Placement::hbm;
    read_bags(e, f);
    read_pattern(e, f, scope);
    f.elements({e.tables, e.batch, e.pooling, e.dim, 8});  // the rows looked up are countable, too
    read_pass(e, f);
    Shape shape;
    shape.parameters.push_back({".table", f.elements({e.rows_before(e.tables), e.dim}), layer.weights});
    shape.output = {"", f.elements({e.tables, e.batch, e.dim}), e.batch, f.elements({e.tables, e.dim}), 0, 0, 0, 0};
    if (e.pass == Pass::backward) shape_backward(shape, e, layer, f);
    shape.operation = std::move(e);
    return shape;
}

Shape read_attention(Fields& f, const Scope& scope) {
    Attention a;
    a.decode = f.text_or("mode", "prefill", {"prefill", "decode"}) == "decode";
    a.batch = f.number("batch");
    a.heads = f.number("heads");
    a.kv_heads = f.number_or("kv_heads", a.heads, 1);
    a.head_dim = f.number("head_dim");
    a.head_dim_v = f.number_or("head_dim_v", a.head_dim, 1);
    a.seq_q = a.decode ? f.number_or("seq_q", 1, 1) : f.number("seq_q");
    a.seq_kv = a.decode ? f.number("seq_kv") : f.number_or("seq_kv", a.seq_q, 1);
    const config::Value causal = f.map().optional("causal");
    a.causal = !causal.defined() || causal.boolean();
    a.window = f.number_or("window", 0, 0);
    const config::Value kv = f.map().optional("kv_dtype");
    a.kv_dtype = kv.defined() ? kv.dtype() : scope.formats.kv;
    a.writes_kv = f.flag("writes_kv");
    if (a.heads % a.kv_heads != 0) {
        f.error("kv_heads", fmt::format("kv_heads does not divide heads: heads = {}, kv_heads = {}", a.heads, a.kv_heads));
        a.kv_heads = a.heads;
    }
    if (a.seq_kv < a.seq_q)
        f.error("seq_kv", fmt::format("seq_kv = {} is less than seq_q = {}: it includes the new tokens", a.seq_kv, a.seq_q));
    const std::int64_t held = a.window > 0 ? std::min(a.window, a.seq_kv) : a.seq_kv;
    const std::int64_t kv_per_token = f.elements({a.batch, a.kv_heads, a.head_dim + a.head_dim_v});
    const std::int64_t queries = f.elements({a.batch, a.heads, a.head_dim, a.seq_q});
    Shape shape;
    // Prefill reads Q, K and V as activations; decode reads Q and the cache.
    shape.inputs = {a.decode ? queries : queries + f.elements({kv_per_token, a.seq_kv})};
    shape.cache = {".kv", a.decode ? f.elements({kv_per_token, held}) : 0, a.kv_dtype};
    shape.appended = a.writes_kv ? f.elements({kv_per_token, a.seq_q}) : 0;
    const std::int64_t rows = f.elements({a.batch, a.seq_q}), cols = f.elements({a.heads, a.head_dim_v});
    shape.output = {"", f.elements({rows, cols}), rows, cols, 0, 0, 0, 0};
    shape.operation = a;
    return shape;
}

}  // namespace rafter::workload
