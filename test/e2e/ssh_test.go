//go:build e2e

package e2e

import (
	"bufio"
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"io"
	"net"
	"os"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// What an editor such as VS Code does with the system's ssh: a shell whose script comes on its input, in a connection
// that is a SOCKS proxy as well, and then a WebSocket with the port that a server has been given there. The server of
// VS Code itself is not to be had here.
func TestSSHEditor(t *testing.T) {
	h := newWorld(t).ssh("alice~plain")
	h.tools("bash", "python3")
	port := h.freePort()
	cmd := h.openSSH("bash")
	cmd.Args = append([]string{"ssh", "-T", "-D", port, "-o", "ConnectTimeout=15"}, cmd.Args[1:]...)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	server, err := os.ReadFile("testdata/ssh/server.py")
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(in, "cat >/tmp/server.py <<'EOF'\n%s\nEOF\nuname -m\npython3 -u /tmp/server.py &\nwait\n", server)
	var there int
	for lines := bufio.NewScanner(out); there == 0 && lines.Scan(); {
		_, _ = fmt.Sscanf(lines.Text(), "port %d", &there)
	}
	for range 3 {
		conn := h.socks(port, "127.0.0.1", there)
		reader := bufio.NewReader(conn)
		fmt.Fprint(conn, "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"+
			"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n")
		head := ""
		for !strings.HasSuffix(head, "\r\n\r\n") {
			line, err := reader.ReadString('\n')
			if err != nil {
				t.Fatal(err)
			}
			head += line
		}
		h.contains(head, "101 Switching", "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=") // of RFC 6455
		_, _ = conn.Write([]byte{0x81, 0x85, 0, 0, 0, 0, 'h', 'e', 'l', 'l', 'o'})
		if got, err := io.ReadAll(reader); err != nil || string(got) != "\x81\x0aecho hello" {
			t.Errorf("%q, %v", got, err)
		}
		_ = conn.Close()
	}
	_ = in.Close()
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
}

func (w *world) freePort() string {
	w.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		w.Fatal(err)
	}
	defer listener.Close()
	return strconv.Itoa(listener.Addr().(*net.TCPAddr).Port)
}

// socks is a connection through a SOCKS proxy here, which may not listen yet.
func (w *world) socks(port, host string, to int) (conn net.Conn) {
	w.Helper()
	w.eventually("the proxy listens", func() (is bool) {
		var err error
		conn, err = net.Dial("tcp", net.JoinHostPort("127.0.0.1", port))
		return err == nil
	})
	request := append([]byte{5, 1, 0, 5, 1, 0, 3, byte(len(host))}, host...)
	answer := make([]byte, 12)
	if _, err := conn.Write(append(request, byte(to>>8), byte(to))); err != nil {
		w.Fatal(err)
	}
	if _, err := io.ReadFull(conn, answer); err != nil || answer[3] != 0 {
		w.Fatalf("the proxy refuses: %v, %v", answer, err)
	}
	return conn
}

// What goes in comes out: by hash, both ways, to the end; and a terminal that is not read for a while loses nothing.
func TestSSHBytes(t *testing.T) {
	h := newWorld(t).ssh("alice~plain")
	client := h.connect()
	size, pause := 32<<20, 3*time.Second
	if allClients() {
		size, pause = 256<<20, 100*time.Second // longer than client-go's WebSocket bears
	}
	content := make([]byte, size)
	_, _ = rand.Read(content)
	s, err := client.NewSession()
	if err != nil {
		t.Fatal(err)
	}
	s.Stdin = bytes.NewReader(content)
	sum := fmt.Sprintf("%x", sha256.Sum256(content))
	if out, err := s.Output("tee /tmp/content | sha256sum"); err != nil || !strings.HasPrefix(string(out), sum) {
		t.Errorf("in: %q, %v", out, err)
	}
	if s, err = client.NewSession(); err != nil {
		t.Fatal(err)
	}
	out, err := s.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Start("cat /tmp/content"); err != nil {
		t.Fatal(err)
	}
	hash := sha256.New()
	if _, err := io.CopyN(hash, out, int64(size/2)); err != nil {
		t.Fatal(err)
	}
	time.Sleep(pause) // nobody reads
	if n, err := io.Copy(hash, out); err != nil || fmt.Sprintf("%x", hash.Sum(nil)) != sum {
		t.Errorf("out: %d bytes after the pause, %v", n, err)
	}
	if err := s.Wait(); err != nil {
		t.Error(err)
	}
}

