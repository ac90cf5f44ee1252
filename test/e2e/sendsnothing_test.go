//go:build e2e

package e2e

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"golang.org/x/net/dns/dnsmessage"

	"github.com/berthdev/berth/internal/commands"
)

// everyCommand has a line of each command, in an order in which they work: an exit status if it is not 0, or any for
// one that goes on until it is ended or that finds what others have made, and the arguments. DIR has files; INSTANCE is
// a bundle instance, and SYSTEM the flag about its namespace.
const everyCommand = `
version
help exit-codes
completion bash
completion fish
completion powershell
completion zsh
__complete status a
__complete provision alice~
doctor
resolve alice
blueprint list
blueprint show default
blueprint validate DIR/team.yaml
blueprint convert DIR/team.yaml
provision alice
__complete exec al
status
status alice
diagnose alice
explain CrashLoop
logs alice
exec alice -- true
cp DIR/team.yaml alice:/tmp/team.yaml
any port-forward alice 0:80
ssh config --print
ssh alice true
3 open alice --editor zed
jobs
jobs stats
stop alice
start alice
restart alice
update alice --yes
reconcile --trust-records
bundle validate DIR/shop
bundle template DIR/shop
bundle unpack DIR/shop DIR/unpacked
bundle install INSTANCE DIR/shop SYSTEM
bundle diff INSTANCE DIR/store SYSTEM
bundle install INSTANCE DIR/store SYSTEM
bundle list SYSTEM
bundle status INSTANCE SYSTEM
bundle history INSTANCE SYSTEM
bundle rollback INSTANCE SYSTEM
bundle content INSTANCE DIR/content SYSTEM
any bundle reconcile SYSTEM
bundle definitions
bundle uninstall INSTANCE SYSTEM
any volume list
any volume read 1f0c9a2b4d:notes
any volume cp 1f0c9a2b4d:notes DIR/notes
any volume restore 1f0c9a2b4d --to DIR/restored
any volume purge 1f0c9a2b4d --yes
serve manifests bundles
serve manifests gateway
serve manifests volumes
serve manifests workspaces
any serve bundles --kubeconfig DIR/nowhere
any serve gateway --kubeconfig DIR/nowhere
any serve volumes --kubeconfig DIR/nowhere
any serve workspaces --kubeconfig DIR/nowhere
delete alice --yes
`

// berth sends nothing to anybody but the cluster: no command asks a resolver for a name, or a proxy for a host, if what
// it is given names none.
func TestSendsNothing(t *testing.T) {
	w := newBundles(t)
	heard := listenToNames(t)
	dir := w.sampleFiles()
	replace := strings.NewReplacer("DIR", dir, "INSTANCE", w.instance(), "SYSTEM", "--system-namespace="+w.namespace)
	tested := map[string]bool{}
	for line := range strings.SplitSeq(strings.TrimSpace(everyCommand), "\n") {
		args := strings.Fields(replace.Replace(line))
		want, within := 0, "120"
		if args[0] == "any" {
			within, args = "5", args[1:]
		}
		if status, err := strconv.Atoi(args[0]); err == nil {
			want, args = status, args[1:]
		}
		if command, _, err := commands.Tree().Find(args); err == nil {
			tested[command.CommandPath()] = true
		}
		r := w.finish(heard.hears(within, w.command(args...)))
		if r.status != want && within == "120" {
			t.Errorf("berth %s: status %d, want %d\n%s%s", line, r.status, want, r.stdout, r.stderr)
		}
		if asked := heard.take(); len(asked) > 0 {
			t.Errorf("berth %s asks for %q", line, asked)
		}
	}
	for _, path := range commands.Paths() {
		if !tested[path] {
			t.Errorf("%s is not tried: everyCommand needs a line of it", path)
		}
	}
	// What names a host is heard: otherwise nothing would be, whatever a command does.
	w.finish(heard.hears("120", w.command("bundle", "template", "https://bundles.example.com/shop.tgz")))
	w.finish(heard.hears("120", w.command("bundle", "template", "ssh://git@git.example.com/shop", "--branch", "main")))
	if asked := heard.take(); !slices.Contains(asked, "bundles.example.com:443") ||
		!slices.ContainsFunc(asked, func(name string) bool { return strings.HasPrefix(name, "git.example.com.") }) {
		t.Errorf("of two hosts that are named, these are heard: %q", asked)
	}
}

