# Clones the repository of a workspace into the working directory, at the ref: in the
# container init-repository, or, in an injected workspace, as the first init script,
# in the home directory.
k8shell=${K8SHELL_DIR:-/k8shell}
export K8SHELL_DIR="$k8shell" GIT_TERMINAL_PROMPT=0
url=$(cat "$k8shell/runtime/repository.url") || exit 1
ref=$(cat "$k8shell/runtime/repository.ref") || exit 1
name=$(cat "$k8shell/runtime/repository.name") || exit 1
partial=.$name.partial

say() { echo "repository: $*"; }

if [ -e "$name" ]; then
	say "$name already exists"
	exit 0
fi
if ! command -v git >/dev/null 2>&1; then
	say "not cloned: git is not installed in the image: $url"
	exit 0
fi
case $ref in
-*)
	say "invalid ref: $ref"
	exit 1
	;;
esac

# The password goes from its file to git, which asks this host's helper for it:
# it is in no argument, and not in the clone's configuration.
# A server that says nothing for a minute is given up: the workspace waits for it.
set -- -c credential.helper= -c http.lowSpeedLimit=1 -c http.lowSpeedTime=60
if [ -e "$k8shell/git/password" ]; then
	scheme=${url%%://*}
	host=${url#*://}
	host=${host%%/*}
	set -- "$@" -c "credential.$scheme://$host.helper=!/bin/sh '$k8shell/runtime/credentials.sh'"
fi

failed() {
	rm -rf "$partial"
	say "cannot clone $url${ref:+ at $ref} (see git's output above); the next start of the workspace tries again"
	exit 1
}

# A clone that is cut off is started again; only a whole one gets the name.
rm -rf "$partial"
git "$@" clone --quiet -- "$url" "$partial" || failed
if [ -n "$ref" ] && ! git -C "$partial" checkout --quiet "$ref" -- 2>/dev/null; then
	# What is neither branch nor tag does not come with a clone.
	git -C "$partial" "$@" fetch --quiet origin "$ref" || failed
	git -C "$partial" checkout --quiet --detach FETCH_HEAD || failed
fi
mv "$partial" "$name" && say "cloned $url${ref:+ at $ref} to $name"