// Many sessions at once, and many connections with ports, over one connection; what nothing listens on, what the image
// has no program for, and what is refused on purpose.
func TestSSHMany(t *testing.T) {
	h := newWorld(t).ssh("alice~plain")
	client := h.connect()
	sessions := 30
	if allClients() {
		sessions = 100
	}
	var group sync.WaitGroup
	for i := range sessions {
		group.Go(func() {
			if out, err := h.output(client, fmt.Sprintf("sleep 1; echo %d", i)); out != fmt.Sprintln(i) || err != nil {
				t.Errorf("%d: %q, %v", i, out, err)
			}
		})
	}
	group.Wait()
	if _, err := h.output(client, "httpd -p 8000 -h /etc"); err != nil {
		t.Fatal(err)
	}
	for range 50 {
		group.Go(func() {
			conn, err := client.Dial("tcp", "127.0.0.1:8000")
			if err != nil {
				t.Error(err)
				return
			}
			defer conn.Close()
			fmt.Fprint(conn, "GET /passwd HTTP/1.0\r\n\r\n")
			if text, err := io.ReadAll(conn); err != nil || !strings.Contains(string(text), "root:x:0:0") {
				t.Errorf("%q, %v", text, err)
			}
		})
	}
	group.Wait()
	conn, err := client.Dial("tcp", "kubernetes.default.svc:443") // by the image's nc
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprint(conn, "GET / HTTP/1.0\r\n\r\n")
	if text, _ := io.ReadAll(conn); !strings.Contains(string(text), "HTTP request to an HTTPS server") {
		t.Errorf("through the workspace: %q", text)
	}
	if _, err := client.Listen("tcp", "127.0.0.1:0"); err == nil {
		t.Error("-R is not refused")
	}
}

// A client that is killed takes its proxy with it within a second, and what it left running at a terminal is hung up.
func TestSSHKilled(t *testing.T) {
	h := newWorld(t).ssh("alice~plain")
	cmd := h.openSSH("sleep 1007")
	cmd.Args = append([]string{"ssh", "-tt"}, cmd.Args[1:]...)
	at := h.sit(cmd)
	h.eventually("it sleeps", func() bool { return strings.Contains(h.processes(h.user), "sleep 1007") })
	h.eventually("it is watched", func() bool { return strings.Contains(h.processes(h.user), "berth-hangup") })
	proxies := h.proxies()
	if len(proxies) == 0 {
		t.Fatal("no proxy runs")
	}
	killed := time.Now()
	_ = at.cmd.Process.Signal(syscall.SIGKILL)
	h.eventually("the proxy has gone", func() bool { return len(h.proxies()) == 0 })
	if took := time.Since(killed); took > 5*time.Second { // a second, on a machine that is not busy
		t.Errorf("that took %s", took)
	}
	h.eventually("it is hung up", func() bool { return !strings.Contains(h.processes(h.user), "sleep 1007") })

	// Nobody ever says anything.
	if r := h.script(`$P </dev/null | head -c 8`); r.stdout != "SSH-2.0-" {
		t.Errorf("%+v", r)
	}
}

// proxies are the processes that serve this host.
func (h *sshHost) proxies() (pids []string) {
	all, _ := os.ReadDir("/proc")
	for _, entry := range all {
		line, _ := os.ReadFile("/proc/" + entry.Name() + "/cmdline")
		if words := strings.Split(string(line), "\x00"); len(words) > 3 && words[0] == binary &&
			strings.Contains(string(line), h.host) {
			pids = append(pids, entry.Name())
		}
	}
	return pids
}

// What keeps a workspace from being entered is said in the client's terminal, with the next command.
func TestSSHSaysWhy(t *testing.T) {
	h := newWorld(t).ssh("alice~plain")
	h.must(0, "stop", h.user, "--yes")
	r := h.finish(h.openSSH("true"))
	r.mustBe(h.world, 125)
	h.contains(r.stderr, "berth: ", "is stopped", "berth start ", "--namespace "+h.namespace)
	if _, err := h.connect().Dial("tcp", "127.0.0.1:80"); err == nil || !strings.Contains(err.Error(), "is stopped") {
		t.Error(err)
	}
	h.host = strings.Replace(h.host, "alice-", "bob-", 1)
	r = h.finish(h.openSSH("true"))
	r.mustBe(h.world, 125)
	h.contains(r.stderr, "not found")
}

// A client that connects while a workspace starts waits for it, and is told. What keeps it from starting is said.
func TestSSHWaits(t *testing.T) {
	h := newWorld(t).ssh("alice~plain")
	h.must(0, "provision", "bob~plain", "--no-wait", "--image", h.slowImage())
	h.host = h.idOf("bob~plain") + "." + h.namespace + ".berth"
	r := h.finish(h.openSSH("echo in"))
	r.mustBe(h.world, 0)
	h.contains(r.stderr, "is not ready yet: waiting for it")
	h.contains(r.stdout, "in\n")
	h.must(0, "provision", "carol~wrong-tag", "--no-wait")
	h.host = h.idOf("carol~wrong-tag") + "." + h.namespace + ".berth"
	r = h.finish(h.openSSH("echo in"))
	r.mustBe(h.world, 125)
	h.contains(r.stderr, "is not ready yet: waiting for it", "no-such-tag not found", "berth diagnose ")
}

