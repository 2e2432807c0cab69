# What make demo shows. Run in the top directory with heddle in PATH.
set -eu
step() { printf '\n$ %s\n' "$*"; "$@"; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
program=testdata/programs/fail/lost_update.c

echo "Two tellers pay into one account, and nobody takes a lock:"
sed -n '/^static void \*teller/,/^}/p' "$program"

cp "$program" "$dir"
cd "$dir"
step heddle cc -O1 lost_update.c -o lost_update

echo
echo "On its own, the program almost never shows its bug:"
failed=0
for _ in $(seq 200); do ./lost_update 2>/dev/null || failed=$((failed + 1)); done
echo "200 runs, $failed of them failed."

echo
echo "heddle looks for the interleaving that breaks it:"
step heddle find -- ./lost_update || test $? = 1

echo
echo "And it comes again, every time:"
step heddle replay --quiet --times 100 lost_update.min.hdl || test $? = 1
