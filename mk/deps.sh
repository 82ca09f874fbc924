#!/bin/sh
# Installs the Debian packages that are missing; elsewhere it says which ones are needed.
set -eu
if ! command -v dpkg-query >/dev/null 2>&1 || ! command -v apt-get >/dev/null 2>&1; then
	echo "This system has no apt-get. usher needs the equivalents of these Debian 12 packages: gcc make pkg-config $*" >&2
	exit 0
fi
missing=
for p in gcc make libc6-dev "$@"; do
	dpkg-query -W -f '${Status}' "$p" 2>/dev/null | grep -q ' installed$' || missing="$missing $p"
done
[ -n "$missing" ] || exit 0
sudo=
if [ "$(id -u)" != 0 ]; then
	command -v sudo >/dev/null 2>&1 || { echo "Missing packages; as root, run: apt-get install$missing" >&2; exit 1; }
	sudo=sudo
fi
echo "Installing Debian packages:$missing"
$sudo apt-get update -qq || echo "apt-get update failed; trying with the lists at hand" >&2
# shellcheck disable=SC2086
DEBIAN_FRONTEND=noninteractive $sudo ${sudo:+env DEBIAN_FRONTEND=noninteractive} apt-get install -y -qq --no-install-recommends $missing >/dev/null
