#!/bin/sh
# Fetches the upstream source of a Debian package into a directory and unpacks it there:
# fetch-source.sh PACKAGE DIRECTORY. Uses the network (deb.debian.org: 10 MB of lists, and the
# source), and apt with lists of its own, so the machine's package sources are not changed.
# apt checks the signatures. Lists fetched for another program are taken from $HEDDLE_APT_LISTS.
set -eu
package=$1 dir=$2
lists=${HEDDLE_APT_LISTS:-$dir/lists}
mkdir -p "$lists/partial"
cd "$dir"
cat >sources.list <<'LIST'
deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian bookworm main
LIST
apt() {
  "$@" -o "Dir::Etc::sourcelist=$dir/sources.list" -o Dir::Etc::sourceparts=- -o "Dir::State::lists=$lists" \
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
