package provision

import (
	"cmp"
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
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/event"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/goldentest"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/lifecycle"
	"github.com/berthdev/berth/internal/lock"
	"github.com/berthdev/berth/internal/userstring"
)

// undertaking is a command, and what was done before it.
type undertaking struct {
	before  []string
	command string
}

// undertakings are what is done with a workspace.
func undertakings() []undertaking {
	return []undertaking{
		{nil, "provision again"},
		{nil, "preview"},
		{[]string{"provision"}, "provision again"},
		{[]string{"provision"}, "inspect"},
		{[]string{"provision"}, "await"},
		{[]string{"provision"}, "update"},
		{[]string{"provision", "update of the environment"}, "roll back"},
		{[]string{"provision"}, "stop"},
		{[]string{"provision"}, "restart"},
		{[]string{"provision", "stop"}, "start"},
		{[]string{"provision", "stop"}, "provision again"},
		{[]string{"provision", "keep"}, "provision again"},
		{[]string{"provision"}, "delete"},
		{[]string{"provision"}, "keep"},
		{[]string{"provision"}, "preview of a deletion"},
		{[]string{"provision", "forget"}, "take up"},
		{[]string{"provision", "stop", "forget"}, "take up stopped"},
		{nil, "provision into a new namespace"},
		{nil, "provision what fails"},
	}
}

func (u undertaking) String() string {
	return strings.Join(append(slices.Clone(u.before), u.command), ", ")
}

// Each request of each command is refused in turn: testdata/refused says what comes of it, line
// by line. Whatever that is, the workspace can be deleted afterwards, and nothing is left then.
func TestRefusedRequests(t *testing.T) {
	dir := modelDir(t)
	for target, user := range map[string]string{"injected": modelInjected, "standalone": "alice~model"} {
		u, err := userstring.Parse(user)
		if err != nil {
			t.Fatal(err)
		}
		for _, undertaken := range undertakings() {
			t.Run(target+"/"+undertaken.String(), func(t *testing.T) {
				t.Parallel()
				r := refusal{undertaking: undertaken, s: suspension{id: u.ID(), user: user, blueprints: dir, injected: target == "injected"}}
				r.prepared, r.at = r.prepare(t)
				requests := r.requests(t)
				var text strings.Builder
				fmt.Fprintf(&text, "undisturbed\n%s", lines(r.undisturbed))
				for _, what := range slices.Sorted(maps.Keys(requests)) {
					for nth := range requests[what] + 1 {
						r.what, r.nth = what, nth
						if came, ok := r.try(t); ok {
							fmt.Fprintf(&text, "%s\n%s", r.title(), lines(came))
						}
					}
				}
				goldentest.Check(t, "refused/"+target+" "+undertaken.String()+".txt", text.String())
			})
		}
	}
}

func lines(all []string) string {
	if len(all) == 0 {
		return "  as undisturbed\n"
	}
	return "  " + strings.Join(all, "\n  ") + "\n"
}

// refusal is a command of which a request is refused.
type refusal struct {
	undertaking
	s    suspension
	what string // which one: its verb and its path
	nth  int    // which of those; 0 for all of them, for want of the permission

	prepared    *model
	at          time.Time
	undisturbed []string // what comes of the command otherwise
}

func (r refusal) title() string {
	if r.nth == 0 {
		return r.what + ", not allowed"
	}
	return fmt.Sprintf("%s, %d", r.what, r.nth)
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
		if r.command != "provision into a new namespace" {
			if _, err := m.create("/api/v1/namespaces", []byte(`{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "dev"}}`), false); err != nil {
				t.Fatal(err)
			}
		}
		m.mu.Unlock()
		for _, what := range r.before {
			if what == "forget" { // it has no record of what it is meant to be
				m.mu.Lock()
				if at := "/api/v1/namespaces/dev/configmaps/berth-state-" + r.s.id; m.objects[at] != nil {
					m.forget(at)
				}
				m.mu.Unlock()
			} else if err := <-r.process(m).start(t, what, r.s.user, r.s.blueprints); err != nil {
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
	m.version, m.objects, m.history = r.prepared.version, maps.Clone(r.prepared.objects), slices.Clone(r.prepared.history)
	return m
}

func (r refusal) process(m *model) *process {
	p := newProcess(m)
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
		p.refuses = func(q *http.Request) *apierrors.StatusError {
			mu.Lock()
			defer mu.Unlock()
			all[r.whatIs(q)]++
			return nil
		}
		err := <-p.start(t, r.command, r.s.user, r.s.blueprints)
		r.undisturbed = r.came(m, said, err)
	})
	return all
}

