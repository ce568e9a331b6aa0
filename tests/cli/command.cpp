#include "tests/cli/command.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "tests/golden.h"

namespace rafter::test {

namespace {

void redirect(int target, const std::string& path, int flags) {
    const int file = open(path.c_str(), flags, 0600);
    if (file < 0 || dup2(file, target) < 0) _exit(127);
}

[[noreturn]] void become_rafter(const std::vector<std::string>& arguments, const std::vector<std::string>& environment,
                                const std::string& out, const std::string& err) {
    for (const auto& variable : environment) {
        const auto equals = variable.find('=');
        setenv(variable.substr(0, equals).c_str(), variable.substr(equals + 1).c_str(), 1);
    }
    redirect(STDIN_FILENO, "/dev/null", O_RDONLY);
    redirect(STDOUT_FILENO, out, O_WRONLY | O_CREAT | O_TRUNC);
    redirect(STDERR_FILENO, err, O_WRONLY | O_CREAT | O_TRUNC);
    std::vector<std::string> words{std::getenv("RAFTER_BINARY")};
    words.insert(words.end(), arguments.begin(), arguments.end());
    std::vector<char*> argv;
    for (auto& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    execv(argv[0], argv.data());
    _exit(127);
}

}  // namespace

Outcome command(const std::vector<std::string>& arguments, const std::vector<std::string>& environment) {
    const Folder folder;
    const std::string out = folder.file("out"), err = folder.file("err");
    const pid_t child = fork();
    if (child == 0) become_rafter(arguments, environment, out, err);
    int status = 0;
    waitpid(child, &status, 0);
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status), read_text(out), read_text(err)};
}

Folder::Folder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "rafter-cli-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("no temporary folder");
    path_ = pattern;
}

Folder::~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
}

std::string Folder::write(const std::string& name, const std::string& text) const {
    std::ofstream(file(name), std::ios::binary) << text;
    return file(name);
}

}  // namespace rafter::test
