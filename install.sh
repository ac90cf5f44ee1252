#!/bin/sh
# Installs berth, or upgrades it, for one user and without root:
#
#   curl -fsSL https://github.com/berthdev/berth/releases/latest/download/install.sh | sh
#
# The archive's checksum is verified, and the checksums' signature where cosign is installed. What does not verify is
# not installed, and what was there before stays. Variables that change what is done:
#
#   BERTH_VERSION       the version to install, such as v1.2.3 (default: the newest; never an older one than is there)
#   BERTH_INSTALL_DIR   where to put the program (default: ~/.local/bin)
#   BERTH_RELEASES      a mirror to download from (default: https://github.com/berthdev/berth/releases)
#   BERTH_COMPLETIONS   no: install no completions and man pages below ~/.local/share

set -eu

releases=${BERTH_RELEASES:-https://github.com/berthdev/berth/releases}
data=${XDG_DATA_HOME:-${HOME:?}/.local/share}
directory=${BERTH_INSTALL_DIR:-$HOME/.local/bin}

say() { printf 'berth: %s\n' "$*"; }

fail() {
	printf 'berth: %s\n' "$*" >&2
	exit 1
}

has() { command -v "$1" >/dev/null 2>&1; }

# download URL FILE. No redirection leads from HTTPS to less.
download() {
	if has curl; then
		case $1 in https:*) only='=https' ;; *) only='=http,https' ;; esac
		curl -fsSL --proto "$only" --proto-redir "$only" --retry 2 --connect-timeout 20 -o "$2" "$1"
	elif has wget; then
		# busybox has a wget with few options, and some of them crash where they are left out.
		options=$(wget --help 2>&1) || true
		only=
		case $1:$options in https:*--https-only*) only=--https-only ;; esac
		patience=
		case $options in *-T*) patience=20 ;; esac
		wget -q ${only:+"$only"} ${patience:+-T "$patience"} -O "$2" "$1"
	else
		fail "needs curl or wget: install one of them"
	fi || fail "cannot download $1"
}

sum() {
	if has sha256sum; then
		sha256sum "$1"
	elif has shasum; then
		shasum -a 256 "$1"
	else
		openssl dgst -sha256 -r "$1"
	fi | cut -d ' ' -f 1
}

# platform is the part of an archive's name that says what it runs on: linux_amd64.
platform() {
	case $(uname -s) in
	Linux) system=linux ;;
	Darwin) system=darwin ;;
	*) fail "does not know $(uname -s): see $releases for all archives" ;;
	esac
	case $(uname -m) in
	x86_64 | amd64) machine=amd64 ;;
	aarch64 | arm64) machine=arm64 ;;
	*) fail "there is no archive for $(uname -m): build it with Go" ;;
	esac
	echo "${system}_$machine"
}

# verify_signature FILE BUNDLE: by whom the checksums are, if cosign is there to tell.
verify_signature() {
	if ! has cosign; then
		say "cosign is not installed: the signature is not verified, the checksum is"
		return
	fi
	cosign verify-blob --bundle "$2" \
		--certificate-identity-regexp '^https://github\.com/berthdev/berth/\.github/workflows/release\.ya?ml@refs/tags/v' \
		--certificate-oidc-issuer https://token.actions.githubusercontent.com "$1" >/dev/null 2>"$work/cosign" ||
		fail "the signature of $1 does not verify, nothing is installed: $(tail -n 1 "$work/cosign")"
}

# numbered PRERELEASE has a dot before its number.
numbered() { printf '%s\n' "$1" | sed 's/\([a-z]\)\.*\([0-9]\)/\1.\2/'; }

# older A B: is version A older than B? Of both without a v; a prerelease is older than its release.
older() {
	[ "$1" != "$2" ] || return 1
	release=${1%%-*}
	if [ "$release" = "${2%%-*}" ]; then
		case $1 in *-*) ;; *) return 1 ;; esac
		case $2 in *-*) ;; *) return 0 ;; esac
		# rc9 before rc10, beta before rc; rc.9 is rc9
		former=$(numbered "${1#*-}")
		[ "$(printf '%s\n%s\n' "$former" "$(numbered "${2#*-}")" | sort -t . -k 1,1 -k 2,2n | head -n 1)" = "$former" ]
	else
		[ "$(printf '%s\n%s\n' "$release" "${2%%-*}" | sort -t . -k 1,1n -k 2,2n -k 3,3n | head -n 1)" = "$release" ]
	fi
}

