#include "sim/config/tree.h"

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <sstream>

#include <fmt/format.h>

namespace rafter::config {

namespace {

constexpr int kDeepest = 64;
constexpr std::int64_t kMostNodes = 200'000;    // aliases of aliases grow without bound
constexpr std::size_t kLongestShownLine = 300;  // a caret below a longer line helps nobody

/// yaml-cpp counts bytes; a caret wants characters.
int characters(const std::string& line, int bytes) {
    int count = 0;
    for (std::size_t i = 0; i < line.size() && i < static_cast<std::size_t>(bytes); ++i) {
        if ((static_cast<unsigned char>(line[i]) & 0xC0) != 0x80) ++count;
    }
    return count + std::max(0, bytes - static_cast<int>(line.size()));
}

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
        if (mark.is_null()) return Place{file_, 0, 0, ""};
        Place place{file_, mark.line + 1, mark.column + 1, ""};
        if (mark.line >= 0 && static_cast<std::size_t>(mark.line) < lines_.size()) {
            const std::string& line = lines_[static_cast<std::size_t>(mark.line)];
            place.column = characters(line, mark.column) + 1;
            if (line.size() <= kLongestShownLine) place.source_line = line;
        }
        return place;
    }

    Tree convert(const YAML::Node& node, int depth) {
        if (depth > kDeepest) throw Error(at(node.Mark()), "nested deeper than 64 levels, or an alias that refers to itself");
        if (++nodes_ > kMostNodes) throw Error(Place{file_, 0, 0, ""}, "more than 200000 values; do aliases refer to aliases?");
        reject_tag(node);
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
            if (lines_[i].find_first_not_of(" \t") == std::string::npos) continue;
            throw Error({file_, static_cast<int>(i + 1), static_cast<int>(first + 1), lines_[i]},
                        "tab in the indentation; use spaces");
        }
    }

private:
    void reject_tag(const YAML::Node& node) const {
        const std::string& tag = node.Tag();
        if (tag.empty() || tag == "!" || tag == "?") return;
        throw Error(at(node.Mark()), fmt::format("the YAML tag '{}' is not used here", tag));
    }

    TreeNode::Entry convert_entry(const YAML::Node& key, const YAML::Node& value, int depth) {
        if (!key.IsScalar()) throw Error(at(key.Mark()), "a key must be plain text");
        TreeNode::Entry entry{key.Scalar(), at(key.Mark()), convert(value, depth + 1)};
        if (entry.value->kind == TreeNode::Kind::null) entry.value->place = entry.place;  // yaml-cpp marks the token after it
        return entry;
    }

    std::string file_;
    std::vector<std::string> lines_;
    std::int64_t nodes_{0};
};

std::string without_bom(const std::string& text) { return text.rfind("\xEF\xBB\xBF", 0) == 0 ? text.substr(3) : text; }

}  // namespace

const TreeNode::Entry* TreeNode::find(const std::string& key) const {
    const auto it = std::find_if(entries.begin(), entries.end(), [&](const Entry& e) { return e.key == key; });
    return it == entries.end() ? nullptr : &*it;
}

bool TreeNode::is_leaf() const {
    const auto legal = [](const Entry& e) {
        return e.key == "value" || e.key == "source" || e.key == "standing" || e.key == "note";
    };
    return kind == Kind::map && find("value") != nullptr && std::all_of(entries.begin(), entries.end(), legal);
}

std::string in_section(const std::string& path) { return path.empty() ? "at the top level" : fmt::format("in {}", path); }

std::string duplicate_message(const TreeNode::Entry& first, const std::string& path) {
    return fmt::format("duplicate key '{}' {}, first given in line {}", first.key, in_section(path), first.place.line);
}

Tree parse_tree(const std::string& raw, const std::string& file) {
    const std::string text = without_bom(raw);
    Converter converter(text, file);
    converter.reject_tabs();
    std::vector<YAML::Node> documents;
    try {
        documents = YAML::LoadAll(text);
    } catch (const YAML::Exception& e) {
        throw Error(converter.at(e.mark), fmt::format("not valid YAML: {}", e.msg));
    }
    if (documents.empty() || documents.front().IsNull()) throw Error(Place{file, 0, 0, ""}, "the file is empty");
    if (documents.size() > 1) {
        throw Error(converter.at(documents[1].Mark()), fmt::format("{} documents in one file; one is allowed", documents.size()));
    }
    return converter.convert(documents.front(), 0);
}

Tree merge_trees(const Tree& base, const Tree& overlay) {
    const bool both_maps = base->kind == TreeNode::Kind::map && overlay->kind == TreeNode::Kind::map;
    if (!both_maps || base->is_leaf() || overlay->is_leaf()) return overlay;
    auto merged = std::make_shared<TreeNode>(*base);
    // A --set is no place where a missing key could be added.
    if (overlay->place.line > 0) merged->place = overlay->place;
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
