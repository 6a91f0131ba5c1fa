#include <malloc.h>

#include <exception>
#include <iostream>

#include "cli/app.h"

namespace {

/// The reference allocates and frees tensors of a hundred megabytes many times. Memory that went
/// back to the system each time had to be mapped and cleared page by page again: 40 % of the
/// program's processor time.
void KeepFreedMemory() {
  constexpr int kTrimBytes = 1 << 30;
  mallopt(M_MMAP_MAX, 0);
  mallopt(M_TRIM_THRESHOLD, kTrimBytes);
  mallopt(M_TOP_PAD, 1 << 26);
}

}  // namespace

int main(int argc, char** argv) {
  KeepFreedMemory();
  try {
    return dlbench::cli::RunApp(argc, argv, std::cout, std::cerr);
  } catch (const std::exception& error) {
    std::cerr << "dlbench: internal error: " << error.what()
              << "; this is a bug, please report it with the command line\n";
    return 1;
  }
}
