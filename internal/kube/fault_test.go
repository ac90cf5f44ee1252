package kube

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/skiptest"
)

// What an error of the API server, or of the way to it, means for a user.
func TestFault(t *testing.T) {
	pods, namespaces := schema.GroupResource{Resource: "pods"}, schema.GroupResource{Resource: "namespaces"}
	call := Call{Verb: "create", Resource: "pods", Namespace: "team", Name: "alice-1"}
	for _, test := range []struct {
		err  error
		want fault.Code
		says string
	}{
		{
			apierrors.NewForbidden(pods, "alice-1",
				errors.New(`User "alice" cannot create resource "pods" in API group "" in the namespace "team"`)),
			fault.PermissionDenied, "create pods alice-1 in namespace team",
		},
		{saying(403, "access denied by the proxy"), fault.PermissionDenied, "by the proxy"},
		{
			apierrors.NewForbidden(pods, "alice-1", errors.New("exceeded quota: q, requested: cpu=1")), fault.Failed,
			"exceeded quota",
		},
		{
			apierrors.NewForbidden(pods, "alice-1", errors.New("violates PodSecurity \"restricted\"")), fault.Failed,
			"PodSecurity",
		},
		{errors.New(`unable to upgrade connection: pods "alice-1" is forbidden: User "x" cannot create ` +
			`resource "pods/exec"`), fault.PermissionDenied, "you may not"},
		{errors.New("unable to upgrade connection: container not found"), fault.Internal, "container not found"},
		{
			apierrors.NewForbidden(pods, "alice-1", errors.New("failed quota: q: must specify limits.cpu")),
			fault.Failed,
			"must specify limits.cpu",
		},
		{apierrors.NewForbidden(pods, "alice-1",
			errors.New("maximum memory usage per Container is 64Mi, but limit is 512Mi")), fault.Failed, "64Mi"},
		{
			apierrors.NewForbidden(pods, "alice-1",
				errors.New(`error looking up service account team/ci: serviceaccount "ci" not found`)), fault.Failed,
			"serviceaccount",
		},
		{
			saying(403, `admission webhook "images.example.com" denied the request: not signed`), fault.Failed,
			"not signed",
		},
		{
			saying(403, `admission webhook "owners.example.com" denied the request: User "alice" cannot use image x`),
			fault.Failed, "owners.example.com",
		},
		{
			saying(500, `admission webhook "images.example.com" denied the request: no such tag`), fault.Failed,
			"no such tag",
		},
		{
			saying(500, `Internal error occurred: failed calling webhook "images.example.com": connection refused`),
			fault.Unavailable, "images.example.com",
		},
		{terminating("team"), fault.Failed, "namespace team: the namespace is being deleted"},
		{apierrors.NewUnauthorized("expired"), fault.Unauthenticated, "credentials"},
		{
			apierrors.NewForbidden(pods, "alice-1", errors.New("failed quota: q: must specify limits.cpu "+
				"for: k8shell-main")),
			fault.Failed, "failed quota",
		},
		{apierrors.NewForbidden(pods, "alice-1",
			errors.New("maximum memory usage per Container is 512Mi, but limit is 1Gi")), fault.Failed, "512Mi"},
		{apierrors.NewNotFound(namespaces, "team"), fault.NotFound, "namespace team does not exist"},
		{apierrors.NewNotFound(pods, "alice-1"), fault.NotFound, "alice-1"},
		{apierrors.NewAlreadyExists(pods, "alice-1"), fault.Conflict, "already exists"},
		{apierrors.NewConflict(pods, "alice-1", errors.New("modified")), fault.Conflict, "modified"},
		{apierrors.NewServiceUnavailable("starting"), fault.Unavailable, "starting"},
		{
			&url.Error{Op: "Get", URL: "https://x", Err: &net.OpError{
				Op:  "dial",
				Err: errors.New("connection refused"),
			}},
			fault.Unavailable, "connection refused",
		},
		{
			fmt.Errorf("unexpected error when reading response body. Please retry. Original error: %w",
				io.ErrUnexpectedEOF),
			fault.Unavailable, "unexpected EOF",
		},
		{
			errors.New(`error sending request: Post "https://x/exec": unexpected EOF`), // of an upgrade to SPDY
			fault.Unavailable, "the cluster cannot be reached",
		},
		{errors.New("never seen"), fault.Internal, "never seen"},
		{fault.New(fault.Conflict, "as it is"), fault.Conflict, "as it is"},
	} {
		got := Fault(test.err, call)
		if fault.CodeOf(got) != test.want || !strings.Contains(got.Error(), test.says) {
			t.Errorf("%v becomes %s %q, want %s with %q", test.err, fault.CodeOf(got), got, test.want, test.says)
		}
	}
	if Fault(nil, call) != nil || !errors.Is(Fault(context.Canceled, call), context.Canceled) {
		t.Error("no error and the context's own stay as they are")
	}
}

