package rollout

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	"github.com/berthdev/berth/internal/apply/health"
	"github.com/berthdev/berth/internal/watch"
	"github.com/berthdev/berth/internal/watch/cause"
)

// scene is what a cluster had of a workload: the reading by its own status, what was around
// it, and when.
func scene(t *testing.T, file string) (r health.Reading, around []runtime.Object, at time.Time) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", file+".yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for document := range strings.SplitSeq(string(text), "\n---\n") {
		raw, err := yaml.YAMLToJSON([]byte(document))
		if err != nil {
			t.Fatal(err)
		}
		object, known, err := watch.Decode(raw, nil)
		if err != nil || !known {
			continue // the remark at the top
		}
		own := &unstructured.Unstructured{}
		if err := own.UnmarshalJSON(raw); err != nil {
			t.Fatal(err)
		}
		if kind := own.GetKind(); kind == "Deployment" || kind == "StatefulSet" {
			state, message := health.StateOf(own)
			r = health.Reading{Object: own, State: state, Message: message}
			continue
		}
		around = append(around, object)
	}
	s, _ := stateOf(r.Object, around)
	return r, around, s.Newest().Add(2 * time.Second)
}

// only are the objects of a type.
func only[T runtime.Object](objects []runtime.Object) []runtime.Object {
	return slices.DeleteFunc(slices.Clone(objects), func(o runtime.Object) bool { _, is := o.(T); return !is })
}

// without are the objects but those of a type.
func without[T runtime.Object](objects []runtime.Object) []runtime.Object {
	return slices.DeleteFunc(slices.Clone(objects), func(o runtime.Object) bool { _, is := o.(T); return is })
}

// What a cluster had of workloads that were not as they should be, and what is said of them.
func TestAnalyze(t *testing.T) {
	fast := cause.DefaultPolicy()
	patient, ignoring := fast, fast
	patient.Name, ignoring.IgnoreReasons = cause.Patient, []string{cause.ImageNotFound}
	for name, test := range map[string]struct {
		file    string
		policy  cause.Policy
		change  func(*health.Reading, []runtime.Object) []runtime.Object
		state   health.State
		mayPass bool
		code    string // of the cause; empty if the reading stays as it is
		says    string
		hint    string
	}{
		"an image that does not exist": {
			file: "image", policy: fast, state: health.Failed, code: cause.ImageNotFound,
			says: "ImageNotFound: container app: image registry.example.com/berth/workspace:no-such-tag not found",
			hint: `"image" of container app in the bundle or its values. Then install the bundle again.`,
		},
		"that is not there yet, under a policy that ignores it": {
			file: "image", policy: ignoring, state: health.InProgress, code: cause.ImageNotFound, says: "not found",
			hint: "image",
		},
		"without events": {
			file: "image", policy: fast, state: health.Failed, code: cause.ImageNotFound, says: "not found",
			change: func(_ *health.Reading, around []runtime.Object) []runtime.Object {
				return without[*corev1.Event](around)
			},
		},
		"without ReplicaSets, which the Deployment names": {
			file: "image", policy: fast, state: health.Failed, code: cause.ImageNotFound, says: "not found",
			change: func(_ *health.Reading,
				around []runtime.Object,
			) []runtime.Object {
				return only[*corev1.Pod](around)
			},
		},
		"of a revision that has just been replaced": {
			file: "image", policy: fast, state: health.InProgress,
			change: func(r *health.Reading, around []runtime.Object) []runtime.Object {
				r.Object.SetAnnotations(map[string]string{"deployment.kubernetes.io/revision": "2"})
				return around
			},
		},
		"of a workload that is as it should be": {
			file: "image", policy: fast, state: health.Current,
			change: func(r *health.Reading, around []runtime.Object) []runtime.Object {
				r.State = health.Current
				return around
			},
		},
		"of pods of another namespace": {
			file: "image", policy: fast, state: health.InProgress,
			change: func(_ *health.Reading, around []runtime.Object) []runtime.Object {
				for _, pod := range only[*corev1.Pod](around) {
					pod.(*corev1.Pod).Namespace = "other"
				}
				return around
			},
		},
		"a Secret that does not exist, and may be made by another object": {
			file: "config", policy: fast, state: health.Failed, mayPass: true, code: cause.ConfigMissing,
			says: `secret "made-later" not found`, hint: "made-later",
		},
		"a program that has ended once": {
			file: "crash", policy: fast, state: health.InProgress, code: cause.ContainerExited, says: "exit code 3",
			hint: "kubectl logs",
		},
		"a program that ends again and again, and may wait for another": {
			file: "crash-loop", policy: fast, state: health.Failed, mayPass: true, code: cause.CrashLoop,
			says: "crash loop: ",
			hint: "kubectl logs",
		},
		"a claim of a class that does not exist": {
			file: "claim", policy: fast, state: health.InProgress, code: cause.StorageClassMissing,
			says: "no-such-class",
			hint: "no-such-class",
		},
	} {
		t.Run(name, func(t *testing.T) {
			r, around, at := scene(t, test.file)
			if test.change != nil {
				around = test.change(&r, around)
			}
			before := r
			got, _ := Analyze(r, around, test.policy, at)
			if got.State != test.state || got.MayPass != test.mayPass {
				t.Errorf("%s, may pass %t: %s", got.State, got.MayPass, got.Message)
			}
			switch {
			case test.code == "" && (got.Cause != nil || got.Message != before.Message):
				t.Errorf("it says %q, %+v", got.Message, got.Cause)
			case test.code != "" && (got.Cause == nil || got.Cause.Code != test.code):
				t.Fatalf("the cause is %+v", got.Cause)
			case test.code != "" && (!strings.Contains(got.Message, test.says) ||
				!strings.Contains(got.Cause.Hint, test.hint)):
				t.Errorf("it says %q with the hint %q", got.Message, got.Cause.Hint)
			}
		})
	}
}

// What only a person can change is waited for as long as the policy says, from when the wait began.
func TestAnalyzeStuck(t *testing.T) {
	p := cause.DefaultPolicy()
	p.StuckAfter, p.StuckAfterOrigin = 5*time.Minute, "--stuck-after"
	r, around, at := scene(t, "claim")
	p = p.Waiting(at)
	got, next := Analyze(r, around, p, at.Add(4*time.Minute))
	if got.State != health.InProgress || next.After(at.Add(5*time.Minute)) || next.IsZero() {
		t.Errorf("%s, to be asked again at %s", got.State, next)
	}
	got, _ = Analyze(r, around, p, at.Add(6*time.Minute))
	if got.State != health.Failed || !strings.Contains(got.Message, "it was waited for 5m (--stuck-after)") {
		t.Errorf("%s: %s", got.State, got.Message)
	}
}
