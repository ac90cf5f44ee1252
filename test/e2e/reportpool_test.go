//go:build e2e

package e2e

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// leaseNamespace is where ironcore looks for the leases of pools. It stays: a cluster has one world of machines at a
// time.
const leaseNamespace = "ironcore-machinepool-lease"

// grace is how long a pool is Ready in the tests without a lease that is renewed: less than the 50 seconds of ironcore.
const grace = 30 * time.Second

func (m *machines) leaseNamespace() {
	m.Helper()
	_, err := m.CoreV1().Namespaces().Create(m.Context(), &corev1.Namespace{
		ObjectMeta: metav1.ObjectMeta{Name: leaseNamespace},
	}, metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		m.Fatal(err)
	}
	forget := func() {
		m.kubectl("delete", "lease", "east", "--namespace", leaseNamespace, "--ignore-not-found")
	}
	forget()
	m.Cleanup(forget)
	account := []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Name: "default", Namespace: m.namespace}}
	m.bind(leaseNamespace, m.namespace, []rbacv1.PolicyRule{{
		APIGroups: []string{"coordination.k8s.io"}, Resources: []string{"leases"}, Verbs: []string{"get"},
	}}, account)
}

// object reads an object of the API of machines.
func (m *machines) object(path string) *unstructured.Unstructured {
	m.Helper()
	text, err := m.CoreV1().RESTClient().Get().AbsPath(path).DoRaw(m.Context())
	if err != nil {
		m.Fatal(err)
	}
	o := &unstructured.Unstructured{}
	if err := json.Unmarshal(text, &o.Object); err != nil {
		m.Fatal(err)
	}
	return o
}

// ready is the condition of the pool.
func (m *machines) ready() map[string]any {
	m.Helper()
	conditions, _, _ := unstructured.NestedSlice(m.object(poolPath()).Object, "status", "conditions")
	for _, c := range conditions {
		if condition := c.(map[string]any); condition["type"] == "Ready" {
			return condition
		}
	}
	return nil
}

func (m *machines) lease() *coordinationv1.Lease {
	m.Helper()
	lease, err := m.CoordinationV1().Leases(leaseNamespace).Get(m.Context(), "east", metav1.GetOptions{})
	if err != nil {
		m.Fatal(err)
	}
	return lease
}

// heldBy is who holds the lease of the pool.
func (m *machines) heldBy() string {
	m.Helper()
	if holder := m.lease().Spec.HolderIdentity; holder != nil {
		return *holder
	}
	return ""
}

// isReported says whether the status of the pool is what the gateway was told to report.
func (m *machines) isReported() bool {
	m.Helper()
	status, _, _ := unstructured.NestedMap(m.object(poolPath()).Object, "status")
	text, err := json.Marshal([]any{
		status["state"], status["addresses"], status["daemonEndpoints"], status["availableMachineClasses"],
		status["capacity"], status["allocatable"],
	})
	if err != nil {
		m.Fatal(err)
	}
	ready := m.ready()
	return ready["status"] == "True" && ready["reason"] == "HeartbeatReceived" && string(text) == fmt.Sprintf(
		`["Ready",[{"address":"berth-gateway.%s.svc","type":"InternalDNS"},`+
			`{"address":"127.0.0.1","type":"ExternalIP"}],`+
			`{"machinepoolletEndpoint":{"port":12319}},[{"name":"small"},{"name":"large"}],`+
			`{"class/machine.large":"4","class/machine.small":"20"},`+
			`{"class/machine.large":"2","class/machine.small":"20"}]`,
		m.namespace)
}

// The scheduler takes the pool whose only poollet is the gateway.
func (m *machines) testReported() {
	defer func() {
		if m.Failed() {
			m.Log(m.object(poolPath()).Object)
		}
	}()
	m.eventually("the pool is reported", m.isReported)
	m.eventually("a machine is scheduled there", func() bool {
		pool, _, _ := unstructured.NestedString(m.object("/apis/compute.ironcore.dev/v1alpha1/namespaces/"+m.namespace+
			"/machines/new").Object, "spec", "machinePoolRef", "name")
		return pool == "east"
	})
	if n := m.lease().Spec.LeaseDurationSeconds; m.heldBy() == "" || n == nil || *n != 40 {
		m.Errorf("the lease: %+v", m.lease().Spec)
	}
}

