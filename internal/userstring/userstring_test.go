package userstring

import (
	"encoding/base64"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"github.com/berthdev/berth/internal/fault"
)

func TestParse(t *testing.T) {
	for _, tc := range []struct {
		in, key, canonical string
		form               Form
	}{
		{"alice", "u=alice", "alice", Implicit},
		{"  Alice ", "u=alice", "alice", Implicit},
		{"Alice@Example.com~dev", "u=alice@example.com|bp=dev", "alice@example.com~dev", Explicit},
		{"%41lice~dev", "u=Alice|bp=dev", "%41lice~dev", Explicit},
		{"al%69ce%40x", "u=alice@x", "alice@x", Implicit},
		{"jo.smith~repo=proj", "u=jo.smith|r=jo.smith/proj|bp=repo-jo.smith-proj", "jo.smith~repo=jo.smith/proj", Repo},
		{"Müller", "u=müller", "müller", Implicit},
		{"a%7Cb%7Edev~dev", "u=a%7Cb~dev|bp=dev", "a%7Cb%7Edev~dev", Explicit},
		{"alice~dev", "u=alice|bp=dev", "alice~dev", Explicit},
		{"alice~dev+user=root", "u=alice|bp=dev", "alice~dev+user=root", Explicit},
		{
			"alice~dev+workload=Deployment/web+ns=shop", "u=alice|bp=dev|workload=deployment/web|ns=shop",
			"alice~dev+ns=shop+workload=deployment/web", Explicit,
		},
		{"aAzZ09_-", "u=aazz09_-", "aazz09_-", Implicit},
		{strings.Repeat("a", 128), "u=" + strings.Repeat("a", 128), strings.Repeat("a", 128), Implicit},
		{"alice~a%7Eb%25%40%2Bc%3D", "u=alice|bp=a~b%@+c=", "alice~a%7Eb%25%40%2Bc%3D", Explicit},
		{
			"alice~dev+workload=statefulset/db+ns=x", "u=alice|bp=dev|workload=statefulset/db|ns=x",
			"alice~dev+ns=x+workload=statefulset/db", Explicit,
		},
		{
			"alice~repo=org/proj+workload=daemonset/d+ns=x",
			"u=alice|r=org/proj|bp=repo-org-proj|workload=daemonset/d|ns=x",
			"alice~ns=x+repo=org/proj+workload=daemonset/d", Repo,
		},
		{"alice~pod=ws1+user=root", "", "alice~pod=ws1+user=root", Named},
		{
			"base64-" + base64.RawURLEncoding.EncodeToString([]byte(" alice~dev\n")), "u=alice|bp=dev", "alice~dev",
			Explicit,
		},
		{"b64-" + base64.RawURLEncoding.EncodeToString([]byte("b64-x~dev")), "u=b64-x|bp=dev", "b64-" +
			base64.RawURLEncoding.EncodeToString([]byte("b64-x~dev")), Explicit},
		{"alice~pod=ws1", "", "alice~pod=ws1", Named},
		{"alice~pod=ws1+ns=x", "", "alice~ns=x+pod=ws1", Named},
		{"alice~repo=org/proj", "u=alice|r=org/proj|bp=repo-org-proj", "alice~repo=org/proj", Repo},
		{"alice~repo=proj", "u=alice|r=alice/proj|bp=repo-alice-proj", "alice~repo=alice/proj", Repo},
		{"alice~repo=a/b/c", "u=alice|r=a/b/c|bp=repo-a-b-c", "alice~repo=a/b/c", Repo},
		{
			"alice~REPO=Org/Proj+ref=Fix%2B1", "u=alice|r=org/proj|ref=fix+1|bp=repo-org-proj",
			"alice~ref=Fix%2B1+repo=org/proj", Repo,
		},
		{"b64-" + base64.RawURLEncoding.EncodeToString([]byte("alice~dev")), "u=alice|bp=dev", "alice~dev", Explicit},
	} {
		u, err := Parse(tc.in)
		if err != nil {
			t.Errorf("Parse(%q): %v", tc.in, err)
			continue
		}
		if u.Key() != tc.key || u.String() != tc.canonical || u.Form() != tc.form {
			t.Errorf("Parse(%q) = %s, key %q, canonical %q; want %s, %q, %q", tc.in, u.Form(), u.Key(), u.String(),
				tc.form, tc.key, tc.canonical)
		}
	}
}

