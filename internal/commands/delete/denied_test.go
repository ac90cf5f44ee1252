package delete_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/berthdev/berth/internal/commands/cmdtest"
)

// blind is an empty cluster on which the caller may see pods, leases and workloads,
// and nothing else. Requesting a lock fails the test.
func blind(t *testing.T) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		parts := strings.Split(r.URL.Path, "/")
		status, body := http.StatusForbidden,
			`{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Forbidden",`+
				`"message":"forbidden","code":403}`
		switch {
		case strings.Contains(r.URL.Path, "leases"):
			t.Errorf("%s %s: what cannot be seen is not gone", r.Method, r.URL.Path)
		case parts[len(parts)-1] == "pods":
			status, body = http.StatusOK,
				`{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"1"},"items":[]}`
		case strings.Contains(r.URL.Path, "/apis/apps/"):
			status, body = http.StatusNotFound,
				`{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"NotFound","message":"not `+
					`found","code":404}`
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = fmt.Fprint(w, body) // the client notices
	}))
	t.Cleanup(server.Close)
	cmdtest.Offline(t)
	cmdtest.Cluster(t, server.URL)
}

// A user who may not see whether a workspace exists gets an error that names the
// missing permission, not one that says that it does not exist.
func TestDeleteOfWhatCannotBeSeen(t *testing.T) {
	blind(t)
	const secrets, configMaps = "you may not list secrets in namespace team",
		"you may not list configmaps in namespace team"
	for _, test := range []struct {
		args   string
		status int
		says   []string
	}{
		{"alice~dev", 4, []string{"PERMISSION_DENIED", secrets}},
		{"alice~dev --ignore-not-found", 4, []string{"PERMISSION_DENIED", secrets}},
		{"alice~dev --ignore-not-found --dry-run=client", 4, []string{"PERMISSION_DENIED", secrets}},
		{"id/alice-1 --ignore-not-found", 4, []string{"PERMISSION_DENIED", secrets}},
		{"alice~dev+workload=deployment/web+ns=team --ignore-not-found", 4, []string{"PERMISSION_DENIED", configMaps}},
		{"alice~dev bob~dev --ignore-not-found", 3, []string{"0 of 2 deleted", secrets}},
		{"alice~dev bob~dev+workload=deployment/web+ns=team", 3, []string{"0 of 2 deleted", secrets, configMaps}},
	} {
		status, stdout, stderr := cmdtest.Run(t, "", append([]string{"delete"}, strings.Fields(test.args)...)...)
		if status != test.status || stdout != "" {
			t.Errorf("berth delete %s: status %d, want %d\nstdout: %s\nstderr: %s", test.args, status, test.status,
				stdout, stderr)
		}
		for _, want := range test.says {
			if !strings.Contains(stderr, want) {
				t.Errorf("berth delete %s: %q is not in\n%s", test.args, want, stderr)
			}
		}
	}
	if status, _, stderr := cmdtest.Run(t, "", "status", "alice~dev"); status != 7 ||
		!strings.Contains(stderr, "you may not see whether it is installed") {
		t.Errorf("berth status alice~dev: status %d\n%s", status, stderr)
	}
}
