#include "sim/config/tree.h"

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <sstream>

#include <fmt/format.h>

namespace rafter::config {

namespace {

constexpr int kDeepest = 64;

class Converter {
public:
    Converter(const std::string& text, std::string file) : file_(std::move(file)) {
        std::istringstream stream(text);
        for (std::string line; std::getline(stream, line);) {
            if (!line.empty() && line.back() == '\r') line.pop_back();
            lines_.push_back(line);
        }
    }

    Place at(const YAML::Mark& mark) const {
        Place place{file_, mark.line + 1, mark.column + 1, ""};
        if (mark.is_null()) place.line = place.column = 0;
        if (mark.line >= 0 && static_cast<std::size_t>(mark.line) < lines_.size()) {
            place.source_line = lines_[static_cast<std::size_t>(mark.line)];
        }
        return place;
    }

    Tree convert(const YAML::Node& node, int depth) const {
        if (depth > kDeepest) throw Error(at(node.Mark()), "nested deeper than 64 levels, or an alias that refers to itself");
        auto tree = std::make_shared<TreeNode>();
        tree->place = at(node.Mark());
        if (node.IsScalar()) {
            tree->kind = TreeNode::Kind::scalar;
            tree->text = node.Scalar();
            tree->quoted = node.Tag() == "!";
        } else if (node.IsSequence()) {
            tree->kind = TreeNode::Kind::list;
            for (const auto& item : node) tree->items.push_back(convert(item, depth + 1));
        } else if (node.IsMap()) {
            tree->kind = TreeNode::Kind::map;
            for (const auto& entry : node) tree->entries.push_back(convert_entry(entry.first, entry.second, depth));
        }
        return tree;
    }

    void reject_tabs() const {
        for (std::size_t i = 0; i < lines_.size(); ++i) {
            const auto first = lines_[i].find_first_not_of(' ');
            if (first == std::string::npos || lines_[i][first] != '\t') continue;
            throw Error({file_, static_cast<int>(i + 1), static_cast<int>(first + 1), lines_[i]},
                        "tab in the indentation; use spaces");
        }
    }

private:
    TreeNode::Entry convert_entry(const YAML::Node& key, const YAML::Node& value, int depth) const {
        if (!key.IsScalar()) throw Error(at(key.Mark()), "a key must be plain text");
        return {key.Scalar(), at(key.Mark()), convert(value, depth + 1)};
    }

    std::string file_;
    std::vector<std::string> lines_;
};

std::string without_bom(const std::string& text) { return text.rfind("\xEF\xBB\xBF", 0) == 0 ? text.substr(3) : text; }

bool is_leaf(const Tree& tree) { return tree->kind == TreeNode::Kind::map && tree->find("value") != nullptr; }

}  // namespace

const TreeNode::Entry* TreeNode::find(const std::string& key) const {
    const auto it = std::find_if(entries.begin(), entries.end(), [&](const Entry& e) { return e.key == key; });
    return it == entries.end() ? nullptr : &*it;
}

Tree parse_tree(const std::string& raw, const std::string& file) {
    const std::string text = without_bom(raw);
    const Converter converter(text, file);
    converter.reject_tabs();
    std::vector<YAML::Node> documents;
    try {
        documents = YAML::LoadAll(text);
    } catch (const YAML::Exception& e) {
        throw Error(converter.at(e.mark), e.msg);
    }
    if (documents.empty() || documents.front().IsNull()) throw Error(Place{file, 0, 0, ""}, "the file is empty");
    if (documents.size() > 1) {
        throw Error(converter.at(documents[1].Mark()), fmt::format("{} documents in one file; one is allowed", documents.size()));
    }
    return converter.convert(documents.front(), 0);
}

Tree merge_trees(const Tree& base, const Tree& overlay) {
    const bool both_maps = base->kind == TreeNode::Kind::map && overlay->kind == TreeNode::Kind::map;
    if (!both_maps || is_leaf(base) || is_leaf(overlay)) return overlay;
    auto merged = std::make_shared<TreeNode>(*base);
    merged->place = overlay->place;
    for (const auto& entry : overlay->entries) {
        const auto same =
            std::find_if(merged->entries.begin(), merged->entries.end(), [&](const auto& e) { return e.key == entry.key; });
        if (same == merged->entries.end()) {
            merged->entries.push_back(entry);
        } else {
            *same = {entry.key, entry.place, merge_trees(same->value, entry.value)};
        }
    }
    return merged;
}

}  // namespace rafter::config
