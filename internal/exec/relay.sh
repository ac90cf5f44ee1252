#!/bin/sh
# Usage: relay.sh tcp HOST PORT | unix PATH
#
# Joins its input and output with a connection, by the first program that can, and says
# so first. Those come first that say why they cannot connect, and pass on the end of
# the input. What has had no input any more for ten minutes, and sends nothing, is left:
# the client may have gone, which looks the same.
have() { command -v "$1" >/dev/null 2>&1; }
ready() { printf 'berth-relay\n'; }
if [ "$1" = unix ] && [ ! -S "$2" ]; then
	echo "no socket at $2" >&2
	exit 1
fi
if have python3; then
	exec python3 -I -c '
import os, select, socket, sys, threading, time
try:
    if sys.argv[1] == "unix":
        s = socket.socket(socket.AF_UNIX)
        s.connect(os.fsencode(sys.argv[2]))
    else:
        s = socket.create_connection((sys.argv[2], int(sys.argv[3])))
        s.settimeout(None)
except OSError as e:
    sys.stderr.write("cannot connect to %s: %s\n" % (" port ".join(sys.argv[2:]), e.strerror or e))
    os._exit(1)
def put(to, data):
    while data:
        data = data[os.write(to, data):]
over = []
def send():
    try:
        while True:
            data = os.read(0, 65536)
            if not data:
                break
            s.sendall(data)
        s.shutdown(socket.SHUT_WR)
    except OSError:
        pass
    over.append(True)
put(1, b"berth-relay\n")
threading.Thread(target=send, daemon=True).start()
last = time.monotonic()
try:
    while True:
        if not select.select([s], [], [], 60)[0]:
            if over and time.monotonic() - last > 600:
                break
            continue
        data = s.recv(65536)
        if not data:
            break
        put(1, data)
        last = time.monotonic()
except OSError:
    pass
os._exit(0)
' "$@"
fi
if have perl && perl -MIO::Socket::IP -MIO::Socket::UNIX -e 1 2>/dev/null; then
	exec perl -MIO::Socket::IP -MIO::Socket::UNIX -MErrno=EINTR -e '
my ($kind, @to) = @ARGV;
my $s = $kind eq "unix" ? IO::Socket::UNIX->new(Peer => $to[0])
	: IO::Socket::IP->new(PeerHost => $to[0], PeerService => $to[1], Type => SOCK_STREAM);
if (!$s) { print STDERR "cannot connect to ", join(" port ", @to), ": $!\n"; exit 1 }
sub put {
	my ($to, $data) = @_;
	for (my $at = 0; $at < length $data;) {
		my $n = syswrite($to, $data, length($data) - $at, $at);
		if (defined $n) { $at += $n } elsif ($! != EINTR) { exit 1 }
	}
}
put(\*STDOUT, "berth-relay\n");
my $over = 0;
$SIG{CHLD} = sub { $over = 1; alarm 600 };
my $child = fork;
if (!$child) {
	while (sysread(STDIN, my $data, 65536)) { put($s, $data) }
	shutdown($s, 1);
	exit 0;
}
while (1) {
	my $n = sysread($s, my $data, 65536);
	next if !defined $n && $! == EINTR;
	last if !$n;
	alarm 600 if $over;
	put(\*STDOUT, $data);
}
$SIG{CHLD} = "IGNORE";
kill "KILL", $child' "$@"
fi
if have socat; then
	ready
	case $1:$2 in
	unix:*) to="UNIX-CONNECT:$2" ;;
	*:*:*) to="TCP:[$2]:$3" ;;
	*) to="TCP:$2:$3" ;;
	esac
	exec socat -t 600 - "$to"
fi
usage=$(nc -h 2>&1 </dev/null)
shut=
case $usage in *-N*Shutdown*) shut=-N ;; esac
if [ "$1" = unix ]; then
	case $usage in
	*-U*)
		ready
		exec nc $shut -U "$2"
		;;
	esac
	programs='python3, perl, socat or nc with -U'
else
	if have nc; then
		ready
		exec nc $shut "$2" "$3"
	elif have bash; then
		# The end of the input cannot be passed on.
		# shellcheck disable=SC2016 # it is expanded there
		exec bash -c '{ exec 3<>"/dev/tcp/$1/$2"; } 2>/dev/null || { echo "cannot connect to $1 port $2" >&2; exit 1; }
		printf "berth-relay\n"
		cat >&3 <&0 & cat <&3; kill "$!" 2>/dev/null' bash "$2" "$3"
	fi
	programs='python3, perl, socat, nc or bash'
fi
echo "prohibited: the image has none of $programs to connect from there" >&2
exit 1
