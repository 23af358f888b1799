# bankwise_tests(<room> SOURCES <file>... [LINKS <target>...] [EMULATED <file>...] [LABEL <label>] [PREFIX <prefix>]
# [TIMEOUT <s>])
#
# Builds <room>_tests, a program of Catch2 tests; each is a CTest test named "<prefix>.<test>". PREFIX is the room by
# default, LABEL is host. EMULATED are the sources that contain kernels for bankwise::emulate().
function(bankwise_tests room)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "LABEL;PREFIX;TIMEOUT" "SOURCES;LINKS;EMULATED")
  foreach(option IN ITEMS LABEL=host PREFIX=${room} TIMEOUT=120)
    string(REGEX MATCH "^(.*)=(.*)$" all ${option})
    if(NOT arg_${CMAKE_MATCH_1})
      set(arg_${CMAKE_MATCH_1} ${CMAKE_MATCH_2})
    endif()
  endforeach()
  add_executable(${room}_tests ${arg_SOURCES})
  target_precompile_headers(${room}_tests REUSE_FROM test_precompiled)
  if(arg_EMULATED)
    bankwise_emulate(${room}_tests ${arg_EMULATED})
  endif()
  target_link_libraries(${room}_tests PRIVATE test_base ${arg_LINKS} Catch2::Catch2WithMain)
  catch_discover_tests(${room}_tests TEST_PREFIX "${arg_PREFIX}." PROPERTIES LABELS ${arg_LABEL} TIMEOUT ${arg_TIMEOUT})
endfunction()
