#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "sim/config/loader.h"
#include "sim/config/reader.h"
#include "sim/workload/builder.h"
#include "sim/workload/model.h"

namespace rafter::workload {

namespace {

const std::vector<std::string> kFamilies{"dlrm", "mlp", "cnn", "rnn", "transformer"};

class Loader {
public:
    explicit Loader(const config::Document& document) : document_(document), top_(document.root()) {}

    Model read(const std::string& path) {
        const config::Value schema = top_.required("schema");
        if (schema.defined()) schema.text_of({"rafter.workload/1"});
        model_.path = path;
        model_.name = std::filesystem::path(path).stem().string();
        model_.title = top_.required("title").text();
        const config::Value source = top_.optional("source");
        if (source.defined()) model_.source = source.text();
        read_head();
        const config::Value phases = top_.optional("phases");
        if (phases.defined()) {
            for (const config::Value& phase : phases.list()) model_.phases.push_back(read_phase(phase));
        } else {
            Phase phase;
            phase.name = "forward";
            read_layers(top_.required("layers"), phase);
            model_.phases.push_back(std::move(phase));
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
            std::string problem;
            const std::int64_t n = evaluate(value.text(), model_.dims, problem);
            if (problem.empty() && n < 1) problem = fmt::format("{} is out of range; a dim is at least 1", n);
            if (!problem.empty()) value.error(fmt::format("{}: {}", value.path(), problem));
            model_.dims[name] = std::max<std::int64_t>(n, 1);
        }
    }

    std::int64_t number(const config::Value& value, std::int64_t fallback, std::int64_t min) {
        if (!value.defined()) return fallback;
        std::string problem;
        const std::int64_t n = evaluate(value.text(), model_.dims, problem);
        if (problem.empty() && n < min) problem = fmt::format("{} is out of range; at least {}", n, min);
        if (!problem.empty()) value.error(fmt::format("{}: {}", value.path(), problem));
        return problem.empty() ? n : fallback;
    }

    Phase read_phase(const config::Value& value) {
        config::Map map(value);
        Phase phase;
        phase.name = map.required("name").text();
        phase.steps = number(map.optional("steps"), 1, 1);
        phase.kv_growth = number(map.optional("kv_growth"), 0, 0);
        read_layers(map.required("layers"), phase);
        map.finish();
        return phase;
    }

    Scope scope() const {
        Scope s;
        s.dims = &model_.dims;
        s.formats = formats_;
        s.family = model_.family;
        s.directory = std::filesystem::path(model_.path).parent_path().string();
        return s;
    }

    void read_layers(const config::Value& layers, Phase& phase) {
        Scope s = scope();
        Block plain;
        for (const config::Value& item : layers.list()) {
            if (item.is_map() && item.tree()->find("block") != nullptr) {
                if (!plain.layers.empty()) phase.blocks.push_back(std::move(plain));
                plain = Block();
                phase.blocks.push_back(read_block(item, s));
            } else {
                if (plain.layers.empty()) plain.entry = s.previous;
                add_layer(plain, item, s);
            }
        }
        if (!plain.layers.empty()) phase.blocks.push_back(std::move(plain));
        if (layers.is_list() && phase.blocks.empty())
            layers.error(fmt::format("{}: a phase needs at least one layer", layers.path()));
    }

    Block read_block(const config::Value& value, Scope& s) {
        config::Map map(value);
        Block block;
        block.name = map.required("block").text();
        block.repeat = number(map.required("repeat"), 1, 1);
        block.entry = s.previous;
        s.block = block.name;
        const config::Value layers = map.required("layers");
        for (const config::Value& item : layers.list()) add_layer(block, item, s);
        if (layers.is_list() && block.layers.empty())
            layers.error(fmt::format("{}: a block needs at least one layer", layers.path()));
        s.block.clear();
        map.finish();
        return block;
    }

    void add_layer(Block& block, const config::Value& item, Scope& s) {
        Layer layer = read_layer(item, s);
        if (layer.outputs.empty()) return;
        for (const Layer& other : block.layers) {
            if (other.name == layer.name)
                item.error(fmt::format("{}: a layer named '{}' exists already", item.path(), layer.name));
        }
        s.previous = layer.outputs.front().id;
        s.outputs[layer.name] = s.previous;
        if (const auto* bag = std::get_if<EmbeddingBag>(&layer.operation);
            bag != nullptr && bag->pattern != IndexPattern::sequential) {
            const std::string how = bag->pattern == IndexPattern::file ? "indices from " + bag->index_file
                                    : bag->pattern == IndexPattern::zipf
                                        ? fmt::format("Zipf indices, alpha {}, seed {}", bag->alpha, bag->seed)
                                        : fmt::format("uniform indices, seed {}", bag->seed);
            model_.notes.push_back(fmt::format("{}: {}", layer.name, how));
        }
        block.layers.push_back(std::move(layer));
    }

    const config::Document& document_;
    config::Map top_;
    Model model_;
    Formats formats_;
};

}  // namespace

Model load(const std::string& name_or_path, const std::vector<std::pair<std::string, std::string>>& settings) {
    const std::string path = config::find_data_file("workloads", name_or_path);
    config::Document document = config::Document::load(path);
    for (const auto& [key, value] : settings) {
        const bool dim = key.find('.') == std::string::npos;
        if (dim) {
            const auto* dims = document.tree()->find("dims");
            std::vector<std::string> names;
            if (dims != nullptr) {
                for (const auto& entry : dims->value->entries) names.push_back(entry.key);
            }
            if (std::find(names.begin(), names.end(), key) == names.end()) {
                const std::string near = nearest_name(key, names);
                throw Error(fmt::format("--set {}={}: error: unknown dim '{}' of {}{}", key, value, key, path,
                                        near.empty() ? "" : fmt::format(" (did you mean '{}'?)", near)));
            }
        }
        document.set(dim ? "dims." + key : key, value);
    }
    Loader loader(document);
    Model model = loader.read(path);
    model.settings = settings;
    return model;
}

}  // namespace rafter::workload
