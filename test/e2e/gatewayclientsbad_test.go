//go:build e2e

package e2e

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/net/websocket"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/remotecommand"

	"github.com/berthdev/berth/internal/exec/gateway"
)

// cutOff begins something, after a handshake or, without words, with half of one, and waits until
// the gateway does not any more.
func (c *gatewayClients) cutOff(words string) {
	conn, err := net.Dial("tcp", c.address)
	if err != nil {
		c.Fatal(err)
	}
	if words == "" {
		_, _ = conn.Write([]byte{22, 3, 1, 2, 0, 1, 0}) // the beginning of a record of TLS
	} else {
		conn = tls.Client(conn, &tls.Config{InsecureSkipVerify: true})
		_, _ = io.WriteString(conn, words)
	}
	c.closes(conn)
}

// closes waits until the gateway closes a connection.
func (c *gatewayClients) closes(conn net.Conn) {
	c.Helper()
	defer func() { _ = conn.Close() }()
	_ = conn.SetReadDeadline(time.Now().Add(patience))
	if _, err := io.Copy(io.Discard, conn); errors.Is(err, os.ErrDeadlineExceeded) {
		c.Errorf("the gateway keeps %s", conn.LocalAddr())
	}
}

// Others get in while hundreds of connections say nothing, which are closed.
func (c *gatewayClients) testFlood() {
	silent := make([]net.Conn, 300)
	for i := range silent {
		conn, err := net.Dial("tcp", c.address)
		if err != nil {
			c.Fatal(err)
		}
		silent[i] = conn
	}
	c.finish(c.user("office", "alice~plain", "--", "true")).mustBe(c.world, 0)
	var group sync.WaitGroup
	for _, conn := range silent {
		group.Go(func() { c.closes(conn) })
	}
	group.Wait()
}

// execURL is where a command in the workspace runs, through a relay or at the gateway itself.
func (c *gatewayClients) execURL(scheme, address string, command ...string) *url.URL {
	query := url.Values{gateway.KeyStdin: {"true"}, gateway.KeyStdout: {"true"}, gateway.KeyCommand: command}
	return &url.URL{
		Scheme: scheme, Host: address, Path: gateway.WorkspacePath(c.namespace, c.idOf("alice~plain")),
		RawQuery: query.Encode(),
	}
}

// A client is upgraded to SPDY, and creates no stream: it is sent away, and nothing was run.
func (c *gatewayClients) testNoStreams() {
	conn, err := tls.Dial("tcp", c.address, &tls.Config{InsecureSkipVerify: true})
	if err != nil {
		c.Fatal(err)
	}
	_, _ = fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\n"+
		"X-Stream-Protocol-Version: v4.channel.k8s.io\r\nAuthorization: Bearer %s\r\n\r\n",
		c.execURL("https", c.address, "sleep", "27181").RequestURI(), c.token)
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		c.Fatal(err)
	}
	_ = response.Body.Close()
	if response.StatusCode != http.StatusSwitchingProtocols {
		c.Fatalf("the status is %s", response.Status)
	}
	c.closes(conn)
	c.ended(conn.LocalAddr().String())
}

// whileRead is a script that ends with its input: a command that reads no input is told nothing when
// its client is gone, and goes on.
func whileRead(script string) []string {
	return []string{"sh", "-c", "{ " + script + "; } & cat; kill $!"}
}

// endlessly prints every number once.
func endlessly() []string { return whileRead("exec seq 1000000000") }

// counting is what a client gets of `seq`: every number once.
type counting struct {
	mu     sync.Mutex
	next   int
	line   []byte // what comes next
	bytes  int
	failed error
}

// Write implements io.Writer.
func (n *counting) Write(p []byte) (int, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, b := range p {
		if len(n.line) == 0 {
			n.next++
			n.line = append(strconv.AppendInt(nil, int64(n.next), 10), '\n')
		}
		if b != n.line[0] {
			n.failed = fmt.Errorf("byte %d is %q, want %q of %d", n.bytes, b, n.line[0], n.next)
			return 0, n.failed
		}
		n.line, n.bytes = n.line[1:], n.bytes+1
	}
	return len(p), nil
}

func (n *counting) got() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.bytes
}

// counts waits until a client has some more bytes.
func (c *gatewayClients) counts(n *counting, more int) {
	c.Helper()
	before := n.got()
	c.eventually(fmt.Sprintf("the client has %d bytes more than %d", more, before),
		func() bool { return n.got() >= before+more })
}

// endless runs a command that prints without end, and gives what a client gets of it through a
// relay, by a protocol.
func (c *gatewayClients) endless(protocol string, relay *slowRelay) *counting {
	c.Helper()
	seen, ended := &counting{}, make(chan error, 1)
	ctx, cancel := context.WithCancel(c.Context())
	go func() {
		if protocol == "SPDY" {
			ended <- c.overSPDY(ctx, relay.address, seen)
		} else {
			ended <- c.overWebSocket(ctx, relay.address, seen)
		}
	}()
	c.Cleanup(func() {
		cancel()
		err := <-ended
		seen.mu.Lock()
		defer seen.mu.Unlock()
		if seen.failed != nil {
			c.Errorf("%s: %v, %v", protocol, seen.failed, err)
		}
	})
	return seen
}

