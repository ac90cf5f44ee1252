#!/bin/sh
# Usage: files.sh MARK
#
# Serves the files of this place: by the image's own sftp-server, if it has one, or else
# by one command a line, each a call of a function below with its arguments quoted. It
# begins with MARK, which nobody else knows: content that is taken for a command ends this
# and runs nothing. An answer begins with a line: "ok" and what is asked for, or "no", a code, and why. What
# is of any length comes with its length or ends with a NUL, so that no name and no
# content is taken for an answer.
mark=$1
cd "${HOME:-/}" 2>/dev/null || cd /
for server in /usr/lib/openssh/sftp-server /usr/lib/ssh/sftp-server /usr/libexec/openssh/sftp-server \
	/usr/libexec/sftp-server; do
	if [ -x "$server" ]; then
		printf 'berth-sftp\n'
		exec "$server"
	fi
done
LC_ALL=C
export LC_ALL
printf 'berth-files %s\0' "$(pwd)"

attributes='%f %s %u %g %X %Y'

# The argument $1 with its escapes, such as \0012 for a newline, in $u.
u() {
	u=$(printf '%b.' "$1")
	u=${u%.}
}

there() { [ -e "$1" ] || [ -L "$1" ]; }

# Why something failed at the path $1, by what is there: the texts of tools differ.
why() {
	parent=${1%/*}
	if [ ! -d "${parent:-/}" ]; then
		if there "${parent:-/}"; then echo "no ENOTDIR"; elif reachable "${parent:-/}"; then echo "no ENOENT"; else echo "no EACCES"; fi
	elif [ ! -x "${parent:-/}" ]; then
		echo "no EACCES"
	elif ! there "$1"; then
		if [ "$2" = made ] && [ ! -w "${parent:-/}" ]; then echo "no EACCES"; elif [ "$2" = made ]; then echo "no EFAIL"; else echo "no ENOENT"; fi
	elif [ ! -e "$1" ] && [ "$2" != gone ]; then # a link that leads nowhere
		echo "no ENOENT"
	elif [ "$2" = gone ] && [ ! -w "${parent:-/}" ]; then
		echo "no EACCES"
	elif [ "$2" = read ] && [ ! -r "$1" ] || [ "$2" = written ] && [ ! -w "$1" ]; then
		echo "no EACCES"
	elif [ "$2" = written ] && [ -d "$1" ]; then
		echo "no EISDIR"
	elif [ "$2" = theirs ]; then
		echo "no EPERM"
	else
		echo "no EFAIL"
	fi
}

# Whether the directories above the path $1 may be looked into.
reachable() {
	above=/${1%/*}
	while [ -n "$above" ] && ! [ -d "$above" ]; do above=${above%/*}; done
	[ -x "${above:-/}" ]
}

done_or() {
	if [ "$1" = 0 ]; then echo ok; else why "$2" "$3"; fi
}

# What is at a path, with links followed, or not.
follow() {
	if found=$(stat -L -c "$attributes" "$1" 2>/dev/null); then echo "ok $found"; else why "$1"; fi
}
look() {
	if found=$(stat -c "$attributes" "$1" 2>/dev/null); then echo "ok $found"; else why "$1"; fi
}

# The names in a directory, and what each is.
list() {
	if [ ! -d "$1" ] || [ ! -r "$1" ] || ! cd "$1" 2>/dev/null; then
		if [ -d "$1" ]; then echo "no EACCES"; elif there "$1"; then echo "no ENOTDIR"; else why "$1"; fi
		return
	fi
	# A pattern that matches nothing stays as it is.
	plain='./*' hidden='./.[!.]*' dots='./..?*'
	set -- ./*
	there "$1" || plain=
	set -- ./.[!.]*
	there "$1" || hidden=
	set -- ./..?*
	there "$1" || dots=
	# shellcheck disable=SC2086 # they are expanded on purpose
	set -- $plain $hidden $dots
	echo "ok $#"
	if [ $# -gt 0 ]; then
		printf '%s\0' "$@"
		printf '%s\0' "$@" | xargs -0 stat -c "$attributes %n" 2>/dev/null
	fi
	printf '\0'
}

# $3 bytes of the file $1 from $2, or fewer at its end; zeros if it gets shorter meanwhile, or
# cannot be read any more.
get() {
	if [ ! -r "$1" ] || [ -d "$1" ] || ! size=$(stat -L -c %s "$1" 2>/dev/null); then
		if [ -d "$1" ]; then echo "no EISDIR"; else why "$1" read; fi
		return
	fi
	n=$((size - $2))
	[ "$n" -le "$3" ] || n=$3
	[ "$n" -gt 0 ] || n=0
	echo "ok $n"
	[ "$n" = 0 ] || {
		{
			dd bs=1 skip="$2" count=0 2>/dev/null
			cat
		} <"$1" 2>/dev/null
		cat /dev/zero
	} | head -c "$n"
}

# $1 bytes of the input.
take() { [ "$1" = 0 ] || dd bs="$1" count=1 iflag=fullblock 2>/dev/null; }

# A file made or emptied, and filled with $2 bytes of the input; the mode $3 is that of a
# new one, of which "made" is said, and $4 says which it may be: new, old, any, or kept, which
# is not emptied.
store() {
	made=
	if there "$1"; then
		if [ "$4" = new ]; then
			take "$2" >/dev/null
			echo "no EEXIST"
			return
		elif [ "$4" = kept ]; then
			fill "$1" 0 "$2"
			return
		fi
	elif [ "$4" = old ]; then
		take "$2" >/dev/null
		echo "no ENOENT"
		return
	else
		made=yes
	fi
	# Not with ":", after whose redirection that fails a shell ends (POSIX: special built-in utilities).
	if [ ! -d "$1" ] && { true >"$1"; } 2>/dev/null; then
		[ -z "$made" ] || [ -z "$3" ] || chmod "$3" "$1" 2>/dev/null
		fill "$1" 0 "$2" "$made"
	else
		take "$2" >/dev/null
		if [ -d "$1" ]; then echo "no EISDIR"; elif [ -n "$made" ]; then why "$1" made; else why "$1" written; fi
	fi
}

# $3 bytes of the input into the file $1 at $2; they are read in any case. With $4, it was made.
fill() {
	if [ ! -w "$1" ] || [ -d "$1" ]; then
		take "$3" >/dev/null
		why "$1" written
		return
	fi
	taken=
	if { { [ "$2" = 0 ] || dd bs=1 seek="$2" count=0 conv=notrunc 2>/dev/null; } && taken=yes && take "$3"; } 1<>"$1"; then
		if [ -n "$4" ]; then echo "ok made"; else echo ok; fi
	elif [ -n "$taken" ]; then
		echo "no ENOSPC"
	else # it cannot be opened, such as a program that runs, or has no such place
		take "$3" >/dev/null
		echo "no EFAIL"
	fi
}

directory() {
	if there "$1"; then
		echo "no EEXIST"
		return
	fi
	mkdir "$1" 2>/dev/null
	done_or $? "$1" made
	[ -z "$2" ] || chmod "$2" "$1" 2>/dev/null
}

unlink_directory() {
	rmdir "$1" 2>/dev/null
	done_or $? "$1" gone
}

unlink_file() {
	if [ -d "$1" ] && [ ! -L "$1" ]; then
		echo "no EISDIR"
	elif there "$1"; then
		rm -f "$1" 2>/dev/null
		done_or $? "$1" gone
	else
		why "$1" gone
	fi
}

# Move $1 to $2, which must not be there; with "over" it is replaced, as rename(2) does.
move() {
	if ! there "$1"; then
		why "$1" gone
	elif there "$2" && [ "$3" != over ]; then
		echo "no EEXIST"
	elif [ -d "$2" ] && [ ! -L "$2" ]; then
		if [ ! -d "$1" ] || [ -L "$1" ]; then
			echo "no EISDIR"
		elif rmdir "$2" 2>/dev/null; then
			mv -f "$1" "$2" 2>/dev/null
			done_or $? "$2" made
		else
			echo "no ENOTEMPTY"
		fi
	elif [ -d "$1" ] && [ ! -L "$1" ] && there "$2"; then
		echo "no ENOTDIR"
	else
		# A link to a directory is replaced, and not moved into.
		[ ! -L "$2" ] || rm -f "$2" 2>/dev/null
		mv -f "$1" "$2" 2>/dev/null
		done_or $? "$2" made
	fi
}

hard_link() {
	if there "$2"; then
		echo "no EEXIST"
	else
		ln "$1" "$2" 2>/dev/null
		done_or $? "$2" made
	fi
}

symbolic_link() {
	if there "$2"; then
		echo "no EEXIST"
	else
		ln -s -- "$1" "$2" 2>/dev/null
		done_or $? "$2" made
	fi
}

target() {
	if [ -L "$1" ]; then
		echo ok
		readlink -n "$1"
		printf '\0'
	elif there "$1"; then
		echo "no EINVAL"
	else
		why "$1"
	fi
}

# Set what is given of the size, the mode, the owner, and the times of access and change.
set_attributes() {
	if ! there "$1"; then
		why "$1"
		return
	fi
	if [ -n "$2" ] && ! truncate -s "$2" "$1" 2>/dev/null; then
		why "$1" written
	elif [ -n "$3" ] && ! chmod "$3" "$1" 2>/dev/null; then
		why "$1" theirs
	elif [ -n "$4" ] && ! chown "$4" "$1" 2>/dev/null; then
		why "$1" theirs
	elif [ -n "$5" ] && ! { touch -c -a -d "@$5" "$1" && touch -c -m -d "@$6" "$1"; } 2>/dev/null &&
		! touch -c -d "@$6" "$1" 2>/dev/null; then
		why "$1" theirs
	else
		echo ok
	fi
}

# How full the file system is.
filesystem() {
	if found=$(stat -f -c '%s %S %b %f %a %c %d %l' "$1" 2>/dev/null); then echo "ok $found"; else why "$1"; fi
}

here=$(pwd)
while IFS= read -r line; do
	case $line in
	"$mark "*) eval "${line#"$mark "}" ;;
	*) exit 1 ;;
	esac
	cd "$here" 2>/dev/null || cd /
done
