#!/bin/sh
# Usage: shell.sh USER HOME
#
# Enters a workspace: as the OS user USER, if that is not empty, and in the directory
# HOME, or else in the user's own. The caller may be anybody; switching takes root.
user=$1 home=$2
shell=/bin/sh
[ -x /bin/bash ] && shell=/bin/bash

# What is run as whoever the shell is for, with directories: in the first that may be
# written to, or else that may be entered.
# shellcheck disable=SC2016 # it is expanded there
inside='
for may in w x; do
	for dir do
		if [ -$may "$dir" ] && cd "$dir" 2>/dev/null; then
			export HOME="$dir"
			exec "$SHELL" -l
		fi
	done
done
echo "berth: cannot enter the home directory $1" >&2
exec "$SHELL" -l'

stay() {
	[ -z "$1" ] || echo "berth: not as user $user: $1" >&2
	SHELL=$shell
	export SHELL
	exec /bin/sh -c "$inside" sh "${HOME:-/}"
}

[ -t 1 ] && [ -r /k8shell/runtime/motd ] && cat /k8shell/runtime/motd
me=$(id -u 2>/dev/null) || me=unknown
if [ -z "$user" ] || [ "$user" = "$(id -un 2>/dev/null)" ]; then stay ""; fi

# The user as the image knows it: NAME:x:UID:GID:GECOS:HOME:SHELL.
entry=
case $user in
-* | *:*) ;;
*)
	entry=$(getent passwd "$user" 2>/dev/null </dev/null)
	if [ -z "$entry" ] && [ -r /etc/passwd ]; then
		while IFS= read -r line; do
			case $line in "$user":*) entry=$line && break ;; esac
		done </etc/passwd
	fi
	;;
esac
[ -n "$entry" ] || stay "the image has no such user"
set -f
IFS=:
# shellcheck disable=SC2086 # it is split on purpose
set -- $entry
unset IFS
set +f
name=$1 uid=$3 gid=$4 own=${6:-/}
[ "$uid" != "$me" ] || stay ""
[ "$me" = 0 ] || stay "the container runs as user $me, and only root can switch"
case $7 in
*/nologin | */false | "") ;;
*) [ -x "$7" ] && shell=$7 ;;
esac
before=${HOME:-/}
USER=$name LOGNAME=$name SHELL=$shell HOME=${home:-$own}
export USER LOGNAME SHELL HOME
case $(setpriv --help 2>&1 </dev/null) in
*--reuid*)
	why=$(setpriv --reuid="$uid" --regid="$gid" --init-groups /bin/sh -c : 2>&1 </dev/null) &&
		exec setpriv --reuid="$uid" --regid="$gid" --init-groups /bin/sh -c "$inside" sh "$HOME" "$own"
	;;
esac
if command -v su >/dev/null 2>&1; then
	why=$(su -p -s /bin/sh -- "$name" -c : 2>&1 </dev/null) &&
		exec su -p -s /bin/sh -- "$name" -c "$inside" sh "$HOME" "$own"
fi
unset USER LOGNAME
shell=/bin/sh HOME=$before
[ -x /bin/bash ] && shell=/bin/bash
stay "${why:-the image has neither setpriv nor su}"
