# What wordstat counts. Read by run.sh, which gives $folder and check.

printf 'one two\nthree\n' >"$folder/plain.txt"
check "lines and words are counted" "2 3 $folder/plain.txt" "$(sh wordstat.sh "$folder/plain.txt")"

printf 'two * stars *\n' >"$folder/stars.txt"
check "a star is a word" "1 4 $folder/stars.txt" "$(sh wordstat.sh "$folder/stars.txt")"

printf 'one\ntwo three' >"$folder/open.txt"
check "a last line without a line end is counted" "2 3 $folder/open.txt" "$(sh wordstat.sh "$folder/open.txt")"

sh wordstat.sh >/dev/null 2>&1
check "without a file it is a usage error" "2" "$?"
