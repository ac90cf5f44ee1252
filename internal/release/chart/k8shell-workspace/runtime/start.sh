# The workspace's main process where the image brings no agent. It needs
# nothing but a /bin/sh: runs the init scripts, reports ready, and then waits,
# forwarding signals to what it has started.
#
# $1 is where all that is; /k8shell if it is left out.
k8shell=${1:-/k8shell}
state=$k8shell/state
child=

say() { echo "workspace: $*"; }

home=${HOME:-/}
mkdir -p "$home" 2>/dev/null
if [ ! -d "$home" ] || [ ! -w "$home" ]; then
	say "user $(id -u) cannot write to the home directory $home"
	home=$state
fi
flags=$home/.k8shell/flags

stop() {
	rm -f "$state/ready"
	say "stopping ($1)"
	if [ -n "$child" ]; then
		kill -"$1" "$child" 2>/dev/null
		wait "$child" 2>/dev/null
	fi
	exit 0
}
trap 'stop TERM' TERM
trap 'stop INT' INT
trap 'stop HUP' HUP

# in_background runs a command so that a signal can interrupt waiting for it:
# a shell runs its traps only between commands.
in_background() {
	"$@" &
	child=$!
	wait "$child"
	status=$?
	child=
	return $status
}

# run_init_scripts runs those that have not run yet, NN-name, and those that always run,
# NN_name. Each is told whether it has yet to succeed here. What it says of them is read by
# internal/initscript: a script is said by its number, the number of all, and its name,
# as "started" and then "ended with status N", or as "skipped". Errors go where the
# rest goes, or the end of a script could be read before what it said last.
run_init_scripts() {
	set -- "$k8shell"/init/*
	total=$#
	number=0
	for script; do
		[ -f "$script" ] || continue
		number=$((number + 1))
		file=${script##*/}
		name=${file#???}
		about="init script $number/$total $name"
		K8SHELL_INIT_FIRST_RUN=true
		if [ -e "$flags/$name" ]; then
			K8SHELL_INIT_FIRST_RUN=false
			case $file in
			??_*) ;;
			*)
				say "$about skipped"
				continue
				;;
			esac
		fi
		export K8SHELL_INIT_FIRST_RUN
		say "$about started"
		in_background /bin/sh "$script" 2>&1
		status=$?
		say "$about ended with status $status"
		if [ "$status" = 0 ]; then
			mkdir -p "$flags" && : >"$flags/$name"
		fi
	done
	unset K8SHELL_INIT_FIRST_RUN
}

say starting
rm -f "$state/ready"
echo $$ >"$state/pid"
cd "$home" || exit 1
run_init_scripts
say ready
: >"$state/ready"
# Waiting also reaps: children whose parents are gone become this process's
# when it is PID 1, and a wait takes them all.
while :; do
	in_background sleep 3600 || sleep 1
done
