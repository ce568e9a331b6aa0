#include "sim/model/tag_array.h"

#include <algorithm>
#include <bit>
#include <cstring>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "sim/core/error.h"

namespace rafter::model {

namespace {

// Four ways at a time: GCC and clang lower this to whatever the target has.
typedef std::uint32_t Four __attribute__((vector_size(16)));
typedef std::int32_t SignedFour __attribute__((vector_size(16)));

constexpr int kTickShift = 20;                  // last uses are kept in 2^20 fs, about a nanosecond
constexpr std::uint32_t kLongAgo = 0xC0000000;  // -2^30
constexpr std::uint32_t kFuture = 1U << 24;     // a fetch is never further ahead than 16 ms
constexpr std::uint32_t kNever = 0xFF;          // entry of a padding way: matches no tag, never the oldest

Four load(const std::uint32_t* from) {
    Four v;
    std::memcpy(&v, from, sizeof v);
    return v;
}

/// Bit i: entry i of sixteen holds `tag`.
std::uint32_t matches(const std::uint32_t* entries, std::uint32_t tag) {
#ifdef __SSE2__
    const __m128i wanted = _mm_set1_epi32(static_cast<int>(tag));
    const auto compare = [&](int i) {
        const __m128i four = _mm_load_si128(reinterpret_cast<const __m128i*>(entries) + i);
        return _mm_cmpeq_epi32(_mm_srli_epi32(four, 8), wanted);
    };
    const __m128i low = _mm_packs_epi32(compare(0), compare(1)), high = _mm_packs_epi32(compare(2), compare(3));
    return static_cast<std::uint32_t>(_mm_movemask_epi8(_mm_packs_epi16(low, high)));
#else
    std::uint32_t match = 0;
    for (unsigned i = 0; i < 16; ++i) match |= static_cast<std::uint32_t>(entries[i] >> 8 == tag) << i;
    return match;
#endif
}

std::uint32_t tick(Fs t) { return static_cast<std::uint32_t>(t >> kTickShift); }

}  // namespace

TagArray::TagArray(std::int64_t lines, std::int64_t ways, int granule_sectors)
    : full_ways_(ways),
      ways_(std::min(ways, lines)),
      padded_((ways_ + 3) / 4 * 4),
      granule_sectors_(granule_sectors),
      lines_per_set_(static_cast<std::uint64_t>((2 * padded_ + 15) / 16)),
      sets_(static_cast<std::uint64_t>(ways_ > 0 ? lines / ways_ : 1)),
      host_lines_(sets_.divisor() * lines_per_set_) {
    clear();
}

void TagArray::resize(std::int64_t lines) {
    ways_ = std::min(full_ways_, lines);
    padded_ = (ways_ + 3) / 4 * 4;
    lines_per_set_ = static_cast<std::uint64_t>((2 * padded_ + 15) / 16);
    sets_ = Divider(static_cast<std::uint64_t>(ways_ > 0 ? lines / ways_ : 1));
    RAFTER_CHECK(sets_.divisor() * lines_per_set_ <= host_lines_.size(), "a tag array cannot grow");
    clear();
}

// An empty way was last used a second ago: it goes before any line.
void TagArray::clear() {
    std::fill(host_lines_.begin(), host_lines_.end(), HostLine{});
    fills_ = 0;
    if (ways_ == 0) return;
    for (std::uint64_t set = 0; set < sets_.divisor(); ++set) std::fill_n(block(set) + padded_, ways_, kLongAgo);
}

std::uint64_t TagArray::line_of(std::uint64_t set, std::uint64_t tag) const {
    const std::uint64_t r = rotation(tag);
    return tag * sets_.divisor() + (set >= r ? set - r : set + sets_.divisor() - r);
}

// An entry holds its tag + 1, so that an empty one matches nothing.
inline std::int64_t TagArray::find(const std::uint32_t* set, std::uint32_t tag) const {
    std::int64_t way = 0;
    for (; way + 16 <= padded_; way += 16) {
        const std::uint32_t match = matches(set + way, tag + 1);
        if (match != 0) return way + std::countr_zero(match);
    }
    for (; way < padded_; ++way) {
        if (set[way] >> 8 == tag + 1) return way;
    }
    return -1;
}

inline std::int64_t TagArray::oldest(const std::uint32_t* set, std::uint32_t now) const {
    const SignedFour reference = SignedFour{} + static_cast<std::int32_t>(now + kFuture);
    const SignedFour limit = SignedFour{} + static_cast<std::int32_t>(ways_);  // padding ways are never the oldest
    SignedFour longest{-1, -1, -1, -1}, victim{}, way{0, 1, 2, 3};
    for (std::int64_t i = 0; i < padded_; i += 4) {
        const SignedFour age = reference - reinterpret_cast<SignedFour>(load(set + padded_ + i));
        const SignedFour older = (age > longest) & (way < limit);
        longest = (age & older) | (longest & ~older);
        victim = (way & older) | (victim & ~older);
        way += 4;
    }
    int best = 0;
    for (int lane = 1; lane < 4; ++lane) best = longest[lane] > longest[best] ? lane : best;
    return victim[best];
}

TagArray::Outcome TagArray::touch(const Where& where, std::uint64_t line, SectorMask valid, SectorMask dirty, bool fetch,
                                  Fs now) {
    if (ways_ == 0) return {fetch ? granules(valid) : SectorMask{0}, dirty, line, 0};
    std::uint32_t* set = block(where.set);
    const std::uint32_t bits = static_cast<std::uint32_t>(valid) << 4 | dirty;
    const std::uint32_t time = tick(now);
    Outcome outcome;
    std::int64_t way = find(set, where.tag);
    if (way >= 0) {
        std::uint32_t& entry = set[way];
        std::uint32_t& used = set[padded_ + way];
        last_used_ = &used;
        if (fetch) {
            const SectorMask held = mask(entry >> 4);
            outcome.missing = static_cast<SectorMask>(granules(valid & ~static_cast<std::uint32_t>(held)) & ~held);
            entry |= static_cast<std::uint32_t>(outcome.missing) << 4;
        }
        entry |= bits;
        const std::uint32_t ahead = used - time;  // in flight when it lies in the future
        if (ahead != 0 && ahead < kFuture) {
            outcome.ready = ((now >> kTickShift) + ahead) << kTickShift;
        } else {
            used = time;
        }
        return outcome;
    }
    way = oldest(set, time);
    std::uint32_t& entry = set[way];
    last_used_ = &set[padded_ + way];
    if (fetch) outcome.missing = granules(valid);
    outcome.evicted_dirty = mask(entry);
    if (outcome.evicted_dirty != 0) outcome.victim = line_of(where.set, tag_of(entry));
    entry = (where.tag + 1) << 8 | static_cast<std::uint32_t>(outcome.missing) << 4 | bits;
    *last_used_ = time;
    ++fills_;
    return outcome;
}

/// The next way behind `from` that holds a (dirty) line used since `youngest`, or -1.
std::int64_t TagArray::next_used(const std::uint32_t* set, std::int64_t from, std::uint32_t youngest, bool dirty) const {
    for (std::int64_t i = 1; i <= ways_; ++i) {
        const std::int64_t way = (from + i) % ways_;
        const bool used = static_cast<std::int32_t>(set[padded_ + way] - youngest) >= 0;
        if (used && set[way] != 0 && (mask(set[way]) != 0) == dirty) return way;
    }
    return -1;
}

// What enters takes after a line of the set that was used of late, so that it counts for the same buffer.
void TagArray::age_set(std::uint32_t* set, std::int64_t ways, const Entering& entering, Aged& aged) const {
    const std::uint32_t youngest = tick(entering.since), now = tick(entering.now);
    std::int64_t model = 0;
    for (std::int64_t i = 0; i < ways; ++i) {
        const std::int64_t way = oldest(set, now);
        std::uint32_t& used = set[padded_ + way];
        if (static_cast<std::int32_t>(used - youngest) >= 0) return;
        std::uint32_t& entry = set[way];
        if (used != kLongAgo) aged.written_sectors += std::popcount(granules(mask(entry)));
        aged.dirty += entering.dirty;
        const bool dirty = aged.dirty >= 1024;
        const std::int64_t like = next_used(set, model, youngest, dirty);
        if (like >= 0) model = like;
        entry = like >= 0 ? set[like] : entry & ~std::uint32_t{kAllSectors};
        if (entry != 0) entry |= kGhost;
        if (mask(entry) != 0) aged.dirty -= 1024;
        used = now;
        ++aged.replaced;
    }
}

TagArray::Aged TagArray::age(const Entering& entering) {
    Aged aged;
    if (ways_ == 0) return aged;
    const auto sets = static_cast<std::int64_t>(sets_.divisor());
    const std::int64_t each = entering.lines / sets, rest = entering.lines % sets;
    for (std::int64_t set = 0; set < sets; ++set) {
        const std::int64_t here = each + (rest * (set + 1) / sets - rest * set / sets);
        age_set(block(static_cast<std::uint64_t>(set)), std::min(here, ways_), entering, aged);
    }
    return aged;
}

void TagArray::drop(const Where& where) {
    if (ways_ == 0) return;
    std::uint32_t* set = block(where.set);
    const std::int64_t way = find(set, where.tag);
    if (way < 0) return;
    set[way] = 0;
    set[padded_ + way] = kLongAgo;
}

void TagArray::set_ready(Fs ready) {
    if (ways_ > 0) *last_used_ = tick(ready) + 1;
}

}  // namespace rafter::model
