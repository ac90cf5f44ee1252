package doctor

import (
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/job"
	"github.com/berthdev/berth/internal/rbac"
	"github.com/berthdev/berth/internal/store"
)

func TestConfigured(t *testing.T) {
	const day = 24 * time.Hour
	made := func(ttl time.Duration) store.Probe {
		return store.Probe{Address: "nats://a", Exists: true, Keep: ttl, Documents: 3}
	}
	refused := fault.New(fault.Unauthenticated, "NATS at nats://a does not accept the token (jobs.nats.token)")
	create := rbac.Access{Verb: "create", Group: "cert-manager.io", Resource: "certificates"}
	daemon := func(name string, images ...string) appsv1.DaemonSet {
		d := appsv1.DaemonSet{}
		d.Namespace, d.Name = "kube-system", name
		for _, image := range images {
			d.Spec.Template.Spec.Containers = append(d.Spec.Template.Spec.Containers, corev1.Container{Image: image})
		}
		return d
	}
	plugins := func(sets ...appsv1.DaemonSet) Finding {
		return NetworkPolicies(append(sets, daemon("kube-proxy", "kube-proxy:v1")))
	}
	for name, c := range map[string]struct {
		got  Finding
		want v1.CheckupStatus
		says string
	}{
		"no bucket yet": {
			NATS(store.Probe{Address: "nats://a"}, 2*day, nil), v1.CheckupOK,
			"the first record creates the bucket workspace-provision-jobs, which keeps them for 48h",
		},
		"the bucket as configured": {NATS(made(2*day), 2*day, nil), v1.CheckupOK, "keeps records for 48h (3 in bucket"},
		"a bucket of its own": {
			NATS(made(90*time.Minute), 2*day, nil), v1.CheckupOK,
			"keeps records for 1h30m0s (set in bucket workspace-provision-jobs) instead of 48h",
		},
		"a bucket for ever": {NATS(made(0), 2*day, nil), v1.CheckupWarning, "forever"},
		"NATS refuses":      {NATS(store.Probe{}, 2*day, refused), v1.CheckupWarning, "jobs.nats.token"},
		"records":           {Records(job.Counts{Kept: 2}, false), v1.CheckupOK, "2 in the namespace"},
		"expired records": {
			Records(job.Counts{Expired: 7}, false), v1.CheckupOK,
			"7 that expired: the next command that writes here removes them",
		},
		"records wait for NATS": {
			Records(job.Counts{Kept: 2, Pending: 1}, true), v1.CheckupOK,
			"1 wait for NATS: the next command that reaches it moves them",
		},
		"records wait, no NATS": {Records(job.Counts{Kept: 2, Pending: 1}, false), v1.CheckupWarning, "not configured"},
		"certificates":          {Certificates(true, nil, "team"), v1.CheckupOK, "cert-manager"},
		"no cert-manager": {
			Certificates(false, []rbac.Access{create}, "team"), v1.CheckupFailed,
			"certificates.cert-manager.io",
		},
		"certificates may not be": {
			Certificates(true, []rbac.Access{create}, "team"), v1.CheckupFailed,
			"you may not create certificates.cert-manager.io in namespace team",
		},
		"no plugin is seen": {plugins(), v1.CheckupSkipped, "cannot tell whether"},
		"Calico": {
			plugins(daemon("calico-node")), v1.CheckupOK,
			"Calico (daemonset kube-system/calico-node) enforces",
		},
		"by its image": {plugins(daemon("cni", "quay.io/cilium/cilium:v1")), v1.CheckupOK, "Cilium"},
		"Flannel": {
			plugins(daemon("kube-flannel-ds")), v1.CheckupWarning,
			"Flannel (daemonset kube-system/kube-flannel-ds) does not",
		},
		"Flannel, policies by both": {
			plugins(daemon("kube-flannel-ds"), daemon("kube-router")), v1.CheckupOK,
			"kube-router",
		},
		"Canal":       {plugins(daemon("canal", "calico/node", "flannel")), v1.CheckupOK, "Canal"},
		"the VPC CNI": {plugins(daemon("aws-node", "amazon-k8s-cni:v1")), v1.CheckupWarning, "does not"},
		"the VPC CNI with an agent": {
			plugins(daemon("aws-node", "amazon-k8s-cni:v1", "aws-network-policy-agent:v1")),
			v1.CheckupSkipped, "cannot be checked from here",
		},
		"kindnet": {plugins(daemon("kindnet")), v1.CheckupSkipped, "if it is recent"},
	} {
		acts := c.got.Status == v1.CheckupWarning || c.got.Status == v1.CheckupFailed
		if c.got.Status != c.want || !strings.Contains(c.got.Message, c.says) || acts != (c.got.Hint != "") {
			t.Errorf("%s: %+v, want %s and %q", name, c.got, c.want, c.says)
		}
	}
}
