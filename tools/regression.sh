#!/bin/sh
# SPDX-License-Identifier: MIT
# The report of a real regression, in each format (docs/regression/).
#   regression.sh measure BUILD       as root: word_count and word_count_slow, taking turns,
#                                     into docs/regression/runs.db
#   regression.sh render BUILD DIR    docs/regression/runs.db into DIR/report.*
set -eu
cd "$(dirname "$0")/.."
store=docs/regression/runs.db
build=$(realpath "$2")
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
# The same on every machine.
export TZ=UTC LC_ALL=C.UTF-8 COLUMNS=100 NO_COLOR=1

measure() {
	dir=/tmp/word_count
	mkdir "$dir" "$dir/before" "$dir/after"
	trap 'rm -rf "$tmp" "$dir"' EXIT
	cp "$build/tests/workloads/word_count" "$dir/before/word_count"
	cp "$build/tests/workloads/word_count_slow" "$dir/after/word_count"
	(cd "$dir" && "$build/tracer" bench -q --store "$tmp/runs.db" -n 10 -w 1 \
		-l after --vs-label before --vs before/word_count -- after/word_count \
		>/dev/null) || [ $? = 1 ]
	mkdir -p "${store%/*}"
	# One file, without what SQLite keeps beside one that is in use.
	python3 -c 'import sqlite3, sys
sqlite3.connect(sys.argv[1]).execute("VACUUM INTO ?", sys.argv[2:])' "$tmp/runs.db" "$tmp/one.db"
	cp "$tmp/one.db" "$store"
}

render() {
	cp "$store" "$tmp/runs.db"
	for f in text:txt markdown:md html:html json:json junit:xml; do
		"$build/tracer" report --store "$tmp/runs.db" --format "${f%:*}" \
			-o "$1/regression.${f#*:}" before after || [ $? = 1 ]
	done
	chmod 644 "$1"/regression.*
}

case $1 in
measure) measure ;;
render) render "$3" ;;
*) echo "regression.sh: unknown step '$1'" >&2; exit 2 ;;
esac
