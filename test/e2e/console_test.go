//go:build e2e

package e2e

import (
	"crypto/tls"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/creack/pty"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berthdev/berth/internal/certtest"
	"github.com/berthdev/berth/internal/exec/machine"
	"github.com/berthdev/berth/internal/rbac"
)

// TestMachines are the tests of what works on the one API of machines of a cluster.
func TestMachines(t *testing.T) {
	parallel(t)
	m := newMachines(t)
	for _, test := range []struct {
		name string
		run  func(*machines)
	}{
		{"a session through the API server", (*machines).testSession},
		{"a direct session", (*machines).testDirectSession},
		{"a session through a gateway", (*machines).testGatewaySession},
		{"streams that are no terminal", (*machines).testStreams},
		{"what the API server refuses", (*machines).testRefusals},
		{"what is refused with --direct", (*machines).testDirectRefusals},
		{"permissions", (*machines).testPermissions},
		{"completion", (*machines).testCompletion},
		{"health", (*machines).testHealth},
		{"many endings", (*machines).testManyEndings},
		{"too many sessions", (*machines).testTooManySessions},
		{"a machine that goes away", (*machines).testGone},
		{"a target that goes away", (*machines).testTargetGone}, // for good
	} {
		t.Run(test.name, func(t *testing.T) {
			at := *m
			at.world = m.of(t)
			test.run(&at)
		})
	}
}

// session is a berth at a terminal.
type session struct {
	*world
	cmd *exec.Cmd
	tty *os.File
	out lockedBuffer
	end chan struct{}
}

// atTerminal starts berth in a terminal of 33 by 101.
func (w *world) atTerminal(args ...string) *session { return w.sessionWith(nil, args...) }

// sessionWith is atTerminal with more in its environment.
func (w *world) sessionWith(env []string, args ...string) *session {
	w.Helper()
	s := &session{world: w, cmd: w.command(args...), end: make(chan struct{})}
	s.cmd.Env = append(append(s.cmd.Env, "TERM=xterm-256color", "CI="), env...)
	tty, err := pty.StartWithSize(s.cmd, &pty.Winsize{Rows: 33, Cols: 101})
	if err != nil {
		w.Fatal(err)
	}
	s.tty = tty
	w.Cleanup(func() { _ = s.cmd.Process.Kill(); _ = tty.Close() })
	go func() {
		defer close(s.end)
		chunk := make([]byte, 4096)
		for {
			n, err := tty.Read(chunk)
			_, _ = s.out.Write(chunk[:n])
			if err != nil {
				return
			}
		}
	}()
	return s
}

func (s *session) types(keys string) {
	s.Helper()
	if _, err := s.tty.WriteString(keys); err != nil {
		s.Fatal(err)
	}
}

// shows waits until the terminal shows something.
func (s *session) shows(text string) {
	s.Helper()
	s.eventually("the terminal shows "+text, func() bool {
		select {
		case <-s.end:
			if !strings.Contains(s.out.String(), text) {
				s.Fatalf("the session ended; %q is not in\n%s", text, s.out.String())
			}
		default:
		}
		return strings.Contains(s.out.String(), text)
	})
}

func (s *session) resizes(rows, columns uint16) {
	s.Helper()
	if err := pty.Setsize(s.tty, &pty.Winsize{Rows: rows, Cols: columns}); err != nil {
		s.Fatal(err)
	}
}

// ends signals berth and waits for its end.
func (s *session) ends(signal os.Signal) (status int) {
	s.Helper()
	_ = s.cmd.Process.Signal(signal)
	_ = s.cmd.Wait()
	return s.cmd.ProcessState.ExitCode()
}

// used goes through what a console is for.
func (s *session) used() {
	s.Helper()
	s.shows("press Enter")
	s.shows("redraw 33 101") // though the console may have had that size before
	s.types("echo marker-$((40+2))\n")
	s.shows("marker-42")
	s.resizes(20, 70)
	s.shows("redraw 20 70")
	s.types("sleep 100\n\x03")
	s.shows("interrupted")
	s.types("stty size; echo after-$((1+1))\n")
	s.shows("after-2")
	if status := s.ends(os.Interrupt); status != 130 {
		s.Errorf("exit status %d:\n%s", status, s.out.String())
	}
}

