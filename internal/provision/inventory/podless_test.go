package inventory

import (
	"strings"
	"testing"

	helm "helm.sh/helm/v3/pkg/release"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/release"
	"github.com/berthdev/berth/internal/userstring"
)

// A claim that is left says whether its workspace is gone, and how it is used again.
func TestOfClaim(t *testing.T) {
	u, err := userstring.Parse("alice~dev")
	if err != nil {
		t.Fatal(err)
	}
	const unseen = "it has no pod, and you may not see whether it is installed"
	again := "; use it again: berth provision alice~dev --namespace team"
	for name, test := range map[string]struct {
		user       string
		kept, sees bool
		message    string
		gone       bool
	}{
		"kept":                    {u.String(), true, false, "deleted, its storage is kept" + again, true},
		"kept of somebody":        {"", true, true, "deleted, its storage is kept", true},
		"left":                    {u.String(), false, true, "only its storage is left" + again, true},
		"left of somebody":        {"", false, true, "only its storage is left", true},
		"perhaps it is all there": {u.String(), false, false, unseen, false},
	} {
		claim := &metav1.ObjectMeta{
			Name: "home", Namespace: "team", Labels: map[string]string{kube.LabelCanonicalID: u.ID()},
		}
		if test.user != "" {
			claim.Annotations = of(test.user)
		}
		if test.kept {
			claim.Labels[kube.LabelKept] = "true"
		}
		if w := OfClaim(claim, test.sees); w.Message != test.message || w.Gone != test.gone || w.Kept != test.kept {
			t.Errorf("%s: %q, gone %t, kept %t", name, w.Message, w.Gone, w.Kept)
		}
	}
}

// The reason that a workspace has no pod is in Helm's record.
func TestPodless(t *testing.T) {
	const manifest = "---\napiVersion: v1\nkind: Pod\nmetadata: {name: alice-1, labels: {k8shell.io/blueprint: dev}}\n"
	record := func(status helm.Status) *helm.Release {
		return &helm.Release{Name: "alice-1", Manifest: manifest, Info: &helm.Info{Status: status}}
	}
	refused := record(helm.StatusPendingInstall)
	release.Refused(refused, "pod/alice-1",
		`pods "alice-1" is forbidden: exceeded quota: q, requested: pods=1, used: pods=0, limited: pods=0`)
	by := record(helm.StatusFailed)
	by.Info.Description = "Upgrade failed: timed out" // helm's own words
	for _, test := range []struct {
		name    string
		record  *helm.Release
		verdict v1.Verdict
		cause   string
		message string
	}{
		{
			"the pod was deleted", record(helm.StatusDeployed), v1.VerdictGone, "",
			"pod gone; start it: berth start id/alice-1 --namespace team",
		},
		{
			"the installation is not complete", record(helm.StatusPendingInstall), v1.VerdictWaiting, "",
			"being installed",
		},
		{"the pod was refused", refused, v1.VerdictFailed, "QuotaExceeded", ""},
		{"helm failed", by, v1.VerdictGone, "", "pod gone; start it: berth start id/alice-1 --namespace team"},
	} {
		t.Run(test.name, func(t *testing.T) {
			target := &Target{ID: "alice-1", Namespace: "team", Found: Found{Record: test.record}}
			pod, reading := target.Podless()
			if pod.Name != "alice-1" || pod.Namespace != "team" || pod.Labels["k8shell.io/blueprint"] != "dev" {
				t.Errorf("the pod is %+v", pod.ObjectMeta)
			}
			cause := ""
			if reading.Cause != nil {
				cause = reading.Cause.Code
				if reading.Cause.Object != "pod/alice-1" {
					t.Errorf("it is about %q", reading.Cause.Object)
				}
			}
			if reading.Verdict() != test.verdict || cause != test.cause ||
				!strings.HasPrefix(reading.Message, test.message) {
				t.Errorf("it is %s %q, want %s %q", reading.Verdict(), cause, test.verdict, test.cause)
			}
		})
	}
	unreadable := &Target{ID: "alice-1", Found: Found{Record: &helm.Release{Manifest: "{", Info: &helm.Info{}}}}
	if pod, _ := unreadable.Podless(); pod.Name != "alice-1" {
		t.Errorf("the pod is %+v", pod.ObjectMeta)
	}
}
