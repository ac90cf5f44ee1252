package bundle_test

import (
	"strings"
	"testing"
	"time"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/goldentest"
	"github.com/berthdev/berth/internal/terminal"
	"github.com/berthdev/berth/internal/terminal/printer"
	"github.com/berthdev/berth/internal/terminal/result"
	"github.com/berthdev/berth/internal/terminal/result/bundle"
	"github.com/berthdev/berth/internal/terminal/terminaltest"
)

// printed prints to a terminal of a width, or to a pipe if it is 0.
func printed(t *testing.T, output string, doc result.Kind, width int) string {
	t.Helper()
	s, b := terminal.Test("", terminaltest.Now)
	if width > 0 {
		s.Out.TTY, s.Out.Size = true, func() (int, int) { return width, 40 }
	}
	f, err := printer.ParseFormat(output)
	if err != nil {
		t.Fatal(err)
	}
	if err := printer.Print(s, f, doc); err != nil {
		t.Fatal(err)
	}
	return b.Out.String()
}

const (
	notFound = "deployment/web in namespace team: ImageNotFound: container app: image " +
		"registry.example.com/web:v9 not found"
	remedy = ` (The registry answered, but has no such image or tag. Check "image" of container app in the bundle.)`
)

// shop is an instance that was installed from a terminal, and is healthy.
func shop() v1.BundleState {
	since := terminaltest.Now.Add(-time.Minute)
	return v1.BundleState{
		Name: "shop", State: v1.BundleHealthy, Class: "berth-dev-plain", Source: "an upload", Namespace: "team",
		CreatedAt: since, Installed: "shop-h66bd3", Revision: 1,
		Conditions: []v1.BundleCondition{
			{
				Type: "HasValidBundle", Status: "True", Reason: "UnpackSuccessful",
				Message: "bundle shop-h66bd3 is unpacked",
				Since:   since,
			},
			{
				Type: "Installed", Status: "True", Reason: "InstallationSucceeded",
				Message: "bundle shop-h66bd3 is installed",
				Since:   since,
			},
			{
				Type: "Healthy", Status: "True", Reason: "Healthy", Message: "every object is as it should be",
				Since: since,
			},
		},
		Bundles: []v1.BundleOfInstance{{Name: "shop-h66bd3", Phase: "Unpacked", Source: "an upload"}},
		Objects: []v1.BundleObject{
			{Object: "deployment/web", Namespace: "team", State: "Current"},
			{Object: "configmap/a", Namespace: "team", State: "Current"},
		},
	}
}

// unhealthy is shop with a reason.
func unhealthy(state v1.BundleStateName, object, why string) v1.BundleState {
	s := shop()
	s.State, s.Message = state, notFound+remedy
	s.Conditions[2].Status, s.Conditions[2].Reason, s.Conditions[2].Message = "False", "ObjectsFailed", s.Message
	s.Objects[0].State, s.Objects[0].Message = object, why
	return s
}

// upgrading is shop with a second bundle that is on its way.
func upgrading() v1.BundleState {
	s := shop()
	s.Message = "deployment/web in namespace team: Replicas: 0/1"
	s.State, s.Installed, s.Revision = v1.BundlePending, "shop-k3vsqu", 2
	s.Conditions[2].Status, s.Conditions[2].Reason, s.Conditions[2].Message = "False", "Unhealthy", s.Message
	s.Bundles = append([]v1.BundleOfInstance{{Name: "shop-k3vsqu", Phase: "Unpacked", Source: "an upload"}},
		s.Bundles...)
	s.Objects[0].State, s.Objects[0].Message = "InProgress", "Replicas: 0/1"
	return s
}

// byServer is shop whose bundle a server has unpacked and serves.
func byServer() v1.BundleState {
	s := shop()
	s.Bundles[0].ContentURL = "https://berth-bundles.berth-system.svc/bundles/shop-h66bd3.tgz"
	return s
}

// What is said of an instance: nothing of a server where there is none, and a reason once.
func TestStateOfAnInstance(t *testing.T) {
	for name, s := range map[string]v1.BundleState{
		"healthy": shop(),
		"unhealthy": unhealthy(v1.BundleUnhealthy, "Failed",
			strings.TrimPrefix(notFound, "deployment/web in namespace team: ")),
		"upgrading": upgrading(),
		"served":    byServer(),
	} {
		t.Run(name, func(t *testing.T) {
			text := printed(t, "text", bundle.State{BundleState: s}, 0)
			goldentest.Check(t, name+".txt", text)
			if strings.Count(text, "ImageNotFound") > 1 {
				t.Error("the reason is repeated")
			}
		})
	}
}

// A wide list has all of the reason, however narrow the terminal is.
func TestAWideListCutsNothing(t *testing.T) {
	list := bundle.List{BundleStateList: v1.BundleStateList{Items: []v1.BundleState{unhealthy(v1.BundleUnhealthy,
		"Failed", "")}}}
	for output, whole := range map[string]bool{"wide": true, "text": false} {
		if text := printed(t, output, list, 80); strings.Contains(text, notFound+remedy) != whole {
			t.Errorf("%s:\n%s", output, text)
		}
	}
}

// What could not be checked is named in few lines, one for each reason, however much it is.
func TestContentSaysWhatIsUnchecked(t *testing.T) {
	c := v1.BundleContent{Source: "./shop", Format: "yaml", Files: 1}
	for _, name := range []string{"a", "b", "c", "d", "e", "f", "g"} {
		c.Unchecked = append(c.Unchecked, v1.UncheckedObject{Object: "web/" + name, Reason: "because"})
	}
	c.Unchecked = append(c.Unchecked, v1.UncheckedObject{Object: "job/h", Reason: "it is a hook"})
	text := printed(t, "text", bundle.Content{BundleContent: c}, 0)
	for _, line := range []string{
		"not checked: web/a, web/b, web/c, web/d, web/e, 2 others: because\n", "not checked: job/h: it is a hook\n",
	} {
		if !strings.Contains(text, line) {
			t.Errorf("%q is not in %s", line, text)
		}
	}
}
