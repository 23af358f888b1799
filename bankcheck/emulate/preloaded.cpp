// Loaded into the program of `bankcheck emulate` and into every program that it starts, such as the `env` of
// `system("env -i ./other")`: they note the programs that they execute without our variables.
#include <bankwise/support/watched_exec.hpp>