func (c *gatewayClients) overSPDY(ctx context.Context, address string, to io.Writer) error {
	config := &rest.Config{Host: address, BearerToken: c.token, TLSClientConfig: rest.TLSClientConfig{CAFile: c.ca}}
	executor, err := remotecommand.NewSPDYExecutor(config, http.MethodPost, c.execURL("https", address, endlessly()...))
	if err != nil {
		return err
	}
	in, end := io.Pipe()
	defer func() { _ = end.Close() }()
	return executor.StreamWithContext(ctx, remotecommand.StreamOptions{Stdin: in, Stdout: to})
}

// overWebSocket has no bound on how long it takes, as client-go's has.
func (c *gatewayClients) overWebSocket(ctx context.Context, address string, to io.Writer) error {
	config, err := websocket.NewConfig(c.execURL("wss", address, endlessly()...).String(), "https://"+address)
	if err != nil {
		return err
	}
	config.Protocol, config.TlsConfig = []string{"v5.channel.k8s.io"}, &tls.Config{InsecureSkipVerify: true}
	config.Header = http.Header{"Authorization": {"Bearer " + c.token}}
	conn, err := config.DialContext(ctx)
	if err != nil {
		return err
	}
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	for {
		var message []byte
		if err := websocket.Message.Receive(conn, &message); err != nil {
			return err
		}
		if len(message) > 0 && message[0] == 1 { // standard output
			if _, err := to.Write(message[1:]); err != nil {
				return err
			}
		}
	}
}

// Clients that read 1 KiB a second take no memory of the gateway, and nothing of those beside
// them; when they read at speed, they get what is theirs.
func (c *gatewayClients) testSlow() {
	before := c.memory()
	all := map[string]*counting{}
	for _, protocol := range []string{"websocket", "SPDY"} {
		relay := c.relays["slow "+protocol]
		all[protocol] = c.endless(protocol, relay)
		c.counts(all[protocol], 1)
		relay.passes(1 << 10)
	}
	sent := make([]byte, 5<<20)
	_, _ = rand.Read(sent)
	for range 3 {
		begun, cat := time.Now(), c.user("office", "-i", "alice~plain", "--", "sh", "-c", "cat; exit 5")
		cat.Stdin = bytes.NewReader(sent)
		if r := c.finish(cat); r.status != 5 || r.stdout != string(sent) {
			c.Errorf("status %d, %d bytes come back, %s", r.status, len(r.stdout), r.stderr)
		}
		c.Logf("5 MiB there and back took %s", time.Since(begun).Round(10*time.Millisecond))
	}
	for protocol, seen := range all {
		c.counts(seen, 5<<10)
		c.Logf("%s: %d KiB so far", protocol, seen.got()>>10)
	}
	after := c.memory()
	c.Logf("the gateway has %d KiB before, %d KiB beside slow clients", before>>10, after>>10)
	if after > before+maxGrowth {
		c.Errorf("slow clients take %d KiB", (after-before)>>10)
	}
	for protocol, seen := range all {
		c.relays["slow "+protocol].passes(atSpeed)
		c.counts(seen, 4<<20)
	}
}

// maxGrowth is how much more memory the gateway may have with all the clients of these tests.
const maxGrowth = 32 << 20

// A client at a terminal is gone without a word, with nothing on its way: the gateway notices, and
// hangs the shell up.
func (c *gatewayClients) testGoneIdle() {
	at := c.sit(c.user("idle", "alice~plain"))
	at.sees("# ")
	c.eventually("its shell is watched",
		func() bool { return strings.Contains(c.processes("alice~plain"), "berth-hangup") })
	at.types("sleep 27182\n")
	c.eventually("it sleeps", func() bool { return strings.Contains(c.processes("alice~plain"), "sleep 27182") })
	begun := time.Now()
	for _, address := range c.relays["idle"].goes(true) {
		c.ended(address)
	}
	took := time.Since(begun).Round(time.Second)
	c.Logf("the session ended after %s", took)
	if took > 2*time.Minute { // twice as long as keep-alive takes, and less than Go's own
		c.Errorf("that took %s", took)
	}
	c.eventually("the shell is hung up",
		func() bool { return !strings.Contains(c.processes("alice~plain"), "sleep 27182") })
	c.Logf("the shell was hung up after %s", time.Since(begun).Round(time.Second))
}

// A client is gone while something is on its way: the gateway notices, too.
func (c *gatewayClients) testGoneBusy() {
	in, end := io.Pipe()
	c.Cleanup(func() { _ = end.Close() })
	busy := c.user("busy", append([]string{"-i", "alice~plain", "--"},
		whileRead(": 27183; while echo tick; do sleep 0.1; done")...)...)
	busy.Stdin = in
	c.launch(busy).waitForLine("tick")
	if c.metric(openSessions) < 1 {
		c.Error("no session is counted")
	}
	begun := time.Now()
	for _, address := range c.relays["busy"].goes(false) {
		c.contains(c.ended(address), "the client does not answer any more")
	}
	c.Logf("the session ended after %s", time.Since(begun).Round(time.Second))
}
