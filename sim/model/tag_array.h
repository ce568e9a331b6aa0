// Tags of a set-associative, sectored, write-back cache with LRU replacement. docs/model/l2.md, equations (L2.1)-(L2.3).
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "sim/model/arena.h"
#include "sim/model/calendar.h"
#include "sim/model/divider.h"

namespace rafter::model {

using SectorMask = std::uint8_t;  ///< bit i: 32-byte sector i of a 128-byte line
inline constexpr SectorMask kAllSectors = 0xF;

class TagArray {
public:
    struct Outcome {
        SectorMask missing{0};        ///< sectors that have to be fetched (reads only)
        SectorMask evicted_dirty{0};  ///< sectors of the victim to write back
        std::uint64_t victim{0};      ///< line of the victim, meaningful when evicted_dirty != 0
        Fs ready{0};                  ///< hits: when the data is there (a hit under a miss waits for the fetch), to 2 ns
    };

    /// Holds `lines` lines of `ways` ways; sets are rounded down. 0 lines is legal: everything misses.
    /// A fetch brings whole granules of `granule_sectors` sectors (1, 2 or 4).
    TagArray(std::int64_t lines, std::int64_t ways, int granule_sectors = 1);

    /// A set and the tag a line has in it. Valid until resize().
    struct Where {
        std::uint32_t set{0}, tag{0};
    };
    Where locate(std::uint64_t line) const {
        const std::uint64_t tag = sets_.quotient(line);
        std::uint64_t set = line - tag * sets_.divisor() + rotation(tag);  // (L2.1)
        if (set >= sets_.divisor()) set -= sets_.divisor();
        return {static_cast<std::uint32_t>(set), static_cast<std::uint32_t>(tag)};
    }

    Outcome read(std::uint64_t line, SectorMask sectors, Fs now) { return read(locate(line), line, sectors, now); }
    Outcome read(const Where& where, std::uint64_t line, SectorMask sectors, Fs now) {
        return touch(where, line, sectors, 0, true, now);
    }
    /// Whole sectors are written: nothing is fetched.
    Outcome write(std::uint64_t line, SectorMask sectors, Fs now) { return write(locate(line), line, sectors, now); }
    Outcome write(const Where& where, std::uint64_t line, SectorMask sectors, Fs now) {
        return touch(where, line, sectors, sectors, false, now);
    }
    /// Forgets the line, if it is there: nothing is written back.
    void drop(const Where& where);
    /// The data of the fetch started by the last read() arrives at `ready`.
    void set_ready(Fs ready);

    /// Where a set lies in the host's memory.
    const std::uint32_t* address(const Where& where) const { return ways_ == 0 ? nullptr : block(where.set); }
    /// Brings the host's cache lines of a set near; `first` is the address of set 0 of an array like this one.
    void prefetch(const std::uint32_t* first, const Where& where) const {
        if (ways_ == 0) return;
        const std::uint32_t* set = first + where.set * lines_per_set_ * kWords;
        __builtin_prefetch(set);
        __builtin_prefetch(set + padded_);
    }

    /// What age() did: ways that stand for other lines now, and DRAM granules' worth of dirty sectors that left with the old.
    struct Aged {
        std::int64_t replaced{0}, written_sectors{0};
        std::int64_t dirty{0};  ///< lines x 1024 that have still to enter dirty
    };
    /// Lines that nobody will ask for enter at `now`: ways used least recently, but none used since `since`, stand for them.
    /// docs/ model/steady.md
    struct Entering {
        std::int64_t lines{0};
        std::int64_t dirty{0};  ///< of 1024
        Fs since{0}, now{0};
    };
    Aged age(const Entering& entering);
    std::int64_t fills() const { return fills_; }  ///< lines that have entered since clear() or count_from_here()
    void count_from_here() { fills_ = 0; }

    void clear();
    /// Empties the array and gives it another capacity. Errors: InternalError beyond the one it was made with.
    void resize(std::int64_t lines);
    std::int64_t capacity_lines() const { return static_cast<std::int64_t>(sets_.divisor()) * ways_; }

    /// Calls visit(line, valid sectors, dirty sectors) for every line held, in a fixed order.
    template <class Visit>
    void for_each(Visit visit) const {
        for (std::uint64_t set = 0; ways_ > 0 && set < sets_.divisor(); ++set)
            for (std::int64_t way = 0; way < ways_; ++way) {
                const std::uint32_t entry = block(set)[way];
                if (entry != 0) visit(line_of(set, tag_of(entry)), mask(entry >> 4), mask(entry));
            }
    }

private:
    /// Whole granules around the sectors that are missing.
    SectorMask granules(std::uint32_t sectors) const {
        if (granule_sectors_ == 1 || sectors == 0) return mask(sectors);
        if (granule_sectors_ == 4) return kAllSectors;
        const std::uint32_t pairs = (sectors | sectors >> 1) & 0x5;
        return mask(pairs | pairs << 1);
    }
    /// Set in the entry of a way that stands for a line nobody asks for: no tag is that large.
    static constexpr std::uint32_t kGhost = 1U << 31;
    static std::uint64_t tag_of(std::uint32_t entry) { return ((entry & ~kGhost) >> 8) - 1; }
    static SectorMask mask(std::uint32_t bits) { return static_cast<SectorMask>(bits & 0xF); }
    std::uint64_t rotation(std::uint64_t tag) const { return (mix(tag) >> 32) * sets_.divisor() >> 32; }
    std::uint64_t line_of(std::uint64_t set, std::uint64_t tag) const;
    Outcome touch(const Where& where, std::uint64_t line, SectorMask valid, SectorMask dirty, bool fetch, Fs now);
    std::int64_t find(const std::uint32_t* set, std::uint32_t tag) const;    ///< way, or -1
    std::int64_t oldest(const std::uint32_t* set, std::uint32_t now) const;  ///< way used least recently
    std::int64_t next_used(const std::uint32_t* set, std::int64_t from, std::uint32_t youngest, bool dirty) const;
    void age_set(std::uint32_t* set, std::int64_t ways, const Entering& entering, Aged& aged) const;

    /// A set is one block: the entries ((tag + 1) << 8 | valid << 4 | dirty), then their last uses in 2^20 fs, both padded to
    /// 4 ways; blocks begin on a cache line of the host.
    static constexpr std::size_t kWords = 16;
    struct alignas(64) HostLine {
        std::array<std::uint32_t, kWords> words;
    };
    const std::uint32_t* block(std::uint64_t set) const { return host_lines_[set * lines_per_set_].words.data(); }
    std::uint32_t* block(std::uint64_t set) { return host_lines_[set * lines_per_set_].words.data(); }

    std::int64_t full_ways_, ways_, padded_;
    int granule_sectors_;
    std::uint64_t lines_per_set_;
    Divider sets_;
    std::vector<HostLine, ArenaAllocator<HostLine>> host_lines_;
    std::uint32_t* last_used_{nullptr};  ///< of the way touched last
    std::int64_t fills_{0};
};

}  // namespace rafter::model
