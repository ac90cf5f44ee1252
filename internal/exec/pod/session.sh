#!/bin/sh
# Usage: session.sh ROWS COLUMNS LINE
#
# Runs a line in the user's shell, in the home directory, as sshd does; without one, the
# shell itself, as a login shell. The terminal, if there is one, gets its size first: the
# one of the exec comes only after the start. There are no variables of its own: the
# client's have whatever names it likes.
[ "$1" = 0 ] || stty rows "$1" cols "$2" 2>/dev/null
if [ ! -x "$SHELL" ]; then
	SHELL=/bin/sh
	[ -x /bin/bash ] && SHELL=/bin/bash
	export SHELL
fi
cd "${HOME:-/}" 2>/dev/null || cd /
[ -z "$3" ] || exec "$SHELL" -c "$3"
[ -t 1 ] && [ -r /k8shell/runtime/motd ] && cat /k8shell/runtime/motd
exec "$SHELL" -l