// The pool was never anything but Ready, for longer than it is without a lease that is renewed.
func (m *machines) testStaysReady() {
	m.eventually("the lease is renewed", func() bool {
		lease := m.lease()
		return lease.Spec.RenewTime.Sub(lease.Spec.AcquireTime.Time) > grace
	})
	ready := m.ready()
	since, err := time.Parse(time.RFC3339, fmt.Sprint(ready["lastTransitionTime"]))
	if err != nil || ready["status"] != "True" || since.Sub(m.lease().Spec.AcquireTime.Time) > grace {
		m.Errorf("%v, and the lease is held since %v", ready, m.lease().Spec.AcquireTime)
	}
}

// What others write into the status is overwritten; what is not reported stays.
func (m *machines) testForeignStatus() {
	for written := false; !written; {
		pool := m.object(poolPath())
		status := pool.Object["status"].(map[string]any)
		status["state"], status["addresses"], status["allocatable"] = "Pending", []any{}, map[string]any{}
		status["conditions"] = []any{
			map[string]any{"type": "Ready", "status": "False", "reason": "Foreign"},
			map[string]any{"type": "Mine", "status": "True"},
		}
		text, err := json.Marshal(pool)
		if err != nil {
			m.Fatal(err)
		}
		err = m.CoreV1().RESTClient().Put().AbsPath(poolPath() + "/status").Body(text).Do(m.Context()).Error()
		if err != nil && !apierrors.IsConflict(err) {
			m.Fatal(err)
		}
		written = err == nil
	}
	if m.isReported() {
		m.Error("it was not written") // the gateway may have been quicker, once in ten seconds
	}
	m.eventually("it is overwritten", m.isReported)
	conditions, _, _ := unstructured.NestedSlice(m.object(poolPath()).Object, "status", "conditions")
	if len(conditions) != 2 {
		m.Errorf("the condition of another program: %v", conditions)
	}
}

// While a poollet renews the lease, the gateway leaves it and the status alone; it goes on when nobody does.
func (m *machines) testOtherHolder() {
	const other = "poollet-of-another"
	leases := m.CoordinationV1().Leases(leaseNamespace)
	own, seconds := m.heldBy(), int32(2)
	renew := func() error {
		lease, now := m.lease(), metav1.NowMicro()
		if lease.ResourceVersion == "" {
			m.Fatal("the lease has no version")
		}
		holder := other
		lease.Spec.HolderIdentity, lease.Spec.RenewTime, lease.Spec.LeaseDurationSeconds = &holder, &now, &seconds
		_, err := leases.Update(m.Context(), lease, metav1.UpdateOptions{})
		return err
	}
	m.eventually("another one has the lease", func() bool { return renew() == nil })
	m.eventually("the gateway says so", func() bool {
		if holder := m.heldBy(); holder != other {
			m.Fatalf("the lease was taken by %s", holder)
		}
		if err := renew(); err != nil {
			m.Fatal(err)
		}
		says := m.gatewaySays()
		return strings.Contains(says, "another process holds its lease") && strings.Contains(says, other)
	})
	m.eventually("the gateway goes on", func() bool { return m.heldBy() == own })
	m.eventually("the pool is reported", m.isReported)
}

// A gateway that ends gives the lease back and renews it no more. The pool is no longer Ready after a while.
func (m *machines) testReportEnds() {
	if m.heldBy() == "" {
		m.Fatal("nobody holds the lease")
	}
	m.kubectl("scale", "deployment", "berth-gateway", "--replicas", "0")
	m.eventually("the lease is given back", func() bool { return m.heldBy() == "" })
	last := m.lease().Spec.RenewTime
	m.eventually("the pool is not Ready", func() bool { return m.ready()["status"] == "Unknown" })
	if lease := m.lease(); m.heldBy() != "" || !lease.Spec.RenewTime.Equal(last) {
		m.Errorf("the lease was renewed: %+v", lease.Spec)
	}
}
