// toml++ as a static library, which Debian does not ship (StaticLinking.cmake).

#define TOML_IMPLEMENTATION
#include <toml++/toml.h>
