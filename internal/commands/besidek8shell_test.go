package commands_test

import (
	"encoding/base64"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/berthdev/berth/internal/commands/cmdtest"
	"github.com/berthdev/berth/internal/kubetest"
	"github.com/berthdev/berth/internal/store/storetest"
)

const compat = "compat: k8shell\n"

// With compat, a workspace has the ID that k8shell gives it, and its blueprint the name as it is written; without it,
// the same user string finds it all the same.
func TestBlueprintsWithCapitals(t *testing.T) {
	cmdtest.Offline(t)
	server := kubetest.Start(t, nil)
	cmdtest.Cluster(t, server.URL)
	const blueprints = "blueprints: [{name: Dev, template: base}, {name: dev, template: base}]"
	configured(t, compat, blueprints)
	stdout, _ := cmdtest.Must(t, 0, "provision", "alice~Dev", "-o", "jsonpath={.id} {.blueprint}")
	const id = "alice-8560552" // of u=alice|bp=Dev
	if strings.TrimSpace(stdout) != id+" Dev" {
		t.Errorf("it is %q", stdout)
	}
	pod := server.Get("/api/v1/namespaces/team/pods/" + id)
	if pod == nil {
		t.Fatalf("there is no pod %s: %q", id, server.Names("pods"))
	}
	text, err := base64.RawURLEncoding.DecodeString(pod.GetAnnotations()["k8shell.io/userstr"])
	if err != nil || string(text) != "alice~Dev" {
		t.Errorf("its user string is %q, %v", text, err)
	}
	cmdtest.Must(t, 0, "provision", "alice~Dev", "--if-not-exists")
	configured(t, "", blueprints)
	for _, args := range []string{
		"exec alice~Dev -- true", "status alice~Dev", "stop alice~Dev", "start alice~Dev", "restart alice~Dev",
	} {
		cmdtest.Must(t, 0, strings.Fields(args)...)
	}
	if got := server.Names("pods"); len(got) != 1 || !strings.HasSuffix(got[0], id) {
		t.Errorf("the pods are %q", got)
	}
	cmdtest.Must(t, 0, "delete", "alice~Dev")
	if left := append(server.Names("pods"), server.Names("leases")...); len(left) > 0 {
		t.Errorf("%q is left", left)
	}
	stdout, _ = cmdtest.Must(t, 0, "provision", "alice~Dev", "-o", "jsonpath={.id} {.blueprint}")
	if strings.TrimSpace(stdout) != "alice-59936c3 dev" {
		t.Errorf("without compat it is %q", stdout)
	}
}

// An ID that is no valid name is refused before anything is written. What exists under berth's own ID is used as it is.
func TestUsernamesBesideK8shell(t *testing.T) {
	cmdtest.Offline(t)
	server := kubetest.Start(t, nil)
	cmdtest.Cluster(t, server.URL)
	const blueprints = "blueprints: [{name: dev, template: base}]"
	configured(t, compat, blueprints)
	const refused = `has the ID "jo_smith-4bfc0c6" in k8shell's scheme, which is not a valid name`
	for _, args := range []string{
		"provision jo_smith~dev", "exec jo_smith~dev --provision -- true", "update jo_smith~dev",
	} {
		status, _, stderr := cmdtest.Run(t, "", strings.Fields(args)...)
		if status == 0 || !strings.Contains(stderr, refused) {
			t.Errorf("berth %s: %d\n%s", args, status, stderr)
		}
	}
	if made := append(server.Names("pods"), server.Names("secrets")...); len(made) > 0 {
		t.Errorf("%q was made", made)
	}
	configured(t, "", blueprints)
	cmdtest.Must(t, 0, "provision", "jo_smith~dev")
	configured(t, compat, blueprints)
	for _, args := range []string{
		"provision jo_smith~dev --if-not-exists", "exec jo_smith~dev -- true", "stop jo_smith~dev",
		"provision jo_smith~dev", "update jo_smith~dev", "delete jo_smith~dev",
	} {
		cmdtest.Must(t, 0, strings.Fields(args)...)
	}
	if left := append(server.Names("pods"), server.Names("leases")...); len(left) > 0 {
		t.Errorf("%q is left", left)
	}
}

// A record as k8shell writes it is shown.
func TestJobsOfK8shell(t *testing.T) {
	cmdtest.Offline(t)
	cmdtest.Cluster(t, kubetest.Start(t, nil).URL)
	url := storetest.NATS(t, t.TempDir(), -1, nil).ClientURL()
	conn, err := nats.Connect(url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	js, err := jetstream.New(conn)
	if err != nil {
		t.Fatal(err)
	}
	kv, err := js.CreateKeyValue(t.Context(), jetstream.KeyValueConfig{Bucket: "workspace-provision-jobs", History: 1})
	if err != nil {
		t.Fatal(err)
	}
	const id = "0c8f1d5e-7f0e-4a55-9d0b-0f2f6a3c9a11"
	if _, err := kv.PutString(t.Context(), id, `{"id":"`+id+`","workspaceName":"bob-6d1c2a0","username":"bob",`+
		`"status":"completed","createdAt":"2026-11-20T12:00:00Z","updatedAt":"2026-11-20T12:00:31Z",`+
		`"finishedAt":"2026-11-20T12:00:31Z","events":[{"id":1,"type":"status","timestamp":"2026-11-20 12:00:01",`+
		`"objectName":"bob-6d1c2a0","message":"Waiting for the pod","status":"Starting"},{"id":2,"type":"progress",`+
		`"timestamp":"2026-11-20 12:00:01","objectName":"bob-6d1c2a0","message":"20% complete","status":"20"},`+
		`{"id":3,"type":"event","timestamp":"2026-11-20 12:00:02","objectName":"Pod/bob-6d1c2a0",`+
		`"message":"Scheduled: on node1","status":"Normal"},{"id":4,"type":"status","timestamp":"2026-11-20 12:00:31",`+
		`"objectName":"bob-6d1c2a0","message":"ErrImagePull: no such image","status":"Error"}]}`); err != nil {
		t.Fatal(err)
	}
	configured(t, "jobs: {nats: {url: '"+url+"'}}\n", "")
	says(t, "jobs", []string{"0c8f", "bob-6d1c2a0", "Failed"}, "")
	says(t, "jobs 0c8f", []string{"bob", "ErrImagePull: no such image", "Scheduled: on node1"}, "")
	if status, _, stderr := cmdtest.Run(t, "", "jobs", "0c8f", "--follow"); status != 3 {
		t.Errorf("it ends with %d\n%s", status, stderr)
	}
}
