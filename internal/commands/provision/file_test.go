package provision

import (
	"slices"
	"strings"
	"testing"

	"github.com/berthdev/berth/internal/fault"
)

func TestParseFile(t *testing.T) {
	for name, test := range map[string]struct {
		text string
		want []string
	}{
		"lines":              {"alice~dev\nbob\n", []string{"alice~dev", "bob"}},
		"comments, blanks":   {"# team\n\n  alice~dev  # the first\n\t\nbob\n#carol", []string{"alice~dev", "bob"}},
		"no end of line":     {"alice", []string{"alice"}},
		"Windows":            {"\uFEFFalice\r\n\r\nbob\r\n", []string{"alice", "bob"}},
		"a dash in front":    {"-alice\n--bob\n", []string{"%2Dalice", "%2D-bob"}},
		"YAML":               {"# team\n- alice~dev\n- userString: bob\n", []string{"alice~dev", "bob"}},
		"YAML with a marker": {"---\n- alice\n", []string{"alice"}},
		"what looks typed":   {"- 1234\n- yes\n- 0x1f\n", []string{"1234", "yes", "0x1f"}},
		"anchors":            {"- &a alice\n- userString: bob\n", []string{"alice", "bob"}},
		"JSON":               {`["alice~dev", {"userString": "bob"}]`, []string{"alice~dev", "bob"}},
		"JSON with tabs":     {"[\n\t\"alice\",\n\t{\n\t\t\"userString\": \"bob\"\n\t}\n]\n", []string{"alice", "bob"}},
		"the order is kept":  {"carol\nalice\nbob", []string{"carol", "alice", "bob"}},
	} {
		users, err := parseFile("team.txt", []byte(test.text))
		if err != nil {
			t.Errorf("%s: %v", name, fault.From(err).Problems)
			continue
		}
		var got []string
		for _, u := range users {
			got = append(got, u.String())
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%s: got %q, want %q", name, got, test.want)
		}
	}
}

// All errors are reported at once, with their lines.
func TestParseFileProblems(t *testing.T) {
	for name, test := range map[string]struct {
		text string
		want []string
	}{
		"lines": {
			"alice~dev\nal!ce\n\nAlice~dev+user=root # the same\nbob~pod=ws\ncarol~\n",
			[]string{
				"line 2: ", "character 3", `line 4: "Alice~dev+user=root" is the same workspace as ` +
					`"alice~dev" on line 1`,
				"line 5: ", "not provisioned", "line 6: ",
			},
		},
		"two words": {"alice dev\n", []string{"line 1: "}},
		"YAML": {
			"- alice\n- [bob]\n- {user: bob}\n- userString:\n    al!ce\n- alice\n- \n- {}\n",
			[]string{
				"line 2: must be a user string", `line 3: unknown field "user"`, "line 5: ",
				`line 6: "alice" is the same workspace as "alice" on line 1`, "line 7: ",
				"line 8: userString is required",
			},
		},
		"an alias":       {"- &a alice\n- *a\n", []string{`line 2: "alice" is the same workspace`}},
		"twice":          {"- {userString: a, userString: b}\n", []string{"line 1: duplicate field userString"}},
		"no list":        {"{userString: alice}", []string{"line 1: must be a list"}},
		"no YAML":        {"[alice, ", []string{"line 1"}},
		"two documents":  {"- alice\n---\n- bob\n", []string{"found another document after it"}},
		"nothing":        {"# nobody\n\n", []string{"contains no user strings"}},
		"an empty list":  {"[]", []string{"contains no user strings"}},
		"only a marker":  {"---\n", []string{"must be a list"}},
		"unknown anchor": {"- *a\n", []string{"unknown anchor"}},
	} {
		_, err := parseFile("team.txt", []byte(test.text))
		if fault.CodeOf(err) != fault.InvalidArgument || fault.From(err).Hint == "" ||
			!strings.HasPrefix(err.Error(), "team.txt") {
			t.Errorf("%s: %v", name, err)
			continue
		}
		said := err.Error() + "\n" + strings.Join(fault.From(err).Problems, "\n")
		for _, want := range test.want {
			if !strings.Contains(said, want) {
				t.Errorf("%s: %q is not in\n%s", name, want, said)
			}
		}
	}
}

// Every file gives user strings that can be provisioned, each once, or an error that
// says what is wrong.
func FuzzParseFile(f *testing.F) {
	for _, seed := range []string{
		"alice~dev\n# x\nbob", "- alice\n- userString: bob", `["a",{"userString":"b"}]`,
		"- &a [*a]", "---\n...\n", "{", "-\t\n-",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		users, err := parseFile("x", content)
		if err != nil {
			if fault.CodeOf(err) != fault.InvalidArgument {
				t.Fatalf("%v", err)
			}
			return
		}
		seen := map[string]bool{}
		for _, u := range users {
			if seen[u.ID()] || u.User == "" {
				t.Fatalf("%q in %q", u, content)
			}
			seen[u.ID()] = true
		}
		if len(users) == 0 {
			t.Fatal("nothing, and no error")
		}
	})
}
