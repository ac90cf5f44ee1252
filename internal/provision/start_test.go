package provision

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/provision/deploy"
)

// A workspace is not stopped for a restart if its new pod would be refused even after the old one is gone.
// If it might be accepted then, the restart goes on.
func TestRestartOfWhatIsRefused(t *testing.T) {
	forbidden := func(text string) error {
		return apierrors.NewForbidden(corev1.Resource("pods"), "alice-1", errors.New(text))
	}
	denial := func(text string) error { // which may have any code
		return &apierrors.StatusError{ErrStatus: metav1.Status{
			Message: text, Code: http.StatusBadRequest,
			Reason: metav1.StatusReasonBadRequest,
		}}
	}
	s := session{Provisioner: new(Provisioner)}
	s.Now = time.Now
	d := deploy.Deployment{About: deploy.AboutPod("dev", "alice", "default")}
	for name, test := range map[string]struct {
		answer error
		code   fault.Code // empty: go on
		says   string
	}{
		"admitted": {},
		"a quota that is full": {
			forbidden("exceeded quota: q, requested: pods=1, used: pods=3, limited: pods=2"),
			fault.Failed, "was not stopped",
		},
		"full but for the old pod": {answer: forbidden("exceeded quota: q, requested: pods=1, used: " +
			"pods=2, limited: pods=2")},
		"a quota of few words": {answer: forbidden("exceeded quota: q")},
		"pod security": {
			forbidden(`violates PodSecurity "restricted:latest": runAsNonRoot != true`),
			fault.Failed, "PodSecurity",
		},
		"a webhook":               {denial(`admission webhook "p" denied the request: no`), fault.Failed, "denied"},
		"a webhook and a dry run": {answer: apierrors.NewBadRequest(`admission webhook "p" does not support dry run`)},
		"no permission": {
			forbidden(`User "alice" cannot create resource "pods" in API group ""`),
			fault.PermissionDenied, "may not create",
		},
		"no answer": {
			apierrors.NewInternalError(errors.New("etcd is away")), fault.Unavailable,
			"at the moment",
		},
	} {
		err := kube.Fault(test.answer, kube.Call{Verb: "create", Resource: "pods", Namespace: "dev", Name: "alice-1"})
		err = s.notAdmitted(d, &corev1.Pod{}, err)
		if err == nil && test.code == "" {
			continue
		}
		if fault.CodeOf(err) != test.code || err == nil || !strings.Contains(err.Error(), test.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
