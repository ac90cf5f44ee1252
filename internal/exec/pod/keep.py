# Keeps a shell in a terminal of its own, and connects this terminal with it. A keeper
# listens on a socket in a directory that only this user may enter. Both ways go frames:
# a letter, a length, and content. D is data, S a size, X the status that the shell has
# ended with.
import errno, fcntl, os, pty, select, signal, socket, struct, sys, termios, tty

MAX = 1 << 16   # bytes of a frame
SHOWN = 1 << 16 # bytes of output that a client gets when it comes
LEAVE = b"\x1d" # Ctrl-]


def fail(why):
    sys.stderr.write("berth: cannot keep a shell: %s\n" % why)
    sys.exit(125)


def frame(kind, data):
    return kind + struct.pack(">I", len(data)) + data


class Frames:
    """Takes frames out of what comes."""

    def __init__(self):
        self.held = b""

    def take(self, data):
        self.held += data
        while len(self.held) >= 5:
            size = struct.unpack(">I", self.held[1:5])[0]
            if size > MAX:
                raise ValueError("a frame of %d bytes" % size)
            if len(self.held) < 5 + size:
                return
            kind, content = self.held[:1], self.held[5:5 + size]
            self.held = self.held[5 + size:]
            yield kind, content


class Client:
    """One terminal that is connected."""

    def __init__(self, conn):
        conn.setblocking(False)
        self.conn, self.frames, self.out = conn, Frames(), b""

    def flush(self):
        try:
            self.out = self.out[self.conn.send(self.out):]
        except BlockingIOError:
            pass


def keep(listener, ready):
    """Is the keeper: the parent of the shell, until that ends."""
    os.setsid()
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    null = os.open(os.devnull, os.O_RDWR)
    for fd in (0, 1, 2):
        os.dup2(null, fd)
    pid, master = pty.fork()
    if pid == 0:
        for s in (signal.SIGHUP, signal.SIGPIPE, signal.SIGXFSZ):  # Python ignores the last two
            signal.signal(s, signal.SIG_DFL)
        shell = os.environ["SHELL"]
        os.execv(shell, [shell, "-l"])
    os.close(ready)
    os.set_blocking(master, False)
    clients, shown, typed, alive = [], b"", b"", True
    while alive:
        # A client that does not read is waited for, as a terminal is.
        full = any(len(c.out) > MAX for c in clients)
        # A shell that does not read holds back what is typed, and nothing else.
        reads = [listener] + ([] if len(typed) > MAX else [c.conn for c in clients]) + ([] if full else [master])
        writes = [c.conn for c in clients if c.out] + ([master] if typed else [])
        r, w, _ = select.select(reads, writes, [])
        if master in w:
            try:
                typed = typed[os.write(master, typed):]
            except BlockingIOError:
                pass
            except OSError:
                typed = b""
        if listener in r:
            new = Client(listener.accept()[0])
            if shown:
                new.out = frame(b"D", shown)
            clients.append(new)
        if master in r:
            try:
                data = os.read(master, 16384)
            except BlockingIOError:
                continue
            except OSError:
                data = b""
            alive = bool(data)
            shown = (shown + data)[-SHOWN:]
            for c in clients:
                c.out += frame(b"D", data)
        for c in list(clients):
            try:
                if c.conn in r:
                    data = c.conn.recv(MAX)
                    if not data:
                        raise ConnectionError
                    for kind, content in c.frames.take(data):
                        if kind == b"D":
                            typed += content
                        elif kind == b"S" and len(content) == 4:
                            fcntl.ioctl(master, termios.TIOCSWINSZ, content + b"\0\0\0\0")
                if c.out:
                    c.flush()
            except (ConnectionError, ValueError):
                clients.remove(c)
                c.conn.close()
    status = os.waitpid(pid, 0)[1]
    status = os.WEXITSTATUS(status) if os.WIFEXITED(status) else 128 + os.WTERMSIG(status)
    listener.close()
    for c in clients:
        c.conn.setblocking(True)
        try:
            c.conn.sendall(c.out + frame(b"X", bytes([status])))
        except OSError:
            pass
    os._exit(0)


def directory():
    """Is one that only this user may enter."""
    path = "/tmp/berth-keep-%d" % os.getuid()
    try:
        os.mkdir(path, 0o700)
    except FileExistsError:
        pass
    except OSError as e:
        fail("%s: %s" % (path, e.strerror))
    found = os.lstat(path)
    if found.st_uid != os.getuid() or found.st_mode & 0o170077 != 0o040000:
        fail("%s belongs to another user" % path)
    return path


def connect():
    """Connects with the keeper, which is started if there is none."""
    path = directory()
    lock = os.open(path + "/lock", os.O_RDWR | os.O_CREAT, 0o600)
    fcntl.flock(lock, fcntl.LOCK_EX)
    conn = socket.socket(socket.AF_UNIX)
    try:
        conn.connect(path + "/socket")
        os.close(lock)
        return conn
    except OSError as e:
        if e.errno not in (errno.ENOENT, errno.ECONNREFUSED):
            fail(e.strerror)
    try:
        os.unlink(path + "/socket")
    except FileNotFoundError:
        pass
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(path + "/socket")
    listener.listen(16)
    wait, ready = os.pipe()
    if os.fork() == 0:
        os.close(lock)
        os.close(wait)
        if os.fork():
            os._exit(0)
        keep(listener, ready)
    os.close(ready)
    listener.close()
    os.read(wait, 1) # until the shell has started
    conn.connect(path + "/socket")
    os.close(lock)
    return conn


def main():
    """Is this terminal."""
    conn = connect()
    before = termios.tcgetattr(0)
    resized, wake = os.pipe()
    os.set_blocking(wake, False)
    signal.set_wakeup_fd(wake)
    signal.signal(signal.SIGWINCH, lambda *_: None)

    def size():
        conn.sendall(frame(b"S", fcntl.ioctl(0, termios.TIOCGWINSZ, b"\0" * 8)[:4]))

    tty.setraw(0, termios.TCSADRAIN) # what was typed ahead counts
    frames, status = Frames(), None
    try:
        size()
        while status is None:
            r = select.select([0, conn, resized], [], [])[0]
            if resized in r:
                os.read(resized, 64)
                size()
            if conn in r:
                data = conn.recv(MAX)
                if not data:
                    break
                for kind, content in frames.take(data):
                    if kind == b"X":
                        status = content[0]
                    while kind == b"D" and content:
                        content = content[os.write(1, content):]
            if 0 in r:
                data = os.read(0, 4096)
                if not data or LEAVE in data:
                    status = 0
                else:
                    conn.sendall(frame(b"D", data))
    except (OSError, KeyboardInterrupt):
        pass
    finally:
        termios.tcsetattr(0, termios.TCSADRAIN, before)
    sys.exit(status or 0)


main()
