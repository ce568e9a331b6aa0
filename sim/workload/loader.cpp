#include <algorithm>
#include <filesystem>
#include <set>

#include <fmt/format.h>

#include "sim/config/loader.h"
#include "sim/config/reader.h"
#include "sim/workload/builder.h"
#include "sim/workload/model.h"

namespace rafter::workload {

namespace {

/// Repetitions and steps are visited one by one.
constexpr std::int64_t kMostRepeats = std::int64_t{1} << 20;

const std::vector<std::string> kFamilies{"dlrm", "mlp", "cnn", "rnn", "transformer"};

std::string hint(const std::string& name, const std::vector<std::string>& known) {
    const std::string near = nearest_name(name, known);
    return near.empty() ? "" : fmt::format(" (did you mean '{}'?)", near);
}

class Loader {
public:
    explicit Loader(const config::Document& document) : document_(document), top_(document.root()) {}

    Model read(const std::string& path) {
        const config::Value schema = top_.required("schema");
        if (schema.defined()) schema.text_of({"rafter.workload/1"});
        model_.path = path;
        const config::Value name = top_.optional("name"), source = top_.optional("source");
        model_.name = name.defined() ? name.text() : std::filesystem::path(path).stem().string();
        model_.title = top_.required("title").text();
        if (source.defined()) model_.source = source.text();
        read_head();
        const config::Value phases = top_.optional("phases");
        if (phases.defined()) {
            if (top_.has("layers")) phases.error("phases: a workload has either phases or layers");
            top_.optional("layers");
            for (const config::Value& phase : phases.list()) read_phase(phase);
            if (phases.is_list() && model_.phases.empty()) phases.error("phases: a workload needs at least one phase");
        } else {
            read_layers(top_.required("layers"), Phase{"forward", 1, 0, {}}, scope());
        }
        top_.finish();
        document_.finish();
        return std::move(model_);
    }

private:
    void read_head() {
        const config::Value family = top_.required("family");
        const std::string named = family.defined() ? family.text_of(kFamilies) : "mlp";
        for (std::size_t i = 0; i < kFamilies.size(); ++i) {
            if (kFamilies[i] == named) model_.family = static_cast<Family>(i);
        }
        const config::Value dims = top_.optional("dims");
        if (dims.defined()) read_dims(dims);
        if (const config::Value library = top_.optional("library"); library.defined()) library_ = read_library(library);
        const config::Value dtype = top_.required("dtype");
        if (dtype.is_map()) {
            config::Map map(dtype);
            formats_.weights = map.required("weights").dtype();
            formats_.activations = map.required("activations").dtype();
            const config::Value kv = map.optional("kv");
            formats_.kv = kv.defined() ? kv.dtype() : formats_.activations;
            map.finish();
        } else if (dtype.defined()) {
            formats_.weights = formats_.activations = formats_.kv = dtype.dtype();
        }
    }

    /// A dim may use the dims above it.
    void read_dims(const config::Value& dims) {
        for (const auto& [name, value] : dims.entries()) {
            if (name == "step" || name == "input") value.error(fmt::format("dims.{}: this name has a meaning of its own", name));
            model_.dims[name] = number(value, 1, 1);
            if (!is_derived(value.text())) model_.free_dims.push_back(name);
        }
    }

    std::int64_t number(const config::Value& value, std::int64_t fallback, std::int64_t min, std::int64_t max = Fields::kMost) {
        if (!value.defined()) return fallback;
        std::string problem;
        const std::int64_t n = evaluate(value.text(), model_.dims, problem);
        if (problem.empty() && (n < min || n > max)) problem = fmt::format("{} is out of range; allowed: {} to {}", n, min, max);
        if (!problem.empty()) value.error(fmt::format("{}: {}", value.path(), problem));
        return problem.empty() ? n : fallback;
    }

    void read_phase(const config::Value& value) {
        config::Map map(value);
        const config::Value name = map.required("name");
        Phase phase;
        if (name.defined()) phase.name = name.text();
        for (const Phase& other : model_.phases) {
            if (other.name == phase.name)
                name.error(fmt::format("{}: a phase named '{}' exists already", name.path(), phase.name));
        }
        phase.steps = number(map.optional("steps"), 1, 1, kMostRepeats);
        phase.kv_growth = number(map.optional("kv_growth"), 0, 0, kMostRepeats);
        Dims dims = model_.dims;
        dims["step"] = 0;
        Scope s = scope();
        s.prefix = phase.name + "/";
        s.dims = &dims;
        read_layers(map.required("layers"), std::move(phase), std::move(s));
        map.finish();
    }

