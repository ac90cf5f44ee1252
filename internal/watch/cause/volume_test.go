package cause

import (
	"testing"

	v1 "github.com/berthdev/berth/api/v1"
)

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
		}, About{}, []string{"does not exist any more at the storage"}},
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
		}, About{}, []string{"The node waits for the volume, and nothing says why"}},
		{
			"a missing ConfigMap",
			v1.Cause{Code: VolumeMissingObject, Message: `configmap "cfg" not found`},
			About{},
			[]string{"ConfigMap cfg does not exist", "kubectl create configmap cfg"},
		},
	})
}