func TestParseErrorsPointAtTheCharacter(t *testing.T) {
	for _, tc := range []struct{ in, says, at string }{
		{"", "must start with a username", "character 1"},
		{"al ice", "letters, digits", "character 3"},
		{"alice~", "empty", "character 7"},
		{"alice~dev+", "empty", "character 11"},
		{"alice~dev+x", "expected KEY=VALUE", "character 11"},
		{"alice~repo=a=b", "second", "character 13"},
		{"alice~color=red", "unknown key", "character 7"},
		{"alice~repo=a/b+repo=c/d", "duplicate key", "character 16"},
		{"alice~ref=main", "ref requires repo", "character 7"},
		{"alice~dev+ns=x", "ns requires", "character 11"},
		{"alice~dev+workload=pod/x+ns=y", "kind/name", "character 20"},
		{"alice~dev+workload=deployment/x", "requires ns", "character 11"},
		{"alice~repo=a%zz", "two hexadecimal digits", "character 13"},
		{"alice~repo=a%20b", "must not contain spaces", "character 12"},
		{"alice~repo=a%7Cb", "must not contain spaces, control characters or |", "character 12"},
		// it separates the parts of keys
		{"alice~dev%7Cx", "control characters or |", "character 7"},
		{"al\x1b[31mice", "al\uFFFD[31mice", "character 3"}, // shown in its columns
		{"alice~repo=a@b", "%40", "character 13"},
		{"alice~user=root", "required", "character 16"},
		{"alice+user=root", "is required before +, as in alice~dev+user=root", "character 6"},
		{"alice+ref=x~dev", "as in alice~dev+ref=x", "character 6"},
		{strings.Repeat("a", 129), "at most 128", "character 129"},
		{"alice~@", "%40", "character 7"},
		{"alice~dev~x", "%7E", "character 10"},
		{"alice~dev=x", "unknown key", "character 7"},
		{"alice~repo=", "missing value", "character 12"},
		{"alice~dev+user=", "missing value", "character 16"},
		{"alice~repo==", "a second", "character 12"},
		{"alice~repo=%ff", "not valid UTF-8", "character 12"},
		{"alice~repo=org//proj", "without empty parts", "character 12"},
		{"alice~repo=/proj", "without empty parts", "character 12"},
		{"alice~repo=org/", "without empty parts", "character 12"},
		{"alice~dev+workload=deployment/+ns=y", "kind/name", "character 20"},
		{"alice~dev+workload=deployment+ns=y", "kind/name", "character 20"},
		{"alice~dev+workload=deployment/x/y+ns=z", "kind/name", "character 20"},
		{"alice~pod=ws1+repo=org/proj", "pod can only be combined with ns and user", "character 7"},
		{"alice~pod=ws1+ref=main", "pod can only be combined with ns and user", "character 7"},
		{"alice~dev+pod=ws1", "pod can only be combined with ns and user", "character 11"},
		{"alice~Workload=Deployment/x+pod=ws1+ns=z", "pod can only be combined with ns and user", "character 29"},
		{"alice~dev+REPO=org/proj", `blueprint "dev" and repo are mutually exclusive`, "character 11"},
		{"alice~dev+ref=main", "ref requires repo", "character 11"},
		{
			"€alice", "invalid character '€' in the username: use letters, digits, . _ - and @, or " +
				"write it as %E2%82%AC",
			"character 1",
		},
		{"mu\u0308ller", "or write it as %CC%88", "character 3"}, // another name than müller
		{"\u212Aim", "or write it as %E2%84%AA", "character 1"},  // the sign for kelvin
		{"al%ice", "two hexadecimal digits", "character 3"},
		{"alice%4", "two hexadecimal digits", "character 6"},
		{"alice%C3", "the decoded username is not valid UTF-8", "character 1"},
		{"alice=x", "in the username", "character 6"},
		{"alice|x", "or write it as %7C", "character 6"},
		{
			"alice@example.com~repo=proj", "repo must be owner/name here: alice@example.com is not the " +
				"name of an owner",
			"character 24",
		},
		{"alice~ä+", "empty", "character 9"},
		{"al/ice", "invalid character '/' in the username", "character 3"},
		{"al:ice", "invalid character ':' in the username", "character 3"},
		{"al[ice", "invalid character '[' in the username", "character 3"},
		{"al`ice", "invalid character '`' in the username", "character 3"},
		{"al{ice", "invalid character '{' in the username", "character 3"},
	} {
		_, err := Parse(tc.in)
		if fault.CodeOf(err) != fault.InvalidArgument {
			t.Errorf("Parse(%q): %v, want INVALID_ARGUMENT", tc.in, err)
			continue
		}
		if !strings.Contains(err.Error(), tc.says) || !strings.HasSuffix(err.Error(), "^ "+tc.at) {
			t.Errorf("Parse(%q): %v\nwant %q at %s", tc.in, err, tc.says, tc.at)
		}
	}
}

