# The installed headers are those of the libraries' HEADERS; each can be included alone, and no other can be included.
cmake_minimum_required(VERSION 3.25)
include(${CMAKE_CURRENT_LIST_DIR}/run.cmake)

include(${LISTS})  # public, internal, shims
set(wanted ${public})
foreach(shim IN LISTS shims)
  list(APPEND wanted bankwise/emulator/shims/${shim})
endforeach()
file(GLOB_RECURSE installed RELATIVE ${PREFIX}/include ${PREFIX}/include/*)
foreach(header IN LISTS wanted installed)
  if(NOT header IN_LIST installed)
    message(SEND_ERROR "${header} is public and not installed")
  elseif(NOT header IN_LIST wanted)
    message(SEND_ERROR "${header} is installed, and no room has it among its HEADERS")
  endif()
endforeach()
if(NOT internal)
  message(SEND_ERROR "there are no internal headers")
endif()

build_project(${SOURCE} ${SCRATCH} ${PREFIX} -D LISTS=${LISTS})
