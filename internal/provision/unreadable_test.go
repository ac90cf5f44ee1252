package provision

import (
	"context"
	"encoding/base64"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apiwatch "k8s.io/apimachinery/pkg/watch"

	"github.com/berthdev/berth/internal/blueprint/catalog"
	"github.com/berthdev/berth/internal/event"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/provision/deploy"
	"github.com/berthdev/berth/internal/provision/inventory"
	"github.com/berthdev/berth/internal/release"
	"github.com/berthdev/berth/internal/userstring"
	"github.com/berthdev/berth/internal/watch/cause"
)

const namespacePath = "/api/v1/namespaces/dev/"

// unreadableRecord is the Secret of a record, damaged.
func unreadableRecord(id, data string) map[string]any {
	return map[string]any{
		"apiVersion": "v1", "kind": "Secret", "type": "helm.sh/release.v1",
		"metadata": map[string]any{
			"name": "sh.helm.release.v1." + id + ".v1", "namespace": "dev",
			"labels": map[string]any{"owner": "helm", "name": id, "version": "1", "status": "deployed"},
		},
		"data": map[string]any{"release": base64.StdEncoding.EncodeToString([]byte(data))},
	}
}

// A provisioning that finds an unreadable record fails, and names the record.
func TestProvisionWithAnUnreadableRecord(t *testing.T) {
	for name, data := range map[string]string{"nothing": "", "no base64": "{}", "no gzip": "e30=", "null": "bnVsbA=="} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := newAPIServer(time.Millisecond)
				u, err := userstring.Parse("alice")
				if err != nil {
					t.Fatal(err)
				}
				server.store(namespacePath+"secrets/sh.helm.release.v1."+u.ID()+".v1", unreadableRecord(u.ID(), data),
					apiwatch.Added)
				p := &Provisioner{Environment: Environment{
					Reader: inventory.Reader{
						Client: server.client(t), Policy: cause.DefaultPolicy(),
						Now: time.Now,
					},
					Users:            everybody{},
					Blueprints:       func(context.Context) (*catalog.Set, error) { return catalog.Load("") },
					DefaultBlueprint: "default",
				}}
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				_, err = p.Provision(ctx, u, event.NewStream(u.ID(), time.Now))
				if fault.CodeOf(err) != fault.Failed || fault.ReasonOf(err) != release.ReasonUnreadable ||
					!strings.Contains(err.Error(), "Secret dev/sh.helm.release.v1."+u.ID()+".v1") {
					t.Errorf("%v", err)
				}
				if n := len(server.requests); n > 5 {
					t.Errorf("%d requests", n)
				}
			})
		})
	}
}

// A Secret with the name of a record but without its labels is not found, and blocks the creation of the
// record: the run fails and says so.
func TestProvisionWithARecordWithoutLabels(t *testing.T) {
	s, client, dec := runOn(t, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{
		Namespace: "dev",
		Name:      "sh.helm.release.v1." + id + ".v1",
	}})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	got, err := s.acquire(ctx, dec)
	if err != nil {
		t.Fatal(err)
	}
	defer deploy.Release(t.Context(), got.turn.Lock)
	_, err = s.apply(ctx, dec, got)
	if fault.CodeOf(err) != fault.Conflict ||
		!strings.Contains(err.Error(), "Secret dev/sh.helm.release.v1."+id+".v1 exists") {
		t.Errorf("%v", err)
	}
	if n := len(client.Actions()); n > 20 {
		t.Errorf("%d requests", n)
	}
}

// A workspace with an unreadable record is listed, and is deleted with all objects whose labels say that
// they belong to it.
func TestDeleteWithAnUnreadableRecord(t *testing.T) {
	labels := map[string]any{
		kube.LabelCanonicalID: id, kube.LabelUsername: "alice", kube.LabelNetworkPolicy: "user",
		"app.kubernetes.io/managed-by": "Helm",
	}
	marks := map[string]any{"meta.helm.sh/release-name": id, "meta.helm.sh/release-namespace": "dev"}
	object := func(apiVersion, kind, name string, labels, annotations map[string]any) map[string]any {
		return map[string]any{
			"apiVersion": apiVersion, "kind": kind, "spec": map[string]any{"containers": []any{}},
			"metadata": map[string]any{
				"name": name, "namespace": "dev", "labels": maps.Clone(labels),
				"annotations": maps.Clone(annotations),
			},
		}
	}
	for name, withPod := range map[string]bool{"with a pod": true, "without a pod": false} {
		t.Run(name, func(t *testing.T) {
			server := newAPIServer(0)
			policies := "/apis/networking.k8s.io/v1/namespaces/dev/networkpolicies/"
			server.store(namespacePath+"secrets/sh.helm.release.v1."+id+".v1", unreadableRecord(id, "e30="),
				apiwatch.Added)
			server.store(namespacePath+"configmaps/"+id+"-config",
				object("v1", "ConfigMap", id+"-config", labels, marks), apiwatch.Added)
			server.store(namespacePath+"persistentvolumeclaims/pvc-"+id+"-home",
				object("v1", "PersistentVolumeClaim", "pvc-"+id+"-home", labels, marks), apiwatch.Added)
			server.store(namespacePath+"persistentvolumeclaims/foreign",
				object("v1", "PersistentVolumeClaim", "foreign", labels, nil), apiwatch.Added)
			server.store(policies+"np-"+id+"-user",
				object("networking.k8s.io/v1", "NetworkPolicy", "np-"+id+"-user", labels, marks), apiwatch.Added)
			if withPod {
				server.store(namespacePath+"pods/"+id, object("v1", "Pod", id, labels, marks), apiwatch.Added)
			}
			reader := inventory.Reader{Client: server.client(t), Policy: cause.DefaultPolicy(), Now: time.Now}
			p := &Provisioner{Environment: Environment{Reader: reader}}
			arg, err := inventory.ParseArgument("id/" + id)
			if err != nil {
				t.Fatal(err)
			}
			seen, err := p.Inspect(t.Context(), arg)
			if err != nil || !withPod && !strings.Contains(seen.Message, "cannot be read") {
				t.Errorf("%+v, %v", seen, err)
			}
			target, err := p.Find(t.Context(), arg)
			if err != nil || target.Found.Unreadable == nil {
				t.Fatalf("%+v, %v", target, err)
			}
			if _, err := p.Delete(t.Context(), target, deploy.Removing{}, event.NewStream(id, time.Now)); err != nil {
				t.Fatal(err)
			}
			if left := slices.Sorted(maps.Keys(server.objects)); !slices.Equal(left,
				[]string{namespacePath + "persistentvolumeclaims/foreign"}) {
				t.Errorf("left are %q", left)
			}
		})
	}
}
