// Curves of streams that differ in kernel, occupancy, working set and number of CTAs: their points, measured or of our own, and
// what runs for them. docs/model/curves.md.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sim/config/hw_config.h"
#include "sim/curves/curves.h"

namespace rafter::curves {

using Shape = std::map<std::string, std::string>;  ///< of a measured row

/// Which rows belong to a curve, and what x is.
enum class Form : std::uint8_t {
    occupancy,  ///< one-shot grids over arrays that no cache holds; x: share of an SM's threads
    warm,       ///< the same over a working set again and again; x: its size
    ctas,       ///< grid-stride loops of some CTAs; x: their number
    cache       ///< one CTA an SM, all over the same buffer again and again; x: its size
};

struct StreamKind {
    std::string name, title, x_label;
    Form form;
    std::string kernel;  ///< read | write | init | scale | copy | triad
};

const std::vector<StreamKind>& stream_kinds();

/// The point of a row of that shape; nothing when it belongs to another curve. One rule for every GPU.
std::optional<Point> stream_point(const StreamKind& kind, const Shape& shape, const config::HwConfig& gpu);

/// Points for a GPU that nobody has measured.
std::vector<Point> own_points(const StreamKind& kind, const config::HwConfig& gpu);

}  // namespace rafter::curves
