#!/bin/sh
# Runs the named files, or else every tests/test_*.sh; prints one line for each check and the counts at the end.
# The exit status is 1 when a check failed.
cd "$(dirname "$0")/.." || exit 2
folder=$(mktemp -d) || exit 2
trap 'rm -rf "$folder"' EXIT
passed=0
failed=0

# check NAME EXPECTED ACTUAL
check() {
    if [ "$2" = "$3" ]; then
        passed=$((passed + 1))
        echo "ok - $1"
    else
        failed=$((failed + 1))
        echo "not ok - $1"
        echo "$2" | sed 's/^/    expected: /'
        echo "$3" | sed 's/^/    but got:  /'
    fi
}

[ $# -gt 0 ] || set -- tests/test_*.sh
for file in "$@"; do
    . "./$file"
done

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