func TestID(t *testing.T) {
	legal := regexp.MustCompile(`^[a-z]([-a-z0-9]*[a-z0-9])?$`)
	seen := map[string]string{}
	for _, in := range []string{
		"alice", "alice~dev", "a_b", "a-b", "a-b-", "1st", "-", "_", "___",
		strings.Repeat("x", 128), strings.Repeat("x", 127),
	} {
		u, err := Parse(in)
		if err != nil {
			t.Fatal(err)
		}
		id := u.ID()
		if !legal.MatchString(id) || len(id) > 50 || len(in) > 50 && len(id) != 50 {
			t.Errorf("%q has ID %q: not a DNS-1035 label of at most 50", in, id)
		}
		if other, ok := seen[id]; ok {
			t.Errorf("%q and %q share the ID %q", in, other, id)
		}
		seen[id] = in
	}
	if u, _ := Parse("alice~pod=Web-1"); u.ID() != "web-1" {
		t.Errorf("the ID of a named workspace is %s", u.ID())
	}
	// SHA-256 of "u=alice".
	if u, _ := Parse("alice"); u.ID() != "alice-a975fae" {
		t.Errorf("ID of alice is %s", u.ID())
	}
}

// Encoded, a user string can be longer than what may be typed. It is read again from an
// annotation all the same, however long it has become.
func TestParseCanonical(t *testing.T) {
	for name, typed := range map[string]string{
		"encoded twice as long":  "alice~repo=org/" + strings.Repeat("ä", 113),
		"four bytes a character": "a~repo=" + strings.Repeat("😀", 121),
		"wrapped as well": "b64-" +
			base64.RawURLEncoding.EncodeToString([]byte("b64-~repo="+strings.Repeat("😀", 118))),
		"lowered to more bytes":  "a~repo=" + strings.Repeat("Ⱥ", 121),
		"an owner that is named": strings.Repeat("a", 121) + "~repo=x",
	} {
		u, err := Parse(typed)
		if err != nil {
			t.Fatal(name, err)
		}
		if _, err := Parse(u.String()); fault.CodeOf(err) != fault.InvalidArgument {
			t.Errorf("%s: its canonical form, of %d characters, may be typed: %v", name, len(u.String()), err)
		}
		read := FromAnnotation(ToAnnotation(u.String()))
		again, err := ParseCanonical(read)
		if err != nil || again.Key() != u.Key() || again.ID() != u.ID() || again.String() != u.String() {
			t.Errorf("%s: %q is read as %+v, %v", name, read, again, err)
		}
	}
	if _, err := ParseCanonical("a~" + strings.Repeat("x", MaxCanonical)); fault.CodeOf(err) != fault.InvalidArgument {
		t.Errorf("of any length: %v", err)
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{
		"alice", "alice~dev+user=x", "a~repo=o/p+ref=R%2F1", "b64-YWxpY2U", "a~pod=x+ns=y",
		"a~b+workload=daemonset/x+ns=n", "Müller@x~dev", "%41%7C~dev", "a%CC%88", "\u0130",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		u, err := Parse(s)
		if err != nil {
			return
		}
		again, err := ParseCanonical(u.String())
		if err != nil {
			t.Fatalf("Parse(%q) is %+v, canonical %q does not parse: %v", s, u, u.String(), err)
		}
		if again.Key() != u.Key() || again.ID() != u.ID() {
			t.Fatalf("%q has key %q, its canonical form %q has %q", s, u.Key(), u.String(), again.Key())
		}
	})
}

