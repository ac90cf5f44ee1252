package injection

import (
	"strings"
	"testing"
)

// What is reported about a workload before it is patched.
func TestExamine(t *testing.T) {
	meta := func(text string) func(string) string {
		return func(w string) string { return strings.Replace(w, "metadata: {", "metadata: {"+text+", ", 1) }
	}
	spec := func(text string) func(string) string {
		return func(w string) string { return strings.Replace(w, "  replicas: 1", text, 1) }
	}
	for name, test := range map[string]struct {
		kind     string
		change   func(string) string
		reason   string // empty: nothing to say
		severity Severity
		says     string
	}{
		"nothing":        {"Deployment", spec("  replicas: 1"), "", 0, ""},
		"no replicas":    {"Deployment", spec("  replicas: 0"), "NoReplicas", Refusal, "no replicas"},
		"one by default": {"Deployment", spec("  x: 1"), "", 0, ""},
		"no node":        {"DaemonSet", spec("  x: 1"), "NoReplicas", Refusal, "no replicas"},
		"paused":         {"Deployment", spec("  paused: true"), "Paused", Refusal, "paused"},
		"on delete": {
			"StatefulSet", spec("  updateStrategy: {type: OnDelete}"), "OnDelete", Warning,
			"kubectl delete pod",
		},
		"rolling": {
			"StatefulSet",
			spec("  updateStrategy: {type: RollingUpdate, rollingUpdate: {partition: 0}}"), "", 0, "",
		},
		"a part": {
			"StatefulSet", spec("  replicas: 1\n  updateStrategy: {rollingUpdate: {partition: 1}}"),
			"Partition", Refusal, "number 1",
		},
		"another inventory": {
			"Deployment", meta("annotations: {config.k8s.io/owning-inventory: apps}"), "GitOpsOwned",
			Warning, "a GitOps tool (apps)",
		},
		"managed by Flux": {
			"Deployment", meta("labels: {app.kubernetes.io/managed-by: kustomize-controller}"),
			"GitOpsOwned", Warning, "Flux",
		},
		"managed by flux2": {
			"Deployment", meta("labels: {app.kubernetes.io/managed-by: flux2}"), "GitOpsOwned",
			Warning, "Flux",
		},
		"managed for Helm": {
			"Deployment", meta("labels: {app.kubernetes.io/managed-by: helm-controller}"),
			"GitOpsOwned", Warning, "Flux",
		},
		"being deleted": {
			"Deployment", meta("deletionTimestamp: \"2026-01-01T00:00:00Z\""), "Deleting", Impossible,
			"being deleted",
		},
		"the node's processes": {
			"Deployment", func(w string) string { return w + "      hostPID: true\n" }, "HostPID",
			Impossible, "hostPID",
		},
		"Argo CD": {
			"Deployment",
			meta("annotations: {argocd.argoproj.io/tracking-id: 'shop:apps/Deployment:shop/web'}"), "GitOpsOwned",
			Warning,
			"Argo CD (shop:apps",
		},
		"Argo CD by label": {
			"Deployment", meta("labels: {argocd.argoproj.io/instance: shop}"), "GitOpsOwned", Warning,
			"Argo CD",
		},
		"Flux": {
			"Deployment", meta("labels: {kustomize.toolkit.fluxcd.io/name: apps}"), "GitOpsOwned",
			Warning, "Flux (Kustomization apps)",
		},
		"Flux with Helm": {
			"Deployment",
			meta("labels: {helm.toolkit.fluxcd.io/name: web, app.kubernetes.io/managed-by: Helm}"), "GitOpsOwned",
			Warning,
			"HelmRelease web",
		},
		"managed by": {
			"Deployment", meta("labels: {app.kubernetes.io/managed-by: argocd}"), "GitOpsOwned",
			Warning, "Argo CD",
		},
		"Fleet": {
			"Deployment", meta("labels: {objectset.rio.cattle.io/hash: x}"), "GitOpsOwned", Warning,
			"Fleet",
		},
		"Helm": {
			"Deployment", meta("annotations: {meta.helm.sh/release-name: shop}"), "HelmOwned", Notice,
			"shop",
		},
		"an instance alone": {"Deployment", meta("labels: {app.kubernetes.io/instance: shop}"), "", 0, ""},
		"an operator": {
			"StatefulSet", meta("ownerReferences: [{apiVersion: v1, kind: Prometheus, name: main, uid: u, " +
				"controller: true}]"),
			"OperatorOwned", Warning, "Prometheus main",
		},
		"an owner that controls nothing": {
			"StatefulSet",
			meta("ownerReferences: [{apiVersion: v1, kind: X, name: y, uid: u}]"), "", 0, "",
		},
		"a volume for one": {"Deployment", spec("  replicas: 3"), "OnePodVolume", Refusal, "3 replicas"},
		"a volume for one on nodes": {
			"DaemonSet", func(w string) string { return w + "status: {desiredNumberScheduled: 2}\n" }, "OnePodVolume",
			Refusal,
			"2 replicas",
		},
	} {
		t.Run(name, func(t *testing.T) {
			found := Examine(parse(t, test.change(workloadOf(test.kind))), parts(t, strings.ToLower(test.kind)))
			switch {
			case test.reason == "" && len(found) > 0:
				t.Errorf("says %+v", found)
			case test.reason == "":
			case len(found) != 1 || found[0].Reason != test.reason || found[0].Severity != test.severity ||
				!strings.Contains(found[0].Message, test.says):
				t.Errorf("%+v, want %s %q", found, test.reason, test.says)
			}
		})
	}
}

