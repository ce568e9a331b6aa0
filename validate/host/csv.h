// The interchange CSV: read what is there, append a row so that a crash leaves at most half of the last line.
#pragma once

#include <set>
#include <string>
#include <vector>

namespace rafter::validate {

struct CsvRow {
    std::string source, gpu, op, dtype, shape;
    double time_us{};
    std::string protocol, notes;
};

extern const char* const kCsvHeader;

/// One line of RFC 4180 with its end; fields with a comma, quote or line end are quoted.
std::string csv_line(const std::vector<std::string>& fields);
std::string csv_line(const CsvRow& row);
/// The fields of one line (without its end). Errors: Error for a quote that does not close.
std::vector<std::string> csv_fields(const std::string& line);

/// A file of rows that grows. Opening it drops a half-written last line and reads what has been measured; a file with
/// another header is refused (Error).
class RowFile {
public:
    explicit RowFile(const std::string& path);
    ~RowFile();
    RowFile(const RowFile&) = delete;
    RowFile& operator=(const RowFile&) = delete;

    /// True when a row for this key is there. The key is gpu|op|dtype|shape|protocol|kernel.
    bool has(const std::string& key) const { return keys_.contains(key); }
    /// In one write, then flushed to the disk. Errors: Error.
    void append(const CsvRow& row);
    std::size_t size() const { return keys_.size(); }

    static std::string key(const CsvRow& row);

private:
    std::string path_;
    int file_{-1};
    std::set<std::string> keys_;
};

/// The value of `name=` in notes "a=1;b=2", or "".
std::string note(const std::string& notes, const std::string& name);

}  // namespace rafter::validate
