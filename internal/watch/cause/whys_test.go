package cause

import (
	"strings"
	"testing"

	v1 "github.com/berthdev/berth/api/v1"
)

func TestImageHints(t *testing.T) {
	checkHints(t, []hintTest{
		{
			"of a helper",
			v1.Cause{Code: ImageNotFound, Container: "init-repository"},
			About{Blueprint: "dev"},
			[]string{`"helperImage" in blueprint dev`},
		},
		{
			"of a helper in a workload",
			v1.Cause{Code: ImageNotFound, Container: "alice-1a2b3c4-init-storage"},
			About{Blueprint: "dev"},
			[]string{`"helperImage" in blueprint dev`},
		},
		{
			"a wrong tag of a workspace",
			v1.Cause{Code: ImageNotFound},
			About{Blueprint: "dev", Origin: "dev.yaml:7", UserString: "a~dev", Namespace: "shop"},
			[]string{
				"no such image or tag", `"image" in blueprint dev (dev.yaml:7)`,
				"`berth provision a~dev --namespace shop`",
			},
		},
		{
			"a wrong tag of a pod",
			v1.Cause{Code: ImageNotFound, Container: "app"},
			About{},
			[]string{`"image" of container app in the pod's spec`},
		},
		{
			"a private registry",
			v1.Cause{Code: ImagePullDenied},
			About{Namespace: "shop"},
			[]string{"pull secret", "kubectl create secret docker-registry registry --namespace shop"},
		},
	})
}

func TestStartHints(t *testing.T) {
	checkHints(t, []hintTest{
		{
			"a missing key",
			v1.Cause{Code: ConfigMissing, Message: "couldn't find key url in Secret shop/db"},
			About{Namespace: "shop"},
			[]string{"Secret db has no key url", "`kubectl edit secret db --namespace shop`"},
		},
		{
			"the certificate of a workspace",
			v1.Cause{Code: ConfigMissing, Object: "pod/alice-1", Message: `secret "alice-1-tls" not found`},
			About{Blueprint: "dev"},
			[]string{"certificate of the workspace has not been issued"},
		},
		{
			"a Secret that is called so",
			v1.Cause{Code: ConfigMissing, Object: "pod/api", Message: `secret "api-tls" not found`},
			About{},
			[]string{"Secret api-tls does not exist"},
		},
		{
			"a missing Secret",
			v1.Cause{Code: ConfigMissing, Message: `secret "db" not found`},
			About{},
			[]string{"`kubectl create secret generic db --from-literal=KEY=VALUE`"},
		},
		{
			"no shell in a workspace",
			v1.Cause{Code: CommandNotFound},
			About{Blueprint: "dev"},
			[]string{"needs a /bin/sh"},
		},
		{"no such program in a pod", v1.Cause{Code: CommandNotFound}, About{}, []string{`correct "command"`}},
	})
}

func TestCrashHints(t *testing.T) {
	number := func(n int) *int { return &n }
	checkHints(t, []hintTest{
		{
			"out of memory",
			v1.Cause{Code: OutOfMemory, Container: "app"},
			About{Memory: "16Mi"},
			[]string{"limit of 16Mi", `"resources.limits.memory" of container app`},
		},
		{
			"out of memory without a limit",
			v1.Cause{Code: OutOfMemory, Message: "container app: ran out of memory (OOMKilled); it has no memory " +
				"limit of its own"},
			About{},
			[]string{"It has no memory limit: the node itself ran out of memory"},
		},
		{
			"out of memory with a limit",
			v1.Cause{Code: OutOfMemory, Message: "container app: ran out of memory (OOMKilled), its limit is 512Mi; " +
				"its last words: x"},
			About{},
			[]string{"more memory than its limit of 512Mi, and"},
		},
		{
			"out of memory, and nothing is known",
			v1.Cause{Code: OutOfMemory},
			About{},
			[]string{"more memory than it could get"},
		},
		{"killed", v1.Cause{Code: CrashLoop, ExitCode: number(137)}, About{}, []string{"137 is SIGKILL"}},
		{"crashed", v1.Cause{
			Code: CrashLoop, ExitCode: number(139), Object: "pod/api", Container: "app",
			Restarts: number(3),
		}, About{}, []string{"139 is SIGSEGV", "`kubectl logs api --container app --previous`"}},
		{
			"crashed in a workspace",
			v1.Cause{Code: CrashLoop, Object: "pod/alice-1", Container: "app", Restarts: number(3)},
			About{UserString: "alice~dev", Blueprint: "dev", Namespace: "t"},
			[]string{"`berth logs alice~dev --container app --namespace t --previous`"},
		},
		{"terminated", v1.Cause{Code: ContainerExited, ExitCode: number(143)}, About{}, []string{"143 is SIGTERM"}},
		{
			"no such program",
			v1.Cause{Code: InitFailed, ExitCode: number(127)},
			About{},
			[]string{"127: a program was not found"},
		},
		{
			"killed for its probe",
			v1.Cause{Code: CrashLoop, Message: "Liveness probe failed: 503"},
			About{Probe: "GET /healthz on port 80"},
			[]string{"because of its probe", "asks for GET /healthz on port 80"},
		},
	})
}