// A claim that many can mount is not refused.
func TestAVolumeForMany(t *testing.T) {
	p := parts(t, "deployment")
	workload := parse(t, strings.Replace(workloadOf("Deployment"), "replicas: 1", "replicas: 3", 1))
	for _, o := range p.Objects {
		if o.GetKind() == "PersistentVolumeClaim" {
			o.Object["spec"] = map[string]any{"accessModes": []any{"ReadWriteOnce", "ReadWriteMany"}}
		}
	}
	if found := Examine(workload, p); len(found) > 0 {
		t.Errorf("%+v", found)
	}
}

// What is to be done about a finding names the workload as kubectl takes it.
func TestHints(t *testing.T) {
	for text, hint := range map[string]string{
		"  replicas: 0":  "kubectl scale deployment/web --namespace shop --replicas 1",
		"  paused: true": "kubectl rollout resume deployment/web --namespace shop",
	} {
		found := Examine(parse(t, strings.Replace(workloadOf("Deployment"), "  replicas: 1", text, 1)),
			parts(t, "deployment"))
		if len(found) != 1 || found[0].Hint != hint {
			t.Errorf("%+v, want the hint %q", found, hint)
		}
	}
}

// Where a rollout comes to some of the pods, the others stay without.
func TestAPartOfMore(t *testing.T) {
	workload := parse(t, strings.Replace(workloadOf("StatefulSet"), "  replicas: 1",
		"  replicas: 2\n  updateStrategy: {rollingUpdate: {partition: 1}}", 1))
	found := Examine(workload, Parts{ID: "alice-1"})
	if len(found) != 1 || found[0].Severity != Warning || found[0].Reason != "Partition" ||
		!strings.Contains(found[0].Message, "number 1 on (partition): the others") {
		t.Errorf("%+v", found)
	}
}

// A number is one however it was read.
func TestNumber(t *testing.T) {
	for _, value := range []any{3, int64(3), 3.0} {
		if n, ok := number(value); n != 3 || !ok {
			t.Errorf("%T: %d, %t", value, n, ok)
		}
	}
	if n, ok := number("3"); n != 0 || ok {
		t.Errorf("a text: %d, %t", n, ok)
	}
}
