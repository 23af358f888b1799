# cmake -D SOURCE=<dir> -D VERSION=<x.y.z> -D COMMIT=<commit, for sources outside git> -D OUTPUT=<file> -P
# WriteRevision.cmake
#
# Writes the definition of bankwise::support::revision(); the file is only touched if its content changes.
execute_process(COMMAND git describe --always --dirty=+ --exclude=* WORKING_DIRECTORY ${SOURCE} OUTPUT_VARIABLE commit
                OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
if(COMMIT)
  set(revision ${VERSION}-${COMMIT})
elseif(failed)
  set(revision ${VERSION})
else()
  set(revision ${VERSION}-${commit})
endif()
file(CONFIGURE OUTPUT ${OUTPUT} CONTENT [[
#include <bankwise/support/text.hpp>

namespace bankwise::support {
std::string_view revision() { return "@revision@"; }
}  // namespace bankwise::support
]] @ONLY)
