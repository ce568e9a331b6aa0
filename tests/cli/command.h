// Runs the command as a user does, in a process of its own.
#pragma once

#include <string>
#include <vector>

namespace rafter::test {

struct Outcome {
    int code{-1};  ///< exit code, or -signal
    std::string out, err;
};

/// `rafter ARGUMENTS...` with stdin closed, neither stream a terminal. `environment` holds NAME=value.
Outcome command(const std::vector<std::string>& arguments, const std::vector<std::string>& environment = {});

/// First line of a table of measurements.
inline const std::string kMeasuredHeader = "source,gpu,op,dtype,shape,time_us,protocol,notes\n";

/// A folder of its own, removed at the end.
class Folder {
public:
    Folder();
    ~Folder();
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;
    std::string file(const std::string& name) const { return path_ + "/" + name; }
    std::string write(const std::string& name, const std::string& text) const;

private:
    std::string path_;
};

}  // namespace rafter::test
