package provision

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/blueprint/catalog"
	"github.com/berthdev/berth/internal/english"
	"github.com/berthdev/berth/internal/event"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/provision/deploy"
	"github.com/berthdev/berth/internal/provision/inventory"
	"github.com/berthdev/berth/internal/watch/cause"
)

// process is a run of berth with a connection of its own, which can be suspended at
// one of its requests, as SIGSTOP does: nothing of it gets through any more, until it
// continues.
type process struct {
	server *model
	// at is the number of the request, from 1 on; 0 for none. It is held before it
	// arrives or, if done is set, before its answer arrives.
	at   int
	done bool
	// lag is how long after the request the others go on that were held: the renewal of
	// the lock may be noticed late.
	lag time.Duration
	// breaks makes the others fail that were held, whose connections time out meanwhile, but for
	// the renewal of the lock.
	breaks bool

	// configure sets what the provisioner has beside the least; nil for nothing.
	configure func(*Provisioner)
	// disturb answers a request in place of the server, with an error; nil passes it on.
	disturb func(*http.Request) error
	// timeout is that of the command; 0 for none.
	timeout time.Duration
	sinks   []event.Sink
	// results are what the command has returned, beside its error.
	results []string

	mu                sync.Mutex
	requests          int
	kept              string // the storage that it said it kept
	foundKept         bool   // what it found to delete was kept, without a workspace
	stopped           bool
	suspended, goesOn chan struct{}
	catchesUp         chan struct{}
}

func newProcess(server *model) *process {
	return &process{
		server: server, suspended: make(chan struct{}), goesOn: make(chan struct{}),
		catchesUp: make(chan struct{}),
	}
}

// RoundTrip passes a request on.
func (p *process) RoundTrip(r *http.Request) (*http.Response, error) {
	if strings.HasSuffix(r.URL.Path, "/log") { // read beside the work, which does not depend on it
		return p.server.RoundTrip(r)
	}
	if p.disturb != nil {
		err := p.disturb(r)
		var refused *apierrors.StatusError
		if asStatus(err, &refused) {
			return refuse(refused)
		}
		if err != nil {
			return nil, err
		}
	}
	p.mu.Lock()
	p.requests++
	mine, held := p.requests == p.at, p.stopped
	if mine && !p.done {
		p.stopped = true
		close(p.suspended)
	}
	p.mu.Unlock()
	switch {
	case mine && !p.done:
		<-p.goesOn
	case held:
		if p.breaks && !strings.Contains(r.URL.Path, "/leases/") && !isClosed(p.goesOn) {
			<-p.goesOn
			return nil, &net.OpError{Op: "dial", Net: "tcp", Err: os.ErrDeadlineExceeded}
		}
		<-p.catchesUp
	}
	answer, err := p.server.RoundTrip(r)
	if mine && p.done {
		p.mu.Lock()
		p.stopped = true
		close(p.suspended)
		p.mu.Unlock()
		<-p.goesOn
	}
	return answer, err
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// resume lets it go on.
func (p *process) resume() {
	close(p.goesOn)
	time.AfterFunc(p.lag, func() { close(p.catchesUp) })
}

func (p *process) provisioner(t *testing.T, blueprints string) *Provisioner {
	t.Helper()
	content := rest.ContentConfig{ContentType: runtime.ContentTypeJSON, AcceptContentTypes: runtime.ContentTypeJSON}
	config := &rest.Config{Host: "http://cluster", Transport: p, QPS: -1, ContentConfig: content}
	typed, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	untyped, err := dynamic.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return &Provisioner{Environment: Environment{
		Reader: inventory.Reader{
			Client: &kube.Client{Interface: typed, Dynamic: untyped, Namespace: "dev"}, Policy: cause.DefaultPolicy(),
			Now: time.Now,
		},
		Users:            everybody{},
		Repositories:     noRepositories{},
		Blueprints:       func(context.Context) (*catalog.Set, error) { return catalog.Load(blueprints) },
		DefaultBlueprint: "default",
	}}
}

// do runs a command on the workspace.
func (p *process) do(ctx context.Context, t *testing.T, what, user, blueprints string) error {
	t.Helper()
	pr := p.provisioner(t, blueprints)
	if p.configure != nil {
		p.configure(pr)
	}
	if p.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, p.timeout,
			fault.New(fault.DeadlineExceeded, "timed out after %s", p.timeout))
		defer cancel()
	}
	stream := event.NewStream(user, time.Now, p.sinks...)
	defer stream.Finish(v1.Result{})
	c := modelCommand{pr, p, t, user, stream}
	switch what {
	case "provision":
		err := c.outcome(c.Provision(ctx, c.parsed(), c.stream))
		if fault.CodeOf(err) == fault.AlreadyExists {
			return nil
		}
		return err
	case "delete", "keep":
		target, err := c.find(ctx)
		if fault.CodeOf(err) == fault.NotFound {
			c.Forget(ctx, c.argument())
			return nil
		}
		if err != nil {
			return err
		}
		p.foundKept = len(target.Found.Kept) > 0
		deletion, err := c.Delete(ctx, target, deploy.Removing{Wait: true, KeepStorage: what == "keep"}, c.stream)
		p.kept = english.Storage(deletion.Storage, true)
		c.says("%s deleted, gone: %t, storage: %v", english.Count(deletion.Objects, "object"), deletion.Gone,
			deletion.Storage)
		return err
	}
	return modelCommands()[what](ctx, c)
}

// started is a run that is under way.
type started chan error

// start does the same in the background, and ends within a time.
func (p *process) start(t *testing.T, what, user, blueprints string) started {
	t.Helper()
	ended := make(started, 1)
	go func() {
		ctx, cancel := context.WithTimeoutCause(t.Context(), 10*time.Minute, fmt.Errorf("%s never returned", what))
		defer cancel()
		err := p.do(ctx, t, what, user, blueprints)
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		ended <- err
	}()
	return ended
}
