#!/bin/sh
# SPDX-License-Identifier: MIT
# What the build and the tests need and this machine lacks, by small probes.
#   deps.sh              prints the missing Debian packages, one a line
#   deps.sh --install    installs them (root), or prints what to type
#   deps.sh ... --long   also what `make check-long` and the benchmarks need
set -u
cd "$(dirname "$0")/.." || exit 2
# Rust's builder may be the user's own.
PATH=$PATH:/usr/sbin:/sbin:${HOME:-}/.cargo/bin
install=0 long=0
# Version managers' pythons do not see the distribution's modules.
python=/usr/bin/python3
for arg; do
	case $arg in
	--install) install=1 ;;
	--long) long=1 ;;
	*) echo "deps.sh: unknown option '$arg'" >&2; exit 2 ;;
	esac
done

# program  package  for; "import:NAME" is a module of the distribution's python, and a
# pattern with a slash is a file that no PATH leads to.
programs='
gcc        gcc          build
clang      clang        build
bpftool    bpftool      build
python3    python3      build
import:pyte python3-pyte build
xz         xz-utils     build
strace     strace       build
ps         procps       build
unshare    util-linux   build
setcap     libcap2-bin  build
gdb        gdb          build
sqlite3    sqlite3      build
openssl    openssl      build
git        git          long
redis-server redis-server long
redis-benchmark redis-tools long
nginx      nginx-light  long
wrk        wrk          long
perf       linux-perf   long
bpftrace   bpftrace     long
rr         rr           long
node       nodejs       long
javac      openjdk-17-jdk-headless long
cargo      cargo        long
prove      perl         long
mariadbd   mariadb-server-core long
debuginfod-find debuginfod long
syscount-bpfcc bpfcc-tools long
man        man-db       long
chromium   chromium     long
cmark-gfm  cmark-gfm    long
htop       htop         long
hyperfine  hyperfine    long
/usr/lib/postgresql/*/bin/initdb postgresql long
'

tmp=$(mktemp -d) || exit 2
trap 'rm -rf "$tmp"' EXIT

# The value of "/* KEY: VALUE */" in a probe.
key() {
	sed -n "s|^/\* $2: \(.*\) \*/\$|\1|p" "$1" | head -n 1
}

missing() {
	echo "$programs" | while read -r program package for; do
		[ -n "$program" ] || continue
		[ "$for" = long ] && [ "$long" = 0 ] && continue
		case $program in
		import:*)
			"$python" -c "import ${program#import:}" >/dev/null 2>&1 || echo "$package"
			;;
		# shellcheck disable=SC2086  # the pattern is to be expanded
		*/*) ls $program >/dev/null 2>&1 || echo "$package" ;;
		*) command -v "$program" >/dev/null 2>&1 || echo "$package" ;;
		esac
	done
	# An optional one is installed where there is a package, and never insisted on.
	for probe in probes/*.c; do
		[ "$(key "$probe" for)" = optional ] && [ "$1" = needed ] && continue
		[ "$(key "$probe" for)" = long ] && [ "$long" = 0 ] && continue
		compiler=$(key "$probe" compiler)
		# shellcheck disable=SC2046,SC2086  # both are lists of words
		${compiler:-${CC:-gcc}} "$probe" -o "$tmp/out" $(key "$probe" link) \
			>/dev/null 2>&1 || key "$probe" package
	done
}

packages=$(missing all | sort -u | tr '\n' ' ')
needed=$(missing needed | sort -u | tr '\n' ' ')
packages=${packages% }
[ -n "$packages" ] || exit 0
if [ "$install" = 0 ]; then
	echo "$packages" | tr ' ' '\n'
	[ -n "$needed" ] && exit 1
	exit 0
fi
# What is optional is no reason to stop.
quit() {
	[ -n "$needed" ] && exit 2
	exit 0
}
command="apt-get install -y --no-install-recommends $packages"
if ! command -v apt-get >/dev/null 2>&1; then
	echo "deps: missing, by their Debian names: $packages" >&2
	quit
fi
if [ "$(id -u)" != 0 ]; then
	echo "deps: missing: $packages" >&2
	echo "deps: type: sudo $command" >&2
	quit
fi
echo "deps: installing $packages" >&2
export DEBIAN_FRONTEND=noninteractive
# The lists may be missing or old: fetch them and try once more.
# shellcheck disable=SC2086
$command </dev/null >"$tmp/log" 2>&1 ||
	{ apt-get update >>"$tmp/log" 2>&1 && $command </dev/null >>"$tmp/log" 2>&1; } || {
	tail -n 20 "$tmp/log" >&2
	echo "deps: failed: $command" >&2
	quit
}
left=$(missing needed | sort -u | tr '\n' ' ')
if [ -n "$left" ]; then
	echo "deps: installed, but a probe still fails for: $left" >&2
	exit 2
fi
