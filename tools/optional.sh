#!/bin/sh
# SPDX-License-Identifier: MIT
# optional.sh NAME...: a line "HAVE_NAME := 1" for each of probes/NAME.c that builds.
cd "$(dirname "$0")/.." || exit 2
for name; do
	link=$(sed -n 's|^/\* link: \(.*\) \*/$|\1|p' "probes/$name.c")
	# shellcheck disable=SC2086  # both are lists of words
	if ${CC:-gcc} "probes/$name.c" -o /dev/null $link >/dev/null 2>&1; then
		echo "HAVE_$(echo "$name" | tr a-z A-Z) := 1"
	fi
done