    Scope scope() const {
        Scope s;
        s.dims = &model_.dims;
        s.formats = formats_;
        s.library = library_;
        s.family = model_.family;
        s.directory = std::filesystem::path(model_.path).parent_path().string();
        return s;
    }

    void read_layers(const config::Value& layers, Phase phase, Scope s) {
        Block plain;
        for (const config::Value& item : layers.list()) {
            if (item.is_map() && item.tree()->find("block") != nullptr) {
                if (!plain.layers.empty()) phase.blocks.push_back(std::move(plain));
                plain = Block();
                phase.blocks.push_back(read_block(item, phase, s));
            } else {
                if (plain.layers.empty()) plain.entry = s.previous.id;
                add_layer(plain, item, phase, s);
            }
        }
        if (!plain.layers.empty()) phase.blocks.push_back(std::move(plain));
        if (layers.is_list() && phase.blocks.empty())
            layers.error(fmt::format("{}: a phase needs at least one layer", layers.path()));
        model_.phases.push_back(std::move(phase));
    }

    Block read_block(const config::Value& value, const Phase& phase, Scope& s) {
        config::Map map(value);
        Block block;
        block.name = map.required("block").text();
        block.repeat = number(map.required("repeat"), 1, 1, kMostRepeats);
        for (const Block& other : phase.blocks) {
            if (other.name == block.name)
                value.error(fmt::format("{}: a block named '{}' exists already", value.path(), block.name));
        }
        const Produced outside = s.entry;
        block.entry = s.previous.id;
        s.entry = s.previous;
        s.block = block.name;
        const config::Value layers = map.required("layers");
        for (const config::Value& item : layers.list()) add_layer(block, item, phase, s);
        if (layers.is_list() && block.layers.empty())
            layers.error(fmt::format("{}: a block needs at least one layer", layers.path()));
        check_repeats(value, block, s);
        s.block.clear();
        s.entry = outside;
        map.finish();
        return block;
    }

    /// The second repetition reads what the first wrote in place of the block's input.
    void check_repeats(const config::Value& value, const Block& block, const Scope& s) const {
        if (block.repeat == 1 || s.entry.elements == 0 || s.previous.elements == s.entry.elements) return;
        value.error(fmt::format("{}: block '{}' repeats, but it reads {} elements and writes {}", value.path(), block.name,
                                s.entry.elements, s.previous.elements));
    }

    void add_layer(Block& block, const config::Value& item, const Phase& phase, Scope& s) {
        const Scope before = s;
        ReadLayer read = read_in_context(item, s);
        Layer& layer = read.layer;
        // The shape of a layer that grows with the step is not known to those that read it: they state their own.
        if (!read.valid || read.uses_step) read.output = Produced{read.output.id, 0, 0, 0, 0, 0, 0, 0};
        s.previous = read.output;
        s.outputs[layer.name] = read.output;
        if (!read.valid) return;
        if (!activations_.insert(read.output.id).second)
            item.error(fmt::format("{}: a layer named '{}' exists already", item.path(), layer.name));
        if (!layer.parameters.empty()) s.weights[layer.name] = layer.parameters;
        check_parameters(item, layer);
        check_growth(item, layer, phase);
        note_indices(layer);
        block.at_step.emplace_back();
        if (read.uses_step) block.at_step.back() = step_reader(item, before, phase);
        block.layers.push_back(std::move(layer));
    }

    /// Phases share the weights of layers of the same name, which must then have the same size.
    void check_parameters(const config::Value& item, const Layer& layer) {
        const bool caches = std::holds_alternative<Attention>(layer.operation);
        for (const Tensor& t : layer.parameters) {
            const auto [known, inserted] = parameters_.emplace(t.id, t.size);
            if (!inserted && !caches && known->second != t.size) {
                item.error(fmt::format("{}: the weights of '{}' have {} B here and {} B in an earlier phase", item.path(),
                                       layer.name, t.size.value, known->second.value));
            }
        }
    }

