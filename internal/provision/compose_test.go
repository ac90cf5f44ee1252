package provision

import (
	"context"
	"strings"
	"testing"

	"github.com/berthdev/berth/internal/blueprint"
	"github.com/berthdev/berth/internal/blueprint/catalog"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/identity"
	"github.com/berthdev/berth/internal/userstring"
)

// brings returns the same blueprint for every user.
type brings struct {
	text  string
	err   error
	asked *int
}

func (b brings) Custom(context.Context, userstring.UserString) (*blueprint.Source, error) {
	*b.asked++
	if b.text == "" {
		return nil, b.err
	}
	return &blueprint.Source{Name: "somewhere/.k8shell.yaml", Text: []byte(b.text)}, b.err
}

const mine = "template: default\nenv: {A: !cel metadata.name}\n"

func TestWhichBlueprintIsMeant(t *testing.T) {
	away := fault.New(fault.Unavailable, "no answer")
	for name, tc := range map[string]struct {
		user, own string
		err       error
		asked     int
		lineage   string
		notice    string
		code      fault.Code
	}{
		"the default, not asked": {"alice", mine, nil, 0, "default base", "", ""},
		"a platform blueprint":   {"alice~default", "", nil, 1, "default base", "", ""},
		"of the platform wins": {
			"alice~default", mine, nil, 1, "default base",
			"the platform's blueprint default is used, not your own", "",
		},
		"of the platform, outage": {"alice~default", "", away, 1, "default base", "", ""},
		"one's own":               {"alice~tools", mine, nil, 1, "tools default base", "", ""},
		"unknown":                 {"alice~nope", "", nil, 1, "", "", fault.NotFound},
		"unknown in an outage":    {"alice~tools", "", away, 1, "", "", fault.Unavailable},
		"a repository's":          {"alice~repo=org/proj", mine, nil, 1, "repo-org-proj default base", "", ""},
		"a repository's without": {
			"alice~repo=org/proj+ref=Main", "", nil, 1, "repo-org-proj default base",
			"org/proj has no .k8shell.yaml at Main: blueprint default is used", "",
		},
		"a repository that is away": {"alice~repo=org/proj", "", away, 1, "", "", fault.Unavailable},
		"a repository's that is broken": {
			"alice~repo=org/proj", "template: default\npodman: {}\n", nil, 1, "", "",
			fault.InvalidArgument,
		},
	} {
		t.Run(name, func(t *testing.T) {
			asked := 0
			p := &Provisioner{
				Repositories:     brings{text: tc.own, err: tc.err, asked: &asked},
				Blueprints:       func(context.Context) (*catalog.Set, error) { return catalog.Load("") },
				DefaultBlueprint: "default",
			}
			u, err := userstring.Parse(tc.user)
			if err != nil {
				t.Fatal(err)
			}
			got, err := p.Compose(t.Context(), u)
			if asked != tc.asked {
				t.Errorf("asked %d times, want %d", asked, tc.asked)
			}
			if tc.code != "" {
				if fault.CodeOf(err) != tc.code {
					t.Errorf("%v, want %s", err, tc.code)
				}
				return
			}
			if err != nil || strings.Join(got.Lineage(), " ") != tc.lineage || !strings.HasPrefix(got.Notice, tc.notice) ||
				(tc.notice == "") != (got.Notice == "") {
				t.Fatalf("%q, %q, %v", got.Lineage(), got.Notice, err)
			}
			b, err := got.Complete(t.Context(), u, identity.User{Username: "alice"})
			if err != nil {
				t.Fatal(err)
			}
			name, _, _ := strings.Cut(tc.lineage, " ")
			if b.Name != name || b.Platform != "default" {
				t.Errorf("%s is based on %s", b.Name, b.Platform)
			}
			if a, own := b.Env["A"]; own && a != name {
				t.Errorf("metadata.name is %q", a)
			}
			if err := Allowed(identity.User{Username: "alice", Blueprints: []string{"other", name + "x"}},
				b); fault.CodeOf(err) != fault.PermissionDenied {
				t.Errorf("it is allowed: %v", err)
			}
		})
	}
}
