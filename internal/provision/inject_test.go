package provision

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/blueprint"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/provision/injection"
	"github.com/berthdev/berth/internal/userstring"
)

// What is done about a workload as it is found.
func TestDecideInjected(t *testing.T) {
	for _, test := range []struct {
		name  string
		by    string
		stage v1.Stage
		stale bool
		want  plan
	}{
		{"nothing in it", "", v1.StageUnknown, true, install},
		{"running", "alice-1", v1.StageRunning, false, refuse},
		{"running, of an older blueprint", "alice-1", v1.StageRunning, true, refuse},
		{"on its way", "alice-1", v1.StagePulling, false, resume},
		{"on its way, of an older blueprint", "alice-1", v1.StageStarting, true, replace},
		{"failed", "alice-1", v1.StageFailed, false, replace},
	} {
		f := found{workload: &workload{id: "alice-1", stale: test.stale}, reading: v1.Snapshot{Stage: test.stage}}
		if test.by != "" {
			f.workload.record = &injection.Record{CanonicalID: test.by}
		}
		if got := f.decide(); got != test.want {
			t.Errorf("%s: %s, want %s", test.name, got, test.want)
		}
	}
}

// injectNamespaces restricts where; without it the cluster decides.
func TestWhereInjectionIsAllowed(t *testing.T) {
	u, err := userstring.Parse("alice~dev+workload=deployment/web+ns=shop")
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		namespaces []string
		code       fault.Code
	}{
		{nil, ""},
		{[]string{}, fault.PermissionDenied},
		{[]string{"other"}, fault.PermissionDenied},
		{[]string{"other", "shop"}, ""},
		{[]string{"*"}, ""},
	} {
		if err := (InjectionRules{Namespaces: test.namespaces}).allow(u); fault.CodeOf(err) != test.code {
			t.Errorf("%v: %v, want %q", test.namespaces, err, test.code)
		}
	}
	if err := (InjectionRules{Namespaces: []string{}}).allow(userstring.UserString{User: "alice"}); err != nil {
		t.Errorf("a workspace of its own: %v", err)
	}
}

// Home directories do not go into other people's workloads.
func TestInjectable(t *testing.T) {
	b := blueprint.Blueprint{
		Env: map[string]string{"HOME": "/work/"},
		Storages: map[string]blueprint.Storage{
			"home": {Path: "/x"}, "a": {Path: "/home/dev"}, "b": {Path: "/root"}, "c": {Path: "/work"},
			"data": {Path: "/data"}, "deep": {Path: "/home/dev/data"},
		},
	}
	got, homes := injectable(b)
	if strings.Join(homes, " ") != "a b c home" || len(got.Storages) != 2 || len(b.Storages) != 6 {
		t.Errorf("left out: %s; kept: %v", homes, got.Storages)
	}
}

// All that stands in the way is said at once, and whether one can insist.
func TestRefusal(t *testing.T) {
	paused := injection.Finding{Severity: injection.Refusal, Message: "paused", Hint: "resume"}
	host := injection.Finding{Severity: injection.Impossible, Message: "hostPID", Hint: "another"}
	one := fault.From(refusal([]injection.Finding{paused}))
	if one.Message != "paused" || one.Hint != "resume; or insist with --force" || one.Code != fault.Failed {
		t.Errorf("%+v", one)
	}
	two := fault.From(refusal([]injection.Finding{paused, host}))
	if len(two.Problems) != 2 || strings.Contains(two.Hint, "--force") {
		t.Errorf("%+v", two)
	}
}

func replica(name, job string, age time.Duration, ready, going bool) corev1.Pod {
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	pod := corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Name: name, Namespace: "shop", CreationTimestamp: metav1.NewTime(now.Add(-age)),
		Labels: map[string]string{
			kube.LabelCanonicalID: "alice-1", kube.LabelInjected: "true", kube.LabelJobID: job,
			kube.LabelWorkloadKind: "deployment", kube.LabelWorkloadName: "web",
		},
	}}
	if ready {
		pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
	}
	if going {
		pod.DeletionTimestamp = &metav1.Time{Time: now}
	}
	return pod
}

// The pod to enter is one that is ready, the newest of those.
func TestPreferred(t *testing.T) {
	pods := preferred([]corev1.Pod{
		replica("waits", "j", 0, false, false), replica("old", "j", time.Hour, true, false),
		replica("new", "j", time.Minute, true, false), replica("going", "j", 0, true, true),
	})
	var names []string
	for _, pod := range pods {
		names = append(names, pod.Name)
	}
	if strings.Join(names, " ") != "new old waits" {
		t.Errorf("%s", names)
	}
}
