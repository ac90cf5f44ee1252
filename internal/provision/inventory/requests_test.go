package inventory

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kubetest"
	"github.com/berthdev/berth/internal/watch/watchtest"
)

const (
	own      = "alice~dev"
	injected = "alice~dev+workload=deployment/web+ns=team"
)

// mounts lets a pod mount a claim, data.
func mounts(pod *corev1.Pod) {
	claim := &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "data"}
	pod.Spec.Volumes = []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: claim}}}
}

// standing are the ways in which a workspace can stand on a cluster, by what is asked about it.
func standing(t *testing.T) map[string]struct {
	made func(w *world)
	ask  string
} {
	t.Helper()
	mine, theirs := named(t, own).IDs()[0], named(t, injected).IDs()[0]
	type one = struct {
		made func(w *world)
		ask  string
	}
	pods := func(w *world) {
		w.pod("web-1", theirs, injected, watchtest.OnNode, watchtest.AppReady)
		w.pod("web-2", theirs, injected, mounts)
	}
	left := func(w *world) {
		w.deployment("", "")
		pods(w)
		w.config(theirs+"-config", marked(t, theirs, injected))
	}
	return map[string]one{
		"a pod that runs": {func(w *world) {
			w.pod(mine, mine, own, watchtest.OnNode, watchtest.AppReady)
			w.release(mine,
				own)
		}, own},
		"a pod that waits": {func(w *world) {
			w.pod(mine, mine, own, mounts)
			w.release(mine, own)
			w.claim("data", marked(t, mine, own))
		}, own},
		"by its ID": {
			func(w *world) { w.pod(mine, mine, own, watchtest.OnNode, watchtest.AppReady) },
			"id/" + mine,
		},
		"no pod":                   {func(w *world) { w.release(mine, own) }, own},
		"in a workload":            {func(w *world) { w.deployment(theirs, injected); pods(w) }, injected},
		"in a workload, by its ID": {func(w *world) { w.deployment(theirs, injected); pods(w) }, "id/" + theirs},
		"in a workload, by a pod":  {func(w *world) { w.deployment(theirs, injected); pods(w) }, "alice~pod=web-1"},
		"in pods that are left":    {left, injected},
		"left, by its ID":          {left, "id/" + theirs},
		"only a ConfigMap is left": {func(w *world) { w.config(theirs+"-config", marked(t, theirs, injected)) }, "id/" +
			theirs},
		"nothing": {func(*world) {}, "id/" + mine},
	}
}

// reads are the ways to read one. They say what they have found.
func reads() map[string]func(ctx context.Context, w *world, arg Argument) (string, error) {
	return map[string]func(ctx context.Context, w *world, arg Argument) (string, error){
		"find": func(ctx context.Context, w *world, arg Argument) (string, error) {
			target, err := w.Find(ctx, arg)
			if err != nil {
				return "", err
			}
			f := target.Found
			return fmt.Sprintf("%s pod=%s pods=%d leaving=%d objects=%d record=%t in=%q user=%q "+
				"blueprint=%q subject=%s",
				target.ID, target.Pod, len(f.Pods()), len(f.Leaving), len(f.Objects), f.Record != nil, f.WorkloadRef(),
				f.UserString(), f.Blueprint(), target.Subject().Kind), nil
		},
		"pods": func(ctx context.Context, w *world, arg Argument) (string, error) {
			target, err := w.Find(ctx, arg)
			if err != nil {
				return "", err
			}
			pods, err := w.Pods(ctx, target)
			return fmt.Sprintf("%d pods", len(pods)), err
		},
		"inspect": func(ctx context.Context, w *world, arg Argument) (string, error) {
			document, err := w.InspectWithEvents(ctx, arg)
			if err != nil {
				return "", err
			}
			return fmt.Sprintf("%s %s in %q, %d replicas, %s", document.ID, document.Stage, document.Workload,
				len(document.Replicas), document.Message), nil
		},
		"look up whole": func(ctx context.Context, w *world, arg Argument) (string, error) {
			c := arg.candidates[0]
			f, err := w.LookupWhole(ctx, c.id, c.workload)
			return fmt.Sprintf("%t %d objects, %d pods", f.Workload.Injected(), len(f.Objects), len(f.Pods())), err
		},
	}
}

