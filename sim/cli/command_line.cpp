#include "sim/cli/command_line.h"

#include <algorithm>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "sim/core/error.h"

namespace rafter::cli {

namespace {

std::vector<std::string> command_names(const CLI::App& app) {
    std::vector<std::string> names;
    for (const auto* command : app.get_subcommands([](const CLI::App*) { return true; })) names.push_back(command->get_name());
    return names;
}

std::vector<std::string> option_names(const CLI::App& app) {
    std::vector<std::string> names;
    for (const auto* option : app.get_options())
        for (const auto& name : option->get_lnames()) names.push_back("--" + name);
    return names;
}

bool contains(const std::vector<std::string>& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

std::string unknown(const char* what, const std::string& word, const std::string& where, const std::vector<std::string>& known) {
    const std::string near = nearest_name(word, known);
    return fmt::format("unknown {} '{}'{}{}", what, word, where.empty() ? "" : " of " + where,
                       near.empty() ? "" : fmt::format(" (did you mean '{}'?)", near));
}

}  // namespace

std::string unknown_word(const CLI::App& app, const std::vector<std::string>& words) {
    const CLI::App* at = &app;
    std::string where = app.get_name();
    for (const std::string& word : words) {
        const auto commands = command_names(*at);
        if (word.rfind("--", 0) == 0) {
            const std::string name = word.substr(0, word.find('='));
            const auto options = option_names(*at);
            if (!contains(options, name) && !at->get_allow_extras()) return unknown("option", name, where, options);
        } else if (contains(commands, word)) {
            at = at->get_subcommand(word);
            where += " " + word;
        } else if (!commands.empty()) {
            return unknown("command", word, "", commands);
        }
    }
    return "";
}

std::vector<std::string> layer_fields(const std::vector<std::string>& extras) {
    std::vector<std::string> fields;
    for (std::size_t i = 0; i < extras.size(); ++i) {
        if (extras[i].rfind("--", 0) != 0) throw Error(fmt::format("error: unexpected argument '{}'", extras[i]));
        const std::string key = extras[i].substr(2);
        if (key.find('=') != std::string::npos) {
            fields.push_back(key);
        } else if (i + 1 < extras.size() && extras[i + 1].rfind("--", 0) != 0) {
            fields.push_back(key + "=" + extras[++i]);
        } else {
            fields.push_back(key + "=true");
        }
    }
    return fields;
}

}  // namespace rafter::cli
