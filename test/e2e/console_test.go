//go:build e2e

package e2e

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/creack/pty"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berthdev/berth/internal/certtest"
	"github.com/berthdev/berth/internal/exec/machine"
)

// TestMachines are the tests of what works on the one API of machines of a cluster.
func TestMachines(t *testing.T) {
	t.Parallel()
	m := newMachines(t)
	for _, test := range []struct {
		name string
		run  func(*machines)
	}{
		{"a session through the API server", (*machines).testSession},
		{"a direct session", (*machines).testDirectSession},
		{"streams that are no terminal", (*machines).testStreams},
		{"what the API server refuses", (*machines).testRefusals},
		{"what is refused with --direct", (*machines).testDirectRefusals},
		{"permissions", (*machines).testPermissions},
		{"completion", (*machines).testCompletion},
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
func (w *world) atTerminal(args ...string) *session {
	w.Helper()
	s := &session{world: w, cmd: w.command(args...), end: make(chan struct{})}
	s.cmd.Env = append(s.cmd.Env, "TERM=xterm-256color", "CI=")
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
	m.contains(m.output("logs", "machines"), "admin is connected with https://poollet."+m.namespace+".svc:12319/apis/compute.ironcore.dev/namespaces/"+m.namespace+"/machines/web/exec")
}

func (m *machines) testDirectSession() {
	m.atTerminal("exec", "machine/near", "--direct", "--poollet-ca", m.authority.File).used()
	m.atTerminal("exec", "machine/near", "--direct", "--insecure-skip-tls-verify-backend").used()
	m.contains(m.output("logs", "poollet"), "entered by admin") // who has a client certificate
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
	m.refused("NOT_FOUND", []string{`"gone" not found`}, "machine/orphan")
	m.refused("UNAVAILABLE", []string{"machine pool bare has no address"}, "machine/bare")
	m.refused("UNAVAILABLE", []string{"error dialing backend"}, "machine/nowhere")
	m.refused("INVALID_ARGUMENT", []string{"takes no command"}, "machine/web", "--", "ls")
	m.kubectl("get", "machines")
	for path, want := range map[string]string{"none": "not found", "web": "upgrade request required"} {
		said := m.output("get", "--raw", "/apis/"+machine.Group+"/"+machine.Version+"/namespaces/"+m.namespace+"/machines/"+path+"/exec")
		m.contains(said, want)
	}
}

// The same decisions, made here, and what the poollet says.
func (m *machines) testDirectRefusals() {
	direct := func(machine string, more ...string) []string {
		return append([]string{"machine/" + machine, "--direct", "--poollet-ca", m.authority.File}, more...)
	}
	m.refused("NOT_FOUND", []string{"machine none not found"}, direct("none")...)
	m.refused("FAILED", []string{"has no machine pool", "kubectl describe machine waiting"}, direct("waiting")...)
	m.refused("NOT_FOUND", []string{"machine pool gone does not exist"}, direct("orphan")...)
	m.refused("UNAVAILABLE", []string{"machine pool bare has no address"}, direct("bare")...)
	m.refused("UNAVAILABLE", []string{"has no address of type Hostname", "it has ExternalIP"}, direct("near", "--address-types", "Hostname")...)
	m.refused("UNAVAILABLE", []string{"127.0.0.1:1 cannot be reached"}, direct("nowhere")...)
	m.refused("NOT_FOUND", []string{"machine lost is not known here"}, direct("lost")...)
	m.refused("UNAVAILABLE", []string{"too many open requests", "in 7 s"}, direct("busy")...)
	m.refused("UNAVAILABLE", []string{"the runtime does not answer"}, direct("broken")...)
	m.refused("UNAVAILABLE", []string{"redirects to elsewhere.example.com"}, direct("elsewhere")...)
	m.refused("INVALID_ARGUMENT", []string{"--as"}, direct("near", "--as", "boss")...)
	before := m.output("logs", "poollet")
	m.refused("INVALID_ARGUMENT", []string{"--poollet-ca", "--insecure-skip-tls-verify-backend"}, "machine/near", "--direct")
	m.refused("UNAVAILABLE", []string{"certificate of the poollet", "127.0.0.1:" + m.port}, "machine/near", "--direct", "--poollet-ca", certtest.New(m.T).File)
	if after := m.output("logs", "poollet"); strings.Count(after, "entered by") != strings.Count(before, "entered by") {
		m.Errorf("credentials were sent:\n%s", after)
	}
}

// What is missing is named; a token is enough for the poollet.
func (m *machines) testPermissions() {
	reads := []rbacv1.PolicyRule{{APIGroups: []string{machine.Group}, Resources: []string{"machines"}, Verbs: []string{"get"}}}
	pools := []rbacv1.PolicyRule{{APIGroups: []string{machine.Group}, Resources: []string{"machinepools"}, Verbs: []string{"get"}}}
	enters := []rbacv1.PolicyRule{{APIGroups: []string{machine.Group}, Resources: []string{"machines/exec"}, Verbs: []string{"create"}}}
	uses := []rbacv1.PolicyRule{{APIGroups: []string{machine.Group}, Resources: []string{"machinepools/proxy"}, Verbs: []string{"create"}}}
	direct := []string{"machine/near", "--direct", "--poollet-ca", m.authority.File}
	own := func(rules []rbacv1.PolicyRule) grant { return grant{m.namespace, rules} }
	all := func(rules []rbacv1.PolicyRule) grant { return grant{metav1.NamespaceAll, rules} }

	m.as(own(reads)).refused("PERMISSION_DENIED", []string{"machines.compute.ironcore.dev/exec", m.namespace}, "machine/web")
	m.as(own(enters)).refused("PERMISSION_DENIED", []string{"get machines.compute.ironcore.dev"}, direct...)
	m.as(own(reads)).refused("PERMISSION_DENIED", []string{"get machinepools.compute.ironcore.dev"}, direct...)
	m.as(own(reads), all(pools)).refused("PERMISSION_DENIED", []string{"machinepools.compute.ironcore.dev/proxy"}, direct...)

	m.as(own(enters)).atTerminal("exec", "machine/web").used()
	w := m.as(own(reads), all(pools), all(uses))
	w.atTerminal(append([]string{"exec"}, direct...)...).used()
	m.contains(m.output("logs", "poollet"), "entered by system:serviceaccount:"+m.namespace+":"+w.account)
}

func (m *machines) testCompletion() {
	m.contains(m.must(0, "__complete", "exec", "machine/").stdout, "machine/web\n", "machine/near\n")
}
