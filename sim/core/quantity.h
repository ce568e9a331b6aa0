// Strong integer quantities. The simulator counts in whole units (femtoseconds, bytes, hertz), so that results do not
// depend on the order of floating-point additions, on the compiler or on the optimisation level.
#pragma once

#include <compare>
#include <cstdint>

namespace rafter {

/// An integer amount of one physical unit. Quantities of different units do not mix.
template <class Unit, class Rep = std::int64_t>
struct Quantity {
    Rep value{0};

    constexpr Quantity() = default;
    constexpr explicit Quantity(Rep v) : value(v) {}

    constexpr auto operator<=>(const Quantity&) const = default;
    constexpr Quantity& operator+=(Quantity o) {
        value += o.value;
        return *this;
    }
    constexpr Quantity& operator-=(Quantity o) {
        value -= o.value;
        return *this;
    }
    friend constexpr Quantity operator+(Quantity a, Quantity b) { return Quantity(a.value + b.value); }
    friend constexpr Quantity operator-(Quantity a, Quantity b) { return Quantity(a.value - b.value); }
    friend constexpr Quantity operator*(Quantity a, Rep n) { return Quantity(a.value * n); }
    friend constexpr Quantity operator*(Rep n, Quantity a) { return Quantity(a.value * n); }
    friend constexpr Quantity operator/(Quantity a, Rep n) { return Quantity(a.value / n); }
};

struct FemtosecondUnit;
struct ByteUnit;
struct HertzUnit;

using Femtoseconds = Quantity<FemtosecondUnit>;  ///< time; 2^63 fs is 2.56 hours
using Bytes = Quantity<ByteUnit>;
using Hertz = Quantity<HertzUnit>;

/// Exact counts of MACs and FLOPs: a 1M-token prefill passes 2^63.
__extension__ using Count = unsigned __int128;

constexpr double seconds(Femtoseconds t) { return static_cast<double>(t.value) * 1e-15; }

/// `n` clocks at `f`, rounded up to a femtosecond. Errors: none; f must be positive.
constexpr Femtoseconds clocks(std::int64_t n, Hertz f) {
    __extension__ using Wide = __int128;
    const Wide fs = Wide{n} * 1'000'000'000'000'000;
    return Femtoseconds(static_cast<std::int64_t>((fs + f.value - 1) / f.value));
}

constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

}  // namespace rafter
