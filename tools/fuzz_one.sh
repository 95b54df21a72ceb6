#!/bin/sh
# SPDX-License-Identifier: MIT
#   tools/fuzz_one.sh NAME SECONDS
# Runs a fuzz target of build-fuzz; what it prints goes to build-fuzz/said/NAME, its exit code
# beside, and what it found to build-fuzz/crash-NAME-*.
name=$1
corpus=build-fuzz/corpus/$name
mkdir -p "$corpus" build-fuzz/said
"build-fuzz/tests/fuzz/fuzz_$name" -max_total_time="$2" -timeout=10 -rss_limit_mb=1024 \
	-verbosity=0 -print_final_stats=1 -artifact_prefix="build-fuzz/crash-$name-" \
	"$corpus" "tests/fuzz/corpus/$name" >"build-fuzz/said/$name" 2>&1
echo $? >"build-fuzz/said/$name.code"
