# System libraries as interface targets: rafter::systemc, yaml-cpp, CLI11::CLI11, nlohmann_json::nlohmann_json, fmt::fmt.
find_package(PkgConfig REQUIRED)
pkg_check_modules(SYSTEMC REQUIRED IMPORTED_TARGET systemc)
add_library(rafter_systemc INTERFACE)
target_link_libraries(rafter_systemc INTERFACE PkgConfig::SYSTEMC)
# The packaged library is compiled as C++17 and checks that at link time.
target_compile_definitions(rafter_systemc INTERFACE SC_CPLUSPLUS=201703L)
add_library(rafter::systemc ALIAS rafter_systemc)

find_package(yaml-cpp REQUIRED)
if(NOT TARGET yaml-cpp::yaml-cpp)
  add_library(yaml-cpp::yaml-cpp ALIAS yaml-cpp)
endif()
find_package(Eigen3 REQUIRED NO_MODULE)
find_package(CLI11 REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(fmt REQUIRED)
