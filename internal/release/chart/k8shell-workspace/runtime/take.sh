# The first init script of a repository's workspace: puts what init-repository has
# cloned into the home directory, which is the working directory. It becomes the
# property of whoever runs this: git trusts no other owner's. Where the home
# directory ends with the container, the repository does not: it is kept in the pod,
# with a link to it.
k8shell=${K8SHELL_DIR:-/k8shell}
name=$(cat "$k8shell/runtime/repository.name") || exit 1
kept=$(cat "$k8shell/runtime/repository.kept") || exit 1
repository=$k8shell/repository
clone=$repository/clone/$name
to=${kept:-.}

say() { echo "repository: $*"; }

failed() {
	rm -rf "$to/.$name.partial"
	say "cannot put $name into $to; the next start of the container tries again"
	exit 1
}

if [ -e "$name" ]; then
	say "$name already exists in the home directory"
	exit 0
fi
if [ ! -e "$to/$name" ]; then
	cat "$repository/log" 2>/dev/null
	if [ ! -d "$clone" ]; then
		say "there is no $name in the home directory"
		exit 1
	fi
	# Only a whole one gets the name.
	rm -rf "$to/.$name.partial"
	mkdir -p "$to" || failed
	if [ -O "$clone" ]; then
		mv "$clone" "$to/.$name.partial" || failed
	else
		cp -RP "$clone" "$to/.$name.partial" || failed
	fi
	mv "$to/.$name.partial" "$to/$name" || failed
	rm -rf "$clone" 2>/dev/null # it may be another user's
fi
[ -z "$kept" ] || ln -s "$kept/$name" "$name"
