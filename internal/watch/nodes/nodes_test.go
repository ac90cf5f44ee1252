package nodes

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	apiwatch "k8s.io/apimachinery/pkg/watch"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/watch"
	"github.com/berthdev/berth/internal/watch/watchtest"
)

// machines answers for all nodes: with an error, if there is one for a name.
type machines map[string]error

func (m machines) Get(_ context.Context, name string, _ metav1.GetOptions) (*corev1.Node, error) {
	return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}, m[name]
}

// silent is a Deployment with pods on as many nodes, of which nothing is heard.
func silent(pods int) watch.State {
	s := watch.NewState(watch.Subject{Kind: watch.KindDeployment, Name: "web", Namespace: "dev"})
	for i := range pods {
		name := fmt.Sprintf("web-%d", i)
		pod := watchtest.NewPod(name, types.UID(name), watchtest.OnNode).Pod
		pod.Spec.NodeName = fmt.Sprintf("node%d", i)
		s = s.Apply(apiwatch.Added, pod)
	}
	return s
}

// Only a few nodes are read of a workload, and none while there is time.
func TestAwaited(t *testing.T) {
	for _, test := range []struct {
		pods  int
		after time.Duration
		want  int
	}{{3, time.Second, 0}, {3, time.Hour, 3}, {5, time.Hour, 5}, {12, time.Hour, 5}} {
		if got := Awaited(silent(test.pods), watchtest.After(test.after)); len(got) != test.want {
			t.Errorf("of %d after %s: %q, want %d", test.pods, test.after, got, test.want)
		}
	}
}

// The first that may not be read ends it; one that is gone does not.
func TestRead(t *testing.T) {
	nodes := corev1.Resource("nodes")
	for name, test := range map[string]struct {
		answers machines
		found   int
		unread  string
		code    fault.Code
	}{
		"all":         {nil, 3, "[]", ""},
		"one is gone": {machines{"node1": apierrors.NewNotFound(nodes, "node1")}, 2, "[]", ""},
		"may not be read": {
			machines{"node1": apierrors.NewForbidden(nodes, "node1", errors.New("no"))},
			1, "[get nodes]",
			"",
		},
		"cannot be read": {machines{"node0": apierrors.NewServiceUnavailable("busy")}, 0, "[]", fault.Unavailable},
	} {
		found, unread, err := Read(t.Context(), test.answers, silent(3), watchtest.After(time.Hour))
		if len(found) != test.found || fmt.Sprint(unread) != test.unread || fault.CodeOf(err) != test.code {
			t.Errorf("%s: %d found, %q, %v", name, len(found), unread, err)
		}
	}
}
