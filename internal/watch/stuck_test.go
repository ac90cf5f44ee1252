package watch

import (
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/watch/cause"
	"github.com/berthdev/berth/internal/watch/watchtest"
)

const never = time.Duration(-1)

// What only a person can change is reported as stuck after a minute, and given up after
// --stuck-after, here 5 minutes, counted from the times that the cluster gives. Everything
// else is waited for.
func TestStuck(t *testing.T) {
	second := time.Second
	pod := func(changes ...func(*corev1.Pod)) *corev1.Pod { return watchtest.NewPod("web", "1", changes...).Pod }
	said := func(at time.Duration, reason, message string) *corev1.Event {
		e := warning("", reason, message)
		e.FirstTimestamp, e.LastTimestamp = metav1.NewTime(watchtest.After(at)), metav1.NewTime(watchtest.After(at))
		return e
	}
	noRoom := unscheduled("0/3 nodes are available: 3 Insufficient cpu.", 2*second)
	noClass := claimEvent("data", "ProvisioningFailed", `storageclass.storage.k8s.io "fast" not found`)
	noClass.FirstTimestamp = metav1.NewTime(watchtest.After(7 * second))
	noConfig := said(4*second, "FailedMount", `MountVolume.SetUp failed for volume "c" : configmap "c" not found`)
	timedOut := said(30*second, "FailedMount", "unmounted volumes=[c]: timed out waiting: context deadline exceeded")
	timedOut.ResourceVersion = "9"
	tooMany := refusing(replicaSet("b", "2"), "exceeded quota: small", 6*second)
	for name, test := range map[string]struct {
		state  State
		policy func(*cause.Policy)
		since  time.Duration
	}{
		"no node fits": {state: stateOf(pod(noRoom)), since: 2 * second},
		"a node is being added": {
			state: stateOf(pod(noRoom), said(3*second, "TriggeredScaleUp", "1->2")),
			since: never,
		},
		"it is not added after all": {state: stateOf(pod(noRoom), said(9*second, "TriggeredScaleUp", "1->2"),
			said(20*second, "NotTriggerScaleUp", "no")), since: 9 * second},
		"the scheduler says something else": {
			state: stateOf(pod(noRoom, written("status", 30*second))),
			since: 30 * second,
		},
		"somebody sets a label": {state: stateOf(pod(noRoom, written("", 30*second))), since: 2 * second},
		"a volume is still being provisioned": {
			state: stateOf(pod(unscheduled(
				"0/3 nodes are available: pod has unbound immediate PersistentVolumeClaims.", second))),
			since: never,
		},
		"others are preempted for it": {state: stateOf(pod(noRoom,
			func(p *corev1.Pod) { p.Status.NominatedNodeName = "n" })), since: never},
		"the node is not ready yet": {
			state: stateOf(pod(unscheduled("0/1 nodes are available: "+
				"1 node(s) had untolerated taint(s) {node.kubernetes.io/not-ready: }.", 2*second))),
			since: never,
		},
		"its certificate is not issued yet": {
			state: stateOf(pod(watchtest.OnNode,
				func(p *corev1.Pod) { p.Labels = map[string]string{kube.LabelCanonicalID: "alice-1"} }), said(4*second,
				"FailedMount", `MountVolume.SetUp failed for volume "tls" : secret "alice-1-tls" not found`)),
			since: never,
		},
		"held back by a gate": {state: stateOf(pod(func(p *corev1.Pod) {
			p.Status.Conditions = []corev1.PodCondition{{
				Type: corev1.PodScheduled, Status: corev1.ConditionFalse,
				Reason: corev1.PodReasonSchedulingGated, Message: "gated",
			}}
		})), since: never},
		"the claim does not exist": {state: stateOf(pod(unscheduled(`persistentvolumeclaim "data" not found`,
			2*second))), since: 2 * second},
		"the storage class does not exist": {
			state: stateOf(pod(mounts("data")), pvc("data", corev1.ClaimPending), noClass),
			since: 7 * second,
		},
		"the volume is provisioned again and again": {
			state: stateOf(pod(mounts("data")), pvc("data", corev1.ClaimPending),
				claimEvent("data", "ProvisioningFailed", "out of capacity")), since: never,
		},
		"a ConfigMap does not exist":    {state: stateOf(pod(watchtest.OnNode), noConfig), since: 4 * second},
		"and the kubelet's time was up": {state: stateOf(pod(watchtest.OnNode), noConfig, timedOut), since: 4 * second},
		"mounting fails otherwise": {state: stateOf(pod(watchtest.OnNode),
			watchtest.MadeEvent{Event: said(4*second, "FailedMount", "broken pipe")}.Times(9).Event), since: never},
		"the node cannot set up the network": {state: stateOf(pod(watchtest.OnNode),
			said(second, "FailedCreatePodSandBox", "no")), since: never},
		"ignored": {
			state:  stateOf(pod(noRoom)),
			policy: func(p *cause.Policy) { p.IgnoreReasons = []string{"FailedScheduling"} }, since: never,
		},
		"under patient": {
			state:  stateOf(pod(noRoom)),
			policy: func(p *cause.Policy) { p.Name = cause.Patient }, since: 2 * second,
		},
		"the command has begun later": {
			state:  stateOf(pod(noRoom)),
			policy: func(p *cause.Policy) { *p = p.Waiting(watchtest.After(50 * second)) }, since: 50 * second,
		},
		"nobody waits": {
			state:  stateOf(pod(noRoom)),
			policy: func(p *cause.Policy) { *p = p.Waiting(time.Time{}) }, since: never,
		},
		"a workload's pod": {state: deploymentState(replicaSet("b", "2"),
			watchtest.Owned("b", noRoom).Pod), since: 2 * second},
		"a workload's pod, past its deadline": {state: deploymentState(replicaSet("b", "2"),
			watchtest.Deployment(1, 1, late), watchtest.Owned("b", noRoom).Pod), since: 2 * second},
		"a workload whose pods are refused": {state: deploymentState(tooMany), since: 6 * second},
		"a workload of which a pod got on since": {
			state: deploymentState(tooMany,
				watchtest.Owned("b", watchtest.OnNode, watchtest.AppReady, written("status", 30*second)).Pod),
			since: 30 * second,
		},
		"a workload of which a pod gets on": {state: deploymentState(tooMany,
			watchtest.Owned("b", watchtest.OnNode, watchtest.App(watchtest.Runs(0))).Pod), since: never},
		"because a webhook does not answer": {state: deploymentState(refusing(replicaSet("b", "2"),
			"failed calling webhook", 6*second)), since: never},
		"a workload that only takes long": {state: deploymentState(replicaSet("b", "2"),
			watchtest.Owned("b", watchtest.OnNode).Pod), since: never},
		"an image that is pulled for very long": {state: stateOf(pod(watchtest.OnNode),
			about("app", "Pulling", `Pulling image "x/app:1"`)), since: never},
	} {
		t.Run(name, func(t *testing.T) {
			p := cause.DefaultPolicy().Waiting(watchtest.Epoch)
			p.StuckAfter = 5 * time.Minute
			if test.policy != nil {
				test.policy(&p)
			}
			if test.since == never {
				checkStuck(t, test.state, p, time.Hour, false, false)
				return
			}
			reported, givenUp := test.since+time.Minute, test.since+5*time.Minute
			checkStuck(t, test.state, p, reported-second, false, false)
			checkStuck(t, test.state, p, reported, true, false)
			checkStuck(t, test.state, p, givenUp-second, true, false)
			checkStuck(t, test.state, p, givenUp, true, true)
			checkAsked(t, test.state, p, reported, givenUp)
			p.StuckAfter = 0
			checkStuck(t, test.state, p, 48*time.Hour, true, false)
		})
	}
}

