#!/bin/sh
# Usage: shell.sh USER HOME CONTAINER [COMMAND [ARG...]]
#
# Enters a workspace: as the OS user USER, if that is not empty, and in the directory
# HOME, or else in the user's own. A COMMAND is run instead of the shell, in the working
# directory of the container. A caller that cannot become USER is refused with berth's
# own exit status: switching takes root.
user=$1 home=$2 container=$3
shift 3
shell=/bin/sh
[ -x /bin/bash ] && shell=/bin/bash

# What is run as the user of the shell, with directories: in the first that may be written
# to, or else that may be entered.
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

# A command that is run as its user: with the workspace's home directory if they may write
# to it, or else with their own.
# shellcheck disable=SC2016 # it is expanded there
theirs='[ -w "$HOME" ] || export HOME="$1"
shift
exec "$@"'

# As the container's own user.
stay() {
	[ $# -eq 0 ] || exec "$@"
	SHELL=$shell
	export SHELL
	exec /bin/sh -c "$inside" sh "${HOME:-/}"
}

refuse() {
	echo "berth: cannot enter container $container as user $user: $1 (its own user is $own: user=$own)" >&2
	exit 125
}

[ $# -eq 0 ] && [ -t 1 ] && [ -r /k8shell/runtime/motd ] && cat /k8shell/runtime/motd
me=$(id -u 2>/dev/null) || me=unknown
own=$(id -un 2>/dev/null) || own=$me
case $user in "" | "$own" | "$me") stay "$@" ;; esac

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
[ -n "$entry" ] || refuse "no such user in the container"
read_entry() {
	set -f
	IFS=:
	# shellcheck disable=SC2086 # it is split on purpose
	set -- $1
	unset IFS
	set +f
	name=$1 uid=$3 gid=$4 dir=${6:-/} login=$7
}
read_entry "$entry"
[ "$uid" != "$me" ] || stay "$@"
[ "$me" = 0 ] || refuse "only root can switch users there"
case $login in
*/nologin | */false | "") ;;
*) [ -x "$login" ] && shell=$login ;;
esac
USER=$name LOGNAME=$name SHELL=$shell HOME=${home:-$dir}
export USER LOGNAME SHELL HOME
if [ $# -eq 0 ]; then
	set -- /bin/sh -c "$inside" sh "$HOME" "$dir"
else
	set -- /bin/sh -c "$theirs" sh "$dir" "$@"
fi
case $(setpriv --help 2>&1 </dev/null) in
*--reuid*)
	why=$(setpriv --reuid="$uid" --regid="$gid" --init-groups /bin/sh -c : 2>&1 </dev/null) &&
		exec setpriv --reuid="$uid" --regid="$gid" --init-groups "$@"
	;;
esac
if command -v su >/dev/null 2>&1; then
	why=$(su -p -s /bin/sh -- "$name" -c : 2>&1 </dev/null) &&
		exec su -p -s /bin/sh -- "$name" -c 'exec "$@"' sh "$@"
fi
refuse "${why:-the image has neither setpriv nor su}"
