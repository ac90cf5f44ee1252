package related

import (
	"errors"
	"slices"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	clienttesting "k8s.io/client-go/testing"
	"sigs.k8s.io/yaml"
)

// object is one in YAML.
func object(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	o := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(text), &o.Object); err != nil {
		t.Fatal(err)
	}
	return o
}

// workload is what Kueue writes for a Job that its quota does not allow yet.
const workload = `
apiVersion: kueue.x-k8s.io/v1beta1
kind: Workload
metadata:
  name: job-train-5d1f0
  namespace: dev
  ownerReferences: [{apiVersion: batch/v1, kind: Job, name: train, uid: train-1}]
status:
  conditions:
  - type: QuotaReserved
    status: "False"
    reason: Pending
    lastTransitionTime: "2026-03-01T10:00:00Z"
    message: >-
      couldn't assign flavors to pod set main: insufficient unused quota for nvidia.com/gpu in flavor a100,
      4 more needed
`

// group is what Volcano writes for a group of which too few pods fit.
const group = `
apiVersion: scheduling.volcano.sh/v1beta1
kind: PodGroup
metadata: {name: pg, namespace: dev}
status:
  phase: Pending
  conditions:
  - type: Unschedulable
    status: "True"
    reason: NotEnoughResources
    message: "3/2 tasks in gang unschedulable: pod group is not ready, 3 Pending, 2 minAvailable"
`

// nodeClaim is what Karpenter writes for an instance that was started and has not joined.
const joining = `
apiVersion: karpenter.sh/v1
kind: NodeClaim
metadata: {name: default-zq9fl}
status:
  conditions:
  - {type: Launched, status: "True", reason: Launched, message: ""}
  - {type: Registered, status: Unknown, reason: NodeNotFound, message: Node not registered with cluster}
  - {type: Initialized, status: Unknown, reason: NodeNotFound, message: Node not initialized}
`

func TestSays(t *testing.T) {
	for name, c := range map[string]struct {
		kind         kind
		text         string
		reason, want string
	}{
		"a workload without quota": {
			workloads(), workload, "QuotaReserved", "workload/job-train-5d1f0: couldn't assign flavors to pod set " +
				"main: insufficient unused quota for nvidia.com/gpu in flavor a100, 4 more needed",
		},
		"a group of which too few fit": {
			volcanoGroups(), group, "NotEnoughResources",
			"podgroup/pg: 3/2 tasks in gang unschedulable: pod group is not ready, 3 Pending, 2 minAvailable",
		},
		"a node that has not joined: the first step that is open": {
			nodeClaims(), joining, "Registered", "nodeclaim/default-zq9fl: Node not registered with cluster",
		},
		"a claim without a device": {
			deviceClaims(), "metadata: {name: gpu}\nstatus: {}", "NotAllocated",
			"resourceclaim/gpu: no device is allocated to it",
		},
		"a claim with a device": {deviceClaims(), "metadata: {name: gpu}\nstatus: {allocation: {devices: {}}}", "", ""},
		"a class of secrets": {
			secretClasses(), "metadata: {name: db}\nspec: {provider: vault}", "SecretProviderClass",
			"secretproviderclass/db is of provider vault",
		},
		"a step without a word": {
			nodeClaims(), "metadata: {name: new}\nstatus: {conditions: [{type: Launched, status: Unknown}]}",
			"Launched", "nodeclaim/new: Launched is Unknown",
		},
		"an object of which nothing is said": {workloads(), "metadata: {name: x}", "", ""},
		"conditions of other shapes": {
			workloads(), "metadata: {name: x}\nstatus: {conditions: [1, {type: 2, status: [], message: {}}]}", "", "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := Says(c.kind, object(t, c.text))
			switch {
			case w == nil && c.want == "":
			case w == nil || w.Message != c.want || w.Reason != c.reason:
				t.Errorf("%+v, not %s: %s", w, c.reason, c.want)
			}
		})
	}
}

