package cause

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/watch/evidence"
	"github.com/berthdev/berth/internal/watch/watchtest"
)

// The latest event about a claim counts, and only while it is not bound.
func TestClaims(t *testing.T) {
	event := func(reason, message string) *corev1.Event {
		e := watchtest.Event("data", "claim", "", reason, message)
		e.InvolvedObject.Kind = "PersistentVolumeClaim"
		return e.Event
	}
	unbound := event("FailedBinding", "no persistent volumes available")
	for name, test := range map[string]struct {
		phase   corev1.PersistentVolumeClaimPhase
		events  []*corev1.Event
		failed  string
		waiting string
	}{
		"no volume":                       {corev1.ClaimPending, []*corev1.Event{unbound}, "VolumeUnbound: volume claim data: no persistent volumes", ""},
		"bound by now":                    {corev1.ClaimBound, []*corev1.Event{unbound}, "", ""},
		"provisioned after all":           {corev1.ClaimPending, []*corev1.Event{unbound, event("Provisioning", "x")}, "", ""},
		"the class does not exist":        {corev1.ClaimPending, []*corev1.Event{event("ProvisioningFailed", `storageclass.storage.k8s.io "fast" not found`)}, "", "StorageClassMissing: fast"},
		"the provisioner has trouble":     {corev1.ClaimPending, []*corev1.Event{event("ProvisioningFailed", "out of disks")}, "", "VolumePending: out of disks"},
		"the provisioner had trouble":     {corev1.ClaimPending, []*corev1.Event{event("ProvisioningFailed", "x"), event("ProvisioningSucceeded", "y")}, "", ""},
		"it waits for its first consumer": {corev1.ClaimPending, []*corev1.Event{event("WaitForFirstConsumer", "x")}, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			claim := evidence.Claim{PersistentVolumeClaim: &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: "data"}}, Events: test.events}
			claim.Status.Phase = test.phase
			pod := evidence.NewPod(watchtest.NewPod("web", "1").Pod, nil, []evidence.Claim{claim})
			compare(t, Judge(pod, DefaultPolicy(), watchtest.Epoch).Failed, test.failed)
			compare(t, OfPendingClaim(pod), test.waiting)
		})
	}
}

func TestMounts(t *testing.T) {
	mount := func(message string, times int32) *corev1.Event {
		return watchtest.Event("web", "1", "", "FailedMount", message).Warn().Times(times).Event
	}
	elsewhere := warning("", "FailedAttachVolume", `Multi-Attach error for volume "pvc-1"`)
	for name, test := range map[string]struct {
		events []*corev1.Event
		want   string
	}{
		"once or twice":                  {[]*corev1.Event{mount("rpc error", 2)}, ""},
		"again and again":                {[]*corev1.Event{mount("rpc error", 3)}, "VolumeNotMounted: rpc error"},
		"the kubelet's cache warms up":   {[]*corev1.Event{mount(`object "dev"/"cfg" not registered`, 9)}, ""},
		"the node is slow":               {[]*corev1.Event{mount("context deadline exceeded", 9)}, ""},
		"what to mount does not exist":   {[]*corev1.Event{mount(`MountVolume.SetUp failed: configmap "cfg" not found`, 1)}, `VolumeMissingObject: "cfg"`},
		"another node has it":            {[]*corev1.Event{elsewhere, mount("timed out", 9)}, "VolumeNotMounted: Multi-Attach"},
		"another node has given it back": {[]*corev1.Event{elsewhere, watchtest.Event("web", "1", "", "SuccessfulAttachVolume", "").Event}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			compare(t, OfUnready(podOf(watchtest.NewPod("web", "1", watchtest.OnNode), test.events...)), test.want)
		})
	}
	pod := podOf(watchtest.NewPod("web", "1", watchtest.OnNode), elsewhere)
	if got := Judge(pod, DefaultPolicy(), watchtest.After(time.Hour)); got.Failed != nil {
		t.Errorf("fast: %+v", got.Failed)
	}
	compare(t, Judge(pod, patient(), watchtest.After(time.Hour)).Failed, "VolumeNotMounted: did not pass")
}

func TestVolumeHints(t *testing.T) {
	checkHints(t, []hintTest{
		{"a missing class", v1.Cause{Code: StorageClassMissing, Message: `storageclass.storage.k8s.io "fast" not found`}, About{Blueprint: "dev"}, []string{"Storage class fast does not exist. Name one that does", "claimSpec in blueprint dev. Then"}},
		{"no volume", v1.Cause{Code: VolumeUnbound}, About{}, []string{`"storageClassName" of a new claim`}},
		{"a missing ConfigMap", v1.Cause{Code: VolumeMissingObject, Message: `configmap "cfg" not found`}, About{}, []string{"ConfigMap cfg does not exist", "kubectl create configmap cfg"}},
	})
}
