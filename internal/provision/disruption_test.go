package provision

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/event"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/lifecycle"
	"github.com/berthdev/berth/internal/lock"
)

// refusal is a command of which a request is refused.
type refusal struct {
	scenario
	s          pause
	what       string // the request: its verb and its path
	disruption disruption

	prepared    *model
	at          time.Time
	undisturbed []string // the outcome when nothing is refused
}

// disruption is the fault of a request.
type disruption struct {
	name string
	nth  int // of which one of those that are alike; 0 for all of them
	do   func(*http.Request) error
}

// disruptions are the faults of a request that is made so many times. A read that is never answered is not one of them:
// it is like a read that fails.
func disruptions(what string, times int) []disruption {
	fails := func(*http.Request) error { return apierrors.NewInternalError(errors.New("etcd is away")) }
	all := []disruption{
		{"not allowed", 0, func(q *http.Request) error { return notAllowed(q.URL.Path) }},
		{"fails", 1, fails},
	}
	if !strings.HasPrefix(what, "GET ") && !strings.Contains(what, "(dry run)") {
		all = append(all, disruption{"never answered", 1, func(q *http.Request) error {
			<-q.Context().Done()
			return q.Context().Err()
		}})
	}
	for nth := 2; nth <= times; nth++ {
		all = append(all, disruption{fmt.Sprint("fails at ", nth), nth, fails})
	}
	return all
}

// whatIs is the verb and the path of a request.
func (r refusal) whatIs(q *http.Request) string {
	verb := q.Method
	if q.URL.Query().Get("watch") != "" {
		verb = "WATCH"
	}
	if q.URL.Query().Has("dryRun") {
		verb += " (dry run)"
	}
	_, at, ok := strings.Cut(q.URL.Path, "/namespaces/dev/")
	if !ok {
		at = q.URL.Path
	}
	if q.Method == http.MethodPost && ok {
		at += "/" + nameIn(q)
	}
	return verb + " " + strings.ReplaceAll(at, r.s.id, "ID")
}

// nameIn is the name of the object that a request creates.
func nameIn(q *http.Request) string {
	var object metav1.PartialObjectMetadata
	body, err := q.GetBody()
	if err == nil {
		err = json.NewDecoder(body).Decode(&object)
	}
	if err != nil {
		return err.Error()
	}
	return object.Name
}

// prepare makes the cluster that the command finds, and says what time it is there.
func (r refusal) prepare(t *testing.T) (m *model, at time.Time) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		r.s.a = "provision"
		m = r.s.prepare(t)
		m.mu.Lock()
		if strings.HasSuffix(r.command, "new namespace") {
			m.empty = true
		} else {
			if _, err := m.create("/api/v1/namespaces",
				[]byte(`{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "dev"}}`), false); err != nil {
				t.Fatal(err)
			}
		}
		m.mu.Unlock()
		for _, what := range r.before {
			if happen := modelEvents()[what]; happen != nil {
				m.mu.Lock()
				happen(m, r.s.id)
				m.mu.Unlock()
			} else if err := <-r.process(m).start(t, what, r.s.user, r.s.blueprints); err != nil &&
				!strings.Contains(what, "fails") {
				t.Fatalf("%s: %v", what, err)
			}
		}
		at = time.Now()
	})
	return m, at
}

// workspace is a cluster of its own that is like the one that was prepared.
func (r refusal) workspace() *model {
	time.Sleep(time.Until(r.at))
	m := newModel(r.prepared.delay)
	m.empty, m.holds = r.prepared.empty, r.prepared.holds
	m.version, m.objects, m.history = r.prepared.version, maps.Clone(r.prepared.objects),
		slices.Clone(r.prepared.history)
	return m
}

func (r refusal) process(m *model) *process {
	p := newProcess(m)
	p.timeout = time.Minute
	p.configure = func(pr *Provisioner) {
		pr.States = lifecycle.Place{Client: pr.Client}
	}
	return p
}

// requests counts what the command asks for undisturbed.
func (r *refusal) requests(t *testing.T) map[string]int {
	t.Helper()
	var mu sync.Mutex
	all := map[string]int{}
	synctest.Test(t, func(t *testing.T) {
		m := r.workspace()
		p, said := r.process(m), &remarks{}
		p.sinks = []event.Sink{said}
		p.disturb = func(q *http.Request) error {
			mu.Lock()
			defer mu.Unlock()
			all[r.whatIs(q)]++
			return nil
		}
		err := <-p.start(t, r.command, r.s.user, r.s.blueprints)
		r.undisturbed = r.outcome(m, p, said, err)
	})
	return all
}

