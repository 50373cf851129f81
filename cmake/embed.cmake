# Text files that become constants of a layer. `embed(LAYER SYMBOL FILE...)` generates
# generated/SYMBOL.c with `const char *const SYMBOL[]`, one string per file, in name order,
# closed by NULL. The header that declares SYMBOL is written by hand beside its user.
function(embed layer symbol)
  set(output ${PROJECT_BINARY_DIR}/generated/${symbol}.c)
  add_custom_command(OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -DOUTPUT=${output} -DSYMBOL=${symbol} "-DFILES=${ARGN}"
            -P ${PROJECT_SOURCE_DIR}/cmake/embed_files.cmake
    DEPENDS ${ARGN} ${PROJECT_SOURCE_DIR}/cmake/embed_files.cmake VERBATIM)
  set(EMBEDDED_IN_${layer} ${EMBEDDED_IN_${layer}} ${output} PARENT_SCOPE)
endfunction()

file(GLOB migrations CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/sql/sqlite/*.sql)
embed(store SQLITE_MIGRATIONS ${migrations})
file(GLOB migrations CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/sql/postgres/*.sql)
embed(store POSTGRES_MIGRATIONS ${migrations})