// A console has been used before each time; its first size is that of the session before.
func (m *machines) testSession() {
	for range 2 {
		m.atTerminal("exec", "machine/web").used()
		s := m.atTerminal("exec", "machine/web")
		s.shows("redraw 33 101")
		s.types("\x1d")
		<-s.end
		if status := s.ends(os.Interrupt); status != 0 {
			m.Errorf("left with %d:\n%s", status, s.out.String())
		}
	}
	m.contains(m.output("logs", podAPI), "admin is connected with https://berth-gateway."+m.namespace+
		".svc:12319/apis/compute.ironcore.dev/namespaces/"+m.namespace+"/machines/web/exec")
	m.contains(m.gatewaySays(), `"user":"`+m.apiServer()+`"`)
}

// direct are the arguments for a machine of the pool that is reached from here.
func (m *machines) direct(machine string, more ...string) []string {
	return append([]string{"machine/" + machine, "--direct", "--poollet-ca", m.ca}, more...)
}

// user may read machines and pools, and use pools; a token says who they are.
func (m *machines) user() *world {
	m.Helper()
	return m.as(grant{m.namespace, mayRead}, grant{metav1.NamespaceAll, mayReadPools},
		grant{metav1.NamespaceAll, mayUsePools})
}

func (m *machines) testDirectSession() {
	defer m.near()()
	w := m.user()
	w.atTerminal(append([]string{"exec"}, m.direct("near")...)...).used()
	w.atTerminal("exec", "machine/near", "--direct", "--insecure-skip-tls-verify-backend").used()
	m.eventually("both have an audit line", func() bool { return m.audited(w) == 2 })
}

// A poollet's own port says that it lives, to anyone.
func (m *machines) testHealth() {
	client := &http.Client{Transport: &http.Transport{
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, //nolint:gosec // a test
	}}
	for _, path := range []string{"/healthz", "/readyz"} {
		answer, err := client.Get("https://127.0.0.1:" + m.port + path)
		if err != nil {
			m.Fatal(err)
		}
		_ = answer.Body.Close()
		if answer.StatusCode != http.StatusOK {
			m.Errorf("%s: %s", path, answer.Status)
		}
	}
}

// audited is how many sessions of a user have an audit line, which they have at their end.
func (m *machines) audited(user *world) int {
	return strings.Count(m.gatewaySays(), `"user":"system:serviceaccount:`+m.namespace+`:`+user.account+`"`)
}

// A gateway of the configuration takes no cluster, and no kubeconfig.
func (m *machines) testGatewaySession() {
	w, config := m.gatewayUser()
	s := w.sessionWith(config, "exec", "--gateway", "east", "machine/near")
	s.used()
	m.eventually("it has an audit line", func() bool { return m.audited(w) == 1 })
}

// gatewayUser has the gateway in the configuration, which the environment names, and no kubeconfig.
func (m *machines) gatewayUser() (w *world, env []string) {
	m.Helper()
	w = m.user()
	config := w.write(w.TempDir(), "config.yaml", fmt.Sprintf(
		"gateways: [{name: east, url: https://127.0.0.1:%s, ca: %s, namespace: %s, credential: {tokenFile: %s}}]\n",
		m.port, m.ca, m.namespace, w.write(w.TempDir(), "token", w.limited.BearerToken)))
	w.kubeconfig = filepath.Join(w.TempDir(), "none")
	return w, []string{"BERTH_CONFIG=" + config}
}

// What is not a terminal is passed as it is.
func (m *machines) testStreams() {
	cmd := m.command("exec", "machine/web")
	in, err := cmd.StdinPipe()
	if err != nil {
		m.Fatal(err)
	}
	p := m.launch(cmd)
	if _, err := in.Write([]byte("echo from-$((3+4))\n")); err != nil {
		m.Fatal(err)
	}
	m.eventually("it is printed", func() bool { return strings.Contains(p.stdout.String(), "from-7") })
	p.signal(os.Interrupt)
	if r := p.wait(); r.status != 130 || strings.Contains(r.stderr, "press Enter") {
		m.Errorf("%+v", r)
	}
}

