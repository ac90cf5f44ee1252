# Says with its status whether a directory can be made or filled without anything being
# there: 0 if PATH does not exist or is an empty directory.
path=$1
cd "${HOME:-/}" 2>/dev/null || cd /
case $path in
/*) ;;
*) path=./$path ;;
esac
[ -e "$path" ] || [ -L "$path" ] || exit 0
[ -d "$path" ] && [ -r "$path" ] && [ -x "$path" ] || exit 93
for e in "$path"/* "$path"/.[!.]* "$path"/..?*; do
	if [ -e "$e" ] || [ -L "$e" ]; then exit 93; fi
done
