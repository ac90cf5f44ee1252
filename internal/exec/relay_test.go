package exec_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"os"
	osexec "os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/berthdev/berth/internal/exec"
	"github.com/berthdev/berth/internal/skiptest"
)

// with runs commands here, where these programs are.
func with(t *testing.T, programs map[string]string) exec.Runner {
	t.Helper()
	path := t.TempDir()
	programs["sh"], programs["grep"] = "/bin/sh", "grep"
	for name, program := range programs {
		at, err := osexec.LookPath(program)
		if err != nil {
			skiptest.Lacks(t, "%v", err)
		}
		if at, err = filepath.EvalSymlinks(at); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(at, filepath.Join(path, name)); err != nil {
			t.Fatal(err)
		}
	}
	return func(ctx context.Context, command []string, s exec.Session) (int, error) {
		cmd := osexec.CommandContext(ctx, command[0], command[1:]...) //nolint:gosec // a test's own
		cmd.Env, cmd.Dir = []string{"PATH=" + path}, path
		cmd.Stdout, cmd.Stderr, cmd.WaitDelay = s.Stdout, s.Stderr, time.Second
		in, err := cmd.StdinPipe()
		if err != nil {
			return 0, err
		}
		go func() {
			_, _ = io.Copy(in, s.Stdin)
			_ = in.Close()
		}()
		err = cmd.Run()
		if exit, is := errors.AsType[*osexec.ExitError](err); is && ctx.Err() == nil {
			return exit.ExitCode(), nil
		}
		return 0, err
	}
}

// relays are the programs that connect, by what they are called.
func relays() map[string]map[string]string {
	return map[string]map[string]string{
		"python3": {"python3": "/usr/bin/python3"}, "perl": {"perl": "perl"}, "socat": {"socat": "socat"},
		"nc":      {"nc": "nc.openbsd"},
		"busybox": {"nc": "/bin/busybox"},
		"bash":    {"bash": "bash", "cat": "cat"},
	}
}

// listen answers each connection with what it was sent, at once, and "end" when that has ended.
func listen(t *testing.T, network, address string) string {
	t.Helper()
	var config net.ListenConfig
	listener, err := config.Listen(t.Context(), network, address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				_, _ = io.Copy(conn, conn)
				_, _ = io.WriteString(conn, "end")
			}()
		}
	}()
	return listener.Addr().String()
}

// The bytes of both ways arrive, and so does the end of what is sent, with any program.
func TestRelay(t *testing.T) {
	sent := bytes.Repeat([]byte("0123456789\x00\xff\r\n"), 100_000)
	for name, programs := range relays() {
		for _, unix := range []bool{false, true} {
			if unix && (name == "busybox" || name == "bash") {
				continue
			}
			t.Run(name+" unix="+strconv.FormatBool(unix), func(t *testing.T) {
				network, at := "tcp", "127.0.0.1:0"
				if unix {
					network, at = "unix", filepath.Join(t.TempDir(), "a socket")
				}
				at = listen(t, network, at)
				conn, err := exec.Relay(t.Context(), with(t, programs), at, unix)
				if err != nil {
					t.Fatal(err)
				}
				defer conn.Close()
				go func() {
					_, _ = conn.Write(sent)
					_ = conn.(interface{ CloseWrite() error }).CloseWrite()
				}()
				want := append(bytes.Clone(sent), "end"...)
				if name == "bash" { // which ends with its input
					want = want[:len(sent)/2]
				}
				got := make([]byte, len(want))
				if n, err := io.ReadFull(conn, got); err != nil || !bytes.Equal(got, want) {
					t.Errorf("%d bytes of %d, %v", n, len(want), err)
				}
			})
		}
	}
}

// What cannot be connected with is refused, with the reason where the program says one.
func TestRelayRefused(t *testing.T) {
	for name, test := range map[string]struct {
		programs map[string]string
		address  string
		unix     bool
		says     string
	}{
		"refused to python3": {
			relays()["python3"], "127.0.0.1:1", false,
			"cannot connect to 127.0.0.1 port 1: Connection refused",
		},
		"refused to perl": {
			relays()["perl"], "127.0.0.1:1", false,
			"cannot connect to 127.0.0.1 port 1: Connection refused",
		},
		"refused to bash": {relays()["bash"], "127.0.0.1:1", false, "cannot connect to 127.0.0.1 port 1"},
		"no program": {map[string]string{}, "127.0.0.1:1", false, "prohibited: the image has none of python3, " +
			"perl, socat, nc or bash"},
		"no socket": {relays()["python3"], "/no/such", true, "no socket at /no/such"},
		"a flag":    {relays()["busybox"], "-e:1", false, `"-e" is no host name`},
		"a command": {relays()["busybox"], "$(reboot):1", false, `"$(reboot)" is no host name`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := exec.Relay(t.Context(), with(t, test.programs), test.address, test.unix)
			if err == nil || !strings.Contains(err.Error(), test.says) {
				t.Error(err)
			}
		})
	}
	dead := func(context.Context, []string, exec.Session) (int, error) { return 0, errors.New("the pod is gone") }
	if _, err := exec.Relay(t.Context(), dead, "10.0.0.1:80", false); err == nil ||
		!strings.Contains(err.Error(), "the pod is gone") {
		t.Error(err)
	}
}
