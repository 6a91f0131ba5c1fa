#include <exception>
#include <iostream>

#include "cli/app.h"

int main(int argc, char** argv) {
  try {
    return dlbench::cli::RunApp(argc, argv, std::cout, std::cerr);
  } catch (const std::exception& error) {
    std::cerr << "dlbench: internal error: " << error.what()
              << "; this is a bug, please report it with the command line\n";
    return 1;
  }
}
