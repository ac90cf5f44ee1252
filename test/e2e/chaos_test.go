//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/berthdev/berth/internal/blueprint"
	"github.com/berthdev/berth/internal/blueprint/catalog"
	"github.com/berthdev/berth/internal/event"
	"github.com/berthdev/berth/internal/identity"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/provision"
	"github.com/berthdev/berth/internal/provision/deploy"
	"github.com/berthdev/berth/internal/provision/inventory"
	"github.com/berthdev/berth/internal/userstring"
	"github.com/berthdev/berth/internal/watch/cause"
)

// rounds is how often something is tried: a few times with every test, and as often
// as it takes to believe it in `make chaos` (BERTH_TEST_CHAOS=full).
func rounds(few, full int) int {
	if os.Getenv("BERTH_TEST_CHAOS") == "full" {
		return full
	}
	return few
}

// dice are the same in each run with the same BERTH_TEST_SEED, which is logged.
func dice(t *testing.T) *rand.Rand {
	t.Helper()
	seed, err := strconv.ParseUint(os.Getenv("BERTH_TEST_SEED"), 10, 64)
	if err != nil {
		seed = rand.Uint64()
	}
	t.Logf("BERTH_TEST_SEED=%d", seed)
	return rand.New(rand.NewPCG(seed, seed))
}

// Killed at any moment, and the command that heals it killed as well, a workspace
// comes up or goes away with the next one, and nothing is left.
func TestChaosKilled(t *testing.T) {
	t.Parallel()
	random := dice(t)
	for n := range rounds(8, 200) {
		all := victims("plain")
		v := all[n%len(all)]
		first, second := shortly(random), shortly(random)
		t.Run(fmt.Sprintf("%s after %s and %s", v.name, first, second), func(t *testing.T) {
			w := newWorld(t)
			args, again := v.prepare(w)
			w.killedAfter(first, args...)
			w.killedAfter(second, args...)
			again()
			w.nothingIsLeft()
		})
	}
}

// shortly is a time within which a command does most of its work.
func shortly(random *rand.Rand) time.Duration {
	return time.Duration(random.IntN(900)) * time.Millisecond
}

// killedAfter runs a command and kills it after a time, unless it has ended.
func (w *world) killedAfter(after time.Duration, args ...string) {
	w.Helper()
	run := w.start(args...)
	killer := time.AfterFunc(after, func() { _ = run.cmd.Process.Kill() })
	defer killer.Stop()
	run.wait()
}

// Thirty workspaces at once, each by a command of its own.
func TestChaosDifferentAtOnce(t *testing.T) {
	w := newWorld(t)
	n := rounds(6, 30)
	for _, verb := range [][]string{{"provision"}, {"delete"}} {
		var runs []*process
		for i := range n {
			runs = append(runs, w.start(append(verb, fmt.Sprintf("user%d~plain", i))...))
		}
		for _, run := range runs {
			run.wait().mustBe(w, 0)
		}
	}
	w.nothingIsLeft()
}

// What others do with their own tools between two commands, or beside one, breaks
// neither of them: a pod, a ConfigMap or the release is removed, a label is changed.
func TestChaosBetween(t *testing.T) {
	t.Parallel()
	for name, do := range map[string]func(w *world, id string){
		"helm uninstall": func(w *world, id string) {
			w.asAdmin(os.Getenv("BERTH_TEST_HELM"), "uninstall", id, "--ignore-not-found")
		},
		"the pod deleted": func(w *world,
			id string,
		) {
			w.kubectl("delete", "pod", id, "--wait=false", "--ignore-not-found")
		},
		"a ConfigMap deleted": func(w *world,
			id string,
		) {
			w.kubectl("delete", "configmap", id+"-config", "--ignore-not-found")
		},
		"the record deleted": func(w *world, _ string) { w.kubectl("delete", "secret", "--selector", "owner=helm") },
		"the pod labelled":   func(w *world, id string) { w.kubectl("label", "pod", id, "by=somebody") },
		"a ConfigMap edited": func(w *world, id string) {
			w.kubectl("annotate", "configmap", id+"-config",
				"by=somebody")
		},
		"everything annotated": func(w *world,
			_ string,
		) {
			w.kubectl("annotate", "pods,services,configmaps", "--all", "by=somebody")
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			id := w.idOf("alice~plain")
			w.must(0, "provision", "alice~plain")
			do(w, id)
			w.must(0, "provision", "alice~plain", "--if-not-exists")
			w.must(0, "exec", "alice~plain", "--", "true")
			do(w, id)
			w.must(0, "delete", "alice~plain", "--ignore-not-found")
			w.nothingIsLeft()
		})
	}
}