# installed is the version of the program that is there; empty for none, and for one that says none.
installed() {
	[ -x "$directory/berth" ] || return 0
	"$directory/berth" version -o 'jsonpath={.version}' 2>/dev/null | sed -n 's/^v\([0-9].*\)/\1/p'
}

# place FILE NAME puts a file of the archive where it belongs, if it has it. berth works without it.
place() {
	[ -e "$work/$1" ] || return 0
	{ mkdir -p "$(dirname "$2")" && cp "$work/$1" "$2"; } || say "could not write $2"
}

main() {
	work=$(mktemp -d)
	trap 'rm -rf "$work" "$directory/.berth.new.$$"' EXIT
	trap 'exit 1' HUP INT TERM

	has sha256sum || has shasum || has openssl ||
		fail "needs sha256sum, shasum or openssl to verify what it downloads: install one of them"
	target=$(platform)
	from=$releases/latest/download
	[ -z "${BERTH_VERSION:-}" ] || from=$releases/download/v${BERTH_VERSION#v}
	download "$from/checksums.txt" "$work/checksums.txt"
	line=$(grep -E "^[0-9a-f]{64}  berth_[0-9][0-9A-Za-z.+-]*_$target\.tar\.gz\$" "$work/checksums.txt" | head -n 1)
	[ -n "$line" ] || fail "$from/checksums.txt names no archive for $target"
	archive=${line#*  }
	version=${archive#berth_}
	version=${version%_"$target".tar.gz}
	[ -z "${BERTH_VERSION:-}" ] || [ "$version" = "${BERTH_VERSION#v}" ] ||
		fail "$from has version $version instead of ${BERTH_VERSION#v}"

	now=$(installed)
	if [ "$now" = "$version" ]; then
		say "$directory/berth is version $version already"
		return
	fi
	if [ -z "${BERTH_VERSION:-}" ] && [ -n "$now" ] && older "$version" "$now"; then
		fail "$directory/berth is $now, which is newer than $version: set BERTH_VERSION=v$version to go back"
	fi

	! has cosign || download "$from/checksums.txt.sigstore.json" "$work/checksums.txt.sigstore.json"
	(cd "$work" && verify_signature checksums.txt checksums.txt.sigstore.json)
	download "$from/$archive" "$work/$archive"
	[ "$(sum "$work/$archive")" = "${line%%  *}" ] ||
		fail "the checksum of $archive is not the one of checksums.txt, nothing is installed: try again, or report it"

	tar -xzf "$work/$archive" -C "$work"
	mkdir -p "$directory"
	# Renamed over the old one, which may be running: it is the old one or the new one at any time.
	cp "$work/berth" "$directory/.berth.new.$$"
	chmod 755 "$directory/.berth.new.$$"
	"$directory/.berth.new.$$" version >/dev/null || fail "berth $version does not run here, nothing is installed"
	mv -f "$directory/.berth.new.$$" "$directory/berth"
	say "installed $directory/berth, version $version${now:+ (it was $now)}"
	if [ "${BERTH_COMPLETIONS:-}" != no ]; then
		place completions/berth.bash "$data/bash-completion/completions/berth"
		place completions/berth.fish "$data/fish/vendor_completions.d/berth.fish"
		place completions/berth.zsh "$data/zsh/site-functions/_berth"
		for page in "$work"/man/*.1; do
			place "man/$(basename "$page")" "$data/man/man1/$(basename "$page")"
		done
	fi
	case :$PATH: in
	*:"$directory":*) ;;
	*) say "add it to your PATH: export PATH=\"$directory:\$PATH\"" ;;
	esac
	say "next: berth doctor"
}

# Called at the end: of a script that arrives in part, nothing runs.
main
