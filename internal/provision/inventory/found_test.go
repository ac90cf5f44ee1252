package inventory

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/initscript"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/watch/cause"
	"github.com/berthdev/berth/internal/watch/watchtest"
)

// Anyone who names a workspace by its pod has to name its owner; two that an argument can mean are
// not guessed between, and a pod of somebody else is none.
func TestFindWhatIsMeant(t *testing.T) {
	foreign := func(w *world) {
		w.put("api/v1", "pods", "Pod", &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "alice-1234567"}})
	}
	unowned := func(w *world) {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
			Name:   "alice-1234567",
			Labels: map[string]string{kube.LabelCanonicalID: "alice-1234567"},
		}}
		w.put("api/v1", "pods", "Pod", pod)
	}
	mine := func(w *world) { w.pod("alice-1234567", "alice-1234567", own, watchtest.OnNode) }
	recorded := func(w *world) { w.release("alice-1234567", own) }
	inWeb := func(w *world) {
		w.deployment("alice-8941cb5", injected)
		w.pod("web-1", "alice-8941cb5", injected)
	}
	another := func(w *world) { w.pod("alice-59936c3", "alice-59936c3", "alice~other", watchtest.OnNode) }
	both := func(w *world) { w.pod("alice", "alice", own); w.pod("alice-a975fae", "alice-a975fae", "alice") }
	second := func(w *world) { w.pod("alice", "alice", own) }
	for name, test := range map[string]struct {
		made func(w *world)
		ask  string
		id   string // found; empty for an error
		code fault.Code
		says string
		hint string
	}{
		"its owner": {mine, "alice~pod=alice-1234567", "alice-1234567", "", "", ""},
		"another one": {
			mine, "bob~pod=alice-1234567", "", fault.PermissionDenied,
			"does not belong to bob", "alice~pod=alice-1234567",
		},
		"its owner, without its pod": {recorded, "alice~pod=alice-1234567", "alice-1234567", "", "", ""},
		"another one, without its pod": {
			recorded, "bob~pod=alice-1234567", "", fault.PermissionDenied,
			"does not belong to bob", "alice~pod=alice-1234567",
		},
		"nobody knows whose it is": {
			unowned, "bob~pod=alice-1234567", "", fault.PermissionDenied,
			"does not belong to bob", "id/alice-1234567",
		},
		"by its ID, whosever it is": {unowned, "id/alice-1234567", "alice-1234567", "", "", ""},
		"a pod of a workload":       {inWeb, "alice~pod=web-1", "alice-8941cb5", "", "", ""},
		"another's pod of a workload": {
			inWeb, "bob~pod=web-1", "", fault.PermissionDenied, "does not belong to bob",
			"alice~pod=web-1",
		},
		"a pod that is no workspace": {
			foreign, "alice~pod=alice-1234567", "", fault.Conflict,
			"is not managed by berth", "rename or delete it",
		},
		"by its ID": {
			foreign, "id/alice-1234567", "", fault.NotFound, "not found in namespace team",
			"berth status",
		},
		"a user string of the same ID": {another, own, "", fault.Conflict, "alice~other", "id/alice-59936c3"},
		"one of two that are meant":    {second, "alice", "alice", "", "", ""},
		"both": {
			both, "alice", "", fault.InvalidArgument,
			`"alice" is ambiguous: alice-a975fae or alice`, "use id/alice-a975fae or id/alice",
		},
		"nothing": {
			func(*world) {}, own, "", fault.NotFound, "workspace alice-59936c3 not found",
			"berth provision alice~dev --namespace team",
		},
		"nothing, by a pod": {
			func(*world) {}, "alice~pod=x", "", fault.NotFound, "workspace x not found",
			"berth status",
		},
		"nothing, in another namespace": {
			mine, "alice~pod=alice-1234567+ns=other", "", fault.NotFound,
			"in namespace other, which does not exist", "--namespace",
		},
		"a record that cannot be read": {
			func(w *world) { w.unreadable("alice-59936c3") }, own, "alice-59936c3", "", "",
			"",
		},
		"a workload whose record is none": {
			func(w *world) { w.deployment(":", injected) }, injected, "", fault.Conflict,
			"cannot be read", "restore the annotation",
		},
	} {
		w := newWorld(t)
		test.made(w)
		target, err := w.Find(t.Context(), named(t, test.ask))
		if test.id != "" {
			if err != nil || target.ID != test.id || target.Namespace != "team" {
				t.Errorf("%s: %+v, %v; want %s", name, target, err, test.id)
			}
			continue
		}
		if err == nil {
			t.Errorf("%s: found %+v", name, target)
			continue
		}
		if f := fault.From(err); f.Code != test.code || !strings.Contains(f.Message, test.says) ||
			!strings.Contains(f.Hint, test.hint) {
			t.Errorf("%s: %s %v, %q; want %s %s", name, f.Code, err, f.Hint, test.code, test.says)
		}
	}
}

// unreadable puts a record there that is none.
func (w *world) unreadable(id string) {
	w.t.Helper()
	w.put("api/v1", "secrets", "Secret", &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{
			Name:   "sh.helm.release.v1." + id + ".v1",
			Labels: map[string]string{"owner": "helm", "name": id, "status": "deployed", "version": "1"},
		},
		Type: "helm.sh/release.v1", Data: map[string][]byte{"release": []byte("x")},
	})
}

