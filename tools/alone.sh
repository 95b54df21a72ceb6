#!/bin/sh
# SPDX-License-Identifier: MIT
# A section of an object file that is copied elsewhere: it must need nothing that is not in it.
#   tools/alone.sh OBJECT SECTION PREFIX    symbols of its own begin with PREFIX
set -eu
[ $# = 3 ] || { echo "usage: $0 OBJECT SECTION PREFIX" >&2; exit 2; }
needs=$(LC_ALL=C readelf -rW "$1" | awk -v section="'.rela$2'" -v prefix="$3" '
	/^Relocation section/ { on = index($0, section) }
	on && $3 ~ /^R_/ && index($5, prefix) != 1')
[ -z "$needs" ] && exit
printf '%s: %s needs what is elsewhere:\n%s\n' "$1" "$2" "$needs" >&2
exit 1
