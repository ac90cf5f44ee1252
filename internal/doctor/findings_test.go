package doctor

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/version"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/rbac"
)

func at(second int) time.Time { return time.Date(2026, 11, 21, 6, 0, second, 0, time.UTC) }

func TestFindings(t *testing.T) {
	kubernetes := func(minor string) version.Info {
		return version.Info{Major: "1", Minor: minor, GitVersion: "v1." + minor + ".0"}
	}
	class := func(name, isDefault string) storagev1.StorageClass {
		return storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{
			Name:        name,
			Annotations: map[string]string{defaultClass: isDefault},
		}}
	}
	of := func(provisioner string, mode storagev1.VolumeBindingMode) storagev1.StorageClass {
		c := class("a", "true")
		c.Provisioner, c.VolumeBindingMode = provisioner, &mode
		return c
	}
	namespace := func(level string) *corev1.Namespace {
		return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "team", Labels: map[string]string{enforce: level}}}
	}
	quota := func(used, hard string) []corev1.ResourceQuota {
		list := func(s string) corev1.ResourceList { return corev1.ResourceList{"pods": resource.MustParse(s)} }
		return []corev1.ResourceQuota{{Status: corev1.ResourceQuotaStatus{Used: list(used), Hard: list(hard)}}}
	}
	node := func(architecture string, ready corev1.ConditionStatus) corev1.Node {
		return corev1.Node{Status: corev1.NodeStatus{
			NodeInfo:   corev1.NodeSystemInfo{Architecture: architecture},
			Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: ready}},
		}}
	}
	lease := func(renewed int) coordinationv1.Lease {
		micro := metav1.NewMicroTime(at(renewed))
		return coordinationv1.Lease{
			ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{kube.LabelCanonicalID: "alice-2bd806c"}},
			Spec:       coordinationv1.LeaseSpec{RenewTime: &micro},
		}
	}
	record := func(name, status string) []corev1.Secret {
		return []corev1.Secret{{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{
			"name":   name,
			"status": status,
		}}}}
	}
	scratch := func(installed bool, unread string, with ...bool) Drivers {
		d := Drivers{Name: "scratch.berth.dev", Installed: installed, Unread: unread}
		for i, has := range with {
			n := storagev1.CSINode{
				ObjectMeta: metav1.ObjectMeta{Name: "node-" + strconv.Itoa(i+1)},
				Spec:       storagev1.CSINodeSpec{Drivers: []storagev1.CSINodeDriver{{Name: "another"}}},
			}
			if has {
				n.Spec.Drivers = append(n.Spec.Drivers, storagev1.CSINodeDriver{Name: "scratch.berth.dev"})
			}
			d.Nodes = append(d.Nodes, n)
		}
		return d
	}
	everything := rbac.Review{Rules: []authorizationv1.ResourceRule{{
		APIGroups: []string{"*"}, Resources: []string{"*"},
		Verbs: []string{"*"},
	}}}
	for name, c := range map[string]struct {
		got  Finding
		want v1.CheckupStatus
	}{
		"the oldest version":      {Version(kubernetes("31"), 0), v1.CheckupOK},
		"a version of a provider": {Version(kubernetes("33+"), 0), v1.CheckupOK},
		"too old":                 {Version(kubernetes("30"), 0), v1.CheckupFailed},
		"from the future":         {Version(kubernetes("50"), 0), v1.CheckupWarning},
		"no version":              {Version(kubernetes("x"), 0), v1.CheckupWarning},
		"slow":                    {Version(kubernetes("36"), time.Second), v1.CheckupWarning},
		"clocks agree":            {Clock(at(10), at(10), at(10)), v1.CheckupOK},
		"the server is behind":    {Clock(at(3), at(10), at(10)), v1.CheckupWarning},
		"the server is ahead":     {Clock(at(20), at(10), at(11)), v1.CheckupWarning},
		"the answer took long":    {Clock(at(20), at(10), at(30)), v1.CheckupOK},
		"no clock":                {Clock(time.Time{}, at(10), at(10)), v1.CheckupSkipped},
		"no pod security":         {Namespace(namespace("")), v1.CheckupOK},
		"baseline":                {Namespace(namespace("baseline")), v1.CheckupOK},
		"restricted":              {Namespace(namespace("restricted")), v1.CheckupWarning},
		"no storage":              {Storage(nil), v1.CheckupWarning},
		"no default":              {Storage([]storagev1.StorageClass{class("a", "false")}), v1.CheckupWarning},
		"one default":             {Storage([]storagev1.StorageClass{class("a", "true")}), v1.CheckupOK},
		"two defaults": {
			Storage([]storagev1.StorageClass{class("a", "true"), class("b", "true")}),
			v1.CheckupWarning,
		},
		"made too early": {Storage([]storagev1.StorageClass{of("ebs.csi.aws.com", "Immediate")}), v1.CheckupWarning},
		"made when needed": {
			Storage([]storagev1.StorageClass{of("ebs.csi.aws.com", "WaitForFirstConsumer")}),
			v1.CheckupOK,
		},
		"can be used everywhere": {Storage([]storagev1.StorageClass{of("nfs.csi.k8s.io", "Immediate")}), v1.CheckupOK},
		"quota with room":        {Quotas(quota("1", "10")), v1.CheckupOK},
		"quota nearly used up":   {Quotas(quota("9", "10")), v1.CheckupWarning},
		"quota used up":          {Quotas(quota("10", "10")), v1.CheckupFailed},
		"quota of nothing":       {Quotas(quota("0", "0")), v1.CheckupFailed},
		"a node":                 {Nodes([]corev1.Node{node("amd64", "True")}), v1.CheckupOK},
		"a node is down": {
			Nodes([]corev1.Node{node("amd64", "True"), node("amd64", "Unknown")}),
			v1.CheckupWarning,
		},
		"two architectures": {
			Nodes([]corev1.Node{node("amd64", "True"), node("arm64", "True")}),
			v1.CheckupWarning,
		},
		"no node":         {Nodes(nil), v1.CheckupFailed},
		"all permissions": {Permissions(rbac.Named(rbac.Provision), everything), v1.CheckupOK},
		"no permissions":  {Permissions(rbac.Named(rbac.Provision), rbac.Review{}), v1.CheckupFailed},
		"unknown permissions": {
			Permissions(rbac.Named(rbac.Provision), rbac.Review{Incomplete: true}),
			v1.CheckupSkipped,
		},
		"a lock in use":        {Locks([]coordinationv1.Lease{lease(5)}, at(10)), v1.CheckupOK},
		"a lock that was left": {Locks([]coordinationv1.Lease{lease(5)}, at(50)), v1.CheckupWarning},
		"a complete release":   {Releases(record("alice-2bd806c", "deployed"), nil, at(0)), v1.CheckupOK},
		"half a release":       {Releases(record("alice-2bd806c", "pending-install"), nil, at(0)), v1.CheckupWarning},
		"a release in progress": {Releases(record("alice-2bd806c", "pending-install"), []coordinationv1.Lease{lease(0)},
			at(5)), v1.CheckupOK},
		"another tool's release": {Releases(record("nginx", "failed"), nil, at(0)), v1.CheckupOK},
		"no scratch driver":      {Scratch(scratch(false, "", false), nil), v1.CheckupOK},
		"it is wanted":           {Scratch(scratch(false, "", false), []string{"build"}), v1.CheckupFailed},
		"it is on all nodes":     {Scratch(scratch(true, "", true, true), []string{"build"}), v1.CheckupOK},
		"it is on some nodes":    {Scratch(scratch(true, "", true, false), nil), v1.CheckupOK},
		"it is on no node":       {Scratch(scratch(true, "", false, false), nil), v1.CheckupWarning},
		"its nodes are not told": {Scratch(scratch(true, "you may not"), nil), v1.CheckupOK},
	} {
		if c.got.Status != c.want {
			t.Errorf("%s: %+v, want %s", name, c.got, c.want)
		}
		if acts := c.got.Status == v1.CheckupWarning || c.got.Status == v1.CheckupFailed; acts != (c.got.Hint != "") {
			t.Errorf("%s: the hint of %+v", name, c.got)
		}
	}
}

