#include "validate/host/csv.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

#include <fmt/format.h>

#include "sim/core/error.h"

namespace rafter::validate {

namespace {

constexpr std::size_t kFields = 8;

std::string read_whole(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

[[noreturn]] void fail(const std::string& path, const std::string& what) {
    throw Error(fmt::format("{}: {}: {}", path, what, std::strerror(errno)));
}

void write_all(int file, const std::string& path, const std::string& text) {
    for (std::size_t done = 0; done < text.size();) {
        const ssize_t n = write(file, text.data() + done, text.size() - done);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) fail(path, "cannot write");
        done += static_cast<std::size_t>(n);
    }
    if (fsync(file) != 0 && errno != EINVAL && errno != EROFS) fail(path, "cannot flush");  // EINVAL: a pipe
}

std::string row_key(const std::vector<std::string>& f) {
    return fmt::format("{}|{}|{}|{}|{}|{}", f[1], f[2], f[3], f[4], f[6], note(f[7], "kernel"));
}

}  // namespace

const char* const kCsvHeader = "source,gpu,op,dtype,shape,time_us,protocol,notes";

std::string note(const std::string& notes, const std::string& name) {
    std::istringstream parts(notes);
    for (std::string part; std::getline(parts, part, ';');) {
        if (part.rfind(name + "=", 0) == 0) return part.substr(name.size() + 1);
    }
    return "";
}

std::string csv_line(const std::vector<std::string>& fields) {
    std::string line;
    for (std::size_t i = 0; i < fields.size(); ++i) {
        if (i > 0) line += ',';
        if (fields[i].find_first_of(",\"\r\n") == std::string::npos) {
            line += fields[i];
            continue;
        }
        line += '"';
        for (const char c : fields[i]) line += c == '"' ? std::string("\"\"") : std::string(1, c);
        line += '"';
    }
    return line + "\n";
}

std::string csv_line(const CsvRow& row) {
    return csv_line(
        {row.source, row.gpu, row.op, row.dtype, row.shape, fmt::format("{:.4f}", row.time_us), row.protocol, row.notes});
}

std::vector<std::string> csv_fields(const std::string& line) {
    std::vector<std::string> fields(1);
    bool quoted = false;
    for (std::size_t i = 0; i < line.size(); ++i) {
        const char c = line[i];
        if (quoted && c == '"' && i + 1 < line.size() && line[i + 1] == '"') {
            fields.back() += '"';
            ++i;
        } else if (c == '"') {
            quoted = !quoted;
        } else if (c == ',' && !quoted) {
            fields.emplace_back();
        } else if (c != '\r' || quoted) {
            fields.back() += c;
        }
    }
    if (quoted) throw Error("a quoted field that does not end: " + line);
    return fields;
}

std::string RowFile::key(const CsvRow& row) {
    return row_key({row.source, row.gpu, row.op, row.dtype, row.shape, "", row.protocol, row.notes});
}

RowFile::RowFile(const std::string& path) : path_(path) {
    const std::string text = read_whole(path);
    const std::size_t whole = text.rfind('\n') == std::string::npos ? 0 : text.rfind('\n') + 1;
    std::istringstream lines(text.substr(0, whole));
    std::string line;
    const bool headed = static_cast<bool>(std::getline(lines, line));
    if (headed && !line.empty() && line.back() == '\r') line.pop_back();
    if (headed && line != kCsvHeader)
        throw Error(fmt::format("{}: not a file of measurements: its first line is '{}'", path, line));
    if (!headed && !text.empty() && std::string(kCsvHeader).rfind(text, 0) != 0) {
        throw Error(fmt::format("{}: not a file of measurements", path));
    }
    while (std::getline(lines, line)) {
        if (line.empty()) continue;
        const auto fields = csv_fields(line);
        if (fields.size() != kFields) throw Error(fmt::format("{}: a row of {} fields: {}", path, fields.size(), line));
        keys_.insert(row_key(fields));
    }
    file_ = open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0644);
    if (file_ < 0) fail(path, "cannot open");
    if (whole < text.size() && ftruncate(file_, static_cast<off_t>(whole)) != 0) fail(path, "cannot drop a half-written line");
    if (whole == 0) write_all(file_, path_, std::string(kCsvHeader) + "\n");
}

RowFile::~RowFile() {
    if (file_ >= 0) close(file_);
}

void RowFile::append(const CsvRow& row) {
    write_all(file_, path_, csv_line(row));
    keys_.insert(key(row));
}

}  // namespace rafter::validate
