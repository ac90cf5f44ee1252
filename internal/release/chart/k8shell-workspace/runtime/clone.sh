# The first init script of a repository's workspace: clones it into the home
# directory, which is the working directory, at the ref.
k8shell=${K8SHELL_DIR:-/k8shell}
export K8SHELL_DIR="$k8shell" GIT_TERMINAL_PROMPT=0
url=$(cat "$k8shell/runtime/repository.url") || exit 1
ref=$(cat "$k8shell/runtime/repository.ref") || exit 1
name=${url%/}
name=${name##*/}
name=${name%.git}
partial=.$name.partial

say() { echo "repository: $*"; }

if [ -e "$name" ]; then
	say "$name already exists in the home directory"
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
set -- -c credential.helper=
if [ -e "$k8shell/git/password" ]; then
	scheme=${url%%://*}
	host=${url#*://}
	host=${host%%/*}
	set -- "$@" -c "credential.$scheme://$host.helper=!/bin/sh '$k8shell/runtime/credentials.sh'"
fi

failed() {
	rm -rf "$partial"
	say "cannot clone $url${ref:+ at $ref} (see git's output above); the next start of the container tries again"
	exit 1
}

# A clone that is cut off is begun anew; only a whole one gets the name.
rm -rf "$partial"
git "$@" clone --quiet -- "$url" "$partial" || failed
if [ -n "$ref" ] && ! git -C "$partial" checkout --quiet "$ref" -- 2>/dev/null; then
	# What is neither branch nor tag does not come with a clone.
	git -C "$partial" "$@" fetch --quiet origin "$ref" || failed
	git -C "$partial" checkout --quiet --detach FETCH_HEAD || failed
fi
mv "$partial" "$name" && say "cloned $url${ref:+ at $ref} to $name"
