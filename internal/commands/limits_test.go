package commands_test

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/commands/cmdtest"
	"github.com/berthdev/berth/internal/kubetest"
	"github.com/berthdev/berth/internal/lifecycle"
	"github.com/berthdev/berth/internal/schematest"
)

// configured makes a configuration and a directory of blueprints what berth reads.
func configured(t *testing.T, config, blueprints string) {
	t.Helper()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "blueprints"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"config.yaml": config, "blueprints/team.yaml": blueprints} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("BERTH_CONFIG", filepath.Join(dir, "config.yaml"))
	t.Setenv("BERTH_BLUEPRINTS", filepath.Join(dir, "blueprints"))
}

// stateOf is what status says of a workspace's states; nil if nothing is recorded.
func stateOf(t *testing.T, user string) *v1.State {
	t.Helper()
	text, _ := cmdtest.Must(t, 0, "status", user, "-o", "json")
	schematest.Validate(t, []byte(text))
	var w v1.Workspace
	if err := json.Unmarshal([]byte(text), &w); err != nil {
		t.Fatal(err)
	}
	return w.State
}

// A workspace whose blueprint limits it is recorded when it is provisioned, and keeps its
// limits until it is gone; status says what they will do, and those of the configuration.
func TestLimitsOfTime(t *testing.T) {
	cmdtest.Offline(t)
	cmdtest.Cluster(t, kubetest.Start(t, nil).URL)
	blueprints := func(hours string) string {
		return "blueprints:\n- {name: limited, template: default, limits: {maxActiveHours: " + hours +
			", maxAgeHours: 0}}\n- {name: plain, template: default}\n"
	}
	configured(t, "limits: {maxStoppedHours: 48, maxAgeHours: 200}\n", blueprints("3"))
	due := func(user string, desired v1.DesiredState, limit string, from v1.LimitSource, after time.Duration) {
		t.Helper()
		s := stateOf(t, user)
		if s == nil || s.Next == nil {
			t.Fatalf("%s: %+v", user, s)
		}
		if n := s.Next; n.Desired != desired || n.Limit != limit || n.From != from || n.At.Sub(s.DesiredAt) != after {
			t.Errorf("%s: %+v, which is %s after %s", user, n, n.At.Sub(s.DesiredAt), s.DesiredAt)
		}
	}
	cmdtest.Must(t, 0, "provision", "alice~plain")
	if s := stateOf(t, "alice~plain"); s != nil {
		t.Errorf("one without limits has a record: %+v", s)
	}
	cmdtest.Must(t, 0, "provision", "alice~limited")
	due("alice~limited", v1.DesiredStopped, "maxActiveHours", v1.LimitOfBlueprint, 3*time.Hour)

	configured(t, "limits: {maxStoppedHours: 48, maxAgeHours: 200}\n", blueprints("5"))
	_, stderr := cmdtest.Must(t, 0, "provision", "alice~limited", "--if-not-exists")
	if strings.Contains(stderr, "has changed") || strings.Contains(stderr, "have changed") {
		t.Errorf("other limits are another workspace: %s", stderr)
	}
	due("alice~limited", v1.DesiredStopped, "maxActiveHours", v1.LimitOfBlueprint, 3*time.Hour)
	if text, _ := cmdtest.Must(t, 0, "status", "alice~limited"); !strings.Contains(text,
		"(maxActiveHours of the blueprint)") {
		t.Error(text)
	}
	if text, _ := cmdtest.Must(t, 0, "status", "-o", "wide"); !strings.Contains(text, "LIMIT") {
		t.Error(text)
	}

	cmdtest.Must(t, 0, "stop", "alice~limited", "alice~plain")
	due("alice~limited", v1.DesiredTerminated, "maxStoppedHours", v1.LimitOfConfiguration, 48*time.Hour)
	due("alice~plain", v1.DesiredTerminated, "maxStoppedHours", v1.LimitOfConfiguration, 48*time.Hour)
	cmdtest.Must(t, 0, "start", "alice~limited")
	due("alice~limited", v1.DesiredStopped, "maxActiveHours", v1.LimitOfBlueprint, 3*time.Hour)

	cmdtest.Must(t, 0, "delete", "alice~limited")
	cmdtest.Must(t, 0, "provision", "alice~limited")
	due("alice~limited", v1.DesiredStopped, "maxActiveHours", v1.LimitOfBlueprint, 5*time.Hour)
}

// recordOf is what is recorded of a workspace, which the request does something with.
func recordOf(t *testing.T, server *kubetest.Server, method, id string) (r lifecycle.Record) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, server.URL+
		"/api/v1/namespaces/team/configmaps/berth-state-"+id, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	if answer.StatusCode != http.StatusOK {
		t.Fatalf("%s of the record of %s: %s", method, id, answer.Status)
	}
	var kept struct{ Data struct{ Record string } }
	if err := json.NewDecoder(answer.Body).Decode(&kept); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(kept.Data.Record), &r); err != nil {
		t.Fatal(err)
	}
	return r
}

