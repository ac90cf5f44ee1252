package commands_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/berthdev/berth/internal/commands/cmdtest"
	"github.com/berthdev/berth/internal/kubetest"
)

// putJob puts the record of a job into the cluster, which expires then.
func putJob(server *kubetest.Server, id string, expires time.Time) {
	name := "k8shell-job-" + id
	record := fmt.Sprintf(`{"id":%q,"workspaceName":"alice-a975fae","userString":"alice","username":"alice",`+
		`"status":"completed","createdAt":"2026-11-20T12:00:00Z","updatedAt":"2026-11-20T12:00:09Z",`+
		`"finishedAt":"2026-11-20T12:00:09Z","events":[]}`, id)
	server.Put("/api/v1/namespaces/team/configmaps/"+name, &kubetest.Object{Object: map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap",
		"metadata": map[string]any{"name": name, "namespace": "team", "labels": map[string]any{
			"k8shell.io/job-id": id, "k8shell.io/job-expires": fmt.Sprint(expires.Unix()),
		}},
		"data": map[string]any{"record": record},
	}})
}

// isWriteOfRecord is true for a request that writes the record of a job.
func isWriteOfRecord(r *http.Request) bool {
	body, err := io.ReadAll(r.Body)
	r.Body = io.NopCloser(bytes.NewReader(body))
	return err == nil && r.Method != http.MethodDelete && bytes.Contains(body, []byte("k8shell-job-"))
}

// Records that have expired are removed by whatever writes, and stay as long as commands only
// read.
func TestExpiredRecordsGo(t *testing.T) {
	cmdtest.Offline(t)
	const old, recent = "/api/v1/namespaces/team/configmaps/k8shell-job-old",
		"/api/v1/namespaces/team/configmaps/k8shell-job-recent"
	// A command does not wait for what it only tidies up, so its own record waits here.
	var server *kubetest.Server
	server = kubetest.Start(t, func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			deadline := time.Now().Add(time.Second)
			for record := isWriteOfRecord(r); record && server.Get(old) != nil && time.Now().Before(deadline); {
				time.Sleep(time.Millisecond)
			}
			next.ServeHTTP(w, r)
		})
	})
	cmdtest.Cluster(t, server.URL)
	for _, c := range []struct {
		args []string
		kept bool
	}{
		{[]string{"provision", "alice"}, false},
		{[]string{"status", "alice"}, true},
		{[]string{"jobs"}, true},
		{[]string{"stop", "alice"}, false},
		{[]string{"start", "alice"}, false},
		{[]string{"restart", "alice"}, false},
		{[]string{"update", "alice", "--set", "env.A=b"}, false},
		{[]string{"delete", "alice", "--dry-run=client"}, true},
		{[]string{"delete", "alice"}, false},
	} {
		putJob(server, "old", time.Now().Add(-time.Hour))
		putJob(server, "recent", time.Now().Add(time.Hour))
		cmdtest.Must(t, 0, c.args...)
		there := server.Names("configmaps")
		if slices.Contains(there, old) != c.kept || !slices.Contains(there, recent) {
			t.Errorf("after berth %v there are %v", c.args, there)
		}
	}
}

// What is counted is said, and how far back the records reach: those of earlier versions, too.
func TestJobStats(t *testing.T) {
	cmdtest.Offline(t)
	server := kubetest.Start(t, nil)
	cmdtest.Cluster(t, server.URL)
	for _, c := range []struct {
		args string
		says []string
		not  string
	}{
		{"jobs stats", []string{"no jobs"}, "STAGE"},
		{"jobs stats -o json", []string{`"jobs": 0`, `"keptSeconds": 172800`}, "oldestAt"},
	} {
		says(t, c.args, c.says, c.not)
	}
	putJob(server, "old", time.Now().Add(time.Hour))
	cmdtest.Must(t, 0, "provision", "alice")
	for _, c := range []struct {
		args string
		says []string
		not  string
	}{
		{
			"jobs stats",
			[]string{"until Running", "MEDIAN", "2 jobs; the oldest record is", "records are kept for 48h"},
			"━",
		},
		{"jobs stats --by blueprint", []string{"BLUEPRINT", "default ", "- ", "1 do not say the blueprint (-)"}, ""},
		{
			"jobs stats --by user -o json",
			[]string{`"by": "user"`, `"name": "alice"`, `"medianSeconds"`},
			"records are kept",
		},
		{"jobs stats --since 1h", []string{"1 job of the last 60m"}, ""},
		{"__complete jobs stats --by ", []string{"blueprint\nuser\nnode\nimage\n"}, ""},
		{"__complete jobs stats --since ", []string{"24h\n7d\n"}, ""},
	} {
		says(t, c.args, c.says, c.not)
	}
}

