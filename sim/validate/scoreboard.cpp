#include "sim/validate/scoreboard.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <tuple>

namespace rafter::validate {

namespace {

using Key = std::tuple<std::string, std::string, std::string>;

std::vector<std::size_t> worst_of(const std::vector<Row>& rows, const std::vector<Outcome>& outcomes,
                                  std::vector<std::size_t> which, std::size_t count) {
    std::stable_sort(which.begin(), which.end(), [&](auto a, auto b) {
        return std::abs(error_of(rows[a], outcomes[a])) > std::abs(error_of(rows[b], outcomes[b]));
    });
    which.resize(std::min(count, which.size()));
    return which;
}

std::vector<Group> grouped(const std::vector<Row>& rows, const std::vector<Outcome>& outcomes,
                           const std::function<Key(const Row&)>& key, std::size_t worst) {
    std::map<Key, std::vector<std::size_t>> members;
    for (std::size_t i = 0; i < rows.size(); ++i)
        if (outcomes[i].status == Status::scored) members[key(rows[i])].push_back(i);
    std::vector<Group> groups;
    for (const auto& [id, which] : members) {
        const auto& [gpu, op, dtype] = id;
        groups.push_back({gpu, op, dtype, score(rows, outcomes, which), worst_of(rows, outcomes, which, worst)});
    }
    return groups;
}

}  // namespace

double error_of(const Row& row, const Outcome& outcome) { return outcome.sim_us / row.time_us - 1; }

double percentile(const std::vector<double>& sorted, double p) {
    if (sorted.empty()) return 0;
    const double rank = p * static_cast<double>(sorted.size() - 1);
    const auto below = static_cast<std::size_t>(std::floor(rank));
    const std::size_t above = std::min(below + 1, sorted.size() - 1);
    return sorted[below] + (rank - std::floor(rank)) * (sorted[above] - sorted[below]);
}

Score score(const std::vector<Row>& rows, const std::vector<Outcome>& outcomes, const std::vector<std::size_t>& which) {
    Score s;
    s.rows = which.size();
    if (which.empty()) return s;
    std::vector<double> sizes;
    for (const std::size_t i : which) {
        const double error = error_of(rows[i], outcomes[i]);
        sizes.push_back(std::abs(error));
        s.mape += std::abs(error);
        s.bias += error;
        s.within10 += std::abs(error) <= 0.1 ? 1 : 0;
        s.roofline_mape += std::abs(outcomes[i].roofline_us / rows[i].time_us - 1);
    }
    const auto n = static_cast<double>(which.size());
    s.mape /= n, s.bias /= n, s.within10 /= n, s.roofline_mape /= n;
    std::sort(sizes.begin(), sizes.end());
    s.median = percentile(sizes, 0.5);
    s.p90 = percentile(sizes, 0.9);
    return s;
}

Scoreboard scoreboard(const std::vector<Row>& rows, const std::vector<Outcome>& outcomes, std::size_t worst) {
    Scoreboard board;
    board.groups = grouped(
        rows, outcomes,
        [](const Row& r) {
            return Key{r.gpu, r.op, r.dtype};
        },
        worst);
    board.by_gpu = grouped(
        rows, outcomes,
        [](const Row& r) {
            return Key{r.gpu, "", ""};
        },
        worst);
    board.by_op = grouped(
        rows, outcomes,
        [](const Row& r) {
            return Key{"", r.op, ""};
        },
        worst);
    std::vector<std::size_t> scored;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        if (outcomes[i].status == Status::scored) scored.push_back(i);
        if (outcomes[i].status == Status::unsimulatable) board.unsimulatable[outcomes[i].reason].push_back(i);
        if (outcomes[i].status == Status::impossible) board.impossible.push_back(i);
    }
    board.overall = score(rows, outcomes, scored);
    return board;
}

}  // namespace rafter::validate
