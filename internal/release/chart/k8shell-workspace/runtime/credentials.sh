# Tells git the username and the password of the repository's host.
[ "$1" = get ] || exit 0
echo "username=$(cat "$K8SHELL_DIR/git/username")"
echo "password=$(cat "$K8SHELL_DIR/git/password")"
