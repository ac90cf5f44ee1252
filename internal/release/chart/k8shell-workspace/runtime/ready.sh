# Answers the readiness probe: is the runtime there, and does it say that it is
# ready? Waits up to $1 seconds for it. Looks at the process that wrote its
# number, whatever that is, so it is right in a shared process namespace too.
state=/k8shell/state
tries=0
limit=$((${1:-1} * 10))
while [ "$tries" -lt "$limit" ]; do
	if [ -e "$state/ready" ] && kill -0 "$(cat "$state/pid")" 2>/dev/null; then
		exit 0
	fi
	# Not every sleep knows fractions.
	sleep 0.1 2>/dev/null || { sleep 1; tries=$((tries + 9)); }
	tries=$((tries + 1))
done
if [ -e "$state/pid" ]; then
	echo "init scripts are still running"
else
	echo "the workspace has not started"
fi
exit 1
