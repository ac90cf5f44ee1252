package provision

import (
	"context"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/blueprint/catalog"
	"github.com/berthdev/berth/internal/event"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/lifecycle"
	"github.com/berthdev/berth/internal/provision/inventory/fleet"
	"github.com/berthdev/berth/internal/release"
	"github.com/berthdev/berth/internal/release/k8shelltest"
)

// theirs is a workspace that k8shell has made.
func theirs(id string) k8shelltest.Workspace {
	return k8shelltest.Workspace{
		ID: id, Username: "alice", Blueprint: "model", Organization: "acme", UserString: "alice~model",
		Namespace: "dev",
		Image:     "registry.example.com/dev:1", Agent: "registry.example.com/k8shelld:v0.17.1",
	}
}

// agentDir has the blueprint of the model with an agent.
func agentDir(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	text := strings.Replace(modelBlueprints, "template: base", "template: base\n    k8shelld: {image: agent:v0.17.2}",
		1)
	if err := os.WriteFile(filepath.Join(dir, "model.yaml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

// lay puts an object down in the model, as somebody else has created it.
func (m *model) lay(t *testing.T, object *unstructured.Unstructured) {
	t.Helper()
	resource, known := kube.ResourceOf(object.GroupVersionKind())
	if !known {
		t.Fatalf("nothing is known of %s", object.GetKind())
	}
	base := "/api/v1"
	if group := object.GroupVersionKind().Group; group != "" {
		base = "/apis/" + object.GetAPIVersion()
	}
	text, err := json.Marshal(object.Object)
	if err != nil {
		t.Fatal(err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, err := m.create(base+"/namespaces/dev/"+resource.Resource, text, false); err != nil {
		t.Fatal(err)
	}
}

// A workspace that k8shell has made is listed, described, stopped, started and deleted as one of berth's: it starts
// from its own record, which stays k8shell's, and nothing of it is left.
func TestK8shellsWorkspace(t *testing.T) {
	dir, withAgent := modelDir(t), agentDir(t)
	synctest.Test(t, func(t *testing.T) {
		server := newModel(time.Millisecond)
		p := newProcess(server)
		p.configure = func(pr *Provisioner) { pr.States = lifecycle.Place{Client: pr.Client} }
		pr := p.provisioner(t, dir)
		c := modelCommand{pr, p, t, "alice~model", event.NewStream("alice~model", time.Now)}
		id := c.parsed().ID()
		records := pr.Records()
		record, err := theirs(id).Record(time.Now())
		if err != nil {
			t.Fatal(err)
		}
		server.lay(t, record)
		objects, err := theirs(id).Objects()
		if err != nil {
			t.Fatal(err)
		}
		for _, object := range objects {
			server.lay(t, object)
		}
		before := server.objects[modelPods+"/"+id].DeepCopy()
		pat := "/api/v1/namespaces/dev/secrets/" + id + "-pat"
		for _, step := range []struct {
			do    string
			check func() string // empty if it is right
		}{
			{"inspect", func() string { return "" }},
			{"provision", func() string { return pr.sameUID(server, id, before.GetUID(), true) }},
			{"stop", func() string {
				server.objects[pat].Object["data"] = map[string]any{"token": "cm90YXRlZA=="} // k8shell has rotated it
				return pr.stage(t, id, "")
			}},
			{"start", func() string {
				if token := server.tokenAt(pat); token != "cm90YXRlZA==" {
					return "the token that k8shell has issued since is " + token
				}
				pod := server.objects[modelPods+"/"+id]
				if pod == nil {
					return "it has no pod"
				}
				if command := pod.Object["spec"].(map[string]any)["restartPolicy"]; command != "OnFailure" {
					return "it is not the pod that it was"
				}
				return pr.sameUID(server, id, before.GetUID(), false)
			}},
			{"restart", func() string { return pr.stage(t, id, v1.StageRunning) }},
			{"stop", func() string {
				delete(server.objects, pat)
				return ""
			}},
			{"start", func() string {
				if token := server.tokenAt(pat); token != "c2VjcmV0" {
					return "the token that was missing is " + token
				}
				return ""
			}},
		} {
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
			err := p.do(ctx, t, step.do, "alice~model", dir)
			cancel()
			if problem := step.check(); err != nil || problem != "" {
				t.Fatalf("%s: %v; %s; said: %s", step.do, err, problem, strings.Join(p.results, "; "))
			}
			record, err := records.Latest(t.Context(), id)
			switch {
			case err != nil:
				t.Fatal(err)
			case record.Chart.Metadata.Name != "workspace" || !release.IsK8shells(record):
				t.Errorf("after %s the record is of chart %s", step.do, record.Chart.Metadata.Name)
			case record.Labels["app.kubernetes.io/managed-by"] != "k8shell-provisioner" ||
				record.Labels["k8shell.io/username"] != "alice":
				t.Errorf("after %s k8shell does not find it: %v", step.do, record.Labels)
			case record.Config["__pat__"] != "secret":
				t.Errorf("after %s its values are %v", step.do, record.Config)
			}
		}
		issued := server.objects[pat].GetUID()
		pr.APIServer = "http://api-server.k8shell:9101"
		pr.Blueprints = func(context.Context) (*catalog.Set, error) { return catalog.Load(withAgent) }
		for _, greeting := range []string{"env.GREETING=hello", "env.GREETING=again"} {
			c.Overrides = nil
			update := updates(Updating{}, greeting)
			if err := update(t.Context(), c); err != nil {
				t.Fatal(err, fault.From(err).Problems)
			}
			if secret := server.objects[pat]; secret == nil || secret.GetUID() != issued {
				t.Fatalf("the update has deleted the token, which k8shell alone can issue: %v", secret)
			}
			record, err := records.Latest(t.Context(), id)
			if err != nil || !release.IsOfThisChart(record) || strings.Contains(record.Manifest, "c2VjcmV0") {
				t.Errorf("after the update the record is not berth's, or has the token: %v", err)
			}
		}
		if err := p.do(t.Context(), t, "delete", "alice~model", dir); err != nil {
			t.Fatal(err)
		}
		if left := server.summary(id); left != "there: nothing" {
			t.Errorf("after its deletion %s", left)
		}
	})
}

// The class system of k8shell's chart has a policy of a kind that berth does not know. What is started from the record
// does without, and says so; what is updated says that the policy still opens the agent's port, and how it is removed,
// and so does the deletion.
func TestK8shellsPolicyOfCilium(t *testing.T) {
	dir, withAgent := modelDir(t), agentDir(t)
	synctest.Test(t, func(t *testing.T) {
		server := newModel(time.Millisecond)
		var warned []string
		p := newProcess(server)
		p.sinks = []event.Sink{sink(func(e v1.Event) {
			if e.Warning != nil {
				warned = append(warned, e.Warning.Reason+" "+e.Warning.Object+" "+e.Warning.Message)
			}
		})}
		p.disturb = func(r *http.Request) error {
			if strings.Contains(r.URL.Path, "cilium") {
				t.Errorf("it asks for %s, which its Role does not allow", r.URL.Path)
			}
			return nil
		}
		p.configure = func(pr *Provisioner) { pr.States = lifecycle.Place{Client: pr.Client} }
		pr := p.provisioner(t, dir)
		c := modelCommand{pr, p, t, "alice~model", event.NewStream("alice~model", time.Now, p.sinks...)}
		id := c.parsed().ID()
		record := theirs(id).Release(time.Now())
		record.Manifest += "---\napiVersion: cilium.io/v2\nkind: CiliumNetworkPolicy\nmetadata:\n  name: np-" + id +
			"-system\n  labels: {k8shell.io/canonical-id: " + id + "}\nspec: {ingress: [{}]}\n"
		if err := pr.Records().Create(t.Context(), record); err != nil {
			t.Fatal(err)
		}
		for _, step := range []struct{ do, want string }{
			{"start", "KindUnknown ciliumnetworkpolicy/np-" + id + "-system CiliumNetworkPolicy np-" + id +
				"-system is in the workspace's record, and is neither created nor changed"},
			{"update", "remove it with `kubectl delete ciliumnetworkpolicies.cilium.io np-" + id +
				"-system --namespace dev`"},
			{"delete", "NotOwned"},
		} {
			warned = nil
			var err error
			if step.do == "update" {
				pr.Blueprints = func(context.Context) (*catalog.Set, error) { return catalog.Load(withAgent) }
				err = updates(Updating{})(t.Context(), c)
				c.stream.Finish(v1.Result{})
			} else {
				err = p.do(t.Context(), t, step.do, "alice~model", dir)
			}
			warned = slices.Compact(warned) // an update says it of its preview, too
			if err != nil || len(warned) != 1 || !strings.Contains(warned[0], step.want) {
				t.Errorf("%s: %v; it warns of %q, want %q", step.do, err, warned, step.want)
			}
		}
		if left := server.summary(id); left != "there: nothing" {
			t.Errorf("after its deletion %s", left)
		}
	})
}

// tokenAt is what is in a Secret; empty for none.
func (m *model) tokenAt(path string) string {
	if m.objects[path] == nil {
		return ""
	}
	token, _, _ := unstructured.NestedString(m.objects[path].Object, "data", "token")
	return token
}

// sameUID says whether the pod is the one that it was.
func (p *Provisioner) sameUID(m *model, id string, uid types.UID, same bool) string {
	if pod := m.objects[modelPods+"/"+id]; pod == nil || (pod.GetUID() == uid) != same {
		return "the pod is another one than was to be expected"
	}
	return ""
}

// stage says whether the list has the workspace in a stage; empty for none, which has no pod.
func (p *Provisioner) stage(t *testing.T, id string, want v1.Stage) string {
	t.Helper()
	list, err := fleet.List(t.Context(), p.Reader, fleet.Query{Namespace: "dev"})
	switch {
	case err != nil:
		return err.Error()
	case want == "" && len(list.Items) > 0, want != "" && len(list.Items) != 1:
		return "the list is another one than was to be expected"
	case want != "" && (list.Items[0].ID != id || list.Items[0].Stage != want || list.Items[0].Owner != "alice" ||
		list.Items[0].UserString != "alice~model" || list.Items[0].Blueprint != "model"):
		return "it is listed as " + string(list.Items[0].Stage) + " of " + list.Items[0].Owner
	}
	return ""
}
