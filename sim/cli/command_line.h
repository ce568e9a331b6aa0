// Explains a command line that does not parse.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace rafter::cli {

/// The first command or option of `words` that `app` does not know, with the nearest that it does: "unknown option '--gpo' of
/// rafter run (did you mean '--gpu'?)". "" when all are known.
std::string unknown_word(const CLI::App& app, const std::vector<std::string>& words);

/// `--m 4096` and `--m=4096` become "m=4096", a lone `--bias` becomes "bias=true". Errors: Error for a word without `--`.
std::vector<std::string> layer_fields(const std::vector<std::string>& extras);

}  // namespace rafter::cli