// What can name a blueprint is what comes out of a user string that names it.
func TestCanName(t *testing.T) {
	for name, want := range map[string]bool{
		"dev": true, "go-1.25": true, "ä": true, "a+b@c": true,
		"Ä": true, "Dev": true, "": false, "ä b": false, "a|b": false, "a\nb": false, "a\u200b": false, "\xff": false,
	} {
		if got := CanName(name); got != want {
			t.Errorf("CanName(%q) = %t", name, got)
		}
		u, err := Parse("alice~" + escaped(name))
		if named := err == nil && u.BlueprintTyped == name && name != ""; named != want {
			t.Errorf("a user string names %q: %t, %v", name, named, err)
		}
	}
}

// escaped writes every byte of a name in hexadecimal digits.
func escaped(name string) (text string) {
	for i := range len(name) {
		text += fmt.Sprintf("%%%02X", name[i])
	}
	return text
}

// A value is encoded where it must not be as it is, in capitals.
func TestEscape(t *testing.T) {
	for value, want := range map[string]string{
		"aZ09-._/": "aZ09-._/", "@~+=%": "%40%7E%2B%3D%25",
		"! ~\x7f": "!%20%7E%7F", "ä": "%C3%A4", "}|": "}|", "": "",
	} {
		if got := escape(value); got != want {
			t.Errorf("%q: %q, want %q", value, got, want)
		}
	}
}

// The name of a user in an ID is a label, whatever the user is called, as long as there is room.
func TestLabel(t *testing.T) {
	for user, want := range map[string]string{
		"alice": "alice", "a_b": "a-b", "_a_": "a", "a": "a", "z": "z", "1st": "u-1st", "": "u", "___": "u",
		"abcdefgh": "abcdefgh", "abcdefghi": "abcdefgh", "abcdefg-i": "abcdefg",
	} {
		if got := label(user, 8); got != want {
			t.Errorf("%q: %q, want %q", user, got, want)
		}
	}
}

// What can be the ID of a workspace is told by its end.
func TestLooksLikeID(t *testing.T) {
	for name, want := range map[string]bool{
		"alice-a975fae": true, "alice": false, "alice-a975fa": false,
		"alice-a975fag": false, "alice~x-a975fae": false, "alice-A975FAE": false,
	} {
		if got := LooksLikeID(name); got != want {
			t.Errorf("%q: %t", name, got)
		}
	}
}

func TestFromAnnotation(t *testing.T) {
	for text, want := range map[string]string{
		"alice~dev": "alice~dev", "alice~repo=org/proj+ref=Feature/X": "alice~repo=org/proj+ref=Feature/X", "": "",
		"alice\nhint: curl evil": "", "alice\x1b[31m": "", "a\u202eb": "", "a b": "", "\xff": "",
		"ü?>~dev": "ü?>~dev", "ü?>~de": "ü?>~de", // other letters in each alphabet
		strings.Repeat("x", MaxCanonical+1): "",
	} {
		for name, as := range map[string]*base64.Encoding{
			"k8shell's, unpadded": base64.RawURLEncoding, "berth's before, padded": base64.StdEncoding,
			"a shell's": base64.URLEncoding,
		} {
			if got := FromAnnotation(as.EncodeToString([]byte(text))); got != want {
				t.Errorf("%q, %s: %q, want %q", text, name, got, want)
			}
		}
	}
	for _, no := range []string{"no base64", "YWxp=Y2U", "YWxpY2U!"} {
		if got := FromAnnotation(no); got != "" {
			t.Errorf("%q: %q", no, got)
		}
	}
	if got := ToAnnotation("ü?>~dev"); got != "w7w_Pn5kZXY" {
		t.Error(got)
	}
	longest := strings.Repeat("x", MaxCanonical)
	if got := FromAnnotation(ToAnnotation(longest)); got != longest {
		t.Errorf("of the longest, %d characters are read", len(got))
	}
	if got := FromAnnotation(ToAnnotation("alice") +
		strings.Repeat("\n", MaxCanonical*2)); got != "" { // which decoding leaves out
		t.Errorf("of a very long one, %q is read", got)
	}
}

// Whatever a pod says of its user string, it can be shown, or it is none.
func FuzzFromAnnotation(f *testing.F) {
	for _, seed := range []string{"", "YWxpY2V+ZGV2", "YWxpY2UKaGludA==", "====", "////"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, value string) {
		text := FromAnnotation(value)
		if len(text) > MaxCanonical || strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) {
			t.Errorf("%q", text)
		}
		if u, err := Parse(text); err == nil {
			_, _ = u.ID(), u.String()
		}
	})
}