func checkStuck(t *testing.T, s State, p cause.Policy, after time.Duration, stuck, givenUp bool) {
	t.Helper()
	reading, _ := Analyze(s, p, watchtest.After(after))
	if got := reading.Cause != nil && reading.Cause.Stuck; got != stuck || reading.GivenUp != givenUp {
		t.Errorf("after %s: stuck %v, given up %v, want %v and %v; the cause is %+v", after, got, reading.GivenUp,
			stuck, givenUp, reading.Cause)
	}
	if want := map[bool]v1.Verdict{
		true:  v1.VerdictStuck,
		false: v1.VerdictWaiting,
	}[givenUp]; reading.Verdict() != want {
		t.Errorf("after %s: %s, want %s", after, reading.Verdict(), want)
	}
}

// checkAsked checks that the reading asks to be made again at these times, without an event.
func checkAsked(t *testing.T, s State, p cause.Policy, times ...time.Duration) {
	t.Helper()
	from := times[0] - time.Second
	for _, want := range times {
		if _, next := Analyze(s, p, watchtest.After(from)); !next.Equal(watchtest.After(want)) {
			t.Errorf("after %s it wants to be asked again at %s, want after %s", from, next, want)
		}
		from = want
	}
	if _, next := Analyze(s, p, watchtest.After(from)); !next.IsZero() && !next.After(watchtest.After(from)) {
		t.Errorf("it polls: asked again at %s", next)
	}
}

// written is a write that somebody has made of a pod or of a part of it.
func written(subresource string, at time.Duration) func(*corev1.Pod) {
	return func(pod *corev1.Pod) {
		time := metav1.NewTime(watchtest.After(at))
		pod.ManagedFields = append(pod.ManagedFields,
			metav1.ManagedFieldsEntry{Manager: "kube-scheduler", Subresource: subresource, Time: &time})
	}
}

// A failure, and a workload that has got through, are not stuck.
func TestWhatHasEndedIsNotStuck(t *testing.T) {
	p := cause.DefaultPolicy().Waiting(watchtest.Epoch)
	p.StuckAfter = time.Second
	for name, s := range map[string]State{
		"failed":  stateOf(webPod(watchtest.OnNode, watchtest.App(watchtest.Waits("ErrImagePull", "not found")))),
		"running": stateOf(webPod(watchtest.OnNode, watchtest.AppReady)),
		"complete": deploymentState(watchtest.Deployment(1, 1, watchtest.Available,
			func(d *appsv1.Deployment) { d.ResourceVersion = "5" }), replicaSet("b", "2"), watchtest.Owned("b",
			watchtest.OnNode, watchtest.AppReady).Pod),
	} {
		if reading, _ := Analyze(s, p, watchtest.After(time.Hour)); reading.GivenUp || reading.Cause != nil &&
			reading.Cause.Stuck {
			t.Errorf("%s: %+v", name, reading)
		}
	}
}
