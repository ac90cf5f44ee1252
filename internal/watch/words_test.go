package watch

import (
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/watch/cause"
	"github.com/berthdev/berth/internal/watch/watchtest"
)

// The stage of a workload without pods counts from when it was last written, not from when it
// was created; its status does not count.
func TestRolloutCountsFromTheLastWrite(t *testing.T) {
	writes := func(writes map[string]time.Duration) func(*appsv1.Deployment) {
		return func(d *appsv1.Deployment) {
			d.CreationTimestamp = metav1.NewTime(watchtest.Epoch)
			for subresource, at := range writes {
				when := metav1.NewTime(watchtest.After(at))
				d.ManagedFields = append(d.ManagedFields, metav1.ManagedFieldsEntry{
					Subresource: subresource,
					Time:        &when,
				})
			}
		}
	}
	for name, test := range map[string]struct {
		writes map[string]time.Duration
		since  time.Duration
	}{
		"nobody says":  {nil, 0},
		"patched":      {map[string]time.Duration{"": 16 * time.Minute}, 16 * time.Minute},
		"status later": {map[string]time.Duration{"": 16 * time.Minute, "status": 17 * time.Minute}, 16 * time.Minute},
		"scaled later": {map[string]time.Duration{"": 16 * time.Minute, "scale": 18 * time.Minute}, 18 * time.Minute},
	} {
		s := deploymentStateOf(watchtest.Deployment(3, 2, writes(test.writes)))
		reading, _ := Analyze(s, cause.DefaultPolicy(), watchtest.After(time.Hour))
		if want := watchtest.After(test.since); reading.Stage != v1.StageScheduling || !reading.Since.Equal(want) {
			t.Errorf("%s: %s since %s, want %s", name, reading.Stage, reading.Since, want)
		}
	}
}

func deploymentStateOf(d *appsv1.Deployment) State {
	return NewState(Subject{Kind: KindDeployment, Namespace: "dev", Name: "web"}).Apply("ADDED", d)
}

// A workload that is scaled to zero has no pods, rather than 0 of 0.
func TestScaledToZero(t *testing.T) {
	none := int32(0)
	d := watchtest.Deployment(2, 2, func(d *appsv1.Deployment) { d.Spec.Replicas = &none })
	reading, _ := Analyze(deploymentStateOf(d), cause.DefaultPolicy(), watchtest.After(time.Hour))
	if reading.Message != "scaled to zero" {
		t.Errorf("%s: %q", reading.Stage, reading.Message)
	}
}

// That an image is being pulled is said from the first moment; the stage is Pulling after 8 s.
func TestPullIsSaidAtOnce(t *testing.T) {
	pulls := about("app", "Pulling", `Pulling image "x/app:1"`)
	initPulls := about("first", "Pulling", `Pulling image "x/first:1"`)
	initPulls.InvolvedObject.FieldPath = "spec.initContainers{first}"
	first := watchtest.InitContainer("first", nil, watchtest.Waits("PodInitializing", ""))
	for name, test := range map[string]struct {
		state   State
		after   time.Duration
		stage   v1.Stage
		message string
	}{
		"at once": {
			stateOf(webPod(watchtest.OnNode), pulls), time.Second, v1.StageStarting,
			"app: pulling app:1",
		},
		"after 8 seconds": {stateOf(webPod(watchtest.OnNode), pulls), 9 * time.Second, v1.StagePulling, "app:1"},
		"before the pull": {stateOf(webPod(watchtest.OnNode)), time.Second, v1.StageStarting, "app is being created"},
		"it is there": {
			stateOf(webPod(watchtest.OnNode), pulls, about("app", "Pulled", "Successfully pulled image")),
			time.Second, v1.StageStarting, "app is being created",
		},
		"an init container": {
			stateOf(webPod(watchtest.OnNode, first), initPulls), time.Second, v1.StageInitializing,
			"first: pulling first:1",
		},
	} {
		reading, _ := Analyze(test.state, cause.DefaultPolicy(), watchtest.After(test.after))
		if reading.Stage != test.stage || !strings.HasSuffix(reading.Message, test.message) {
			t.Errorf("%s: %s: %q, want %s: %q", name, reading.Stage, reading.Message, test.stage, test.message)
		}
	}
}
