#!/bin/sh
# Fetches the upstream source of a Debian package into a directory and unpacks it there:
# fetch-source.sh PACKAGE DIRECTORY. Uses the network (10 MB of lists, and the source): the same
# archive as the machine's own packages, whose source packages need not be configured. Apt gets
# lists of its own, so the machine's are not changed, and checks the signatures. Lists fetched for
# another program are taken from $HEDDLE_APT_LISTS.
set -eu
package=$1 dir=$2
lists=${HEDDLE_APT_LISTS:-$dir/lists}
mkdir -p "$lists/partial" "$dir/sources.d"
cd "$dir"
# Debian's archives that the machine installs from, asked for sources.
for f in /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do
  [ ! -e "$f" ] || sed -n 's/^deb \(.*debian\)/deb-src \1/p' "$f" >"sources.d/$(basename "$f" .list).list"
done
for f in /etc/apt/sources.list.d/*.sources; do
  [ ! -e "$f" ] || ! grep -q '^URIs:.*debian' "$f" || sed 's/^Types:.*/Types: deb-src/' "$f" >"sources.d/$(basename "$f")"
done
apt() {
  "$@" -o Dir::Etc::sourcelist=- -o "Dir::Etc::sourceparts=$dir/sources.d" -o "Dir::State::lists=$lists" \
    -o Dir::Cache::pkgcache= -o Dir::Cache::srcpkgcache= -o APT::Sandbox::User=root
}
apt apt-get -q update >apt.log 2>&1 || { cat apt.log >&2; exit 1; }
# Mirrors have lost some of Debian's own changes; the upstream source is what is built here.
apt apt-get -q source --download-only "$package" >>apt.log 2>&1 || true
for f in "$package"_*.orig.tar.*; do
  case $f in *.asc) continue ;; esac
  [ -e "$f" ] || { cat apt.log >&2; exit 1; }
  mkdir source
  tar -xf "$f" -C source --strip-components=1
done
