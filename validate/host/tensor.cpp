#include "validate/host/tensor.h"

#include <Eigen/Core>
#include <cstring>

#include "sim/core/error.h"
#include "validate/host/random.h"

namespace rafter::validate {

namespace {

template <class T>
std::vector<float> decode_as(const void* bytes, std::size_t count) {
    std::vector<T> typed(count);
    if (count > 0) std::memcpy(static_cast<void*>(typed.data()), bytes, count * sizeof(T));
    return {typed.begin(), typed.end()};
}

template <class T>
std::vector<std::byte> encode_as(const std::vector<float>& values) {
    std::vector<std::byte> bytes(values.size() * sizeof(T));
    for (std::size_t i = 0; i < values.size(); ++i) {
        const T typed(values[i]);
        std::memcpy(&bytes[i * sizeof(T)], static_cast<const void*>(&typed), sizeof(T));
    }
    return bytes;
}

}  // namespace

double rounded(DType dtype, float value) {
    if (dtype == DType::fp16) return static_cast<double>(static_cast<float>(Eigen::half(value)));
    if (dtype == DType::bf16) return static_cast<double>(static_cast<float>(Eigen::bfloat16(value)));
    RAFTER_CHECK(dtype == DType::fp32, "a dtype without a host format");
    return static_cast<double>(value);
}

double RandomTensor::operator()(std::int64_t index) const {
    return rounded(dtype, random_value(seed, static_cast<std::uint64_t>(index), scale));
}

std::vector<float> decode(DType dtype, const void* bytes, std::size_t count) {
    if (dtype == DType::fp16) return decode_as<Eigen::half>(bytes, count);
    if (dtype == DType::bf16) return decode_as<Eigen::bfloat16>(bytes, count);
    RAFTER_CHECK(dtype == DType::fp32, "a dtype without a host format");
    return decode_as<float>(bytes, count);
}

std::vector<std::byte> encode(DType dtype, const std::vector<float>& values) {
    if (dtype == DType::fp16) return encode_as<Eigen::half>(values);
    if (dtype == DType::bf16) return encode_as<Eigen::bfloat16>(values);
    RAFTER_CHECK(dtype == DType::fp32, "a dtype without a host format");
    return encode_as<float>(values);
}

}  // namespace rafter::validate