// Where the driver of scratch storages is.
func TestScratchSays(t *testing.T) {
	nodes := make([]storagev1.CSINode, 8)
	for i := range nodes {
		nodes[i].Name = "n" + strconv.Itoa(i)
	}
	nodes[3].Spec.Drivers = []storagev1.CSINodeDriver{{Name: "scratch.berth.dev"}}
	for want, d := range map[string]Drivers{
		"the driver of scratch storages, scratch.berth.dev, is not installed: blueprints of which a storage has type " +
			"scratch are refused": {Nodes: nodes},
		"the driver of scratch storages, scratch.berth.dev, is installed and runs on 1 of 1 nodes": {
			Installed: true,
			Nodes:     nodes[3:4],
		},
		"the driver of scratch storages, scratch.berth.dev, is installed and runs on 1 of 8 nodes; a pod with a " +
			"scratch storage does not start on n0, n1, n2, n4, n5 and 2 others": {Installed: true, Nodes: nodes},
		"the driver of scratch storages, scratch.berth.dev, is installed; on which nodes cannot be said: you may not " +
			"list csinodes.storage.k8s.io": {
			Installed: true,
			Unread:    "you may not list csinodes.storage.k8s.io",
		},
	} {
		d.Name = "scratch.berth.dev"
		if got := Scratch(d, nil).Message; got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	got := Scratch(Drivers{Name: "csi.katbox", Nodes: nodes}, []string{"build"})
	want := "csi.katbox, is not installed, and the default blueprint has some: build"
	if !strings.HasSuffix(got.Message, want) {
		t.Errorf("%q does not end with %q", got.Message, want)
	}
	if want := "--driver-name csi.katbox | kubectl apply"; !strings.Contains(got.Hint, want) {
		t.Errorf("%q does not have %q", got.Hint, want)
	}
}

// berth's own driver is asked about, unless the default blueprint names others.
func TestDriversAskedAbout(t *testing.T) {
	for want, storages := range map[string]map[string]string{
		"map[scratch.berth.dev:[]]":                              nil,
		"map[csi.katbox:[build]]":                                {"build": "csi.katbox"},
		"map[csi.katbox:[build] scratch.berth.dev:[cache work]]": {"build": "csi.katbox", "cache": "", "work": ""},
		"map[scratch.berth.dev:[cache work]]":                    {"cache": "", "work": "scratch.berth.dev"},
	} {
		if got := fmt.Sprint(byDriver(storages)); got != want {
			t.Errorf("of %v these are asked about: %s, want %s", storages, got, want)
		}
	}
}

// What is to be removed is named with its namespace, which is not the current one if another was asked for.
func TestReleasesHint(t *testing.T) {
	record := corev1.Secret{ObjectMeta: metav1.ObjectMeta{
		Namespace: "team",
		Labels:    map[string]string{"name": "alice-2bd806c", "status": "failed"},
	}}
	got := Releases([]corev1.Secret{record}, nil, at(0)).Hint
	if want := "provision them again, which completes them, or remove them: berth delete id/alice-2bd806c " +
		"--namespace team"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stuck := make(chan struct{})
		defer close(stuck)
		refuse := func(code fault.Code) func(context.Context) (Finding, error) {
			return func(context.Context) (Finding, error) { return Finding{}, fault.New(code, "no") }
		}
		began := time.Now()
		got := Run(t.Context(), []Check{
			{Name: "hangs", Look: func(context.Context) (Finding, error) { <-stuck; return OK(""), nil }},
			{Name: "hangs", Reaches: true, Look: func(context.Context) (Finding, error) {
				<-stuck
				return OK(""),
					nil
			}},
			{Name: "forbidden", Look: refuse(fault.PermissionDenied)},
			{Name: "away", Look: refuse(fault.Unavailable)},
			{Name: "away", Look: refuse(fault.Unavailable), Reaches: true},
			{Name: "wrong", Look: refuse(fault.InvalidArgument)},
		}, time.Second)
		if took := time.Since(began); took != time.Second {
			t.Errorf("it took %s", took)
		}
		want := []v1.CheckupStatus{
			v1.CheckupSkipped, v1.CheckupFailed, v1.CheckupSkipped, v1.CheckupSkipped,
			v1.CheckupFailed, v1.CheckupFailed,
		}
		for i, item := range got.Items {
			if item.Status != want[i] {
				t.Errorf("%d, %s: %s, want %s", i, item.Name, item.Status, want[i])
			}
		}
	})
}
