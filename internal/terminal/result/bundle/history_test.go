package bundle_test

import (
	"testing"
	"time"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/goldentest"
	"github.com/berthdev/berth/internal/terminal/result/bundle"
	"github.com/berthdev/berth/internal/terminal/terminaltest"
)

// The revisions are a table, in which what failed says why; what an earlier berth has recorded says little.
func TestHistory(t *testing.T) {
	ago := func(minutes int) time.Time { return terminaltest.Now.Add(-time.Duration(minutes) * time.Minute) }
	const digest = "sha256:2b73ac0b80ac1d059bce0e0fcf4070385cb58cf6869a22c773de96108047f860"
	h := bundle.History{BundleHistory: v1.BundleHistory{Name: "shop", Items: []v1.BundleRevision{
		{
			Revision: 4, Status: "failed", At: ago(1), Bundle: "shop-k3vsqu", Source: "an upload", Digest: digest,
			Objects: 3, Message: "the cluster refused to create services web: no; what was installed before is back",
		},
		{
			Revision: 3, Status: "deployed", At: ago(90), Bundle: "shop-h66bd3", Digest: digest, Objects: 2,
			Source: "oci://registry.example.com/charts/web:1.2.3", Package: "web", Version: "1.2.3",
		},
		{Revision: 2, Status: "superseded", At: ago(2 * 24 * 60), Objects: 2},
	}}}
	for name, output := range map[string]string{"history": "text", "history-wide": "wide", "history-name": "name"} {
		goldentest.Check(t, name+".txt", printed(t, output, h, 0))
	}
	goldentest.Check(t, "history-narrow.txt", printed(t, "text", h, 80))
	if empty := (bundle.History{BundleHistory: v1.BundleHistory{Name: "shop"}}).Empty(); empty !=
		"no revision of shop is recorded" {
		t.Error(empty)
	}
}
