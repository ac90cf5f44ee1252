package provision

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/apply"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/provision/injection"
	"github.com/berthdev/berth/internal/userstring"
)

// InjectionRules say where workspaces may be injected, and how.
type InjectionRules struct {
	// Namespaces are those where injection is allowed, * being all of them. Nil
	// leaves it to the API server; empty allows it nowhere.
	Namespaces []string
	// Force injects also where there is little point in it.
	Force bool
}

// allow says whether a workspace may be where its user string wants it.
func (r InjectionRules) allow(u userstring.UserString) error {
	if u.Workload.IsZero() || r.Namespaces == nil ||
		slices.Contains(r.Namespaces, "*") || slices.Contains(r.Namespaces, u.Namespace) {
		return nil
	}
	where := "nowhere"
	if len(r.Namespaces) > 0 {
		where = "in " + strings.Join(r.Namespaces, ", ")
	}
	return fault.New(fault.PermissionDenied, "injection into namespace %s is not allowed: the configuration allows it %s", u.Namespace, where).
		WithHint("injectNamespaces in the configuration lists where it is")
}

// takeApart makes of the rendered chart what goes into the workload.
func (r *run) takeApart() error {
	w := r.found.Workload
	if w == nil {
		return nil
	}
	parts, err := injection.Make(r.id, injection.Target{Kind: w.Ref.Kind, Name: w.Ref.Name}, r.rendered.Objects)
	if err != nil {
		return err
	}
	r.parts = &parts
	return nil
}

// examine says what is to be known about the workload before it is patched, and
// refuses what has no point. Nothing has been written by then.
func (r *run) examine() error {
	if r.parts == nil {
		return nil
	}
	if p := r.decide(); p == refuse || p == resume {
		return nil // it is done already
	}
	for _, name := range r.homes {
		r.steps.Progress(v1.Progress{Message: "storage " + name + " is left out: it is a home directory, which an injected workspace does not have"})
	}
	for _, name := range r.parts.LeftOut {
		r.steps.Progress(v1.Progress{Message: name + " is left out: an injected workspace does not have it"})
	}
	findings := injection.Examine(r.found.Workload.Object, *r.parts)
	var refused []injection.Finding
	for _, f := range findings {
		switch {
		case f.Severity == injection.Notice:
			r.steps.Progress(v1.Progress{Message: f.Message})
		case f.Severity == injection.Warning, f.Severity == injection.Refusal && r.Injection.Force:
			r.steps.Warning(v1.Warning{Reason: f.Reason, Message: f.Message, Count: 1, Object: r.found.Workload.Ref.String(), At: r.Now().UTC()})
		default:
			refused = append(refused, f)
		}
	}
	if len(refused) == 0 {
		_, err := r.injectionPlan()
		return err
	}
	return refusal(refused)
}

// refusal is one error of all that stands in the way.
func refusal(findings []injection.Finding) error {
	err := fault.New(fault.Failed, "%s", findings[0].Message)
	var hints []string
	forced := true
	for _, f := range findings {
		if len(findings) > 1 {
			err.Problems = append(err.Problems, f.Message)
		}
		if f.Hint != "" {
			hints = append(hints, f.Hint)
		}
		forced = forced && f.Severity != injection.Impossible
	}
	if len(findings) > 1 {
		err.Message = "the workspace cannot be injected"
	}
	if forced {
		hints = append(hints, "or insist with --force")
	}
	return err.WithHint("%s", strings.Join(hints, "; "))
}

// injectionPlan is what an injection would create, and the patch that it would
// apply to the workload as it is now.
type injectionPlan struct {
	Objects []*unstructured.Unstructured
	Patch   []byte // RFC 6902
}

func (r *run) injectionPlan() (injectionPlan, error) {
	change, err := injection.Inject(r.found.Workload.Object, *r.parts)
	return injectionPlan{Objects: r.parts.Objects, Patch: change.Patch}, err
}

// inject puts the workspace into the workload: what its volumes are made of
// first, the patch last, so that no pod waits for its ConfigMap and a run that
// is cut off before has changed nothing for anybody.
func (r *run) inject(ctx context.Context, p plan) error {
	if p == resume {
		return r.expectFound()
	}
	if err := r.share(ctx, r.spec()); err != nil {
		return err
	}
	return r.steps.do("inject", func() (string, error) {
		r.creation.replaced = p == replace
		changes, err := r.injector().Apply(ctx, apply.Objects(r.parts.Objects))
		r.creation.add(changes)
		if err != nil {
			return "", err
		}
		err = r.found.Workload.Patch(ctx, func(object map[string]any) (injection.Change, error) {
			return injection.Inject(object, *r.parts)
		})
		if !kube.Declined(err) {
			r.creation.begin() // also if the answer was lost
		}
		if err != nil {
			return "", err
		}
		if err := r.expectFound(); err != nil {
			return "", err
		}
		return fmt.Sprintf("%s, %d objects", r.found.Workload.Ref, len(r.parts.Objects)), r.found.Workload.Unstick(ctx, r.jobID)
	})
}

// injected tells how it stands, where nobody waits for the rollout.
func (r *run) injected(p plan, err error) error {
	if err != nil || !r.NoWait {
		return err
	}
	r.latest = r.found.Reading
	if p != resume {
		r.latest = v1.Snapshot{Stage: v1.StageScheduling, Status: v1.StageScheduling.Status(), Message: "the rollout has begun"}
	}
	r.steps.reached(r.latest)
	return nil
}

// expectFound makes what was found, or has just been written, what is followed.
func (r *run) expectFound() error {
	if r.found.Workload == nil {
		r.follower.Expect(r.found.Pod.UID)
		return nil
	}
	object, err := r.found.Workload.Typed()
	if known, ok := object.(runtime.Object); ok {
		r.follower.Begin(known)
	}
	return err
}