// refused is a run that ends with 125, a code and these words.
func (w *world) refused(code string, words []string, args ...string) {
	w.Helper()
	w.contains(w.must(125, append([]string{"exec"}, args...)...).stderr, append(words, code)...)
}

// Each error of the API server has its code.
func (m *machines) testRefusals() {
	m.refused("NOT_FOUND", []string{`"none" not found`, "kubectl get machines"}, "machine/none")
	m.refused("FAILED", []string{"has no machine pool", "kubectl describe machine waiting"}, "machine/waiting")
	m.refused("NOT_FOUND", []string{`"gone" not found`, "ask who runs the machines"}, "machine/orphan")
	m.refused("UNAVAILABLE", []string{"no preferred addresses found for machine pool bare"},
		"machine/bare")
	m.refused("UNAVAILABLE", []string{"error dialing backend"}, "machine/nowhere")
	m.refused("NOT_FOUND", []string{"machine lost not found in namespace " + m.namespace}, "machine/lost")
	m.refused("NOT_FOUND", []string{"machine again not found in namespace " + m.namespace}, "machine/again")
	m.refused("NOT_FOUND", []string{"machine west in namespace " + m.namespace + " is not in machine pool east"},
		"machine/west")
	m.refused("UNAVAILABLE", []string{
		"the API server cannot open the console of machine broken",
		"the log of the gateway says why",
	}, "machine/broken")
	m.refused("UNAVAILABLE", []string{"the console of machine elsewhere cannot be reached"}, "machine/elsewhere")
	m.refused("INVALID_ARGUMENT", []string{"takes no command"}, "machine/web", "--", "ls")
	m.kubectl("get", "machines")
	for path, want := range map[string]string{"none": "not found", "web": "upgrade request required"} {
		said := m.output("get", "--raw",
			"/apis/"+machine.Group+"/"+machine.Version+"/namespaces/"+m.namespace+"/machines/"+
				path+"/exec")
		m.contains(said, want)
	}
}

// The same decisions, made here, and what the poollet says.
func (m *machines) testDirectRefusals() {
	defer m.near()()
	w := m.user()
	w.refused("NOT_FOUND", []string{"machine none not found"}, m.direct("none")...)
	w.refused("FAILED", []string{"has no machine pool", "kubectl describe machine waiting"}, m.direct("waiting")...)
	w.refused("NOT_FOUND", []string{"machine pool gone does not exist"}, m.direct("orphan")...)
	w.refused("UNAVAILABLE", []string{"machine pool bare has no address"}, m.direct("bare")...)
	w.refused("UNAVAILABLE", []string{"has no address of type Hostname", "it has ExternalIP"},
		m.direct("near", "--address-types", "Hostname")...)
	w.refused("UNAVAILABLE", []string{"127.0.0.1:1 cannot be reached"}, m.direct("nowhere")...)
	w.refused("NOT_FOUND", []string{"the poollet does not have machine lost", "machine lost not found in namespace " +
		m.namespace}, m.direct("lost")...)
	for _, broken := range []string{"closed", "broken", "elsewhere"} {
		w.refused("UNAVAILABLE", []string{"the console of machine " + broken +
			" cannot be reached; the log of the gateway says why"}, m.direct(broken)...)
	}
	m.contains(m.gatewaySays(), "the poollet may not see this machine", "the runtime does not answer",
		"redirects to https://elsewhere.example.com")
	m.refused("UNAUTHENTICATED", []string{"the client certificate is not valid"},
		m.direct("near")...) // of an administrator with a certificate of another authority
	w.refused("INVALID_ARGUMENT", []string{"--as"}, m.direct("near", "--as", "boss")...)
	m.eventually("those who got to the poollet have audit lines", func() bool { return m.audited(w) == 4 })
	w.refused("INVALID_ARGUMENT", []string{"--poollet-ca", "--insecure-skip-tls-verify-backend"}, "machine/near",
		"--direct")
	w.refused("UNAVAILABLE", []string{"certificate of the poollet", "127.0.0.1:" + m.port}, "machine/near", "--direct",
		"--poollet-ca", certtest.New(m.T).File)
	if n := m.audited(w); n != 4 {
		m.Errorf("credentials were sent: %d audit lines", n)
	}
}

