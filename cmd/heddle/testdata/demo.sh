# What make demo shows. Run in the top directory with heddle in PATH.
set -eu
step() { printf '\n\033[1m$ %s\033[0m\n' "$*" | if [ -t 1 ] && [ -z "${NO_COLOR:-}" ]; then cat; else sed 's/\x1b\[[0-9;]*m//g'; fi; "$@"; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
program=testdata/programs/fail/lost_update.c

echo "Two tellers pay into one account, and nobody takes a lock:"
sed -n '/^static void \*teller/,/^}/p' "$program"

step heddle cc -O1 "$program" -o "$dir/lost_update"
step heddle doctor -- "$dir/lost_update"

echo
echo "On its own, the program almost never shows its bug:"
failed=0
for _ in $(seq 200); do "$dir/lost_update" 2>/dev/null || failed=$((failed + 1)); done
echo "200 runs, $failed of them failed."
