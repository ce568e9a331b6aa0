# rafter_embed(MODULE NAME FILE) compiles a text file into a module as `extern const std::string_view NAME` in its namespace.
function(rafter_embed MODULE NAME FILE)
  set(source "${CMAKE_CURRENT_SOURCE_DIR}/${FILE}")
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${source}")
  file(READ "${source}" text)
  string(LENGTH "${text}" length)
  set(literals "")
  # In pieces: compilers need not take a literal of any length.
  set(at 0)
  while(at LESS length)
    string(SUBSTRING "${text}" ${at} 16000 piece)
    string(APPEND literals "    R\"rafter_text(${piece})rafter_text\"\n")
    math(EXPR at "${at} + 16000")
  endwhile()
  set(generated "${CMAKE_CURRENT_BINARY_DIR}/embedded/${NAME}.cpp")
  file(WRITE "${generated}.new"
       "#include <string_view>\n#pragma GCC diagnostic ignored \"-Woverlength-strings\"\n"
       "namespace rafter::${MODULE} {\nextern const std::string_view ${NAME};\nconst std::string_view ${NAME} =\n${literals}    ;\n"
       "}  // namespace rafter::${MODULE}\n")
  configure_file("${generated}.new" "${generated}" COPYONLY)
  target_sources(rafter_${MODULE} PRIVATE "${generated}")
endfunction()