// The connection outlives the pod of its workspace: what ran there ends, and the next channels are in the new one.
func TestSSHPodReplaced(t *testing.T) {
	h := newWorld(t).ssh("alice~plain")
	client := h.connect()
	ended := h.sleeping(client)
	h.httpd(client)
	now := int64(0)
	err := h.CoreV1().Pods(h.namespace).Delete(t.Context(), h.idOf(h.user),
		metav1.DeleteOptions{GracePeriodSeconds: &now})
	if err != nil {
		t.Fatal(err)
	}
	<-ended
	h.must(0, "provision", h.user)
	if out, err := h.output(client, "echo again"); out != "again\n" || err != nil {
		t.Errorf("%q, %v", out, err)
	}
	h.httpd(client)
}

// So it does the API server, and every connection with it. Runs before the parallel ones.
func TestAPIServerRestartLeavesSSH(t *testing.T) {
	restart := restartAPIServer(t)
	h := newWorldAlone(t).ssh("alice~plain")
	client := h.connect()
	ended := h.sleeping(client)
	h.httpd(client)
	restart()
	<-ended
	h.eventually("a new session runs", func() bool {
		out, err := h.output(client, "echo again")
		return out == "again\n" && err == nil
	})
	h.eventually("a new connection is made", func() bool { return h.get(client) == nil })
}

// sleeping starts a session that ends only with what it runs in.
func (h *sshHost) sleeping(client *ssh.Client) (ended chan struct{}) {
	h.Helper()
	s, err := client.NewSession()
	if err != nil {
		h.Fatal(err)
	}
	if err := s.Start("sleep 600"); err != nil {
		h.Fatal(err)
	}
	h.eventually("it sleeps", func() bool { return strings.Contains(h.processes(h.user), "sleep 600") })
	ended = make(chan struct{})
	go func() {
		defer close(ended)
		_ = s.Wait()
	}()
	return ended
}

// httpd starts a server in the workspace and asks it.
func (h *sshHost) httpd(client *ssh.Client) {
	h.Helper()
	if _, err := h.output(client, "httpd -p 8000 -h /etc"); err != nil {
		h.Fatal(err)
	}
	if err := h.get(client); err != nil {
		h.Fatal(err)
	}
}

func (h *sshHost) get(client *ssh.Client) error {
	conn, err := client.Dial("tcp", "127.0.0.1:8000")
	if err != nil {
		return err
	}
	defer conn.Close()
	fmt.Fprint(conn, "GET /passwd HTTP/1.0\r\n\r\n")
	text, err := io.ReadAll(conn)
	if err == nil && !strings.Contains(string(text), "root:x:0:0") {
		err = fmt.Errorf("%q", text)
	}
	return err
}

// A port of this machine leads into a workspace for the key that was made for it, and for no other.
func TestSSHListens(t *testing.T) {
	h := newWorld(t).ssh("alice~plain")
	run := h.start("ssh", "--listen", "127.0.0.1:0", h.user)
	h.eventually("it says how to connect", func() bool { return strings.Contains(run.stdout.String(), "connect:") })
	_, connect, _ := strings.Cut(run.stdout.String(), "connect:")
	r := h.script(strings.TrimSpace(connect) + ` 'echo hi; exit 7'`)
	if r.status != 7 || r.stdout != "hi\n" {
		t.Errorf("%+v", r)
	}
	r = h.script(`ssh-keygen -q -t ed25519 -N '' -f other
` + regexp.MustCompile(`-i \S+`).ReplaceAllString(strings.TrimSpace(connect), "-i other -o BatchMode=yes") + " true")
	if r.status != 255 || !strings.Contains(r.stderr, "Permission denied") {
		t.Errorf("with another key: %+v", r)
	}
	run.signal(os.Interrupt)
	run.wait().mustBe(h.world, 130)
	if key := regexp.MustCompile(`-i (\S+)`).FindStringSubmatch(connect); len(key) != 2 {
		t.Error(connect)
	} else if _, err := os.Stat(key[1]); !os.IsNotExist(err) {
		t.Errorf("the key is left: %v", err)
	}
	h.contains(h.must(125, "ssh", "--listen", "0.0.0.0:0", h.user).stderr, "only this machine can reach")
}