// What is read of a workspace, in whichever way it stands.
func TestRead(t *testing.T) {
	const (
		it, inWeb = "alice-59936c3", `in="deployment/web" user="alice~dev+workload=deployment/web+ns=team" `
		podless   = " pods=0 leaving=0 objects=0 record=true in=\"\" user=\"alice~dev\" blueprint=\"dev\" subject=Pod"
		alone     = " pods=1 leaving=0 objects=0 record=%t in=\"\" user=\"alice~dev\" blueprint=\"dev\" subject=Pod"
		theirs    = "alice-8941cb5"
		injected  = " pods=2 leaving=0 objects=0 record=false " + inWeb + "blueprint=\"dev\" subject=Deployment"
		left      = " pods=0 leaving=%d objects=1 record=false " + inWeb + "blueprint=\"\" subject=Deployment"
		rolling   = theirs + ` Scheduling in "deployment/web", 2 replicas, 0 of 1 ready`
		leaving   = theirs + ` Terminating in "deployment/web", 2 replicas, 1 of 2 ready; no longer in deployment/web`
	)
	want := map[string]struct{ find, pods, inspect string }{
		"a pod that runs": {it + " pod=" + fmt.Sprintf(alone, true), "1 pods", it + ` Running in "", 0 replicas, `},
		"a pod that waits": {it + " pod=" + fmt.Sprintf(alone, true), "1 pods", it +
			` Scheduling in "", 0 replicas, `},
		"by its ID": {it + " pod=" + fmt.Sprintf(alone, false), "1 pods", it + ` Running in "", 0 replicas, `},
		"no pod": {it + " pod=" + podless, "0 pods: has no pod", it +
			` Unknown in "", 0 replicas, pod gone; start it: berth start alice~dev --namespace team`},
		"in a workload":            {theirs + " pod=" + injected, "2 pods", rolling},
		"in a workload, by its ID": {theirs + " pod=" + injected, "2 pods", rolling},
		"in a workload, by a pod":  {theirs + " pod=web-1" + injected, "1 pods", rolling},
		"in pods that are left":    {theirs + " pod=" + fmt.Sprintf(left, 2), "2 pods", leaving},
		"left, by its ID":          {theirs + " pod=" + fmt.Sprintf(left, 2), "2 pods", leaving},
		"only a ConfigMap is left": {
			theirs + " pod=" + fmt.Sprintf(left, 0), "0 pods: no pod of deployment/web has workspace",
			theirs + ` Unknown in "deployment/web", 0 replicas, no longer in deployment/web; delete it, or ` +
				`provision it again`,
		},
		"nothing": {
			": workspace alice-59936c3 not found in namespace team", ": workspace alice-59936c3 not found",
			": workspace alice-59936c3 not found",
		},
	}
	for name, stands := range standing(t) {
		w := newWorld(t)
		stands.made(w)
		for how, want := range map[string]string{
			"find": want[name].find, "pods": want[name].pods,
			"inspect": want[name].inspect,
		} {
			got, err := reads()[how](t.Context(), w, named(t, stands.ask))
			wanted, fails, failing := strings.Cut(want, ": ")
			if !failing || how == "inspect" && wanted != "" {
				wanted, fails, failing = want, "", false
			}
			if got != wanted || (err != nil) != failing || err != nil && !strings.Contains(err.Error(), fails) {
				t.Errorf("%s, %s: %q, %v\nwant %q", name, how, got, err, want)
			}
		}
	}
}

