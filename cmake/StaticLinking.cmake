# Every call of dlbench pays for its libraries: with nine of them shared, the dynamic linker made
# `dlbench --help` take 3.4 times as long as /bin/true (bench/start_time.cc), most of it in looking
# up C++ symbols. So the C++ libraries, SQLite and zlib are linked into the program where their
# archives or sources can be had. Debian ships no archive of fmt and toml++: they are made here.
# Sanitizers and fuzzers want the shared ones.

option(DLBENCH_STATIC "Link the C++ libraries, SQLite and zlib into dlbench: it starts faster" ON)
set(dlbench_static OFF)
if(DLBENCH_STATIC AND NOT DLBENCH_SANITIZE AND NOT DLBENCH_FUZZ)
  set(dlbench_static ON)
endif()

# Makes fmt::fmt: static for the version whose instantiations static/fmt.cc lists, else shared.
# A macro, since targets of find_package belong to the calling scope.
macro(dlbench_find_fmt)
  set(dlbench_fmt_version "")
  find_path(DLBENCH_FMT_INCLUDE fmt/format-inl.h)
  if(dlbench_static AND DLBENCH_FMT_INCLUDE)
    file(STRINGS "${DLBENCH_FMT_INCLUDE}/fmt/core.h" dlbench_fmt_version REGEX "define FMT_VERSION 9[0-9]+")
  endif()
  if(dlbench_fmt_version)
    add_library(dlbench_static_fmt STATIC "${PROJECT_SOURCE_DIR}/cmake/static/fmt.cc")
    target_compile_features(dlbench_static_fmt PUBLIC cxx_std_17)
    target_include_directories(dlbench_static_fmt SYSTEM PUBLIC "${DLBENCH_FMT_INCLUDE}")
    add_library(fmt::fmt ALIAS dlbench_static_fmt)
  else()
    find_package(fmt REQUIRED)
  endif()
endmacro()

# Makes tomlplusplus::tomlplusplus.
macro(dlbench_find_toml)
  find_path(DLBENCH_TOML_INCLUDE toml++/toml.h)
  if(dlbench_static AND DLBENCH_TOML_INCLUDE)
    add_library(dlbench_static_toml STATIC "${PROJECT_SOURCE_DIR}/cmake/static/toml.cc")
    target_compile_features(dlbench_static_toml PUBLIC cxx_std_17)
    target_compile_definitions(dlbench_static_toml PUBLIC TOML_HEADER_ONLY=0)
    target_include_directories(dlbench_static_toml SYSTEM PUBLIC "${DLBENCH_TOML_INCLUDE}")
    add_library(tomlplusplus::tomlplusplus ALIAS dlbench_static_toml)
  else()
    find_package(tomlplusplus REQUIRED)
  endif()
endmacro()

# Lets find_package(SQLite3) and find_package(ZLIB) take the archives.
if(dlbench_static)
  find_library(DLBENCH_SQLITE_ARCHIVE libsqlite3.a)
  if(DLBENCH_SQLITE_ARCHIVE)
    set(SQLite3_LIBRARY "${DLBENCH_SQLITE_ARCHIVE}")
  endif()
  find_library(DLBENCH_ZLIB_ARCHIVE libz.a)
  if(DLBENCH_ZLIB_ARCHIVE)
    set(ZLIB_LIBRARY_RELEASE "${DLBENCH_ZLIB_ARCHIVE}")
  endif()
endif()

# The libraries of the compiler too. Only for a program that links no shared C++ library.
function(dlbench_link_statically target)
  if(dlbench_static)
    target_link_options(${target} PRIVATE -static-libstdc++ -static-libgcc)
  endif()
endfunction()
