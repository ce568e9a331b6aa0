// A YAML file as a tree of our own: every key and value keeps its place, so that overlays (base:, --set) report errors where the
// text was written. yaml-cpp keeps the first of two duplicate keys silently and reads 010 as 8; scalars stay text here.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "sim/core/error.h"

namespace rafter::config {

struct TreeNode;
using Tree = std::shared_ptr<TreeNode>;

struct TreeNode {
    enum class Kind : std::uint8_t { null, scalar, list, map };
    struct Entry {
        std::string key;
        Place place;
        Tree value;
    };
    Kind kind{Kind::null};
    Place place;
    std::string text;  ///< scalars
    bool quoted{false};
    std::vector<Tree> items;     ///< lists
    std::vector<Entry> entries;  ///< maps, in file order, duplicates included

    const Entry* find(const std::string& key) const;
    bool is_leaf() const;  ///< {value: V, source: ..., standing: ..., note: ...}
};

/// Errors: Error with file:line:col for anything yaml-cpp rejects, tabs, several documents, an empty document, self-reference.
Tree parse_tree(const std::string& text, const std::string& file);

/// "duplicate key 'x' in l2, first given in line 3"; `path` is that of the map.
std::string duplicate_message(const TreeNode::Entry& first, const std::string& path);
/// "in l2" or "at the top level".
std::string in_section(const std::string& path);

/// `overlay` wins key by key; a {value: ...} leaf is replaced whole.
Tree merge_trees(const Tree& base, const Tree& overlay);

}  // namespace rafter::config