// cluster has the kinds in one version each, and objects.
func cluster(objects ...runtime.Object) *dynamicfake.FakeDynamicClient {
	kinds := map[schema.GroupVersionResource]string{}
	for _, k := range []kind{workloads(), volcanoGroups(), nodeClaims(), deviceClaims()} {
		for _, version := range k.versions {
			kinds[schema.GroupVersionResource{Group: k.group, Version: version, Resource: k.resource}] = "List"
		}
	}
	return dynamicfake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(), kinds, objects...)
}

// without answers as an API server does that lacks a version of a kind.
func without(client *dynamicfake.FakeDynamicClient, version, resource string) {
	client.PrependReactor("*", resource, func(a clienttesting.Action) (bool, runtime.Object, error) {
		if a.GetResource().Version != version {
			return false, nil, nil
		}
		return true, nil, apierrors.NewGenericServerResponse(404, "GET", schema.GroupResource{}, "", "no", 0, true)
	})
}

// What is done is not what a pod waits for, although it has the same owner.
func TestReadPassesOverTheFinished(t *testing.T) {
	finished := object(t, strings.NewReplacer("QuotaReserved", "Finished", `"False"`, `"True"`).Replace(workload))
	finished.SetName("job-train-0")
	client := cluster(finished, object(t, workload))
	without(client, "v1beta2", "workloads")
	says, _ := Read(t.Context(), client, []Reference{
		{kind: workloads(), namespace: "dev", owners: []types.UID{"train-1"}},
	})
	if len(says) != 1 || says[0].Object != "workload/job-train-5d1f0" {
		t.Errorf("%+v", says)
	}
}

func TestRead(t *testing.T) {
	owned := Reference{kind: workloads(), namespace: "dev", owners: []types.UID{"ws-1", "train-1"}}
	for name, c := range map[string]struct {
		ref     Reference
		prepare func(*dynamicfake.FakeDynamicClient)
		says    []string
		unread  []string
	}{
		"what the owner of the pod is the owner of, in the older version": {
			ref:     owned,
			prepare: func(client *dynamicfake.FakeDynamicClient) { without(client, "v1beta2", "workloads") },
			says:    []string{"workload/job-train-5d1f0"},
		},
		"nothing of another owner": {ref: Reference{kind: workloads(), namespace: "dev", owners: []types.UID{"else"}}},
		"nothing of another namespace": {
			ref: Reference{kind: workloads(), namespace: "prod", owners: []types.UID{"train-1"}},
		},
		"by name": {
			ref:  Reference{kind: nodeClaims(), namespace: "dev", name: "default-zq9fl"},
			says: []string{"nodeclaim/default-zq9fl"},
		},
		"an object that is not": {
			ref: Reference{kind: volcanoGroups(), namespace: "dev", name: "gone"}, says: []string{"podgroup/gone"},
		},
		"a cluster without the kind": {
			ref: Reference{kind: volcanoGroups(), namespace: "dev", name: "pg"},
			prepare: func(client *dynamicfake.FakeDynamicClient) {
				without(client, "v1beta1", "podgroups")
			},
		},
		"a caller without the permission": {
			ref: owned, prepare: func(client *dynamicfake.FakeDynamicClient) {
				client.PrependReactor("list", "*", func(a clienttesting.Action) (bool, runtime.Object, error) {
					return true, nil, apierrors.NewForbidden(a.GetResource().GroupResource(), "", errors.New("no"))
				})
			},
			unread: []string{"list workloads.kueue.x-k8s.io in namespace dev"},
		},
		"a server that fails": {
			ref: owned, prepare: func(client *dynamicfake.FakeDynamicClient) {
				client.PrependReactor("list", "*", func(clienttesting.Action) (bool, runtime.Object, error) {
					return true, nil, apierrors.NewInternalError(errors.New("no"))
				})
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			client := cluster(object(t, workload), object(t, joining))
			if c.prepare != nil {
				c.prepare(client)
			}
			says, unread := Read(t.Context(), client, []Reference{c.ref, c.ref})
			var got []string
			for _, w := range says {
				got = append(got, w.Object)
			}
			if !slices.Equal(slices.Compact(got), c.says) || !slices.Equal(unread, c.unread) {
				t.Errorf("%q and %q, not %q and %q", got, unread, c.says, c.unread)
			}
		})
	}
}
