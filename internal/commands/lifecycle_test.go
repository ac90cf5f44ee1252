package commands_test

import (
	"encoding/json"
	"strings"
	"testing"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/commands/cmdtest"
	"github.com/berthdev/berth/internal/kubetest"
	"github.com/berthdev/berth/internal/schematest"
)

// A workspace is stopped, started and restarted, each time as it is wanted, and twice
// without harm. What is listed and shown is what it is.
func TestStopStartRestart(t *testing.T) {
	cmdtest.Offline(t)
	server := kubetest.Start(t, nil)
	cmdtest.Cluster(t, server.URL)
	cmdtest.Must(t, 0, "provision", "alice")
	for _, c := range []struct {
		args, says string
		status     int
		stage      string // afterwards; empty if it is gone
	}{
		{"stop alice", "stopped", 0, "Stopped"},
		{"stop alice", "stopped already", 0, "Stopped"},
		{"exec alice -- true", "alice-a975fae is stopped", 125, "Stopped"},
		{"start alice", "running", 0, "Running"},
		{"start alice", "running", 0, "Running"},
		{"restart alice", "running", 0, "Running"},
		{"stop alice", "stopped", 0, "Stopped"},
		{"restart alice", "running", 0, "Running"},
		{"stop alice-a975fae -o json", `"stopped": true`, 0, "Stopped"},
		{"provision alice", "running", 0, "Running"},
		{"stop --owner alice -o json", `"stopped": true`, 0, "Stopped"},
		{"start --owner alice", "running", 0, "Running"},
		{"stop alice", "stopped", 0, "Stopped"},
		{"start alice nobody -o json", "NOT_FOUND", 3, "Running"},
		{"restart alice -o json", `"stage": "Running"`, 0, "Running"},
		{"stop alice", "stopped", 0, "Stopped"},
		{"delete alice", "deleted", 0, ""},
		{"start alice", "not found", 7, ""},
		{"provision alice", "running", 0, "Running"},
		{"stop alice", "stopped", 0, "Stopped"},
		{"delete --owner alice --yes", "deleted", 0, ""},
	} {
		status, stdout, stderr := cmdtest.Run(t, "", strings.Fields(c.args)...)
		if status != c.status || !strings.Contains(strings.ToLower(stdout+stderr), strings.ToLower(c.says)) {
			t.Fatalf("berth %s: %d\n%s\n%s\nwant %d and %q", c.args, status, stdout, stderr, c.status, c.says)
		}
		if strings.HasSuffix(c.args, "json") {
			schematest.Validate(t, []byte(stdout))
		}
		_, names, _ := cmdtest.Run(t, "", "__complete", "start", "")
		if strings.Contains(names, "alice\t"+c.stage) != (c.stage != "") {
			t.Errorf("after berth %s Tab offers %q", c.args, names)
		}
		_, list, warned := cmdtest.Run(t, "", "status")
		_, one, _ := cmdtest.Run(t, "", "status", "alice")
		if strings.Contains(list, "alice") != (c.stage != "") || !strings.Contains(list, c.stage) ||
			!strings.Contains(one, c.stage) || c.stage != "" && warned != "" {
			t.Errorf("after berth %s:\n%s\n%s\n%s", c.args, list, one, warned)
		}
	}
}

// Nobody waits for the ports of a workspace that is stopped.
func TestPortForwardOfStopped(t *testing.T) {
	cmdtest.Offline(t)
	cmdtest.Cluster(t, kubetest.Start(t, nil).URL)
	cmdtest.Must(t, 0, "provision", "alice")
	cmdtest.Must(t, 0, "stop", "alice")
	_, stderr := cmdtest.Must(t, 3, "port-forward", "alice", ":80", "-n", "team")
	if !strings.Contains(stderr, "is stopped") || !strings.Contains(stderr, "berth start alice -n team") {
		t.Error(stderr)
	}
}

// The diagnosis of a workspace that is stopped says so, and what starts it.
func TestDiagnosisOfStopped(t *testing.T) {
	cmdtest.Offline(t)
	cmdtest.Cluster(t, kubetest.Start(t, nil).URL)
	cmdtest.Must(t, 0, "provision", "alice")
	cmdtest.Must(t, 0, "stop", "alice")
	stdout, _ := cmdtest.Must(t, 0, "diagnose", "alice", "-o", "json")
	var d v1.Diagnosis
	if err := json.Unmarshal([]byte(stdout), &d); err != nil {
		t.Fatal(err)
	}
	if d.Verdict != v1.VerdictStopped || d.Stage != v1.StageStopped || d.Since.IsZero() || d.UserString != "alice" {
		t.Errorf("%+v", d)
	}
	text, _ := cmdtest.Must(t, 0, "diagnose", "alice", "-n", "team")
	if !strings.Contains(text, "Stopped for ") || !strings.Contains(text, "berth start alice -n team") ||
		strings.Contains(text, "gone") || strings.Contains(text, "delete") {
		t.Error(text)
	}
}