// says runs a command that succeeds, and looks for what it says.
func says(t *testing.T, args string, wants []string, not string) {
	t.Helper()
	line := strings.Fields(args)
	if strings.HasSuffix(args, " ") {
		line = append(line, "")
	}
	stdout, stderr := cmdtest.Must(t, 0, line...)
	for _, want := range wants {
		if !strings.Contains(stdout+stderr, want) {
			t.Errorf("berth %s: %q is not in\n%s%s", args, want, stdout, stderr)
		}
	}
	if not != "" && strings.Contains(stdout+stderr, not) {
		t.Errorf("berth %s: %q is in\n%s%s", args, not, stdout, stderr)
	}
}

// A run that has not waited until the workspace runs says so in its record: it was created.
func TestRecordOfARunThatDoesNotWait(t *testing.T) {
	cmdtest.Offline(t)
	server := kubetest.Start(t, nil)
	server.Full = true
	cmdtest.Cluster(t, server.URL)
	cmdtest.Must(t, 0, "provision", "alice", "--no-wait")
	stdout, _ := cmdtest.Must(t, 0, "jobs", "-o", "json")
	if !strings.Contains(stdout, `"state": "Created"`) {
		t.Errorf("%s", stdout)
	}
	records := 0
	for _, at := range server.Names("configmaps") {
		if record, ok, _ := unstructured.NestedString(server.Get(at).Object, "data", "record"); ok {
			records++
			if !strings.Contains(record, `"not followed"`) || strings.Contains(record, `"ready"`) {
				t.Errorf("%s: %s", at, record)
			}
		}
	}
	if records != 1 {
		t.Errorf("%d records", records)
	}
}

// Short IDs are listed, accepted and completed; documents have the whole ones.
func TestShortJobIDs(t *testing.T) {
	cmdtest.Offline(t)
	server := kubetest.Start(t, nil)
	cmdtest.Cluster(t, server.URL)
	const one, two, three = "5f0c1a52-9d7b-4c55-a3b1-2a8c0f6f1e77", "5f0c1a52-9e7b-4c55-a3b1-2a8c0f6f1e77",
		"9b0c1a52-9d7b-4c55-a3b1-2a8c0f6f1e77"
	for _, id := range []string{one, two, three} {
		putJob(server, id, time.Now().Add(time.Hour))
	}
	for _, c := range []struct {
		args   string
		status int
		says   []string
		not    string
	}{
		{"jobs", 0, []string{"5f0c1a52-9d ", "5f0c1a52-9e ", "9b0c1a5 ", "3 jobs; records are kept for 48h"}, one},
		{"jobs -o wide", 0, []string{one, two, three}, ""},
		{"jobs -o json", 0, []string{one, two, three}, "kept for"},
		{"jobs -o name", 0, []string{one, two, three}, "kept for"},
		{"jobs 9b0c -o json", 0, []string{three}, one},
		{"jobs 5f0c1a52-9e", 0, []string{two}, one},
		{"jobs " + three, 0, []string{three}, one},
		{"jobs 5f0c", 2, []string{`"5f0c" is ambiguous: 2 jobs`, one, two, "give more of the ID"}, three},
		{"jobs 5f0c --follow", 2, []string{"is ambiguous"}, three},
		{"jobs 7", 7, []string{"job 7 not found"}, ""},
		{"__complete jobs 5", 0, []string{"5f0c1a52-9d\talice-a975fae, Failed"}, one},
		{"__complete jobs 5f0c1a52-9d7b", 0, []string{one + "\t"}, ""},
	} {
		status, stdout, stderr := cmdtest.Run(t, "", strings.Fields(c.args)...)
		if status != c.status || c.not != "" && strings.Contains(stdout+stderr, c.not) {
			t.Errorf("berth %s: status %d, want %d\n%s%s", c.args, status, c.status, stdout, stderr)
		}
		for _, want := range c.says {
			if !strings.Contains(stdout+stderr, want) {
				t.Errorf("berth %s: %q is not in\n%s%s", c.args, want, stdout, stderr)
			}
		}
	}
}
