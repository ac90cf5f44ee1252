//go:build e2e

package e2e

import (
	"os/exec"
	"sync"
	"sync/atomic"
)

// Of 500 sessions of `exit 3` each way, 8 at a time, none has another status than 3, or 125 where berth says that it
// does not know. On a cluster that is well, most are known.
func (g *gatewayWorld) testManyEndings() {
	const sessions, atOnce = 500, 8
	for way, command := range map[string]func() *exec.Cmd{
		"pods": func() *exec.Cmd { return g.command("exec", "alice~plain", "--", "sh", "-c", "exit 3") },
		"gateway": func() *exec.Cmd {
			return g.user("exec", "--gateway", "office", "alice~plain", "--", "sh", "-c", "exit 3")
		},
	} {
		var group sync.WaitGroup
		var known, begun atomic.Int32
		for range atOnce {
			group.Go(func() {
				for begun.Add(1) <= sessions {
					run := command()
					said, err := run.CombinedOutput()
					if run.ProcessState == nil {
						g.Errorf("%s: %v", way, err)
						return
					}
					switch status := run.ProcessState.ExitCode(); status {
					case 3:
						known.Add(1)
					case 125:
						g.Logf("%s: %s", way, said)
					default:
						g.Errorf("%s: exit status %d\n%s", way, status, said)
					}
				}
			})
		}
		group.Wait()
		if n := known.Load(); n < sessions*9/10 {
			g.Errorf("%s: the status of %d of %d sessions is known", way, n, sessions)
		}
	}
}