// try is what comes of the refusal beside what comes of the command undisturbed; it is not ok
// if there was no such request.
func (r refusal) try(t *testing.T) (came []string, ok bool) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		m := r.workspace()
		p := r.process(m)
		var mu sync.Mutex
		seen := 0
		p.refuses = func(q *http.Request) *apierrors.StatusError {
			if r.whatIs(q) != r.what {
				return nil
			}
			mu.Lock()
			seen++
			nth := seen
			mu.Unlock()
			if r.nth != 0 && r.nth != nth {
				return nil
			}
			time.Sleep(m.delay + m.delay/2) // what is asked for beside it is answered before
			if r.nth == 0 {
				return notAllowed(q.URL.Path)
			}
			return apierrors.NewInternalError(errors.New("etcd is away"))
		}
		said := &remarks{}
		p.sinks = []event.Sink{said}
		err := <-p.start(t, r.command, r.s.user, r.s.blueprints)
		if ok = seen >= max(r.nth, 1); !ok {
			return
		}
		came = slices.DeleteFunc(r.came(m, said, err), func(line string) bool { return slices.Contains(r.undisturbed, line) })
		time.Sleep(20 * time.Second) // until its lock has expired
		mayKeep := "delete"
		if slices.Contains(append(r.before, r.command), "keep") {
			mayKeep = "keep"
		}
		if err := <-r.process(m).start(t, "delete", r.s.user, r.s.blueprints); err != nil {
			t.Errorf("%s: the deletion that follows ends with %v", r.title(), err)
		}
		if problems := m.problems(suspension{id: r.s.id, injected: r.s.injected, a: mayKeep}, false); len(problems) > 0 {
			t.Errorf("%s: after a deletion, %s", r.title(), strings.Join(problems, "; "))
		}
	})
	return came, ok
}

// came is what was said, and what there is.
func (r refusal) came(m *model, said *remarks, err error) (all []string) {
	if err != nil {
		all = append(all, fmt.Sprintf("%s %s", fault.CodeOf(err), err))
	}
	all = append(append(all, said.all()...), m.summary(r.s.id))
	for i := range all {
		all[i] = strings.NewReplacer(r.s.id, "ID", lock.Self().Human(), "SOMEBODY").Replace(all[i])
	}
	return all
}

// summary is what there is of a workspace: objects by their kinds, and what it is meant to be.
func (m *model) summary(id string) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	count := map[string]int{}
	for _, o := range m.objects {
		switch {
		case !strings.Contains(o.GetName(), id) && o.GetLabels()[kube.LabelCanonicalID] != id:
		case o.GetLabels()[lifecycle.Label] != "" || strings.HasPrefix(o.GetName(), "berth-state-"):
		case o.GetLabels()[kube.LabelKept] != "":
			count[o.GetKind()+" kept"]++
		default:
			count[o.GetKind()]++
		}
	}
	all := []string{}
	for _, kind := range slices.Sorted(maps.Keys(count)) {
		all = append(all, fmt.Sprintf("%d %s", count[kind], kind))
	}
	if record := m.objects["/api/v1/namespaces/dev/configmaps/berth-state-"+id]; record != nil {
		var r lifecycle.Record
		text, _, _ := unstructured.NestedString(record.Object, "data", "record")
		if err := json.Unmarshal([]byte(text), &r); err != nil {
			all = append(all, err.Error())
		}
		all = append(all, fmt.Sprintf("meant to be %s, recorded as %s", r.Desired, r.Actual))
	}
	return "there: " + cmp.Or(strings.Join(all, ", "), "nothing")
}

// notAllowed is what the API server says to somebody whom no role allows it.
func notAllowed(at string) *apierrors.StatusError {
	resource := resourceAt(at)
	if isCollection(at) {
		resource.Resource = path.Base(at)
	}
	return apierrors.NewForbidden(resource, "", fmt.Errorf("User \"alice\" cannot use resource %q in API group %q in the namespace \"dev\"", resource.Resource, resource.Group))
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