// What is part of a permission to enter machines.
var (
	mayRead = []rbacv1.PolicyRule{{
		APIGroups: []string{machine.Group}, Resources: []string{"machines"},
		Verbs: []string{"get"},
	}}
	mayEnter = []rbacv1.PolicyRule{{
		APIGroups: []string{machine.Group}, Resources: []string{"machines/exec"},
		Verbs: []string{"create"},
	}}
	mayReadPools = []rbacv1.PolicyRule{{
		APIGroups: []string{machine.Group}, Resources: []string{"machinepools"},
		Verbs: []string{"get"},
	}}
	mayUsePools = mayUse("east")
)

func mayUse(pool string) []rbacv1.PolicyRule {
	return rbac.Named(rbac.EnterMachineByPool).PolicyRulesOf(pool)
}

// What is missing is named.
func (m *machines) testPermissions() {
	own := func(rules []rbacv1.PolicyRule) grant { return grant{m.namespace, rules} }
	all := func(rules []rbacv1.PolicyRule) grant { return grant{metav1.NamespaceAll, rules} }
	m.as(own(mayEnter)).atTerminal("exec", "machine/web").used()
	defer m.near()()
	near := m.direct("near")

	m.as(own(mayRead)).refused("PERMISSION_DENIED", []string{"machines.compute.ironcore.dev/exec", m.namespace},
		"machine/web")
	m.as(own(mayEnter)).refused("PERMISSION_DENIED", []string{"get machines.compute.ironcore.dev"}, near...)
	m.as(own(mayRead)).refused("PERMISSION_DENIED", []string{"get machinepools.compute.ironcore.dev"}, near...)
	m.as(own(mayRead), all(mayReadPools)).
		refused("PERMISSION_DENIED", []string{"machinepools.compute.ironcore.dev/proxy"}, near...)
	m.as(own(mayRead), all(mayReadPools), all(mayUse("west"))).
		refused("PERMISSION_DENIED", []string{"machinepools.compute.ironcore.dev/proxy"}, near...)
}

// One user has so many sessions; the next one is told when to try again.
func (m *machines) testTooManySessions() {
	defer m.near()()
	w := m.user()
	for range 4 {
		s := w.atTerminal(append([]string{"exec"}, m.direct("near")...)...)
		s.shows("redraw")
	}
	w.refused("UNAVAILABLE", []string{"too many", "try again in"}, m.direct("near")...)
}

// Anyone who is at the console of a machine that goes away is told.
func (m *machines) testGone() {
	s := m.atTerminal("exec", "machine/brief")
	s.shows("redraw 33 101")
	m.kubectl("delete", "pod", "brief", "--grace-period=0", "--force")
	s.shows("the console of machine/brief was closed by the other side")
	<-s.end
	_ = s.cmd.Wait()
	if status := s.cmd.ProcessState.ExitCode(); status != 125 {
		m.Errorf("exit status %d:\n%s", status, s.out.String())
	}
	m.refused("UNAVAILABLE", []string{
		"the session with the console of machine brief has ended",
		"the log of the gateway says why",
	}, "machine/brief")
}

// The poollet is there and what has its machines is not.
func (m *machines) testTargetGone() {
	m.kubectl("delete", "service", podTarget)
	m.eventually("nothing answers for the target", func() bool {
		slices, err := m.DiscoveryV1().EndpointSlices(m.namespace).
			List(m.Context(), metav1.ListOptions{LabelSelector: "kubernetes.io/service-name=" + podTarget})
		return err == nil && len(slices.Items) == 0
	})
	m.refused("UNAVAILABLE", []string{"the console of machine web cannot be reached; the log of the gateway says why"},
		"machine/web")
	m.contains(m.gatewaySays(), "the cluster cannot be reached")
}

func (m *machines) testCompletion() {
	m.offers([]string{"exec", "machine/"}, "machine/web\n", "machine/near\n")
}
