package commands_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/berthdev/berth/internal/commands/cmdtest"
	"github.com/berthdev/berth/internal/kubetest"
)

// With 30 % of the answers broken, and half of these requests carried out all the
// same, every command ends well or says that the cluster cannot be reached; what is
// done then once without faults leaves nothing behind.
func TestFaultyServer(t *testing.T) {
	cmdtest.Offline(t)
	faults := kubetest.NewFaults(0.3, 1)
	server := kubetest.Start(t, faults.Wrap)
	cmdtest.Cluster(t, server.URL)
	well, all := 0, 0
	for range 4 {
		for _, line := range []string{
			"provision alice --if-not-exists", "status", "status alice", "logs alice", "diagnose alice", "jobs",
			"provision alice --if-not-exists", "delete alice --ignore-not-found",
		} {
			begin := time.Now()
			status, stdout, stderr := cmdtest.Run(t, "", strings.Fields(line)...)
			all++
			switch {
			case status == 0:
				well++
			case status == 8 && strings.Contains(stderr, "UNAVAILABLE"):
				t.Logf("berth %s after %s: %s", line, time.Since(begin), stderr)
			case status == 7: // the one before has not come that far
			default:
				t.Errorf("berth %s: status %d\n%s%s", line, status, stdout, stderr)
			}
		}
	}
	t.Logf("%d of %d ended well, with %d answers broken", well, all, faults.Broken.Load())
	if well < all*9/10 {
		t.Errorf("%d of %d ended well", well, all)
	}
	faults.Set(0)
	cmdtest.Must(t, 0, "delete", "alice", "--ignore-not-found")
	for _, resource := range []string{"pods", "secrets", "services", "persistentvolumeclaims", "leases"} {
		if left := server.Names(resource); len(left) > 0 {
			t.Errorf("left behind: %s", left)
		}
	}
	for _, name := range server.Names("configmaps") {
		if !strings.Contains(name, "k8shell-job-") {
			t.Errorf("left behind: %s", name)
		}
	}
}

// An API server that has too many requests for ever is said to have them, within the
// time that there is.
func TestPermanent429(t *testing.T) {
	cmdtest.Offline(t)
	for _, after := range []string{"", "1", "3600"} {
		server := kubetest.Start(t, func(http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				if after != "" {
					w.Header().Set("Retry-After", after)
				}
				http.Error(w, "slow down", http.StatusTooManyRequests)
			})
		})
		cmdtest.Cluster(t, server.URL)
		for _, line := range []string{"provision alice --timeout 2s", "delete alice --timeout 2s", "status"} {
			begin := time.Now()
			status, _, stderr := cmdtest.Run(t, "", strings.Fields(line)...)
			if took := time.Since(begin); status != 8 || !strings.Contains(stderr, "too many requests") ||
				took > 15*time.Second {
				t.Errorf("berth %s: status %d after %s\n%s", line, status, took, stderr)
			}
		}
	}
}
