#!/bin/sh
# SPDX-License-Identifier: MIT
# embed.sh NAME=FILE...: the files as C strings NAME, and NAME_SHA256, which is what a
# page's Content-Security-Policy calls them by (W3C CSP3, section 2.3.1), in base64.
set -eu
echo "/* Made by tools/embed.sh. */"
for arg; do
	name=${arg%%=*} file=${arg#*=}
	hash=$(sha256sum <"$file" | cut -d' ' -f1 | tr a-f A-F | basenc -d --base16 | base64)
	echo "#define ${name}_SHA256 \"$hash\""
	echo "static const char $name[] ="
	sed -e 's/\\/\\\\/g' -e 's/"/\\"/g' -e 's/	/\\t/g' -e 's/.*/"&\\n"/' "$file"
	echo ";"
done
