//go:build e2e

package e2e

import (
	"maps"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"k8s.io/client-go/rest"
)

// endingsVariable is how many sessions end each way: fewer than 500 unless it says so, for a run of everything.
const endingsVariable = "BERTH_TEST_ENDINGS"

func sessionsOfEachWay() int {
	if n, err := strconv.Atoi(os.Getenv(endingsVariable)); err == nil {
		return n
	}
	return 60
}

// manyEndings are sessions of `exit 3` each way, some at a time: none has another status than 3, or 125 where berth
// says that it does not know. On a cluster that is well, most are known.
func (w *world) manyEndings(atOnce int, ways map[string]func() *exec.Cmd) {
	w.Helper()
	sessions := sessionsOfEachWay()
	for way, command := range ways {
		var group sync.WaitGroup
		var known, begun atomic.Int32
		for range atOnce {
			group.Go(func() {
				for int(begun.Add(1)) <= sessions {
					run := command()
					said, err := run.CombinedOutput()
					if run.ProcessState == nil {
						w.Errorf("%s: %v", way, err)
						return
					}
					switch status := run.ProcessState.ExitCode(); status {
					case 3:
						known.Add(1)
					case 125:
						w.Logf("%s: %s", way, said)
					default:
						w.Errorf("%s: exit status %d\n%s", way, status, said)
					}
				}
			})
		}
		group.Wait()
		w.Logf("%s: the status of %d of %d sessions is known", way, known.Load(), sessions)
		if n := int(known.Load()); n < sessions*9/10 {
			w.Errorf("%s: the status of %d of %d sessions is known", way, n, sessions)
		}
	}
}

// overSPDY is the kubeconfig of a way to the API server on which WebSockets are not known.
func (w *world) overSPDY() string {
	w.Helper()
	old := *w
	old.limited = rest.CopyConfig(w.limited)
	old.limited.NextProtos = []string{"http/1.1"} // HTTP/2 has no upgrades
	return old.between(func(out http.ResponseWriter, r *http.Request, next http.Handler) {
		if strings.EqualFold(r.Header.Get("Upgrade"), "websocket") {
			out.WriteHeader(http.StatusForbidden)
			return
		}
		next.ServeHTTP(out, r)
	})
}

// Workspaces are entered over either protocol, with and without a gateway.
func (g *gatewayWorld) testManyEndings() {
	exit := []string{"alice~plain", "--", "sh", "-c", "exit 3"}
	old := *g.world
	old.kubeconfig = g.overSPDY()
	ways := map[string]func() *exec.Cmd{
		"WebSocket": func() *exec.Cmd { return g.command(append([]string{"exec"}, exit...)...) },
		"SPDY":      func() *exec.Cmd { return old.command(append([]string{"exec"}, exit...)...) },
	}
	for protocol, gateway := range protocols() {
		ways["a gateway, "+protocol] = func() *exec.Cmd {
			return g.user(append([]string{"exec", "--gateway", gateway}, exit...)...)
		}
	}
	g.manyEndings(8, ways)
}

// Machines are entered through the API server, directly and through a gateway. The gateway lets a user have four
// sessions.
func (m *machines) testManyEndings() {
	defer m.near()()
	w := m.user()
	m.manyEndings(3, m.exits("machine/shell", map[string]func() *exec.Cmd{
		"directly": func() *exec.Cmd { return w.command(append([]string{"exec"}, m.direct("shell")...)...) },
	}))
}

// exits are ways to a machine whose console is a shell of its own: those through a gateway, and more. What is typed
// ends the shell.
func (m *machines) exits(at string, more map[string]func() *exec.Cmd) map[string]func() *exec.Cmd {
	m.Helper()
	user, config := m.gatewayUser()
	ways := map[string]func() *exec.Cmd{
		"a gateway": func() *exec.Cmd {
			cmd := user.command("exec", "--gateway", "east", at)
			cmd.Env = append(cmd.Env, config...)
			return cmd
		},
	}
	maps.Copy(ways, more)
	for way, command := range ways {
		ways[way] = func() *exec.Cmd {
			cmd := command()
			cmd.Stdin = strings.NewReader("exit 3\n")
			return cmd
		}
	}
	return ways
}
