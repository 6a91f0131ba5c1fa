#!/bin/sh
# accept_golden.sh BUILD_FOLDER: rewrites the golden files of tests/golden from what the built tests
# produce now. Look at `git diff tests/golden` before you commit.
set -eu
build=${1:?usage: tools/accept_golden.sh BUILD_FOLDER}
DLBENCH_ACCEPT_GOLDEN=1 "$build/tests/unit/report/report_test" --gtest_filter='Golden.*' --gtest_brief=1
