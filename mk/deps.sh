#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Installs the Debian packages that are missing; elsewhere it says which ones are needed.
#   deps.sh PACKAGE...                    what the build needs: fails when it cannot be had
#   deps.sh --commands COMMAND:PACKAGE... what tests use: a package that cannot be had is named and left out
set -eu

optional=
if [ "${1:-}" = --commands ]; then
	optional=1
	shift
else
	set -- gcc make libc6-dev "$@"
fi

missing=
if [ -n "$optional" ]; then
	PATH=$PATH:/usr/sbin:/sbin
	for p in "$@"; do
		command -v "${p%%:*}" >/dev/null 2>&1 || missing="$missing ${p#*:}"
	done
else
	if command -v dpkg-query >/dev/null 2>&1; then
		for p in "$@"; do
			dpkg-query -W -f '${Status}' "$p" 2>/dev/null | grep -q ' installed$' || missing="$missing $p"
		done
	else
		missing=" $*"
	fi
fi
[ -n "$missing" ] || exit 0

if ! command -v apt-get >/dev/null 2>&1; then
	if [ -n "$optional" ]; then
		echo "This system has no apt-get; tests that need these are skipped:$missing" >&2
	else
		echo "This system has no apt-get. usher needs the equivalents of these Debian 12 packages:$missing" >&2
	fi
	exit 0
fi
sudo=
if [ "$(id -u)" != 0 ]; then
	if ! command -v sudo >/dev/null 2>&1; then
		echo "Missing packages; as root, run: apt-get install$missing" >&2
		[ -n "$optional" ] || exit 1
		exit 0
	fi
	sudo=sudo
fi

# Servers that packages bring are started by the tests themselves, never by their packages.
rc=/usr/sbin/policy-rc.d
if [ ! -e "$rc" ]; then
	trap '$sudo rm -f "$rc"' EXIT
	trap 'exit 130' INT TERM
	printf '#!/bin/sh\nexit 101\n' | $sudo tee "$rc" >/dev/null
	$sudo chmod 755 "$rc"
fi

install() {
	$sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" >/dev/null
}

echo "Installing Debian packages:$missing"
# Once in a run of make, which calls this again and again.
updated=${BUILD:-build}/apt-updated
if [ -z "$(find "$updated" -mmin -20 2>/dev/null)" ]; then
	if $sudo apt-get update -qq; then
		mkdir -p "${updated%/*}" && : >"$updated"
	else
		echo "apt-get update failed; trying with the lists at hand" >&2
	fi
fi
# shellcheck disable=SC2086
if [ -z "$optional" ]; then
	install $missing
elif ! install $missing 2>/dev/null; then
	for p in $missing; do
		install "$p" 2>/dev/null || echo "$p cannot be installed here: tests that need it are skipped" >&2
	done
fi
