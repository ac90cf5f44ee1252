package judge

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berthdev/berth/internal/watch/cause"
	"github.com/berthdev/berth/internal/watch/detect"
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
	waitsFor := func(d time.Duration) *corev1.Event {
		e := event("ExternalProvisioning",
			"Waiting for a volume to be created either by the external provisioner 'nfs.example.org/dead' or manually "+
				"by the system administrator.")
		e.FirstTimestamp, e.LastTimestamp = metav1.NewTime(watchtest.Epoch), metav1.NewTime(watchtest.After(d))
		return e
	}
	unbound := event("FailedBinding", "no persistent volumes available")
	for name, test := range map[string]struct {
		phase   corev1.PersistentVolumeClaimPhase
		events  []*corev1.Event
		failed  string
		waiting string
	}{
		"no volume": {
			corev1.ClaimPending,
			[]*corev1.Event{unbound},
			"VolumeUnbound: volume claim data: no persistent volumes", "",
		},
		"bound meanwhile": {corev1.ClaimBound, []*corev1.Event{unbound}, "", ""},
		"provisioned after all": {
			corev1.ClaimPending,
			[]*corev1.Event{unbound, event("Provisioning", "x")},
			"",
			"",
		},
		"the class does not exist": {
			corev1.ClaimPending,
			[]*corev1.Event{event("ProvisioningFailed", `storageclass.storage.k8s.io "fast" not found`)},
			"",
			"StorageClassMissing: fast",
		},
		"the provisioner has trouble": {
			corev1.ClaimPending,
			[]*corev1.Event{event("ProvisioningFailed", "out of disks")},
			"", "VolumePending: out of disks",
		},
		"the provisioner had trouble": {
			corev1.ClaimPending,
			[]*corev1.Event{event("ProvisioningFailed", "x"), event("ProvisioningSucceeded", "y")},
			"", "",
		},
		"nobody makes it": {
			corev1.ClaimPending,
			[]*corev1.Event{waitsFor(2 * time.Minute)},
			"",
			"ProvisionerSilent: volume claim data: provisioner nfs.example.org/dead has not begun",
		},
		"nobody makes it yet": {corev1.ClaimPending, []*corev1.Event{waitsFor(30 * time.Second)}, "", ""},
		"somebody has begun": {
			corev1.ClaimPending,
			[]*corev1.Event{event("Provisioning", "x"), waitsFor(2 * time.Minute)},
			"", "",
		},
		"its volume is gone": {
			corev1.ClaimLost, nil, "",
			"ClaimLost: volume claim data: its volume  does not exist",
		},
		"it waits for its first consumer": {
			corev1.ClaimPending,
			[]*corev1.Event{event("WaitForFirstConsumer", "x")},
			"", "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			claim := evidence.Claim{
				PersistentVolumeClaim: &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: "data"}},
				Events:                test.events,
			}
			claim.Status.Phase = test.phase
			pod := evidence.NewPod(watchtest.NewPod("web", "1").Pod, nil, []evidence.Claim{claim})
			compare(t, Pod(pod, cause.DefaultPolicy(), watchtest.Epoch).Failed, test.failed)
			compare(t, detect.PendingClaim(pod), test.waiting)
		})
	}
}

func TestMounts(t *testing.T) {
	mount := func(message string, times int32) *corev1.Event {
		return watchtest.Event("web", "1", "", "FailedMount", message).Warn().Times(times).Event
	}
	timeout := mount("Unable to attach or mount volumes: unmounted volumes=[data], unattached volumes=[], failed to "+
		"process volumes=[]: context deadline exceeded", 1)
	volumes := func(pod *corev1.Pod) {
		pod.Spec.Volumes = []corev1.Volume{
			{
				Name: "data",
				VolumeSource: corev1.VolumeSource{
					PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "files"},
				},
			}, {Name: "cfg"},
		}
	}
	elsewhere := warning("", "FailedAttachVolume", `Multi-Attach error for volume "pvc-1"`)
	for name, test := range map[string]struct {
		events []*corev1.Event
		want   string
	}{
		"once or twice":                {[]*corev1.Event{mount("rpc error", 2)}, ""},
		"again and again":              {[]*corev1.Event{mount("rpc error", 3)}, "VolumeNotMounted: rpc error"},
		"the kubelet's cache warms up": {[]*corev1.Event{mount(`object "dev"/"cfg" not registered`, 9)}, ""},
		"the node is slow":             {[]*corev1.Event{mount("context deadline exceeded", 9)}, ""},
		"what to mount does not exist": {[]*corev1.Event{mount(`MountVolume.SetUp failed: configmap "cfg" not found`,
			1)}, `VolumeMissingObject: "cfg"`},
		"the specific before the generic": {[]*corev1.Event{mount(`MountVolume.SetUp failed for volume "data" : rpc `+
			`error: code = Internal`, 1), timeout}, "VolumeNotMounted: code = Internal"},
		"among similar ones": {[]*corev1.Event{
			timeout,
			mount(`(combined from similar events): MountVolume.MountDevice failed for volume "pvc-1" : bad superblock`,
				5),
		}, "VolumeNotMounted: MountVolume.MountDevice failed"},
		"of another volume, that came": {[]*corev1.Event{mount(`MountVolume.SetUp failed for volume "cfg" : `+
			`configmap "cfg" not found`, 1), timeout}, "VolumeNotMounted: the node waits for volume data (claim " +
			"files): Unable to"},
		"nothing but the generic": {
			[]*corev1.Event{timeout},
			"VolumeNotMounted: the node waits for volume data (claim files)",
		},
		"generic, and the time is not up": {[]*corev1.Event{mount("Unable to attach or mount volumes: unmounted "+
			"volumes=[data], unattached volumes=[], failed to process volumes=[data]: context canceled", 1)}, ""},
		"it was attached since": {[]*corev1.Event{warning("", "FailedAttachVolume",
			"AttachVolume.Attach failed: busy"), watchtest.Event("web", "1", "", "SuccessfulAttachVolume", "").
			Event, timeout}, "VolumeNotMounted: the node waits"},
		"a key does not exist": {[]*corev1.Event{mount(`MountVolume.SetUp failed for volume "cfg" : references `+
			`non-existent config key: app.yaml`, 1)}, "VolumeMissingObject: app.yaml"},
		"the claim does not exist": {[]*corev1.Event{mount(`error processing PVC dev/files: failed to fetch PVC from `+
			`API server: persistentvolumeclaims "files" not found`, 1)}, "ClaimMissing: persistentvolumeclaims"},
		"another node has it": {
			[]*corev1.Event{elsewhere, mount("timed out", 9)},
			"VolumeNotMounted: Multi-Attach",
		},
		"another node has given it back": {[]*corev1.Event{
			elsewhere,
			watchtest.Event("web", "1", "", "SuccessfulAttachVolume", "").Event,
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			compare(t, Unready(podOf(watchtest.NewPod("web", "1", watchtest.OnNode, volumes), test.events...)),
				test.want)
		})
	}
	pod := podOf(watchtest.NewPod("web", "1", watchtest.OnNode), elsewhere)
	if got := Pod(pod, cause.DefaultPolicy(), watchtest.After(time.Hour)); got.Failed != nil {
		t.Errorf("fast: %+v", got.Failed)
	}
	compare(t, Pod(pod, patient(), watchtest.After(time.Hour)).Failed, "VolumeNotMounted: did not pass")
}
