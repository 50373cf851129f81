# The web UI as constants of the layer serve: generated/ui_files.c (src/serve/ui_files.h). Made by
# tools/build-ui, once for all build folders. Without Node the program has a page that says so.
option(EIDER_UI "Put the web UI into the program (needs Node 18 or newer, and npm)" ON)

set(UI_NODE_OLDEST 18)
set(UI_OUTPUT ${PROJECT_BINARY_DIR}/generated/ui_files.c)

# Why the UI cannot be built, in OUT; empty when it can.
function(find_what_ui_lacks out)
  set(why "")
  find_program(NODE NAMES node nodejs)
  find_program(NPM npm)
  if(NOT EIDER_UI)
    set(why "it was built with -DEIDER_UI=OFF")
  elseif(NOT EXISTS ${PROJECT_SOURCE_DIR}/ui/package.json)
    set(why "its source tree has no folder ui")
  elseif(NOT NODE OR NOT NPM)
    set(why "Node and npm were not found when it was built")
  else()
    execute_process(COMMAND ${NODE} --version OUTPUT_VARIABLE version ERROR_QUIET
                    OUTPUT_STRIP_TRAILING_WHITESPACE)
    string(REGEX REPLACE "^v" "" version "${version}")
    if(version VERSION_LESS UI_NODE_OLDEST)
      set(why "it needs Node ${UI_NODE_OLDEST} or newer, and found Node ${version} when it was built")
    endif()
  endif()
  set(${out} "${why}" PARENT_SCOPE)
endfunction()

# What the UI is made from. Its packages and its tests are not looked at.
function(list_ui_sources out)
  file(GLOB sources CONFIGURE_DEPENDS LIST_DIRECTORIES true ${PROJECT_SOURCE_DIR}/ui/*)
  set(found "")
  foreach(entry IN LISTS sources)
    cmake_path(GET entry FILENAME name)
    if(NOT IS_DIRECTORY ${entry})
      list(APPEND found ${entry})
    elseif(NOT name MATCHES "^(node_modules|tests)$")
      file(GLOB_RECURSE below CONFIGURE_DEPENDS ${entry}/*)
      list(APPEND found ${below})
    endif()
  endforeach()
  set(${out} "${found}" PARENT_SCOPE)
endfunction()

find_what_ui_lacks(WHY)
if(WHY)
  configure_file(${PROJECT_SOURCE_DIR}/cmake/ui_missing.c.in ${UI_OUTPUT} @ONLY)
  if(EIDER_UI)
    add_custom_target(ui_missing ALL
      COMMAND ${CMAKE_COMMAND} -E echo "ui: the program has no web UI: ${WHY}" VERBATIM)
  endif()
else()
  list_ui_sources(ui_sources)
  # A file that goes makes no other one newer, but this list.
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/generated/ui_sources.txt CONTENT "${ui_sources}\n")
  if(EXISTS ${UI_OUTPUT}) # perhaps what could not be fetched can be fetched now
    file(STRINGS ${UI_OUTPUT} missing REGEX "\\.missing = ")
    if(missing)
      file(REMOVE ${UI_OUTPUT})
    endif()
  endif()
  add_custom_command(OUTPUT ${UI_OUTPUT}
    COMMAND ${CMAKE_COMMAND} -E env NODE=${NODE} NPM=${NPM}
            ${PROJECT_SOURCE_DIR}/tools/build-ui ${UI_OUTPUT}
    DEPENDS ${ui_sources} ${PROJECT_BINARY_DIR}/generated/ui_sources.txt
            ${PROJECT_SOURCE_DIR}/tools/build-ui
            ${PROJECT_SOURCE_DIR}/tools/write-ui-files.mjs
            ${PROJECT_SOURCE_DIR}/cmake/ui_missing.c.in
    COMMENT "Building the web UI" VERBATIM)
endif()
list(APPEND EMBEDDED_IN_serve ${UI_OUTPUT})
