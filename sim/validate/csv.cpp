#include "sim/validate/measured.h"

namespace rafter::validate {

namespace {

/// Walks a text once, field by field.
class Reader {
public:
    explicit Reader(const std::string& text) : text_(text) {
        if (text_.rfind("\xEF\xBB\xBF", 0) == 0) at_ = 3;
    }

    std::vector<CsvRecord> read() {
        std::vector<CsvRecord> records;
        while (at_ < text_.size()) {
            CsvRecord record = read_record();
            const bool blank = record.fields.size() == 1 && record.fields.front().empty() && record.problem.empty();
            if (!blank) records.push_back(std::move(record));
        }
        return records;
    }

private:
    CsvRecord read_record() {
        CsvRecord record;
        record.line = line_;
        while (true) {
            record.fields.emplace_back();
            if (peek() == '"') {
                read_quoted(record);
            } else {
                while (at_ < text_.size() && !ends_field()) record.fields.back() += text_[at_++];
            }
            if (peek() != ',') break;
            ++at_;
        }
        skip_line_end();
        return record;
    }

    void read_quoted(CsvRecord& record) {
        ++at_;
        while (at_ < text_.size()) {
            const char c = text_[at_++];
            if (c == '"' && peek() != '"') {
                if (at_ < text_.size() && !ends_field()) record.problem = "text after a closing quote";
                while (at_ < text_.size() && !ends_field()) record.fields.back() += text_[at_++];
                return;
            }
            if (c == '"') ++at_;
            if (c == '\n') ++line_;
            record.fields.back() += c;
        }
        record.problem = "a quote that is never closed";
    }

    char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
    bool ends_field() const {
        const char c = text_[at_];
        return c == ',' || c == '\n' || (c == '\r' && (at_ + 1 == text_.size() || text_[at_ + 1] == '\n'));
    }
    void skip_line_end() {
        if (peek() == '\r') ++at_;
        if (peek() == '\n') ++at_, ++line_;
    }

    const std::string& text_;
    std::size_t at_{0};
    int line_{1};
};

}  // namespace

std::vector<CsvRecord> parse_csv(const std::string& text) { return Reader(text).read(); }

}  // namespace rafter::validate
