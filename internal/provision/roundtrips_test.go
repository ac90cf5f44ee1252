package provision

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/blueprint/catalog"
	"github.com/berthdev/berth/internal/event"
	"github.com/berthdev/berth/internal/identity"
	"github.com/berthdev/berth/internal/job"
	"github.com/berthdev/berth/internal/lifecycle"
	"github.com/berthdev/berth/internal/provision/inventory"
	"github.com/berthdev/berth/internal/provision/limit"
	"github.com/berthdev/berth/internal/userstring"
	"github.com/berthdev/berth/internal/watch/cause"
)

// everybody knows every user, without a request.
type everybody struct{}

func (everybody) Resolve(_ context.Context, name string) (identity.User, error) {
	return identity.User{Username: name, Blueprints: []string{"*"}}, nil
}

func (everybody) Caller(context.Context) (string, error) { return "alice", nil }

// run is what a provisioning has asked of the API server. Its times are those of
// the test's own clock, which runs only while all goroutines wait: between two of them
// lie as many delays as there were dependent requests, and whatever else was
// waited for.
type run struct {
	began, created, ready, ended time.Time
	requests                     []request
}

// provisioned is a workspace from the command to its end, with a record of the job
// in the cluster. The pod is ready some time after it was created.
func provisioned(t *testing.T, delay, readyAfter time.Duration, options ...func(*Provisioner)) (r run) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		server := newAPIServer(delay)
		client := server.client(t)
		recorder := job.NewRecorder(job.Open(t.Context(), job.Config{}, client, time.Now), time.Now)
		p := &Provisioner{Environment: Environment{
			Reader:           inventory.Reader{Client: client, Policy: cause.DefaultPolicy(), Now: time.Now},
			Users:            everybody{},
			Blueprints:       func(context.Context) (*catalog.Set, error) { return catalog.Load("") },
			DefaultBlueprint: "default",
			States:           lifecycle.Place{Client: client},
		}, Options: Options{Jobs: recorder}}
		for _, option := range options {
			option(p)
		}
		u, err := userstring.Parse("alice")
		if err != nil {
			t.Fatal(err)
		}
		stream := event.NewStream(u.ID(), time.Now, recorder)
		r.began = time.Now()
		go func() {
			<-server.podMade
			r.created = time.Now()
			time.Sleep(readyAfter)
			r.ready = time.Now()
			server.ready(u.ID())
		}()
		outcome, err := p.Provision(t.Context(), u, stream)
		if err != nil {
			t.Fatal(err)
		}
		stream.Finish(v1.Result{Workspace: outcome.Workspace})
		r.ended, r.requests = time.Now(), server.requests
	})
	return r
}

// after are the requests that were under way at a time, or began later.
func (r run) after(at time.Time) (what []string) {
	for _, q := range r.requests {
		if q.answered.After(at) {
			what = append(what, fmt.Sprintf("%s (%s to %s)", q.what, q.began.Sub(at), q.answered.Sub(at)))
		}
	}
	return what
}

// It takes five dependent round trips until everything is created: the lookup; the lock, beside the watches;
// the record; the objects; the pod. There are seven requests, besides one for each object, of which the
// default blueprint has three.
func TestRoundTripsUntilCreated(t *testing.T) {
	const delay = 40 * time.Millisecond
	r := provisioned(t, delay, 5*time.Second)
	if took := r.created.Sub(r.began); took > 5*delay {
		t.Errorf("it takes %s, which is more than 5 round trips: %s", took, strings.Join(r.after(r.began), "\n"))
	}
	until := slices.DeleteFunc(slices.Clone(r.requests), func(q request) bool { return !q.began.Before(r.created) })
	if len(until) > 7+3 {
		t.Errorf("%d requests: %s", len(until), strings.Join(r.after(r.began), "\n"))
	}
}

// K8shell's lock, which is taken after berth's own, costs one more round trip until everything is created, and one
// request.
func TestRoundTripsBesideK8shell(t *testing.T) {
	const delay = 40 * time.Millisecond
	r := provisioned(t, delay, 5*time.Second, func(p *Provisioner) { p.Scheme = userstring.K8shell })
	if took := r.created.Sub(r.began); took > 6*delay {
		t.Errorf("it takes %s, which is more than 6 round trips: %s", took, strings.Join(r.after(r.began), "\n"))
	}
	until := slices.DeleteFunc(slices.Clone(r.requests), func(q request) bool { return !q.began.Before(r.created) })
	if len(until) > 8+3 {
		t.Errorf("%d requests: %s", len(until), strings.Join(r.after(r.began), "\n"))
	}
}

// Limits of time and number cost no more round trips until everything is created, and four more requests:
// those that count.
func TestRoundTripsWithLimits(t *testing.T) {
	const delay = 40 * time.Millisecond
	limited := func(p *Provisioner) {
		p.Allowance = limit.NewAllowance(new(9), new(9))
		p.Blueprints = func(context.Context) (*catalog.Set, error) {
			dir := t.TempDir()
			text := "blueprints: [{name: limited, template: default, limits: {maxActiveHours: 1}}]\n"
			if err := os.WriteFile(filepath.Join(dir, "limited.yaml"), []byte(text), 0o600); err != nil {
				return nil, err
			}
			return catalog.Load(dir)
		}
		p.DefaultBlueprint = "limited"
	}
	r := provisioned(t, delay, 5*time.Second, limited)
	if took := r.created.Sub(r.began); took > 5*delay {
		t.Errorf("it takes %s, which is more than 5 round trips: %s", took, strings.Join(r.after(r.began), "\n"))
	}
	until := slices.DeleteFunc(slices.Clone(r.requests), func(q request) bool { return !q.began.Before(r.created) })
	if len(until) > 7+3+4 {
		t.Errorf("%d requests: %s", len(until), strings.Join(r.after(r.began), "\n"))
	}
	recorded := func(q request) bool { return q.what == "POST namespaces/dev/configmaps" && !q.began.Before(r.created) }
	if !slices.ContainsFunc(r.requests, recorded) {
		t.Errorf("the limits are to be recorded beside the rest: %s", strings.Join(r.after(r.began), "\n"))
	}
	if took := r.ended.Sub(r.ready); took != delay {
		t.Errorf("from Ready it takes %s:\n%s", took, strings.Join(r.after(r.ready), "\n"))
	}
}

// From Ready to the end of the command there are at most two dependent round trips: a write of the job's
// record that is under way, and the last one, with the release of the lock beside it. Without the first
// there is one.
func TestRoundTripsAfterReady(t *testing.T) {
	const delay = 40 * time.Millisecond
	for after := time.Duration(0); after < 600*time.Millisecond; after += 10 * time.Millisecond {
		r := provisioned(t, delay, after)
		if took := r.ended.Sub(r.ready); took > 2*delay {
			t.Errorf("ready %s after its creation, it ends %s later, which is more than 2 round trips:\n%s", after,
				took, strings.Join(r.after(r.ready), "\n"))
		}
	}
	r := provisioned(t, delay, 5*time.Second)
	if took := r.ended.Sub(r.ready); took != delay {
		t.Errorf("without a write under way it takes %s:\n%s", took, strings.Join(r.after(r.ready), "\n"))
	}
}