// A workspace that has lost its record is adopted with the limits that it was made with.
func TestLimitsOfAnAdoptedWorkspace(t *testing.T) {
	cmdtest.Offline(t)
	server := kubetest.Start(t, nil)
	cmdtest.Cluster(t, server.URL)
	configured(t, "", "blueprints: [{name: limited, template: default, limits: {maxStoppedHours: 0.5}}]\n")
	cmdtest.Must(t, 0, "provision", "alice~limited")
	name, _ := cmdtest.Must(t, 0, "status", "alice~limited", "-o", "name")
	if r := recordOf(t, server, http.MethodGet, strings.TrimSpace(name)); r.Pending() ||
		r.Actual != v1.ActualStarting ||
		r.Limits.MaxStoppedHours == nil {
		t.Errorf("nobody has anything to do: %+v", r)
	}
	recordOf(t, server, http.MethodDelete, strings.TrimSpace(name))
	if s := stateOf(t, "alice~limited"); s != nil {
		t.Fatalf("%+v", s)
	}
	cmdtest.Must(t, 0, "stop", "alice~limited")
	if s := stateOf(t, "alice~limited"); s == nil || s.Next == nil || s.Next.Limit != "maxStoppedHours" ||
		s.Next.At.Sub(s.DesiredAt) != 30*time.Minute {
		t.Errorf("%+v", s)
	}
}

// Creating one workspace more than the configuration allows is refused, and nothing is
// written; whatever is done with those that are there is not.
func TestLimitsOfNumber(t *testing.T) {
	cmdtest.Offline(t)
	server := kubetest.Start(t, nil)
	cmdtest.Cluster(t, server.URL)
	configured(t, "limits: {workspacesPerUser: 2, workspaces: 3}\n",
		"blueprints: [{name: a, template: default}, {name: b, template: default}, {name: c, template: default}]\n")
	cmdtest.Must(t, 0, "provision", "alice~a")
	cmdtest.Must(t, 0, "provision", "alice~b")
	cmdtest.Must(t, 0, "stop", "alice~b")
	const refused = "alice has 2 workspaces in namespace team, and at most 2 are allowed (limits.workspacesPerUser)"
	for _, args := range []string{
		"provision alice~c", "provision alice~c --dry-run=client",
		"provision alice~c --dry-run=server",
	} {
		if _, stderr := cmdtest.Must(t, 3, strings.Fields(args)...); !strings.Contains(stderr, refused) ||
			!strings.Contains(stderr, "berth status --owner alice --namespace team") {
			t.Errorf("berth %s: %s", args, stderr)
		}
	}
	if _, stderr := cmdtest.Must(t, 125, "exec", "alice~c", "--provision", "--", "true"); !strings.Contains(stderr,
		refused) {
		t.Error(stderr)
	}
	cmdtest.Must(t, 0, "provision", "alice~a", "--if-not-exists")
	cmdtest.Must(t, 0, "provision", "alice~b")
	cmdtest.Must(t, 0, "restart", "alice~b")
	status, stdout, stderr := cmdtest.Run(t, "bob~a\nbob~b\nbob~c\n", "provision", "-f", "-", "-o", "json")
	if status != 3 || strings.Count(stdout+stderr, `"stage": "Running"`) != 1 ||
		!strings.Contains(stdout, "namespace team has 3 workspaces") {
		t.Errorf("%d\n%s\n%s", status, stdout, stderr)
	}
	if _, stderr := cmdtest.Must(t, 3, "provision", "carol~a"); !strings.Contains(stderr,
		"namespace team has 3 workspaces, and at most 3 are allowed (limits.workspaces)") {
		t.Error(stderr)
	}
	cmdtest.Must(t, 7, "status", "alice~c")
	cmdtest.Must(t, 0, "delete", "alice~b")
	cmdtest.Must(t, 0, "provision", "alice~c")
}

// A blueprint whose limit is not a number is shown to nobody, and it is said why.
func TestWrongLimitsAreNotShown(t *testing.T) {
	cmdtest.Offline(t)
	configured(t, "", "blueprints: [{name: dev, template: default, limits: {maxAgeHours: .inf}}]\n")
	if _, stderr := cmdtest.Must(t, 2, "blueprint", "show", "dev"); !strings.Contains(stderr,
		"blueprint dev cannot be shown: unsupported value: +Inf") ||
		!strings.Contains(stderr, "berth blueprint validate") {
		t.Error(stderr)
	}
}
