# Tells git the username and the password of the repository's host.
[ "$1" = get ] || exit 0
git=${K8SHELL_DIR:-/k8shell}/git
echo "username=$(cat "$git/username")"
echo "password=$(cat "$git/password")"
