#!/bin/sh
# Usage: relay.sh tcp HOST PORT | unix PATH
#
# Joins its input and output with a connection, by the first program that can, and says
# so first.
have() { command -v "$1" >/dev/null 2>&1; }
ready() { printf 'berth-relay\n'; }
if [ "$1" = unix ]; then
	if [ ! -S "$2" ]; then
		echo "no socket at $2" >&2
		exit 1
	elif have socat; then
		ready
		exec socat - "UNIX-CONNECT:$2"
	elif have nc && nc -h 2>&1 | grep -q -e '-U'; then
		ready
		exec nc -U "$2"
	fi
	programs='socat, nc with -U, or python3'
else
	if have socat; then
		ready
		exec socat - "TCP:$2:$3"
	elif have nc; then
		ready
		exec nc "$2" "$3"
	elif have bash; then
		# shellcheck disable=SC2016 # it is expanded there
		exec bash -c 'exec 3<>"/dev/tcp/$1/$2" || exit 1
		printf "berth-relay\n"
		cat <&3 & cat >&3; wait' bash "$2" "$3"
	fi
	programs='nc, socat, bash or python3'
fi
if have python3; then
	exec python3 -c '
import socket, sys, threading, os
if sys.argv[1] == "unix":
    s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[2])
else:
    s = socket.create_connection((sys.argv[2], int(sys.argv[3])))
os.write(1, b"berth-relay\n")
def send():
    while True:
        data = os.read(0, 65536)
        if not data: break
        s.sendall(data)
    s.shutdown(socket.SHUT_WR)
threading.Thread(target=send, daemon=True).start()
while True:
    data = s.recv(65536)
    if not data: break
    os.write(1, data)
' "$@"
fi
echo "prohibited: the image has none of $programs to connect from there" >&2
exit 1
