#!/bin/sh
# Usage: hangup.sh PID GRACE [OLD BEGAN]
#
# Hangs up the shell PID, as a terminal that is closed does, when standard input has
# ended for GRACE seconds and it is still there. Prints its own PID and when it began, by
# which another one takes its place: that one ends OLD.
pid=$1 grace=$2 old=$3

# In which tick of the clock a process began, so that it is not taken for another one that
# has its PID later.
began() {
	{ read -r stat <"/proc/$1/stat"; } 2>/dev/null || return 0
	# shellcheck disable=SC2086 # it is split on purpose
	set -- ${stat##*) }
	shift 19
	echo "$1"
}
first=$(began "$pid")
[ -n "$first" ] || exit 0
[ -z "$old" ] || [ "$(began "$old")" != "$4" ] || kill "$old"
echo "$$ $(began $$)"
while read -r _; do :; done
while [ "$(began "$pid")" = "$first" ]; do
	if [ "$grace" -le 0 ]; then
		kill -HUP "$pid" || exit 1
		kill -CONT "$pid" 2>/dev/null # one that is stopped does not notice
		exit 0
	fi
	grace=$((grace - 1))
	sleep 1
done
