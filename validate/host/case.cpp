#include "validate/host/case.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "sim/core/error.h"

namespace rafter::validate {

std::string text(const Protocol& protocol) {
    const char* calls = protocol.calls == Calls::event_per_call ? "event_per_call"
                        : protocol.calls == Calls::graph_replay ? "graph_replay"
                                                                : "back_to_back_stream";
    const char* caches = protocol.caches == Caches::cold           ? "l2=cold"
                         : protocol.caches == Caches::warm_if_fits ? "l2=warm_if_fits"
                                                                   : "weights=cold;activations=warm";
    return fmt::format("{};{}{}{}", calls, caches, protocol.includes.empty() ? "" : ";includes=", protocol.includes);
}

Shape& Shape::set(const std::string& key, std::int64_t value) { return set(key, std::to_string(value)); }

Shape& Shape::set(const std::string& key, const std::string& value) {
    entries_.emplace_back(key, value);
    return *this;
}

const std::string* Shape::find(const std::string& key) const {
    const auto it = std::find_if(entries_.begin(), entries_.end(), [&](const auto& entry) { return entry.first == key; });
    return it == entries_.end() ? nullptr : &it->second;
}

const std::string& Shape::word(const std::string& key) const {
    const std::string* found = find(key);
    RAFTER_CHECK(found != nullptr, "no key '" + key + "' in a shape");
    return *found;
}

std::int64_t Shape::get(const std::string& key) const {
    const std::string& digits = word(key);
    std::int64_t value = 0;
    const auto end = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    RAFTER_CHECK(end.ec == std::errc{} && end.ptr == digits.data() + digits.size(), "'" + key + "' of a shape is no number");
    return value;
}

std::int64_t Shape::get(const std::string& key, std::int64_t otherwise) const {
    return find(key) == nullptr ? otherwise : get(key);
}

std::string Shape::text() const {
    std::string all;
    for (const auto& [key, value] : entries_) all += fmt::format("{}{}={}", all.empty() ? "" : ";", key, value);
    return all;
}

std::string key(const Case& c) {
    return fmt::format("{}|{}|{}|{}|{}", c.op, name(c.dtype), c.shape.text(), text(c.protocol), c.kernel);
}

}  // namespace rafter::validate