// The time-out of a connection is an error of the cluster, not the end of the context, though errors.Is reports
// context.DeadlineExceeded.
func TestFaultOfATimeOut(t *testing.T) {
	dialer := net.Dialer{Timeout: time.Nanosecond}
	_, dialed := dialer.DialContext(t.Context(), "tcp", "127.0.0.1:1")
	if !errors.Is(dialed, context.DeadlineExceeded) && !skiptest.Windows { // where it is another time-out
		t.Fatalf("dialing ends with %v", dialed)
	}
	slow := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	defer slow.Close()
	get := func(ctx context.Context, client http.Client) error {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, slow.URL, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		response, err := client.Do(request)
		if err == nil {
			_ = response.Body.Close()
		}
		return err
	}
	requested := get(t.Context(), http.Client{Timeout: 50 * time.Millisecond})
	over, cancel := context.WithTimeout(t.Context(), 0)
	defer cancel()
	ended := get(over, http.Client{})
	call := Call{Verb: "get", Resource: "pods"}
	for _, err := range []error{dialed, requested} {
		if code := fault.CodeOf(Fault(err, call)); code != fault.Unavailable {
			t.Errorf("%v is %s", err, code)
		}
	}
	if Fault(ended, call) != context.DeadlineExceeded { //nolint:errorlint // nothing around it
		t.Errorf("%v is not returned without its address", ended)
	}
}

// saying is an answer of the API server that no constructor makes.
func saying(status int32, message string) error {
	reason := metav1.StatusReasonInternalError
	if status == http.StatusForbidden {
		reason = metav1.StatusReasonForbidden
	}
	return &apierrors.StatusError{ErrStatus: metav1.Status{Code: status, Reason: reason, Message: message}}
}

// terminating is the answer to the creation of an object in a namespace that is being deleted.
func terminating(namespace string) error {
	err := apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, "alice-1",
		fmt.Errorf("unable to create new content in namespace %s because it is being terminated", namespace))
	err.ErrStatus.Details.Causes = append(err.ErrStatus.Details.Causes,
		metav1.StatusCause{Type: corev1.NamespaceTerminatingCause})
	return err
}

// Any text makes a legal label value, and two texts never the same one.
func FuzzLabelValue(f *testing.F) {
	for _, s := range []string{"alice", "Example, Inc.", "", "---", strings.Repeat("x", 80), "é"} {
		f.Add(s, s+"-")
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		first, second := LabelValue(a), LabelValue(b)
		if problems := validation.IsValidLabelValue(first); len(problems) > 0 {
			t.Errorf("%q becomes %q: %s", a, first, problems)
		}
		if a != b && first == second {
			t.Errorf("%q and %q both become %q", a, b, first)
		}
	})
}

// Which answers say that nothing was done.
func TestDeclined(t *testing.T) {
	pods := schema.GroupResource{Resource: "pods"}
	for _, test := range []struct {
		err  error
		want bool
	}{
		{nil, false},
		{apierrors.NewForbidden(pods, "a", errors.New("exceeded quota: q")), true},
		{Fault(apierrors.NewForbidden(pods, "a", errors.New("exceeded quota: q")), Call{}), true},
		{Fault(apierrors.NewForbidden(pods, "a", errors.New(`User "x" cannot create`)), Call{}), true},
		{apierrors.NewBadRequest("no"), true},
		{apierrors.NewTimeoutError("slow", 1), false},
		{apierrors.NewInternalError(errors.New("etcd")), false},
		{errors.New("connection reset by peer"), false},
		{context.DeadlineExceeded, false},
	} {
		if got := Declined(test.err); got != test.want {
			t.Errorf("%v: %t", test.err, got)
		}
	}
}

// A call is about one object, whatever its plural is.
func TestObjectOfACall(t *testing.T) {
	for resource, want := range map[string]string{
		"pods": "pod/a", "serviceaccounts": "serviceaccount/a", "deployments.apps": "deployment/a",
		"networkpolicies.networking.k8s.io": "networkpolicy/a", "certificates.cert-manager.io": "certificate/a",
		"policies.example.com": "policies.example.com/a",
	} {
		if got := (Call{Resource: resource, Name: "a"}).Object(); got != want {
			t.Errorf("%s: %s, want %s", resource, got, want)
		}
	}
}
