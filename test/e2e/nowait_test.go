//go:build e2e

package e2e

import (
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	v1 "github.com/berthdev/berth/api/v1"
)

// With --no-wait beside another run, the other's job is reported.
func TestNoWaitBesideAnother(t *testing.T) {
	w := newWorld(t)
	came, goOn := make(chan struct{}), make(chan struct{})
	var once sync.Once
	kubeconfig := w.between(func(out http.ResponseWriter, r *http.Request, next http.Handler) {
		if isCreation(r, "pods") {
			once.Do(func() { close(came) })
			<-goOn
		}
		next.ServeHTTP(out, r)
	})
	cmd := w.command("provision", "alice~plain", "-o", "json")
	cmd.Env = append(cmd.Env, "KUBECONFIG="+kubeconfig)
	first := w.launch(cmd)
	select {
	case <-came:
	case <-time.After(patience):
		t.Error("the first run does not create a pod")
	}
	beside := w.berth("provision", "alice~plain", "--no-wait", "-o", "json")
	close(goOn)
	beside.mustBe(w, 0)
	r := first.wait()
	r.mustBe(w, 0)
	if theirs, named := decode[v1.Workspace](w, r).JobID, decode[v1.Workspace](w, beside).JobID; named != theirs {
		t.Errorf("the reported job is %q, want %q", named, theirs)
	}
}

func isCreation(r *http.Request, resource string) bool {
	return r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/"+resource)
}

// unanswered keeps a request open until the client gives up.
func unanswered(r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body) // only then is it noticed that the client is gone
	<-r.Context().Done()
	panic(http.ErrAbortHandler)
}

// A timeout with --no-wait, at any point: the report is true, and the same command
// then succeeds.
func TestNoWaitTimesOut(t *testing.T) {
	t.Parallel()
	for _, onFailure := range []string{"delete", "keep"} {
		for _, moment := range []string{"POST configmaps", "POST pods", "PUT secrets"} {
			t.Run(onFailure+" "+moment, func(t *testing.T) {
				w := newWorld(t)
				verb, resource, _ := strings.Cut(moment, " ")
				timeout := 8 * time.Second // enough to get as far as the request that is held back
				if verb == http.MethodPut {
					timeout = 20 * time.Second
				}
				// The pod is created shortly before the time is over, however fast the
				// machine is: completing the record has 5 s of its own.
				early, late := time.After(timeout-3*time.Second), time.After(timeout+time.Second/2)
				kubeconfig := w.between(func(out http.ResponseWriter, r *http.Request, next http.Handler) {
					switch {
					case verb == http.MethodPut && r.Method == verb && strings.Contains(r.URL.Path, "/"+resource+"/"):
						<-late
					case verb == http.MethodPut && isCreation(r, "pods"):
						<-early
					case isCreation(r, resource) && r.Method == verb:
						unanswered(r)
					}
					next.ServeHTTP(out, r)
				})
				args := []string{"provision", "alice~plain", "--no-wait", "--on-failure", onFailure, "-o", "json"}
				cmd := w.command(append(args, "--timeout", timeout.String())...)
				cmd.Env = append(cmd.Env, "KUBECONFIG="+kubeconfig)
				r := w.finish(cmd)
				left := w.leftovers()
				switch {
				case verb == http.MethodPut:
					r.mustBe(w, 0)
					w.onlyOneRelease(w.idOf("alice~plain"))
				case onFailure == "delete":
					r.mustBe(w, 5)
					e := decode[v1.Error](w, r)
					w.contains(e.Message, "timed out after "+timeout.String()+": not all of it is created yet")
					if e.Left != v1.LeftDeleted || len(left) > 0 {
						t.Errorf("left: %s, in truth %s", e.Left, left)
					}
				default:
					r.mustBe(w, 5)
					e := decode[v1.Error](w, r)
					w.contains(e.Message, "timed out after "+timeout.String()+": not all of it is created yet")
					if e.Left != v1.LeftKept || len(left) == 0 {
						t.Errorf("left: %s, in truth %s", e.Left, left)
					}
				}
				w.must(0, append(args, "--if-not-exists")...)
				w.onlyOneRelease(w.idOf("alice~plain"))
				w.must(0, "provision", "alice~plain", "--if-not-exists")
			})
		}
	}
}
