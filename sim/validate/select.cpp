#include <algorithm>
#include <numeric>
#include <set>

#include <fmt/format.h>

#include "sim/core/error.h"
#include "sim/core/mix.h"
#include "sim/validate/scoreboard.h"

namespace rafter::validate {

namespace {

using Field = std::string Row::*;

/// A source is written as a repository and more; its first word is enough.
bool matches(const std::string& value, const std::string& wanted, bool prefix) {
    return value == wanted || (prefix && value.rfind(wanted, 0) == 0);
}

void keep(std::vector<Row>& rows, Field field, const std::vector<std::string>& wanted, const char* option) {
    if (wanted.empty()) return;
    const bool prefix = field == &Row::source;
    for (const std::string& name : wanted) {
        if (std::any_of(rows.begin(), rows.end(), [&](const Row& r) { return matches(r.*field, name, prefix); })) continue;
        std::set<std::string> known;
        for (const Row& row : rows) known.insert(row.*field);
        const std::string near = nearest_name(name, {known.begin(), known.end()});
        throw Error(fmt::format(
            "error: {} {}: no row has it{}", option, name,
            near.empty() ? fmt::format("; there are: {}", fmt::join(known, ", ")) : fmt::format(" (did you mean '{}'?)", near)));
    }
    std::erase_if(rows, [&](const Row& row) {
        return std::none_of(wanted.begin(), wanted.end(), [&](const auto& name) { return matches(row.*field, name, prefix); });
    });
}

/// `count` rows by the order of a hash of (seed, position), in their old order.
std::vector<Row> sampled(const std::vector<Row>& rows, std::size_t count, std::uint64_t seed) {
    std::vector<std::size_t> order(rows.size());
    std::iota(order.begin(), order.end(), 0);
    const auto rank = [seed](std::size_t row) { return mix(seed, row); };
    std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return rank(a) < rank(b); });
    order.resize(std::min(count, order.size()));
    std::sort(order.begin(), order.end());
    std::vector<Row> chosen;
    chosen.reserve(order.size());
    for (const std::size_t i : order) chosen.push_back(rows[i]);
    return chosen;
}

}  // namespace

std::vector<Row> select(const std::vector<Row>& rows, const Selection& selection) {
    std::vector<Row> chosen = rows;
    keep(chosen, &Row::gpu, selection.gpu, "--gpu");
    keep(chosen, &Row::op, selection.op, "--op");
    keep(chosen, &Row::dtype, selection.dtype, "--dtype");
    keep(chosen, &Row::source, selection.source, "--source");
    return selection.sample > 0 ? sampled(chosen, selection.sample, selection.seed) : chosen;
}

}  // namespace rafter::validate
