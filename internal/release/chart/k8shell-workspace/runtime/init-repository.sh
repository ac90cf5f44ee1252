# What the container init-repository does, which alone has the credentials: clones
# the repository into a directory where nobody else writes while git works. The
# workspace takes it from there (take.sh). It ends well in any case: a workspace
# without its repository can be entered, and its log says why.
#
# $1 is the name of take.sh's flag, $2 the home directory, if that is in a storage.
k8shell=${K8SHELL_DIR:-/k8shell}
name=$(cat "$k8shell/runtime/repository.name") || exit 0
repository=$k8shell/repository

for there in "$2/$name" "$2/.k8shell/flags/$1" "$repository/kept/$name"; do
	if [ -e "$there" ] || [ -L "$there" ]; then
		echo "repository: $name has been cloned before"
		exit 0
	fi
done
# A home directory that this user may not look into is somebody's who has been here
# before, and most likely with the repository. What is not there yet has a directory
# above it that can be looked into. Only the attempt tells: to some shells, -x is
# true of root whatever it may do.
at=$2
while [ -n "$at" ] && [ ! -e "$at" ]; do
	at=${at%/*}
done
if [ -n "$at" ] && [ ! -e "$at/." ]; then
	rm -rf "$repository/log"
	echo "repository: user $(id -u) cannot look into the home directory: $name has probably been cloned before, and is not cloned again." \
		"If it is missing, clone it by hand, or name the directory's user in the blueprint: fsOwnerUid of its storage, or securityContext.runAsUser" | tee "$repository/log"
	exit 0
fi
# Whoever had the pod before has written here, if it starts again: git must find
# nothing of theirs.
rm -rf "$repository/clone" "$repository/log"
if ! mkdir "$repository/clone" || ! cd "$repository/clone"; then
	echo "repository: not cloned: $repository/clone cannot be made"
	exit 0
fi
unset HOME XDG_CONFIG_HOME # git is configured by its image alone
export GIT_CEILING_DIRECTORIES="$repository"
/bin/sh "$k8shell/runtime/clone.sh" 2>&1 | tee "$repository/log"
exit 0
