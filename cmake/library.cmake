# libeider for C programs: static and shared, made of the layer `library` and what it needs of the
# layers below. All of it becomes one object whose only global names are eider_*, so that nothing of
# ours can clash with names of the program it is linked into.
set(LIBRARY_LAYERS library store model os base)
set(LIBRARY_NEEDS jansson sqlite3 libpq)
set(library_object ${PROJECT_BINARY_DIR}/eider_library.o)
set(library_archives)
foreach(layer IN LISTS LIBRARY_LAYERS)
  set_target_properties(${layer} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  list(APPEND library_archives $<TARGET_FILE:${layer}>)
endforeach()
target_include_directories(library PUBLIC ${PROJECT_SOURCE_DIR}/include)

list(POP_FRONT library_archives library_own)
add_custom_command(OUTPUT ${library_object}
  COMMAND ${CMAKE_LINKER} -r -o ${library_object} --whole-archive ${library_own}
          --no-whole-archive --start-group ${library_archives} --end-group
  COMMAND ${CMAKE_OBJCOPY} --wildcard "--keep-global-symbol=eider_*" ${library_object}
  DEPENDS ${LIBRARY_LAYERS} VERBATIM)
add_custom_target(eider_library_object DEPENDS ${library_object})

add_library(eider_shared SHARED ${library_object})
add_library(eider_static STATIC ${library_object})
foreach(target eider_shared eider_static)
  add_dependencies(${target} eider_library_object)
  set_target_properties(${target} PROPERTIES OUTPUT_NAME eider LINKER_LANGUAGE C)
  foreach(needed IN LISTS LIBRARY_NEEDS)
    target_link_libraries(${target} PRIVATE PkgConfig::${needed})
  endforeach()
  target_link_libraries(${target} PRIVATE Threads::Threads m)
endforeach()
set_target_properties(eider_shared PROPERTIES VERSION ${PROJECT_VERSION}
                      SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
target_link_options(eider_shared PRIVATE -Wl,--as-needed -Wl,-z,relro,-z,now -Wl,--gc-sections)
if(EIDER_SANITIZE) # the runtime comes with the program
  target_link_options(eider_shared PRIVATE -fsanitize=${EIDER_SANITIZE})
else()
  target_link_options(eider_shared PRIVATE -Wl,--no-undefined)
endif()

list(JOIN LIBRARY_NEEDS ", " LIBRARY_REQUIRES)
configure_file(cmake/eider.pc.in eider.pc @ONLY)
install(TARGETS eider_shared eider_static DESTINATION lib COMPONENT library)
install(FILES include/eider.h DESTINATION include COMPONENT library)
install(FILES ${PROJECT_BINARY_DIR}/eider.pc DESTINATION lib/pkgconfig COMPONENT library)