// sampleFiles is a directory with what the lines name.
func (w *world) sampleFiles() string {
	w.Helper()
	dir := w.TempDir()
	w.write(dir, "team.yaml", "blueprints: [{name: team, template: base}]")
	w.write(dir, "nowhere", `{apiVersion: v1, kind: Config,
clusters: [{name: a, cluster: {server: "https://127.0.0.1:1"}}],
contexts: [{name: a, context: {cluster: a}}], current-context: a}`)
	for _, bundle := range []string{"shop", "store"} {
		manifests := filepath.Join(dir, bundle, "manifests")
		if err := os.MkdirAll(manifests, 0o755); err != nil {
			w.Fatal(err)
		}
		w.write(manifests, "all.yaml", configMap(bundle, "one"))
	}
	return dir
}

// hearing has the names that a program asks for: of a resolver, with the dot at their end, or of a proxy, with their
// ports.
type hearing struct {
	resolver, proxy string // addresses
	config          string // the file that names the resolver

	mu   sync.Mutex
	seen []string
}

// listenToNames starts a resolver that knows no name, and a proxy that reaches no host. Both are on loopback.
func listenToNames(t *testing.T) *hearing {
	t.Helper()
	n := &hearing{resolver: fmt.Sprintf("127.83.%d.%d", os.Getpid()>>8&0xff, os.Getpid()&0xff)}
	var listen net.ListenConfig
	packets, err := listen.ListenPacket(t.Context(), "udp", net.JoinHostPort(n.resolver, "53"))
	if err != nil {
		t.Fatal(err)
	}
	connections, err := listen.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	n.proxy = "http://" + connections.Addr().String()
	n.config = filepath.Join(t.TempDir(), "resolv.conf")
	if err := os.WriteFile(n.config, []byte("nameserver "+n.resolver+"\noptions attempts:1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	group.Go(func() { n.resolve(packets) })
	group.Go(func() { n.refuse(connections) })
	t.Cleanup(func() {
		_, _ = packets.Close(), connections.Close()
		group.Wait()
	})
	return n
}

// hears has a program ask this resolver and this proxy, for some seconds at most: in a mount namespace, so that nobody
// else does.
func (n *hearing) hears(seconds string, cmd *exec.Cmd) *exec.Cmd {
	const inside = `mount --bind "$0" /etc/resolv.conf && exec timeout "$@"`
	args := append([]string{"--mount", "sh", "-c", inside, n.config, seconds, cmd.Path}, cmd.Args[1:]...)
	inNamespace := exec.CommandContext(context.Background(), "unshare", args...)
	inNamespace.Env = append(slices.Clone(cmd.Env), "HTTP_PROXY="+n.proxy, "HTTPS_PROXY="+n.proxy, "ALL_PROXY="+n.proxy,
		"NO_PROXY=")
	return inNamespace
}

func (n *hearing) note(name string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.seen = append(n.seen, name)
}

// take gives the names that were asked for since it was called last.
func (n *hearing) take() (seen []string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	seen, n.seen = n.seen, nil
	return seen
}

// resolve answers that no name exists.
func (n *hearing) resolve(packets net.PacketConn) {
	buffer := make([]byte, 4096)
	for {
		size, from, err := packets.ReadFrom(buffer)
		if err != nil {
			return
		}
		var m dnsmessage.Message
		if m.Unpack(buffer[:size]) != nil || len(m.Questions) == 0 {
			n.note("a packet that is no question")
			continue
		}
		n.note(m.Questions[0].Name.String())
		answer := dnsmessage.Message{
			Header:    dnsmessage.Header{ID: m.ID, Response: true, RCode: dnsmessage.RCodeNameError},
			Questions: m.Questions,
		}
		if packed, err := answer.Pack(); err == nil {
			_, _ = packets.WriteTo(packed, from)
		}
	}
}

// refuse answers that no host is reached.
func (n *hearing) refuse(connections net.Listener) {
	for {
		c, err := connections.Accept()
		if err != nil {
			return
		}
		line, _ := bufio.NewReader(c).ReadString('\n')
		if _, host, ok := strings.Cut(strings.TrimSpace(line), " "); ok {
			host, _, _ = strings.Cut(host, " ")
			n.note(host)
		}
		_, _ = fmt.Fprint(c, "HTTP/1.1 502 Bad Gateway\r\nConnection: close\r\n\r\n")
		_ = c.Close()
	}
}
