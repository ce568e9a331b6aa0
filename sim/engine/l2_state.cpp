#include "sim/engine/l2_state.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

namespace rafter::engine {

namespace {

bool uses(const program::Kernel& kernel, const std::string& tensor) {
    return std::any_of(kernel.arguments.begin(), kernel.arguments.end(), [&](const auto& a) { return a.tensor == tensor; });
}

std::int64_t round_to(std::int64_t bytes, std::int64_t grain) { return (bytes + grain / 2) / grain * grain; }

}  // namespace

std::string StartState::key() const {
    std::string key = fmt::format("foreign={}", foreign_dirty);
    for (const Argument& argument : arguments)
        key += fmt::format(";{}{}c{}", argument.resident, argument.dirty ? "d" : "", argument.copied_quarters);
    return key;
}

// (E.1): a sixteenth of the tensor or a thirty-second of the L2, whichever is less.
std::int64_t L2State::grain(std::int64_t size) const {
    const std::int64_t finest = program::kLineBytes;
    return std::max(finest, std::min(size / 16, capacity_ / 32) / finest * finest);
}

StartState L2State::before(const program::Kernel& kernel) const {
    StartState start;
    start.arguments.resize(kernel.arguments.size());
    std::int64_t foreign = 0;
    for (const Entry& entry : entries_) {
        if (!uses(kernel, entry.tensor)) foreign += entry.dirty;
    }
    for (std::size_t i = 0; i < kernel.arguments.size(); ++i) {
        const auto& argument = kernel.arguments[i];
        const auto entry =
            std::find_if(entries_.begin(), entries_.end(), [&](const Entry& e) { return e.tensor == argument.tensor; });
        if (entry == entries_.end()) continue;
        const std::int64_t resident = std::min(round_to(entry->resident, grain(argument.size)), argument.size);
        const std::int64_t quarters =
            std::min<std::int64_t>(4, (4 * entry->copied + entry->resident / 2) / std::max<std::int64_t>(1, entry->resident));
        start.arguments[i] = {resident, entry->dirty * 2 > entry->resident, quarters};
    }
    const std::int64_t unit = std::max<std::int64_t>(program::kLineBytes, capacity_ / 32);
    start.foreign_dirty = round_to(foreign, unit);
    return start;
}

void L2State::after(const program::Kernel& kernel, const StartState& start, const machine::KernelMeasurement& measured) {
    std::vector<Entry> earlier;
    std::copy_if(entries_.begin(), entries_.end(), std::back_inserter(earlier),
                 [&](const Entry& e) { return uses(kernel, e.tensor); });
    std::erase_if(entries_, [&](const Entry& e) { return uses(kernel, e.tensor); });
    std::int64_t held = 0;
    for (const auto& residency : measured.buffers)
        held += (residency.resident_lines + residency.copied_lines) * program::kLineBytes;
    if (start.foreign_dirty > 0)
        clean_oldest(measured.warm.empty() ? 0 : measured.warm.front().dirty_lines * program::kLineBytes);
    trim(std::max<std::int64_t>(0, capacity_ - held));
    for (std::size_t i = 0; i < kernel.arguments.size(); ++i) {
        const auto& residency = measured.buffers[i];
        const auto& argument = kernel.arguments[i];
        const auto same = [&](const Entry& e) { return e.tensor == argument.tensor; };
        if (residency.resident_lines == 0 || std::any_of(entries_.begin(), entries_.end(), same)) continue;
        Entry entry{argument.tensor, argument.size, residency.resident_lines * program::kLineBytes,
                    residency.dirty_lines * program::kLineBytes, residency.copied_lines * program::kLineBytes};
        const auto before = std::find_if(earlier.begin(), earlier.end(), same);
        if (before != earlier.end() && before->size > argument.size) entry.add_rest_of(*before, argument.size);
        entries_.push_back(entry);
    }
    trim(capacity_);
}

/// A kernel that used the first `used` bytes of a larger tensor (the new end of a cache) has left the rest as it was.
void L2State::Entry::add_rest_of(const Entry& before, std::int64_t used) {
    const std::int64_t rest = std::max<std::int64_t>(0, before.resident - used);
    const auto share = [&](std::int64_t bytes) {
        return before.resident > 0 ? bytes / program::kLineBytes * (rest / program::kLineBytes) /
                                         (before.resident / program::kLineBytes) * program::kLineBytes
                                   : 0;
    };
    size = before.size;
    resident = std::min(resident + rest, size);
    dirty = std::min(dirty + share(before.dirty), resident);
    copied += share(before.copied);
}

/// The least recently used go first when others need the room; copies go with their lines. (E.2)
void L2State::trim(std::int64_t room) {
    std::int64_t total = 0;
    for (const Entry& entry : entries_) total += entry.held();
    for (Entry& entry : entries_) {
        const std::int64_t gone = std::min(entry.held(), std::max<std::int64_t>(0, total - room));
        if (gone == 0) break;
        const std::int64_t copies =
            entry.held() > 0 ? gone / program::kLineBytes * entry.copied / entry.held() * program::kLineBytes : 0;
        entry.copied -= copies;
        entry.resident -= std::min(entry.resident, gone - copies);
        entry.dirty = std::min(entry.dirty, entry.resident);
        total -= gone;
    }
    std::erase_if(entries_, [](const Entry& e) { return e.resident == 0; });
}

/// The kernel wrote back the oldest dirty bytes of other tensors and left `still_dirty` of them. (E.3)
void L2State::clean_oldest(std::int64_t still_dirty) {
    std::int64_t excess = dirty_bytes() - still_dirty;
    for (Entry& entry : entries_) {
        const std::int64_t cleaned = std::clamp<std::int64_t>(excess, 0, entry.dirty);
        entry.dirty -= cleaned;
        entry.resident -= cleaned;
        excess -= cleaned;
    }
}

void L2State::produce(const std::string& tensor, std::int64_t size) {
    std::erase_if(entries_, [&](const Entry& e) { return e.tensor == tensor; });
    const std::int64_t resident = std::min(size, capacity_ / 2) / program::kLineBytes * program::kLineBytes;
    trim(capacity_ - resident);
    if (resident > 0) entries_.push_back({tensor, size, resident, 0, 0});
}

std::int64_t L2State::dirty_bytes() const {
    std::int64_t dirty = 0;
    for (const Entry& entry : entries_) dirty += entry.dirty;
    return dirty;
}

}  // namespace rafter::engine
