#!/bin/sh
# wordstat: counts the lines and words of text files.
set -eu
LC_ALL=C
export LC_ALL

usage() {
    echo "usage: wordstat.sh FILE..." >&2
    exit 2
}

# Prints lines, words and name of one file. Globbing is off: a star in a text is a word, not a pattern.
count() (
    set -f
    lines=0
    words=0
    while IFS= read -r line; do
        lines=$((lines + 1))
        set -- $line
        words=$((words + $#))
    done <"$1"
    echo "$lines $words"
)

[ $# -gt 0 ] || usage

for file in "$@"; do
    echo "$(count "$file") $file"
done