// What an exit code means: signals are above 128.
func TestExitText(t *testing.T) {
	for code, want := range map[int]string{
		0: "It ended by itself, with exit code 0", 1: "Its program ended with exit code 1.",
		125: "Its program ended with exit code 125.",
		126: "a program was found, but may not be executed", 127: "a program was not found",
		128: "Its program ended with exit code 128.",
		129: "Exit code 129 is SIGHUP", 133: "Its program ended with exit code 133.", 137: "is SIGKILL",
		143: "is SIGTERM",
		144: "Its program ended with exit code 144.", 255: "exit code 255.",
	} {
		if got := exitText(&code); !strings.Contains(got, want) {
			t.Errorf("%d: %q, want %q", code, got, want)
		}
	}
	if got := exitText(nil); got != "" {
		t.Errorf("of none: %q", got)
	}
}

func TestReadinessHints(t *testing.T) {
	checkHints(t, []hintTest{
		{
			"a probe",
			v1.Cause{Code: ProbeFailed, Container: "app"},
			About{Probe: "GET /healthz on port 8080"},
			[]string{"asks for GET /healthz on port 8080"},
		},
		{"an unknown probe", v1.Cause{Code: ProbeFailed, Container: "app"}, About{}, []string{"gets no good answer"}},
	})
}

func TestVolumeHints(t *testing.T) {
	checkHints(t, []hintTest{
		{
			"a missing class",
			v1.Cause{Code: StorageClassMissing, Message: `storageclass.storage.k8s.io "fast" not found`},
			About{Blueprint: "dev"},
			[]string{
				"Storage class fast does not exist. Name one that does",
				"claimSpec in blueprint dev. Then",
			},
		},
		{"no volume", v1.Cause{Code: VolumeUnbound}, About{}, []string{`"storageClassName" of a new claim`}},
		{
			"a full storage",
			v1.Cause{Code: VolumePending, Message: "rpc error: code = ResourceExhausted"},
			About{},
			[]string{"The storage has no room"},
		},
		{
			"a storage that does not answer",
			v1.Cause{Code: VolumePending, Message: "code = DeadlineExceeded"},
			About{Namespace: "shop"},
			[]string{"takes long", "`kubectl describe pvc --namespace shop`"},
		},
		{
			"another node has it",
			v1.Cause{Code: VolumeNotMounted, Message: "Multi-Attach error for volume"},
			About{},
			[]string{"another node still has it", "6 minutes"},
		},
		{"a pod has it", v1.Cause{
			Code:    VolumeNotMounted,
			Message: `Multi-Attach error for volume "pvc-1" Volume is already used by pod(s) api-7, api-8`,
		}, About{}, []string{"of pod api-7, api-8"}},
		{"a deleted disk", v1.Cause{
			Code:    VolumeNotMounted,
			Message: `rpc error: code = NotFound desc = Volume "vol-1" not found`,
		}, About{Claimed: true}, []string{"does not exist any more at the storage"}},
		{"nothing of a claim is said where there is no claim", v1.Cause{
			Code:    VolumeNotMounted,
			Message: `rpc error: code = NotFound desc = share "db" not found`,
		}, About{}, []string{"What the volume names does not exist at the storage"}},
		{
			"a provider of secrets",
			v1.Cause{
				Code: VolumeNotMounted, Message: `error connecting to provider "vault": provider not found: ` +
					`provider "vault"`,
			},
			About{},
			[]string{"The provider vault of the secrets store does not run on the node"},
		},
		{
			"a driver that does not run",
			v1.Cause{
				Code:    VolumeNotMounted,
				Message: "driver name ebs.csi.aws.com not found in the list of registered CSI drivers",
			},
			About{},
			[]string{"`kubectl get csinodes`"},
		},
		{"a missing program", v1.Cause{
			Code:    VolumeNotMounted,
			Message: "mount: wrong fs type, bad option, you might need a /sbin/mount.<type> helper program",
		}, About{}, []string{"nfs-common"}},
		{
			"a Secret that is not a certificate's",
			v1.Cause{Code: VolumeMissingObject, Message: `secret "api-tls" not found`, Object: "pod/api"},
			About{},
			[]string{"kubectl create secret generic api-tls"},
		},
		{
			"a missing key",
			v1.Cause{Code: VolumeMissingObject, Message: "references non-existent config key: app.yaml"},
			About{},
			[]string{"The ConfigMap has no key app.yaml"},
		},
		{"nothing but time", v1.Cause{
			Code:    VolumeNotMounted,
			Message: "Unable to attach or mount volumes: unmounted volumes=[data]",
		}, About{}, []string{"The node waits for the volume, and nothing says why: the log"}},
		{"nothing but time, and the claim is bound", v1.Cause{
			Code: VolumeNotMounted, Message: "the node waits for volume data (claim files): timed out",
		}, About{Claimed: true, Bound: true}, []string{"Its claim is bound: see whether it is attached"}},
		{
			"the node of a workspace is lost: the pod is deleted, and not the node",
			v1.Cause{Code: NodeLost, Object: "node/node-2"},
			About{Blueprint: "dev", UserString: "a~dev", Namespace: "shop", Pod: "a-dev"},
			[]string{"delete its pod: `kubectl delete pod a-dev --force --namespace shop`", "berth start a~dev"},
		},
		{
			"the node of a workspace is lost, and its pod is not known",
			v1.Cause{Code: NodeLost, Object: "node/node-2"},
			About{Blueprint: "dev"},
			[]string{"delete its pod. Start it again"},
		},
		{
			"a missing ConfigMap",
			v1.Cause{Code: VolumeMissingObject, Message: `configmap "cfg" not found`},
			About{},
			[]string{"ConfigMap cfg does not exist", "kubectl create configmap cfg"},
		},
	})
}