    /// The cache of the last step is a tensor that can be counted, too.
    void check_growth(const config::Value& item, const Layer& layer, const Phase& phase) const {
        const auto* a = std::get_if<Attention>(&layer.operation);
        if (a == nullptr || !a->decode) return;
        const Count tokens =
            static_cast<Count>(a->seq_kv) + static_cast<Count>(phase.steps) * static_cast<Count>(phase.kv_growth);
        const Count per_token =
            static_cast<Count>(a->batch) * static_cast<Count>(a->kv_heads) * static_cast<Count>(a->head_dim + a->head_dim_v);
        if (tokens * per_token > static_cast<Count>(Fields::kMostElements))
            item.error(
                fmt::format("{}: the KV cache of '{}' grows beyond {} elements", item.path(), layer.name, Fields::kMostElements));
    }

    void note_indices(const Layer& layer) {
        const auto* bag = std::get_if<EmbeddingBag>(&layer.operation);
        if (bag == nullptr || bag->pattern == IndexPattern::sequential) return;
        const std::string how =
            bag->pattern == IndexPattern::file   ? "indices from " + bag->index_file
            : bag->pattern == IndexPattern::zipf ? fmt::format("Zipf indices, alpha {}, seed {}", bag->alpha, bag->seed)
            : bag->pattern == IndexPattern::hot_set
                ? fmt::format("{} of the rows take {} of the indices, seed {}", bag->hot_rows, bag->hot_lookups, bag->seed)
                : fmt::format("uniform indices, seed {}", bag->seed);
        const std::string note = fmt::format("{}: {}", layer.name, how);
        if (std::find(model_.notes.begin(), model_.notes.end(), note) == model_.notes.end()) model_.notes.push_back(note);
    }

    /// Reads the layer again with `step` bound. The last step is read now, so that its mistakes are reported with the others.
    std::function<Layer(std::int64_t)> step_reader(const config::Value& item, const Scope& before, const Phase& phase) const {
        const auto reader = [document = document_, item, before, dims = *before.dims](std::int64_t step) {
            Dims then = dims;
            then["step"] = step;
            Scope scope = before;
            scope.dims = &then;
            Layer layer = read_layer(item, scope);
            document.finish();
            return layer;
        };
        Dims last = *before.dims;
        last["step"] = phase.steps - 1;
        Scope s = before;
        s.dims = &last;
        read_layer(item, s);
        return reader;
    }

    const config::Document& document_;
    config::Map top_;
    Model model_;
    Formats formats_;
    Library library_{Library::tuned};
    std::set<std::string> activations_;
    std::map<std::string, Bytes> parameters_;
};

/// `dtype: fp16` becomes a map, so that one of its parts can be set.
void widen_dtype(config::Document& document) {
    const auto* dtype = document.tree()->find("dtype");
    if (dtype == nullptr || dtype->value->kind != config::TreeNode::Kind::scalar) return;
    const std::string all = dtype->value->text;
    document.set("dtype", fmt::format("{{weights: {0}, activations: {0}, kv: {0}}}", all));
}

void apply(config::Document& document, const std::string& path, const std::string& given, const std::string& value) {
    const std::string key = given.rfind("dims.", 0) == 0 ? given.substr(5) : given;
    if (key.find('.') != std::string::npos || key == "dtype") {
        if (key.rfind("dtype.", 0) == 0) widen_dtype(document);
        return document.set(key, value);
    }
    std::vector<std::string> names;
    if (const auto* dims = document.tree()->find("dims"); dims != nullptr) {
        for (const auto& entry : dims->value->entries) names.push_back(entry.key);
    }
    if (std::find(names.begin(), names.end(), key) == names.end()) {
        throw Error(fmt::format("--set {}={}: error: unknown dim '{}' of {}{}", key, value, key, path, hint(key, names)));
    }
    document.set("dims." + key, value);
}

}  // namespace

Model load(const std::string& name_or_path, const std::vector<std::pair<std::string, std::string>>& settings) {
    const std::string path = config::find_data_file("workloads", name_or_path);
    config::Document document = config::Document::load(path);
    for (const auto& [key, value] : settings) apply(document, path, key, value);
    Loader loader(document);
    Model model = loader.read(path);
    model.settings = settings;
    return model;
}

Model parse(const std::string& text, const std::string& name) {
    const config::Document document = config::Document::parse(text, name);
    return Loader(document).read(name);
}

}  // namespace rafter::workload