// try returns the lines of the outcome that are different when nothing is refused; ok is false if the command made no
// such request.
func (r refusal) try(t *testing.T) (got []string, ok bool) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		m := r.workspace()
		p := r.process(m)
		var mu sync.Mutex
		seen := 0
		p.disturb = func(q *http.Request) error {
			if r.whatIs(q) != r.what {
				return nil
			}
			mu.Lock()
			seen++
			nth := seen
			mu.Unlock()
			if r.disruption.nth != 0 && r.disruption.nth != nth {
				return nil
			}
			time.Sleep(m.delay + m.delay/2) // what is asked for beside it is answered before
			return r.disruption.do(q)
		}
		said := &remarks{}
		p.sinks = []event.Sink{said}
		err := <-p.start(t, r.command, r.s.user, r.s.blueprints)
		if ok = seen >= max(r.disruption.nth, 1); !ok {
			return
		}
		got = slices.DeleteFunc(r.outcome(m, p, said, err),
			func(line string) bool { return slices.Contains(r.undisturbed, line) })
		if !testing.Short() {
			r.clear(t, m)
		}
	})
	return got, ok
}

// clear deletes the workspace, of which nothing is left then but storage that was kept.
func (r refusal) clear(t *testing.T, m *model) {
	t.Helper()
	m.mu.Lock()
	m.holds = false
	for name, o := range maps.Clone(m.objects) {
		if o.GetDeletionTimestamp() != nil {
			m.forget(name)
		}
	}
	m.mu.Unlock()
	time.Sleep(20 * time.Second) // until its lock has expired
	s := pause{id: r.s.id, injected: r.s.injected, a: "delete"}
	if slices.Contains(append(r.before, r.command), "keep") {
		s.a = "keep"
	}
	if err := <-r.process(m).start(t, "delete", r.s.user, r.s.blueprints); err != nil {
		t.Errorf("%s, %s: the deletion that follows ends with %v", r.what, r.disruption.name, err)
	}
	problems := m.problems(s, false)
	if r.what == "PATCH daemonsets/web" &&
		r.disruption.nth > 1 { // it was to take the mark off, which the next injection replaces
		problems = slices.DeleteFunc(problems, func(p string) bool { return p == "the workload is still marked" })
	}
	if len(problems) > 0 {
		t.Errorf("%s, %s: after a deletion, %s", r.what, r.disruption.name, strings.Join(problems, "; "))
	}
}

// outcome is what was said, and what there is.
func (r refusal) outcome(m *model, p *process, said *remarks, err error) (all []string) {
	if err != nil {
		all = append(all, fmt.Sprintf("%s %s", fault.CodeOf(err), err))
		for _, problem := range fault.From(err).Problems {
			all = append(all, "- "+problem)
		}
	}
	all = append(append(append(all, said.all()...), p.results...), m.summary(r.s.id))
	for i := range all {
		all[i] = strings.NewReplacer(r.s.id, "ID", lock.Self().Human(), "SOMEBODY").Replace(all[i])
	}
	return all
}

// notAllowed is what the API server says to somebody whom no role allows it.
func notAllowed(at string) *apierrors.StatusError {
	resource := resourceAt(at)
	if isCollection(at) {
		resource.Resource = path.Base(at)
	}
	return apierrors.NewForbidden(resource, "",
		fmt.Errorf("User \"alice\" cannot use resource %q in API group %q in the namespace \"dev\"", resource.Resource,
			resource.Group))
}

// remarks are what was said beside the error.
type remarks struct {
	mu   sync.Mutex
	said []string
}

// Handle keeps a warning.
func (r *remarks) Handle(e v1.Event) {
	if e.Warning == nil || e.Warning.Reason == "InitScriptsNotSeen" { // their log is read beside the rest
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.said = append(r.said, fmt.Sprintf("warning %s %s: %s", e.Warning.Reason, e.Warning.Object, e.Warning.Message))
}

func (r *remarks) all() []string {
	time.Sleep(time.Second) // the sink is handed the last one
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Sorted(slices.Values(r.said))
}
