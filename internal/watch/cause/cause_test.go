package cause

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/watch/cause/catalog"
	"github.com/berthdev/berth/internal/watch/evidence"
	"github.com/berthdev/berth/internal/watch/watchtest"
)

// podOf is the pod web with the events about it.
func podOf(pod watchtest.MadePod, events ...*corev1.Event) evidence.Pod {
	return evidence.NewPod(pod.Pod, events, nil)
}

// appThat is the pod web on a node, its container in a status.
func appThat(changes ...func(*corev1.ContainerStatus)) evidence.Pod {
	return podOf(watchtest.NewPod("web", "1", watchtest.OnNode, watchtest.App(changes...)))
}

func warning(container, reason, message string) *corev1.Event {
	return watchtest.Event("web", "1", container, reason, message).Warn().Event
}

func patient() Policy {
	p := DefaultPolicy()
	p.Name, p.GracePeriod = Patient, time.Minute
	return p
}

// compare checks a finding against "Code: words"; empty means no finding.
func compare(t *testing.T, got *Finding, want string) {
	t.Helper()
	code, words, _ := strings.Cut(want, ": ")
	switch {
	case got == nil && want == "":
	case got == nil:
		t.Errorf("no cause, want %s", want)
	case got.Code != code || !strings.Contains(got.Message, words):
		t.Errorf("cause %s: %s, want %s", got.Code, got.Message, want)
	}
}

// hintTest is what the hint for a cause says.
type hintTest struct {
	name  string
	cause v1.Cause
	about About
	says  []string
}

func checkHints(t *testing.T, tests []hintTest) {
	t.Helper()
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			hint := Hint(&test.cause, test.about)
			for _, words := range test.says {
				if !strings.Contains(hint, words) {
					t.Errorf("%q does not say %q", hint, words)
				}
			}
		})
	}
}

func TestHintOfNothing(t *testing.T) {
	if hint := Hint(nil, About{}); hint != "" {
		t.Errorf("no cause, but %q", hint)
	}
}

// codes are those of the catalogue.
func codes() []string {
	codes, _ := catalog.Reasons()
	return codes
}

// Every code that is declared in a family is in the catalogue, once.
func TestEveryCodeIsInTheCatalogue(t *testing.T) {
	codes := codes()
	if len(slices.Compact(slices.Clone(codes))) != len(codes) {
		t.Errorf("a code is listed twice: %q", codes)
	}
	declared := 0
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		if name == "policy.go" || strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, decl := range file.Decls {
			consts, ok := decl.(*ast.GenDecl)
			if !ok || consts.Tok != token.CONST {
				continue
			}
			for _, spec := range consts.Specs {
				value := spec.(*ast.ValueSpec)
				if !value.Names[0].IsExported() {
					continue
				}
				declared++
				if code, _ := strconv.Unquote(value.Values[0].(*ast.BasicLit).Value); !slices.Contains(codes, code) {
					t.Errorf("%s of %s is not there", code, name)
				}
			}
		}
	}
	if declared != len(codes) {
		t.Errorf("%d codes are declared, %d are in the catalogue", declared, len(codes))
	}
}

// Every cause has a hint that is complete, and that of a pod speaks of no blueprint.
func TestEveryCauseHasAHint(t *testing.T) {
	for _, code := range codes() {
		template := catalog.Lookup(code).Hint
		_, says := whys()[code]
		for name, about := range map[string]About{
			"pod":       {Namespace: "shop"},
			"workspace": {Blueprint: "dev", UserString: "alice~dev"},
		} {
			if says != strings.Contains(template, "{why}") {
				t.Errorf("%s: {why} and why do not go together", code)
			}
			hint := Hint(&v1.Cause{Code: code, Container: "app", Object: "pod/api"}, about)
			if len(hint) < 40 || strings.Contains(hint, "  ") {
				t.Errorf("%s of a %s: %q", code, name, hint)
			}
			for _, command := range []string{
				"{range .items[*]}", "{.metadata.name}", "{.spec.schedulingGates}", "{end}",
				`{"\n"}`, `{"spec":{"suspend":false}}`, `{"imagePullSecrets":[{"name":"registry"}]}`,
			} {
				hint = strings.ReplaceAll(hint, command, "")
			}
			if strings.Contains(hint, "{") {
				t.Errorf("%s has an unknown placeholder: %q", code, hint)
			}
			if name == "pod" && (strings.Contains(hint, "blueprint") || strings.Contains(hint, "rovision ")) {
				t.Errorf("%s of a pod speaks of blueprints: %q", code, hint)
			}
		}
	}
}
