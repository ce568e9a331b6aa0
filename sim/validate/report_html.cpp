#include <string_view>

#include <nlohmann/json.hpp>

#include "sim/validate/reports.h"

namespace rafter::report {
extern const std::string_view chart_library, validation_page, validation_script;
}

namespace rafter::validate {

namespace {

void replace(std::string& page, const std::string& mark, std::string_view text) {
    const std::size_t at = page.find(mark);
    if (at != std::string::npos) page.replace(at, mark.size(), text);
}

/// JSON inside a script element: `</script>` in a note must not end it.
std::string script_safe(const std::string& json) {
    std::string safe;
    for (const char c : json) {
        if (c == '<') {
            safe += "\\u003c";
        } else {
            safe += c;
        }
    }
    return safe;
}

}  // namespace

std::string html(const Validation& v) {
    std::string page(report::validation_page);
    replace(page, "/*data*/", script_safe(json(v)));
    replace(page, "/*chart.js*/", report::chart_library);
    replace(page, "/*page.js*/", report::validation_script);
    return page;
}

}  // namespace rafter::validate
