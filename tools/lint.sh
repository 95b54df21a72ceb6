#!/bin/sh
# SPDX-License-Identifier: MIT
# All checks of the sources: lint.sh BUILD. Each prints "path:line: what is wrong".
cd "$(dirname "$0")/.." || exit 2
build=${1:-build}
python=${PYTHON:-python3}
bad=0
for check in headers layers sizes names docs; do
	if PYTHONDONTWRITEBYTECODE=1 "$python" "tools/lint/$check.py" "$build"; then
		echo "lint: $check: ok"
	else
		echo "lint: $check: failed"
		bad=1
	fi
done
exit $bad
