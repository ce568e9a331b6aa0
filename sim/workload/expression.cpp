#include "sim/workload/expression.h"

#include <algorithm>
#include <cctype>
#include <vector>

#include <fmt/format.h>

#include "sim/core/error.h"

namespace rafter::workload {

namespace {

class Parser {
public:
    Parser(const std::string& text, const Dims& dims, std::string& error) : text_(text), dims_(dims), error_(error) {}

    std::int64_t parse() {
        const std::int64_t value = sum();
        if (error_.empty() && peek() != '\0')
            fail(fmt::format("unexpected '{}' at character {} of '{}'", peek(), at_ + 1, text_));
        return error_.empty() ? value : 0;
    }

private:
    char peek() {
        while (at_ < text_.size() && text_[at_] == ' ') ++at_;
        return at_ < text_.size() ? text_[at_] : '\0';
    }
    bool take(char c) {
        if (peek() != c) return false;
        ++at_;
        return true;
    }
    void fail(const std::string& message) {
        if (error_.empty()) error_ = message;
    }

    std::int64_t sum() {
        std::int64_t value = product();
        while (error_.empty() && (peek() == '+' || peek() == '-')) {
            const char op = text_[at_++];
            const std::int64_t right = product();
            const bool overflow =
                op == '+' ? __builtin_add_overflow(value, right, &value) : __builtin_sub_overflow(value, right, &value);
            if (overflow) fail(fmt::format("'{}' does not fit 64 bits", text_));
        }
        return value;
    }

    std::int64_t product() {
        std::int64_t value = atom();
        while (error_.empty() && (peek() == '*' || peek() == '/')) {
            const char op = text_[at_++];
            const std::int64_t right = atom();
            if (op == '*') {
                if (__builtin_mul_overflow(value, right, &value)) fail(fmt::format("'{}' does not fit 64 bits", text_));
            } else if (right == 0 || value % right != 0) {
                fail(fmt::format("{} / {} in '{}' is not a whole number", value, right, text_));
            } else {
                value /= right;
            }
        }
        return value;
    }

    std::int64_t atom() {
        const char c = peek();
        if (take('(')) {
            const std::int64_t value = sum();
            if (!take(')')) fail(fmt::format("missing ')' in '{}'", text_));
            return value;
        }
        if (std::isdigit(static_cast<unsigned char>(c)) != 0) return number();
        if (std::isalpha(static_cast<unsigned char>(c)) != 0) return dim();
        fail(text_.empty() ? "expected a whole number or an expression"
                           : fmt::format("'{}' is not a whole number or an expression over dims", text_));
        return 0;
    }

    std::int64_t number() {
        const std::size_t from = at_;
        std::int64_t value = 0;
        while (at_ < text_.size() && std::isdigit(static_cast<unsigned char>(text_[at_])) != 0) {
            if (__builtin_mul_overflow(value, std::int64_t{10}, &value) ||
                __builtin_add_overflow(value, std::int64_t{text_[at_] - '0'}, &value)) {
                fail(fmt::format("'{}' does not fit 64 bits", text_));
                return 0;
            }
            ++at_;
        }
        const bool more = at_ < text_.size() &&
                          (std::isalpha(static_cast<unsigned char>(text_[at_])) != 0 || text_[at_] == '.' || text_[at_] == '_');
        if (more || (text_[from] == '0' && at_ > from + 1)) fail(fmt::format("'{}' is not a whole number", text_));
        return value;
    }

    std::int64_t dim() {
        const std::size_t from = at_;
        while (at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])) != 0 || text_[at_] == '_')) ++at_;
        const std::string name = text_.substr(from, at_ - from);
        const auto known = dims_.find(name);
        if (known != dims_.end()) return known->second;
        std::vector<std::string> names;
        for (const auto& [key, value] : dims_) names.push_back(key);
        const std::string near = nearest_name(name, names);
        fail(fmt::format("unknown dim '{}' at character {} of '{}'{}", name, from + 1, text_,
                         near.empty() ? "" : fmt::format(" (did you mean '{}'?)", near)));
        return 0;
    }

    const std::string& text_;
    const Dims& dims_;
    std::string& error_;
    std::size_t at_{0};
};

bool is_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

}  // namespace

std::int64_t evaluate(const std::string& text, const Dims& dims, std::string& error) { return Parser(text, dims, error).parse(); }

bool mentions(const std::string& text, const std::string& name) {
    for (auto at = text.find(name); at != std::string::npos; at = text.find(name, at + 1)) {
        const auto end = at + name.size();
        if ((at == 0 || !is_name(text[at - 1])) && (end == text.size() || !is_name(text[end]))) return true;
    }
    return false;
}

bool is_derived(const std::string& text) {
    return std::any_of(text.begin(), text.end(), [](char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; });
}

}  // namespace rafter::workload
