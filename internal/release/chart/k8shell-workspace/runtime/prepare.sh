# Runs before the workspace starts, in the workspace's own image: what is wrong
# with the image or its storages shows here, and not in the middle of the start.
set -eu
state=/k8shell/state
: >"$state/.writable"
rm -f "$state/.writable" "$state/ready" "$state/pid"
