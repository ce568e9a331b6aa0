#include <string_view>

#include <nlohmann/json.hpp>

#include "sim/report/report.h"
#include "sim/validate/reports.h"

namespace rafter::validate {

extern const std::string_view kPage, kPageScript;  // page/page.html, page/page.js

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
    std::string page(kPage);
    replace(page, "/*data*/", script_safe(json(v)));
    replace(page, "/*chart.js*/", report::kChartLibrary);
    replace(page, "/*page.js*/", kPageScript);
    return page;
}

}  // namespace rafter::validate
