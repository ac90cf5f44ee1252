package deploy

import (
	"strings"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kubetest"
	"github.com/berthdev/berth/internal/lock"
)

// A lock of k8shell's says whether it has expired, and that --wait takes it over.
func TestBusyBesideK8shell(t *testing.T) {
	for name, test := range map[string]struct {
		age        time.Duration
		says, hint string
	}{
		"it is held":     {time.Second, "k8shell's provisioner is working on workspace alice-1", "or pass --wait"},
		"it has expired": {time.Minute, "a lock on workspace alice-1 that has expired", "--wait: it is taken over"},
	} {
		client, _, _ := kubetest.Clients(t, kubetest.Start(t, nil).URL)
		leases, at := client.CoordinationV1().Leases("team"), metav1.NewMicroTime(time.Now().Add(-test.age))
		if _, err := leases.Create(t.Context(), &coordinationv1.Lease{
			ObjectMeta: metav1.ObjectMeta{Name: "workspace-lease-alice-1"},
			Spec:       coordinationv1.LeaseSpec{HolderIdentity: new("provisioner-7"), RenewTime: &at},
		}, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		l := lock.Locker{Leases: leases, Namespace: "team", Self: lock.Self(), Now: time.Now, Beside: true}
		held, seen, err := l.Try(t.Context(), "alice-1", nil)
		if held != nil || err != nil {
			t.Fatalf("%s: %v, %v", name, held, err)
		}
		err = Busy("alice-1", seen)
		if !IsLocked(err) || !strings.Contains(err.Error(), test.says) ||
			!strings.Contains(fault.From(err).Hint, test.hint) {
			t.Errorf("%s: %v, %q", name, err, fault.From(err).Hint)
		}
	}
}
