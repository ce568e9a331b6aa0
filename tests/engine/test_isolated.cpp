// Jobs in child processes: all of them run, in any number at a time, and what goes wrong stays in its child.
#include "sim/engine/isolated.h"

#include <unistd.h>

#include <csignal>
#include <map>

#include "tests/catch.h"

using namespace rafter::engine;

namespace {

std::map<std::size_t, Isolated> outcomes(std::size_t count, const IsolatedOptions& options,
                                         const std::function<std::string(std::size_t)>& work) {
    std::map<std::size_t, Isolated> all;
    run_isolated(count, options, work, [&](std::size_t job, const Isolated& outcome) { all[job] = outcome; });
    return all;
}

}  // namespace

TEST_CASE("every job's text arrives, however many run at a time", "[isolated]") {
    for (const std::size_t jobs : {1, 2, 7}) {
        const auto all = outcomes(20, {jobs, 60}, [](std::size_t i) { return std::string(i * 10000, 'x') + std::to_string(i); });
        REQUIRE(all.size() == 20);
        for (const auto& [job, outcome] : all) {
            CHECK(outcome.finished);
            CHECK(outcome.text == std::string(job * 10000, 'x') + std::to_string(job));
        }
    }
    CHECK(outcomes(0, {2, 60}, [](std::size_t) { return std::string(); }).empty());
}

TEST_CASE("a crash, an exit and a runaway are told apart and cost no other job", "[isolated]") {
    const auto all = outcomes(4, {2, 0.5}, [](std::size_t i) -> std::string {
        if (i == 0) raise(SIGKILL);
        if (i == 1) _exit(7);
        while (i == 2) usleep(1000);
        return "fine";
    });
    CHECK_FALSE(all.at(0).finished);
    CHECK(all.at(0).problem == "ended by signal Killed");
    CHECK(all.at(1).problem == "ended with code 7");
    CHECK(all.at(2).problem == "ran longer than 0.5 s");
    CHECK(all.at(3).text == "fine");
}

TEST_CASE("a request to stop ends all children", "[isolated]") {
    const pid_t self = getpid();
    CHECK_THROWS_AS(outcomes(2, {2, 60},
                             [&](std::size_t i) -> std::string {
                                 if (i == 1) kill(self, SIGINT);
                                 while (true) usleep(1000);
                             }),
                    Interrupted);
}
