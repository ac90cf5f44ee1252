#!/bin/sh
# Usage: session.sh ROWS COLUMNS LINE [NAME=VALUE...]
#
# Runs a line in the user's shell, in the home directory, as sshd does; without one, the
# shell itself, as a login shell. The terminal, if there is one, gets its size first: the
# one of the exec comes only after the start.
rows=$1 columns=$2 line=$3
shift 3
for variable do
	export "${variable?}"
done
[ "$rows" = 0 ] || stty rows "$rows" cols "$columns" 2>/dev/null
if [ ! -x "$SHELL" ]; then
	SHELL=/bin/sh
	[ -x /bin/bash ] && SHELL=/bin/bash
	export SHELL
fi
cd "${HOME:-/}" 2>/dev/null || cd /
[ -z "$line" ] || exec "$SHELL" -c "$line"
[ -t 1 ] && [ -r /k8shell/runtime/motd ] && cat /k8shell/runtime/motd
exec "$SHELL" -l
