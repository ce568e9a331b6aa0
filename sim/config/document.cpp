#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <tuple>

#include <fmt/format.h>

#include "sim/config/reader.h"

namespace rafter::config {

namespace {

/// In the whole tree, also where nobody reads: a merge would hide them.
void report_duplicates(const Tree& tree, const std::string& path, Diagnostics& diagnostics) {
    for (std::size_t i = 0; i < tree->items.size(); ++i) {
        report_duplicates(tree->items[i], fmt::format("{}[{}]", path, i), diagnostics);
    }
    for (const auto& entry : tree->entries) {
        const auto* first = tree->find(entry.key);
        if (first != &entry) diagnostics.add(entry.place, duplicate_message(*first, path));
        report_duplicates(entry.value, path.empty() ? entry.key : path + "." + entry.key, diagnostics);
    }
}

bool is_blank(const std::string& value) {
    const auto first = value.find_first_not_of(" \t\r\n");
    return first == std::string::npos || value[first] == '#' || value == "~" || value == "null";
}

/// Refuses a path that leads into a single value.
void check_path(const Tree& root, const std::string& path, const Place& place) {
    Tree at = root;
    for (std::size_t begin = 0; begin <= path.size();) {
        const std::size_t end = std::min(path.find('.', begin), path.size());
        const std::string key = path.substr(begin, end - begin);
        if (key.empty()) throw Error(place, fmt::format("'{}' is not a path of keys like l2.capacity", path));
        if (at != nullptr && (at->kind == TreeNode::Kind::scalar || at->is_leaf()))
            throw Error(place, fmt::format("{} is a single value; it has no key '{}'", path.substr(0, begin - 1), key));
        const auto* entry = at == nullptr ? nullptr : at->find(key);
        at = entry == nullptr ? nullptr : entry->value;
        begin = end + 1;
    }
}

}  // namespace

void Diagnostics::add(const Place& place, std::string_view message) {
    std::string text = format_diagnostic(place, message);
    const bool known = std::any_of(found_.begin(), found_.end(), [&](const Found& f) { return f.text == text; });
    if (!known) found_.push_back({place, std::move(text)});
}

void Diagnostics::append(const Diagnostics& others) {
    for (const Found& other : others.found_) {
        const bool known = std::any_of(found_.begin(), found_.end(), [&](const Found& f) { return f.text == other.text; });
        if (!known) found_.push_back(other);
    }
}

void Diagnostics::throw_if_any() const {
    if (found_.empty()) return;
    auto sorted = found_;
    std::stable_sort(sorted.begin(), sorted.end(), [](const Found& a, const Found& b) {
        return std::tie(a.place.file, a.place.line, a.place.column) < std::tie(b.place.file, b.place.line, b.place.column);
    });
    std::string text;
    for (const Found& found : sorted) text += (text.empty() ? "" : "\n") + found.text;
    throw Error(text);
}

Document Document::load(const std::string& path) {
    std::error_code ignored;
    if (std::filesystem::is_directory(path, ignored)) throw Error(Place{path, 0, 0, ""}, "is a directory, not a file");
    std::ifstream file(path, std::ios::binary);
    if (!file) throw Error(Place{path, 0, 0, ""}, "cannot be read");
    std::ostringstream text;
    text << file.rdbuf();
    return parse(text.str(), path);
}

Document Document::parse(const std::string& text, const std::string& name) {
    Tree tree = parse_tree(text, name);
    if (tree->kind != TreeNode::Kind::map) throw Error(tree->place, "expected a map of keys at the top level");
    Document document(std::move(tree));
    report_duplicates(document.tree_, "", *document.diagnostics_);
    return document;
}

Document Document::over(const Document& base) const {
    Document merged(merge_trees(base.tree_, tree_));
    merged.diagnostics_->append(*base.diagnostics_);
    merged.diagnostics_->append(*diagnostics_);
    return merged;
}

void Document::drop(const std::string& key) {
    auto without = std::make_shared<TreeNode>(*tree_);
    std::erase_if(without->entries, [&](const TreeNode::Entry& entry) { return entry.key == key; });
    tree_ = without;
}

void Document::set(const std::string& path, const std::string& value) {
    const Place place{fmt::format("--set {}={}", path, value), 0, 0, ""};
    check_path(tree_, path, place);
    if (is_blank(value)) throw Error(place, "no value given");
    Tree overlay = parse_tree(value, place.file);
    overlay->place = place;
    std::string rest = path;
    while (!rest.empty()) {
        const auto dot = rest.rfind('.');
        auto outer = std::make_shared<TreeNode>();
        outer->kind = TreeNode::Kind::map;
        outer->place = place;
        outer->entries.push_back({dot == std::string::npos ? rest : rest.substr(dot + 1), place, overlay});
        overlay = outer;
        rest = dot == std::string::npos ? "" : rest.substr(0, dot);
    }
    tree_ = merge_trees(tree_, overlay);
}

}  // namespace rafter::config
