#include "sim/validate/row_model.h"

namespace rafter::validate {

// Notes name the software in their own words ("torch2.1.0", "vLLM eager layerwise profile", "provider=torch", "backend=pytorch");
// a row may also say `library=NAME`. Vidur profiled the kernels of vLLM, whose look-ups are PyTorch's.
std::string library_of(const Row& row) {
    const auto says = [&](const char* words) { return row.notes.find(words) != std::string::npos; };
    for (const char* name : {"tuned", "pytorch", "vllm"}) {
        if (says((std::string("library=") + name).c_str())) return name;
    }
    if (row.source.find("vidur") != std::string::npos) return row.op == "embedding" ? "pytorch" : "vllm";
    if (says("vLLM")) return "vllm";
    const bool compiled = says("torch_compile");
    if (!compiled &&
        (row.notes.rfind("torch", 0) == 0 || says("provider=torch") || says("backend=pytorch") || says("torch record_function")))
        return "pytorch";
    return "tuned";
}

}  // namespace rafter::validate