// kubectl runs kubectl; its flags come first, as there may be a command at the end.
func (w *world) kubectl(args ...string) {
	w.Helper()
	flags := []string{"--namespace", w.namespace, "--kubeconfig", w.admin}
	w.tool(os.Getenv("BERTH_TEST_KUBECTL"), append(flags, args...))
}

// asAdmin runs another tool.
func (w *world) asAdmin(program string, args ...string) {
	w.Helper()
	w.tool(program, append(args, "--namespace", w.namespace, "--kubeconfig", w.admin))
}

func (w *world) tool(program string, args []string) {
	w.Helper()
	out, err := exec.Command(program, args...).CombinedOutput()
	if err != nil {
		w.Fatalf("%s %s: %v\n%s", program, args, err, out)
	}
}

// A third party that writes to the workload all the time neither stops an injection
// nor loses what it wrote.
func TestChaosThirdParty(t *testing.T) {
	t.Parallel()
	for n := range rounds(1, 8) {
		t.Run(strconv.Itoa(n), func(t *testing.T) {
			w := newWorld(t)
			web := w.workload("deployment", 1, nil)
			user := web.user("plain")
			done, last := make(chan struct{}), make(chan int, 1)
			go func() { last <- web.writeUntil(done) }()
			w.must(0, "provision", user)
			w.must(0, "exec", user, "--", "true")
			w.must(0, "delete", user)
			close(done)
			want := strconv.Itoa(<-last)
			if got := web.get().GetAnnotations()[othersCount]; got != want {
				t.Errorf("the other's annotation is %q, want %q", got, want)
			}
			web.nothingIsLeft()
		})
	}
}

// othersCount is the annotation that a third party writes.
const othersCount = "example.com/count"

// writeUntil counts in an annotation of the workload, a hundred times a second if the
// API server is fast enough, until it is done. It returns the last number that
// was written.
func (tg *target) writeUntil(done <-chan struct{}) (last int) {
	ticks := time.NewTicker(10 * time.Millisecond)
	defer ticks.Stop()
	for i := 1; ; i++ {
		select {
		case <-done:
			return last
		case <-ticks.C:
		}
		patch := fmt.Sprintf(`{"metadata": {"annotations": {%q: "%d"}}}`, othersCount, i)
		if _, err := tg.api.Patch(tg.Context(), "web", types.MergePatchType, []byte(patch),
			metav1.PatchOptions{}); err != nil {
			if tg.Context().Err() == nil {
				tg.Errorf("write %d: %v", i, err)
			}
			return last
		}
		last = i
	}
}

// The clock of the client is wrong by ten minutes: nothing depends on it.
func TestChaosClock(t *testing.T) {
	t.Parallel()
	for _, off := range []time.Duration{-10 * time.Minute, 10 * time.Minute} {
		t.Run(off.String(), func(t *testing.T) {
			w := newWorld(t)
			now := func() time.Time { return time.Now().Add(off) }
			untyped, err := dynamic.NewForConfig(w.config)
			if err != nil {
				t.Fatal(err)
			}
			p := &provision.Provisioner{Environment: provision.Environment{
				Reader: inventory.Reader{
					Client: &kube.Client{
						Interface: w.Interface, Dynamic: untyped, Config: w.config,
						Namespace: w.namespace,
					},
					Policy: cause.DefaultPolicy(), Now: now,
				},
				Users:        anyUser{},
				Repositories: noRepositories{},
				Blueprints: func(context.Context) (*catalog.Set,
					error,
				) {
					return catalog.Load("testdata/blueprints")
				},
				DefaultBlueprint: "default",
			}}
			u, err := userstring.Parse("alice~plain")
			if err != nil {
				t.Fatal(err)
			}
			if _, err := p.Provision(t.Context(), u, event.NewStream(u.ID(), now)); err != nil {
				t.Fatal(err)
			}
			w.must(6, "provision", "alice~plain")
			arg, err := inventory.ParseArgument("alice~plain")
			if err != nil {
				t.Fatal(err)
			}
			found, err := p.Find(t.Context(), arg)
			if err != nil {
				t.Fatal(err)
			}
			if deletion, err := p.Delete(t.Context(), found, deploy.Removing{Wait: true},
				event.NewStream(u.ID(), now)); err != nil || !deletion.Gone {
				t.Errorf("%+v, %v", deletion, err)
			}
			w.nothingIsLeft()
		})
	}
}

// anyUser knows every user.
type anyUser struct{}

func (anyUser) Resolve(_ context.Context, name string) (identity.User, error) {
	return identity.User{Username: name, Blueprints: []string{"*"}}, nil
}

func (anyUser) Caller(context.Context) (string, error) { return "alice", nil }

// noRepositories has no blueprints of users.
type noRepositories struct{}

func (noRepositories) Custom(context.Context, userstring.UserString) (*blueprint.Source, error) {
	return nil, identity.ErrNotResponsible
}