// What belongs to a workspace in a workload is read beside what explains it; of what is not in
// its workload there is no more than the workload.
func TestLookupWhole(t *testing.T) {
	for name, want := range map[string]string{
		"in a workload":         "true 1 objects, 2 pods",
		"in pods that are left": "false 0 objects, 0 pods",
	} {
		w, stands := newWorld(t), standing(t)[name]
		stands.made(w)
		w.config("a-config", marked(t, "alice-8941cb5", injected))
		if got, err := reads()["look up whole"](t.Context(), w, named(t, stands.ask)); got != want || err != nil {
			t.Errorf("%s: %s, %v; want %s", name, got, err, want)
		}
	}
}

// What cannot be read because the API server fails is an error that says so, whichever request
// it is: never a part of the answer, nor that there is nothing.
func TestEachRequestFails(t *testing.T) {
	for name, stands := range standing(t) {
		for how, read := range reads() {
			arg := named(t, stands.ask)
			if how == "look up whole" && arg.candidates[0].workload.IsZero() {
				continue
			}
			for n, more := 0, true; more; n++ {
				var refused string
				w := newWorld(t) // what is still under way of another read is not counted
				stands.made(w)
				more = false
				w.requests.Set(http.StatusInternalServerError, func(i int, request string) bool {
					if i == n {
						more, refused = true, request
					}
					return i == n
				})
				got, err := read(t.Context(), w, arg)
				if name == "in a workload, by a pod" && refused == "list secrets" {
					continue // that the pod is no workspace by itself is as good an answer
				}
				if refused == "get namespaces" {
					continue // nothing is there, whether its namespace is or not
				}
				if more && (fault.CodeOf(err) != fault.Unavailable ||
					!strings.Contains(err.Error(), kubetest.Refusal)) {
					t.Errorf("%s: %s without request %d, %s: %q, %v", name, how, n, refused, got, err)
				}
			}
		}
	}
}

// Anyone who may not read everything sees what they may; that something exists is never denied for
// want of a permission.
func TestWhatMayNotBeRead(t *testing.T) {
	id := "alice-8941cb5"
	for name, test := range map[string]struct {
		stands, refuse string
		how, want      string // with ! an error
	}{
		"the record, of a pod that runs":  {"a pod that runs", "list secrets", "inspect", "alice-59936c3 Running"},
		"the record, of a pod that waits": {"a pod that waits", "list secrets", "inspect", "alice-59936c3 Scheduling"},
		"the record, without a pod": {
			"no pod", "list secrets", "inspect",
			"!has no pod in namespace team, and you may not see whether it is installed",
		},
		"the events, of a pod that waits": {"a pod that waits", "list events", "find", "alice-59936c3 pod= pods=1"},
		"the ConfigMaps, and pods are left": {"in pods that are left", "list configmaps", "find", id +
			" pod= pods=0 leaving=2 objects=0"},
		"the ConfigMaps, and nothing else is": {"only a ConfigMap is left", "list configmaps", "find", "!workspace " +
			id +
			" not found in namespace team"},
		"the claims, and nothing else is left": {
			"only a ConfigMap is left", "list persistentvolumeclaims", "find",
			"!is not in deployment/web, and you may not see whether anything of it is left",
		},
		"the pods":     {"a pod that runs", "list pods", "find", "!you may not list pods"},
		"the workload": {"in a workload", "get deployments", "find", "!you may not get deployments"},
	} {
		w := newWorld(t)
		stands := standing(t)[test.stands]
		stands.made(w)
		w.requests.Set(http.StatusForbidden, func(_ int, request string) bool { return request == test.refuse })
		got, err := reads()[test.how](t.Context(), w, named(t, stands.ask))
		wanted, fails := strings.CutPrefix(test.want, "!")
		if (err != nil) != fails || fails && !strings.Contains(err.Error(), wanted) || !fails &&
			!strings.HasPrefix(got, wanted) {
			t.Errorf("%s: %q, %v\nwant %q", name, got, err, test.want)
		}
	}
}
