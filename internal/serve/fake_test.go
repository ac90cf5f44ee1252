package serve

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	authentication "k8s.io/client-go/kubernetes/typed/authentication/v1"
	authorization "k8s.io/client-go/kubernetes/typed/authorization/v1"
	coordination "k8s.io/client-go/kubernetes/typed/coordination/v1"
)

// cluster answers reviews: a token "of-NAME" is that of NAME, who may do what the set of accesses has.
type cluster struct {
	authentication.TokenReviewInterface
	authorization.SubjectAccessReviewInterface
	authenticated, authorized atomic.Int64
	down                      atomic.Bool
	may                       sync.Map // "alice get /bundles/a.tgz"
	hold                      chan struct{}
	users                     sync.Map      // names by tokens of other forms
	takes                     time.Duration // an answer about a token
}

type tokens struct{ *cluster }

func (c *cluster) TokenReviews() authentication.TokenReviewInterface { return tokens{c} }

func (c tokens) Create(_ context.Context, r *authenticationv1.TokenReview,
	_ metav1.CreateOptions,
) (*authenticationv1.TokenReview, error) {
	c.authenticated.Add(1)
	if c.hold != nil {
		<-c.hold
	}
	time.Sleep(c.takes)
	if c.down.Load() {
		return nil, errors.New("connection refused")
	}
	if name, ok := c.users.Load(r.Spec.Token); ok {
		r.Status.Authenticated, r.Status.User.Username = true, name.(string)
		return r, nil
	}
	if name, ok := strings.CutPrefix(r.Spec.Token, "of-"); ok {
		r.Status.Authenticated, r.Status.User.Username = true, name
	}
	return r, nil
}

type accesses struct{ *cluster }

func (c *cluster) SubjectAccessReviews() authorization.SubjectAccessReviewInterface {
	return accesses{c}
}

func (c accesses) Create(_ context.Context, r *authorizationv1.SubjectAccessReview,
	_ metav1.CreateOptions,
) (*authorizationv1.SubjectAccessReview, error) {
	c.authorized.Add(1)
	if c.down.Load() {
		return nil, errors.New("connection refused")
	}
	access := Access{Resource: r.Spec.ResourceAttributes, Path: r.Spec.NonResourceAttributes}
	_, r.Status.Allowed = c.may.Load(r.Spec.User + " " + access.String())
	return r, nil
}

// leases keeps one lease, as an API server does.
type leases struct {
	coordination.LeaseInterface
	mu    sync.Mutex
	now   *coordinationv1.Lease
	n     int
	fails bool
}

func (l *leases) Leases(string) coordination.LeaseInterface { return l }

func (l *leases) Get(_ context.Context, name string, _ metav1.GetOptions) (*coordinationv1.Lease, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.fails {
		return nil, errors.New("connection refused")
	}
	if l.now == nil {
		return nil, apierrors.NewNotFound(coordinationv1.Resource("leases"), name)
	}
	return l.now.DeepCopy(), nil
}

func (l *leases) Create(_ context.Context, lease *coordinationv1.Lease,
	_ metav1.CreateOptions,
) (*coordinationv1.Lease, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.now != nil {
		return nil, apierrors.NewAlreadyExists(coordinationv1.Resource("leases"), lease.Name)
	}
	return l.put(lease), nil
}

func (l *leases) Update(_ context.Context, lease *coordinationv1.Lease,
	_ metav1.UpdateOptions,
) (*coordinationv1.Lease, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.fails:
		return nil, errors.New("connection refused")
	case lease.ResourceVersion != l.now.ResourceVersion:
		return nil, apierrors.NewConflict(coordinationv1.Resource("leases"), lease.Name, errors.New("changed"))
	}
	return l.put(lease), nil
}

func (l *leases) put(lease *coordinationv1.Lease) *coordinationv1.Lease {
	l.n++
	l.now = lease.DeepCopy()
	l.now.ResourceVersion = strconv.Itoa(l.n)
	return l.now.DeepCopy()
}

func (l *leases) holder() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.now == nil || l.now.Spec.HolderIdentity == nil {
		return ""
	}
	return *l.now.Spec.HolderIdentity
}

func (l *leases) fail(fails bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.fails = fails
}
