# Sends a tar stream of BASE in the directory DIR; of all that is in DIR if BASE is a dot.
dir=$1 base=$2

fail() {
	status=$1
	shift
	printf '%s\n' "$*" >&2
	exit "$status"
}
cd "${HOME:-/}" 2>/dev/null || cd /
command -v tar >/dev/null 2>&1 || fail 91 " tar"
cd "$dir" 2>/dev/null || {
	[ -e "$dir" ] || fail 92 "directory ${dir#./} does not exist in the workspace"
	[ -d "$dir" ] || fail 92 "${dir#./} is not a directory"
	cd "$dir" || fail 98
}
shown=${dir%/}/$base
[ -e "./$base" ] || [ -L "./$base" ] || fail 92 "${shown#./} does not exist in the workspace"
case $(tar --version 2>/dev/null) in
*"GNU tar"*) exec tar --format=posix --pax-option=delete=atime,delete=ctime --sparse -c -f - "./$base" ;;
esac
exec tar -c -f - "./$base"
