package explain_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/commands/cmdtest"
	"github.com/berthdev/berth/internal/schematest"
	"github.com/berthdev/berth/internal/watch/cause"
	"github.com/berthdev/berth/internal/watch/cause/catalog"
)

// document is what the command prints as JSON.
func document[D any](t *testing.T, args ...string) (d D) {
	t.Helper()
	cmdtest.Offline(t)
	stdout, _ := cmdtest.Must(t, 0, append([]string{"explain", "-o", "json"}, args...)...)
	schematest.Validate(t, []byte(stdout))
	if err := json.Unmarshal([]byte(stdout), &d); err != nil {
		t.Fatal(err)
	}
	return d
}

// A cause is found however it is written, and by Kubernetes' own word for it.
func TestExplainOne(t *testing.T) {
	for _, name := range []string{"CrashLoop", "crash-loop", "CrashLoopBackOff"} {
		if e := document[v1.Explanation](t, name); e.Kind != "Explanation" || e.Code != cause.CrashLoop ||
			e.Family != "crash" || len(e.Policies) != 2 {
			t.Errorf("%s: %+v", name, e)
		}
	}
	stdout, _ := cmdtest.Must(t, 0, "explain", "crashloopbackoff", "-o", "name")
	if stdout != "CrashLoop\n" {
		t.Errorf("its name is %q", stdout)
	}
}

func TestExplainAll(t *testing.T) {
	list := document[v1.ExplanationList](t)
	codes, _ := catalog.Reasons()
	if list.Kind != "ExplanationList" || len(list.Items) != len(codes) {
		t.Errorf("%s of %d, want %d", list.Kind, len(list.Items), len(codes))
	}
	for _, e := range list.Items {
		if e.Example != nil {
			t.Errorf("%s has an example in a list", e.Code)
		}
	}
	stdout, _ := cmdtest.Must(t, 0, "explain", "-o", "name")
	if names := strings.Fields(stdout); !slices.Equal(slices.Sorted(slices.Values(names)), codes) {
		t.Errorf("the names are %q", names)
	}
}

// What Kubernetes has one word for is a list of all that it can be.
func TestExplainSeveral(t *testing.T) {
	list := document[v1.ExplanationList](t, "ErrImagePull")
	is := func(code string) bool {
		return slices.ContainsFunc(list.Items, func(e v1.Explanation) bool { return e.Code == code })
	}
	if !is(cause.ImageNotFound) || !is(cause.RegistryUnreachable) || is(cause.CrashLoop) {
		t.Errorf("%+v", list.Items)
	}
}

func TestExplainUnknown(t *testing.T) {
	cmdtest.Offline(t)
	for name, hint := range map[string]string{
		"CrashLop":         "did you mean `berth explain CrashLoop`?",
		"imagepulbackof":   "did you mean `berth explain ImagePullBackOff`?",
		"nothing like it":  "`berth explain` lists the causes",
		"CrashLoop/../etc": "`berth explain` lists the causes",
	} {
		_, stderr := cmdtest.Must(t, 2, "explain", name)
		if !strings.Contains(stderr, `unknown cause "`+name+`"`) || !strings.Contains(stderr, hint) {
			t.Errorf("%q: %s", name, stderr)
		}
	}
}