// A record that cannot be read is of a workspace that exists, and that says so.
func TestUnreadableRecord(t *testing.T) {
	w := newWorld(t)
	w.unreadable("alice-59936c3")
	document, err := w.Inspect(t.Context(), named(t, own))
	if err != nil || document.Stage != v1.StageUnknown ||
		!strings.HasSuffix(document.Message, "; restore it, or delete the workspace") {
		t.Errorf("%+v, %v", document, err)
	}
}

// Storage that was kept is found for whom it was kept, as long as it is not being deleted.
func TestFindKept(t *testing.T) {
	const id = "alice-59936c3"
	keep := func(user string, changes ...func(*metav1.ObjectMeta)) metav1.ObjectMeta {
		meta := marked(t, id, user)
		meta.Labels[kube.LabelKept] = "true"
		for _, change := range changes {
			change(&meta)
		}
		return meta
	}
	going := func(meta *metav1.ObjectMeta) { now := metav1.Now(); meta.DeletionTimestamp = &now }
	used := func(meta *metav1.ObjectMeta) { delete(meta.Labels, kube.LabelKept) }
	for name, test := range map[string]struct {
		claim metav1.ObjectMeta
		ask   string
		found bool
	}{
		"its own":                 {keep(own), own, true},
		"by its ID":               {keep(own), "id/" + id, true},
		"by a text that is both":  {keep(own), id, true},
		"by its owner":            {keep(own), "alice~pod=" + id, true},
		"of somebody else":        {keep(own), "bob~pod=" + id, false},
		"of another user string":  {keep("alice~other"), own, false},
		"it is being deleted":     {keep(own, going), own, false},
		"it is used":              {keep(own, used), own, false},
		"in another namespace":    {keep(own), "alice~pod=" + id + "+ns=other", false},
		"of another workspace ID": {keep(own), "id/bob-1234567", false},
	} {
		w := newWorld(t)
		w.claim("data", test.claim)
		target, err := w.FindKept(t.Context(), named(t, test.ask))
		if found := err == nil && target.ID == id && target.Namespace == "team" &&
			len(target.Found.Kept) == 1; found != test.found || !test.found && fault.CodeOf(err) != fault.NotFound {
			t.Errorf("%s: %+v, %v", name, target, err)
		}
		w.requests.Set(http.StatusInternalServerError, func(int, string) bool { return true })
		if _, err := w.FindKept(t.Context(), named(t, test.ask)); fault.CodeOf(err) != fault.Unavailable {
			t.Errorf("%s, and the API server fails: %v", name, err)
		}
	}
}

// The claims that pods mount are named once, in order.
func TestClaims(t *testing.T) {
	with := func(names ...string) *corev1.Pod {
		pod := &corev1.Pod{}
		for _, name := range names {
			claim := &corev1.PersistentVolumeClaimVolumeSource{ClaimName: name}
			pod.Spec.Volumes = append(pod.Spec.Volumes,
				corev1.Volume{Name: name, VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: claim}})
		}
		return pod
	}
	var got []string
	for _, claim := range (Found{objects: Objects{Pods: []*corev1.Pod{with("b", "a"), with(), with("c", "b")}}}).
		Claims() {
		got = append(got, claim.GetKind()+" "+claim.GetName())
	}
	if want := "[PersistentVolumeClaim a PersistentVolumeClaim b PersistentVolumeClaim c]"; fmt.Sprint(got) != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// The events are read of what waits, and of a failure that a policy may wait for.
func TestNeedsEvents(t *testing.T) {
	patient, fast := cause.Policy{Name: cause.Patient}, cause.Policy{Name: cause.Fast}
	for stage, want := range map[v1.Stage][2]bool{
		v1.StageStarting: {true, true}, v1.StageFailed: {true, false},
		v1.StageRunning: {false, false},
	} {
		s := v1.Snapshot{Stage: stage, Status: stage.Status()}
		if got := [2]bool{
			(Reader{Policy: patient}).NeedsEvents(s),
			(Reader{Policy: fast}).NeedsEvents(s),
		}; got != want {
			t.Errorf("%s: %t, want %t", stage, got, want)
		}
	}
}

// scripts lets a pod run init scripts.
func scripts(pod *corev1.Pod) {
	pod.Spec.Containers = []corev1.Container{{
		Name: v1.MainContainer, Command: []string{"/k8shell/runtime/start.sh"},
		VolumeMounts: []corev1.VolumeMount{{MountPath: "/k8shell/init"}},
	}}
	pod.Status.ContainerStatuses[0].Name = v1.MainContainer
}

// Init scripts run in every pod of a workload: of the first eight it is read how, and that there
// are more.
func TestReadScripts(t *testing.T) {
	scripted := func(n int) (f Found) {
		for i := range n {
			pod := watchtest.NewPod(fmt.Sprint("web-", i), "", watchtest.OnNode, watchtest.App(watchtest.Runs(0)),
				scripts).Pod
			f.objects.Pods = append(f.objects.Pods, pod)
		}
		return f
	}
	for n, unread := range map[int]string{0: "", initscript.MostPods: "", initscript.MostPods +
		1: initscript.ErrTooManyPods.Error()} {
		var document v1.Workspace
		newWorld(t).ReadScripts(t.Context(), scripted(n), &document)
		if document.ScriptsUnread != unread {
			t.Errorf("%d pods: %q", n, document.ScriptsUnread)
		}
	}
	document := v1.Workspace{ScriptsUnread: "refused"}
	newWorld(t).ReadScripts(t.Context(), scripted(initscript.MostPods+1), &document)
	if document.ScriptsUnread != "refused" {
		t.Errorf("what is known is replaced by %q", document.ScriptsUnread)
	}
}
