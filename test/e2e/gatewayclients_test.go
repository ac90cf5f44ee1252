//go:build e2e

package e2e

import (
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/berthdev/berth/internal/certtest"
	"github.com/berthdev/berth/internal/exec/gateway"
)

// gatewayClients is a world with a workspace, alice~plain, and a gateway that is a process of this
// host. Users have a token, and may do nothing but enter.
type gatewayClients struct {
	*world
	process          *process
	address, metrics string
	ca, token, home  string
	relays           map[string]*slowRelay // in front of the gateway, by their names in the configuration
}

// TestGatewayClients are clients that a gateway has to endure, all at the same time: they take
// nothing from others, and nothing is left of them.
func TestGatewayClients(t *testing.T) {
	c := newGatewayClients(newWorld(t))
	before := c.processes("alice~plain")
	memory, files := c.memory(), c.metric("process_open_fds")
	clients := map[string]func(*testing.T){}
	for name, run := range map[string]func(*gatewayClients){
		"half a handshake":                    func(c *gatewayClients) { c.cutOff("") },
		"half a header":                       func(c *gatewayClients) { c.cutOff("POST / HTTP/1.1\r\nHost: loc") },
		"a flood that says nothing":           (*gatewayClients).testFlood,
		"streams that never come":             (*gatewayClients).testNoStreams,
		"slow ones":                           (*gatewayClients).testSlow,
		"one that is gone while it is idle":   (*gatewayClients).testGoneIdle,
		"one that is gone while it is served": (*gatewayClients).testGoneBusy,
	} {
		clients[name] = func(t *testing.T) {
			at := *c
			at.world = c.of(t)
			run(&at)
		}
	}
	beside(t, len(clients), clients) // they wait more than they work
	c.eventually("no session is open", func() bool { return c.metric(openSessions) == 0 })
	c.eventually("no connection is left", func() bool { return c.metric("process_open_fds") <= files+2 })
	now := ""
	count := func(text string) int { return strings.Count(text, "\n") }
	c.eventually("no process is left in the pod", func() bool {
		now = c.processes("alice~plain")
		return count(now) <= count(before)
	})
	for _, left := range []string{"2718", "seq", "sh -l", "berth-hangup"} {
		if strings.Contains(now, left) {
			t.Errorf("left:\n%s", now)
		}
	}
	t.Logf("%d KiB before, %d KiB after", memory>>10, c.memory()>>10)
}

const openSessions = `berth_sessions_open{kind="workspace"}`

func newGatewayClients(w *world) *gatewayClients {
	w.Helper()
	authority := certtest.New(w)
	pair := authority.Issue(time.Now().Add(time.Hour), "127.0.0.1")
	c := &gatewayClients{
		world: w, address: w.free(), metrics: w.free(), ca: authority.File,
		relays: map[string]*slowRelay{},
	}
	serve := w.command("serve", "gateway", "--listen", c.address, "--metrics-listen", c.metrics,
		// clients are looked after every two seconds
		"--tls-cert", pair.Cert, "--tls-key", pair.Key, "--allowed-for", "20s")
	serve.Env = append(serve.Env, "KUBECONFIG="+w.admin)
	c.process = w.launch(serve)
	w.Cleanup(func() {
		if w.Failed() {
			w.Logf("the gateway says:\n%s", c.process.stderr.String())
		}
	})
	w.must(0, "provision", "alice~plain")
	c.token = w.token("user")
	w.bind(w.namespace, "enter", []rbacv1.PolicyRule{{
		APIGroups: []string{gateway.Group},
		Resources: []string{"workspaces/exec"}, Verbs: []string{"create"},
	}},
		[]rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Name: "user", Namespace: w.namespace}})
	for _, name := range []string{"slow websocket", "slow SPDY", "idle", "busy"} {
		c.relays[name] = w.newSlowRelay(c.address)
	}
	c.configure()
	w.eventually("the user is let in",
		func() bool { return c.finish(c.user("office", "alice~plain", "--", "true")).status == 0 })
	return c
}

// configure writes the configuration of the user.
func (c *gatewayClients) configure() {
	c.Helper()
	c.home = c.TempDir()
	text := "gateways:\n"
	named := func(name, address string) {
		text += fmt.Sprintf("- {name: %s, url: %q, ca: %q, credential: {tokenFile: %q}}\n", name, "https://"+address,
			c.ca, filepath.Join(c.home, "token"))
	}
	named("office", c.address)
	named("idle", c.relays["idle"].address)
	named("busy", c.relays["busy"].address)
	if err := os.Mkdir(filepath.Join(c.home, "berth"), 0o700); err != nil {
		c.Fatal(err)
	}
	c.write(filepath.Join(c.home, "berth"), "config.yaml", text)
	c.write(c.home, "token", c.token)
}

// user is berth exec as the user runs it.
func (c *gatewayClients) user(gateway string, args ...string) *exec.Cmd {
	c.Helper()
	cmd := c.command(append([]string{"exec", "--gateway", gateway}, args...)...)
	cmd.Env = append(cmd.Env, "KUBECONFIG=/dev/null", "XDG_CONFIG_HOME="+c.home)
	return cmd
}

// metric is one that the gateway has; 0 if it has none of this name yet.
func (c *gatewayClients) metric(name string) (value int) {
	c.Helper()
	client := http.Client{Transport: &http.Transport{
		TLSClientConfig:   &tls.Config{InsecureSkipVerify: true},
		DisableKeepAlives: true,
	}}
	response, err := client.Get("https://" + c.metrics + "/metrics")
	if err != nil {
		c.Fatal(err)
	}
	defer response.Body.Close()
	text, _ := io.ReadAll(response.Body)
	for line := range strings.Lines(string(text)) {
		if after, found := strings.CutPrefix(line, name+" "); found {
			number, _ := strconv.ParseFloat(strings.TrimSpace(after), 64)
			return int(number)
		}
	}
	return 0
}

// memory is how much the gateway has that is no file's.
func (c *gatewayClients) memory() int {
	c.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", c.process.cmd.Process.Pid))
	_, after, found := strings.Cut(string(text), "RssAnon:")
	fields := strings.Fields(after)
	if err != nil || !found || len(fields) < 2 {
		c.Fatalf("the memory of the gateway is not known: %v", err)
	}
	kibibytes, _ := strconv.Atoi(fields[0])
	return kibibytes << 10
}

// ended waits for the audit line of the session of a client with this address.
func (c *gatewayClients) ended(address string) (line string) {
	c.Helper()
	c.eventually("the session from "+address+" has ended", func() bool {
		for line = range strings.Lines(c.process.stderr.String()) {
			if strings.Contains(line, `"from":"`+address+`"`) {
				return true
			}
		}
		return false
	})
	return line
}

// free is an address that nobody listens on.
func (w *world) free() string {
	w.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		w.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	return listener.Addr().String()
}
