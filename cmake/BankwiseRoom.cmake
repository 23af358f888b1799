# bankwise_room(<name> SOURCES <file>... [HEADERS <file>...] [KNOWS <target>...] [USES <target>...])
#
# Builds the library bankwise::<name> from one directory of common/bankwise (a room). HEADERS are public and are the
# only headers that are installed, so they may include only each other. KNOWS are the targets that the public headers or
# the users of the library need; USES are the targets that only its sources need. Every header is included by its path
# below common/. The global property BANKWISE_PUBLIC_HEADERS lists the HEADERS of all rooms by these paths; the test
# package/headers checks them.
function(bankwise_room name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;HEADERS;KNOWS;USES")
  set(target bankwise_${name})
  add_library(${target} STATIC ${arg_SOURCES})
  add_library(bankwise::${name} ALIAS ${target})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name} POSITION_INDEPENDENT_CODE ON)
  target_compile_features(${target} PUBLIC cxx_std_20)
  target_sources(${target} PUBLIC FILE_SET HEADERS BASE_DIRS ${PROJECT_SOURCE_DIR}/common FILES ${arg_HEADERS})
  target_link_libraries(${target} PUBLIC ${arg_KNOWS} PRIVATE ${arg_USES} $<BUILD_INTERFACE:bankwise_warnings>)
  install(TARGETS ${target} EXPORT bankwise FILE_SET HEADERS)
  foreach(header IN LISTS arg_HEADERS)
    cmake_path(ABSOLUTE_PATH header)
    cmake_path(RELATIVE_PATH header BASE_DIRECTORY ${PROJECT_SOURCE_DIR}/common)
    set_property(GLOBAL APPEND PROPERTY BANKWISE_PUBLIC_HEADERS ${header})
  endforeach()
endfunction()
