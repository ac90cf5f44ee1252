# Receives a tar stream, and gives what is in it its name when it is complete.
# Arguments: DST, as the user wrote it; NAME of the source; its KIND: file, link, dir, or
# contents; TOKEN, which nobody else has; MODE of a directory.
dst=$1 name=$2 kind=$3 token=$4 mode=$5

# What is still sent is read before the end: a connection that ends in the middle of it
# may lose the status. The sender stops at the word.
fail() {
	status=$1
	shift
	printf '%s\n' "$*" >&2
	[ -z "$receiving" ] || { echo stop && cat >/dev/null 2>&1; }
	exit "$status"
}
receiving=
exists() { [ -e "$1" ] || [ -L "$1" ]; }
is_dir() { [ -d "$1" ] && [ ! -L "$1" ]; }

cd "${HOME:-/}" 2>/dev/null || cd /
missing=
for program in tar mkdir mv rm chmod; do
	command -v "$program" >/dev/null 2>&1 || missing="$missing $program"
done
[ -z "$missing" ] || fail 91 "$missing"

case $dst in
/*) ;;
*) dst=./$dst ;;
esac
merge=
if [ -d "$dst" ]; then
	dst=${dst%/}
	target=$dst/$name
	if [ "$kind" = contents ]; then
		target=${dst:-/} merge=1
	elif [ "$kind" = dir ] && is_dir "$target"; then
		merge=1
	elif [ "$kind" = dir ] && exists "$target"; then
		fail 93 "$target exists and is not a directory"
	elif [ "$kind" != dir ] && is_dir "$target"; then
		fail 93 "$target is a directory"
	fi
else
	target=$dst
	case $dst in
	*/)
		[ "$kind" = dir ] || [ "$kind" = contents ] || fail 92 "directory $dst does not exist"
		while [ "$target" != "${target%/}" ]; do target=${target%/}; done
		;;
	esac
	if exists "$target" && { [ "$kind" = dir ] || [ "$kind" = contents ]; }; then
		fail 93 "$target exists and is not a directory"
	fi
fi
if [ -n "$merge" ]; then stage=$target; else stage=${target%/*}/; fi
[ -d "$stage" ] || fail 92 "directory ${stage%/} does not exist"

here=
{ read -r here </proc/sys/kernel/hostname; } 2>/dev/null
here="$here $(readlink /proc/self/ns/pid 2>/dev/null)"
remove() {
	chmod -R u+rwx "$1" 2>/dev/null
	rm -rf "$1"
}
# What a killed run has left is removed, if its process is gone.
remove_stale() {
	for old in "$1"/.berth-cp-*; do
		if [ -f "$old/pid" ] && { read -r pid where <"$old/pid"; } 2>/dev/null && [ "$where" = "$here" ] && ! kill -0 "$pid" 2>/dev/null; then
			remove "$old"
		fi
	done
}
remove_stale "${stage%/}"

t=${stage%/}/.berth-cp-$token
mkdir "$t" || fail 94
trap 'remove "$t"' EXIT
trap 'exit 90' HUP INT TERM PIPE
chmod 700 "$t" && mkdir "$t/in" "$t/a" && echo "$$ $here" >"$t/pid" || fail 94
# Without -T, what is moved onto a link to a directory would end in that directory.
exact=
mv -T "$t/a" "$t/b" 2>/dev/null && exact=-T

replace() {
	if [ -z "$exact" ] && [ -L "$2" ]; then rm -f "$2" || return 1; fi
	mv -f $exact "$1" "$2"
}
# A directory is moved by who may write to it; then it gets its mode back.
move_dir() {
	lacks=
	[ -r "$1" ] || lacks=r
	[ -w "$1" ] || lacks=${lacks}w
	[ -x "$1" ] || lacks=${lacks}x
	[ -z "$lacks" ] || chmod "u+$lacks" "$1" || return 1
	replace "$1" "$2" || return 1
	[ -z "$lacks" ] || chmod "u-$lacks" "$2"
}
conflicts() (
	for e in "$1"/* "$1"/.[!.]* "$1"/..?*; do
		exists "$e" || continue
		to=$2/${e##*/}
		if is_dir "$e" && is_dir "$to"; then
			# Its mode is not needed, but all that is in it.
			{ [ -r "$e" ] && [ -w "$e" ] && [ -x "$e" ]; } || chmod u+rwx "$e" || exit 1
			conflicts "$e" "$to" || exit 1
		elif is_dir "$e" && exists "$to"; then
			echo "$to exists and is not a directory"
		elif ! is_dir "$e" && is_dir "$to"; then
			echo "$to is a directory"
		fi
	done
)
merge_into() (
	for e in "$1"/* "$1"/.[!.]* "$1"/..?*; do
		exists "$e" || continue
		to=$2/${e##*/}
		if is_dir "$e" && is_dir "$to"; then
			merge_below "$e" "$to" || exit 1
		elif is_dir "$e"; then
			move_dir "$e" "$to" || exit 1
		else
			replace "$e" "$to" || exit 1
		fi
	done
)
# Where another file system is mounted, mv copies: a killed one leaves a half file. So what
# is added to a directory goes to a temporary one in it first, as a whole.
merge_below() (
	if [ ! -w "$2" ]; then # it can only have directories to which something is added
		merge_into "$1" "$2"
		exit
	fi
	remove_stale "$2"
	u=$2/.berth-cp-$token
	mkdir "$u" || exit 1
	trap 'remove "$u"' EXIT
	trap 'exit 90' HUP INT TERM PIPE
	chmod 700 "$u" && echo "$$ $here" >"$u/pid" || exit 1
	# What is written to a file after it was moved is only in it if mv has renamed it.
	p=${1%/*}/.berth-cp-$token
	(exec 3>"$p" && mv "$p" "$u/probe" && echo renamed >&3) || exit 1
	if [ -s "$u/probe" ]; then
		mv "$1" "$u/tree" || exit 1
	else # mv would have to empty directories that are read only
		cp -a "$1" "$u/tree" || exit 1
	fi
	merge_into "$u/tree" "$2"
)

case $(tar --version 2>/dev/null) in
*"GNU tar"*) tar=gnu ;;
*) tar=other ;;
esac
echo "ready $tar"
receiving=1

tar -x -p -o -f - -C "$t/in" || fail 95
[ -f "$t/in/complete" ] || fail 96 "the transfer was not completed"
if [ -n "$merge" ]; then
	found=$(conflicts "$t/in/tree" "${target%/}") || fail 97
	[ -z "$found" ] || fail 93 "$found"
	merge_into "$t/in/tree" "${target%/}" || fail 97
else
	replace "$t/in/tree" "$target" || fail 97
	case $kind in dir | contents) chmod "$mode" "$target" ;; esac
fi
case $target in
./*) target=$PWD/${target#./} ;;
esac
printf '%s' "$target"
