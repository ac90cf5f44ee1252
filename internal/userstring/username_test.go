package userstring

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// names are those that API servers know callers by, and those that somebody would choose to
// be taken for another.
func names() (all []string) {
	for _, person := range []string{
		"alice", "Alice", "ALICE", "jo.smith", "jo-smith", "jo_smith", "jo smith", "jo..smith", "jo--smith", "müller",
		"Müller", "MÜLLER", "mueller", "muller", "m-ller",
		"аlice", "αlice", "ａlice", "ﬁona", "fiona", "ſam", "sam", "İpek", "ipek", "ıpek", "K", "k", "ß", "ss", "ẞ",
		"한글",
		"Ωmega", "Ωmega", "ώ", "ΐ", "अनिल", "علي", "李雷", "Å", "Å", "å",
		"-rf", "rf", "_a", "a", "1st", "u-1st", "b64-x", "base64-YQ", "id", "a\u200bb", "ab", "a\u202eb", "a\x00b",
		"a\nb",
		"a%b", "a%25b", "a|b", "a=b", "a+b", "a~b", "a/b", "../b", "a b", "a\tb", "😀", "\xff", "\xfe", "",
		"u=bob", "bob|bp=dev", "bob%7Cbp=dev", "bob~dev", "a'b", "a\"b", "$(id)", "`id`", "a;b", "#a", "*", "?", "\\",
		"K8s Admin",
	} {
		all = append(all, person, norm.NFC.String(person), norm.NFD.String(person), norm.NFKC.String(person),
			norm.NFKD.String(person),
			person+"@example.com", person+"@Example.com", person+"@evil.org", person+"@x", "oidc:"+person,
			"https://issuer.example.com/"+person, "https://issuer.example.com#"+person,
			person+"_contoso.com#EXT#@fabrikam.onmicrosoft.com", "CN="+person+",O=acme", person+"/O=acme",
			"github:"+person,
			"system:serviceaccount:"+person+":deploy", "system:serviceaccount:ci:"+person,
			"system-serviceaccount-ci-"+person,
			"system:node:"+person,
			"arn:aws:sts::123456789012:assumed-role/Admin/"+person,
			"arn:aws:sts::123456789012:assumed-role/admin/"+person,
			"arn:aws:iam::123456789012:user/"+person,
			person+"@project.iam.gserviceaccount.com",
			"principal://iam.googleapis.com/locations/global/workforcePools/p/subject/"+person)
	}
	for i := range 200 { // they have one label
		all = append(all, strings.Repeat("@", i), "x"+strings.Repeat(".", i)+"y", fmt.Sprintf("%c", 0x4e00+i),
			strings.Repeat("n", i))
	}
	for _, guid := range []string{
		"6f1a3c0e-8a5b-4d5c-9f57-0d0f4e1c2b3a", "6F1A3C0E-8A5B-4D5C-9F57-0D0F4E1C2B3A",
		"6f1a3c0e8a5b4d5c9f570d0f4e1c2b3a",
	} {
		all = append(all, guid, "aks:"+guid)
	}
	for _, name := range unique(all) { // and those who take the names that these get
		u := UserString{User: Username(name)}
		all = append(all, u.User, u.String(), u.ID(), prefix(u.User), OwnerLabel(u.User),
			Username(u.User+strings.Repeat("/", 200)), OwnerLabel(OwnerLabel(u.User)+"/"))
	}
	return unique(all)
}

func unique(all []string) (once []string) {
	seen := map[string]bool{}
	for _, name := range all {
		if !seen[name] {
			seen[name] = true
			once = append(once, name)
		}
	}
	return once
}

// Nobody has anything of what tells workspaces apart in common with another, and what is
// typed again means the same.
func TestUsernamesStayApart(t *testing.T) {
	isLabel, isID := regexp.MustCompile(`^([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)$`),
		regexp.MustCompile(`^[a-z]([-a-z0-9]{0,48}[a-z0-9])$`)
	seen := map[string]map[string]string{}
	of := func(what, value, name string) {
		if seen[what] == nil {
			seen[what] = map[string]string{}
		}
		if other, is := seen[what][value]; is {
			t.Errorf("%q and %q have the %s %q", other, name, what, value)
		}
		seen[what][value] = name
	}
	all := names()
	for _, name := range all {
		username := Username(name)
		u := UserString{User: username}
		canonical := u.String()
		of("username", username, name)
		of("user string", canonical, name)
		of("user string, normalised", norm.NFKC.String(canonical), name)
		of("user string, lowered as paths are", strings.ToLower(norm.NFD.String(canonical)), name)
		of("key", u.Key(), name)
		of("ID", u.ID(), name)
		of("owner label", OwnerLabel(username), name)
		if again, err := Parse(canonical); err != nil || again != u {
			t.Errorf("%q is %q, which is %+v, %v", name, canonical, again, err)
		}
		if !isLabel.MatchString(OwnerLabel(username)) || !isID.MatchString(u.ID()) || !LooksLikeID(u.ID()) {
			t.Errorf("%q has the label %q and the ID %q", name, OwnerLabel(username), u.ID())
		}
		if strings.ContainsFunc(canonical,
			func(r rune) bool { return !unicode.IsPrint(r) || strings.ContainsRune(` "'$*?;&|<>()\#!/:`+"`", r) }) ||
			canonical[0] == '-' || FromAnnotation(ToAnnotation(canonical)) != canonical {
			t.Errorf("%q is written as %q", name, canonical)
		}
	}
	t.Logf("%d names", len(all))
}

// What people are called is what they are called here, and what they type.
func TestUsername(t *testing.T) {
	long := "alice." + strings.Repeat("x", 1<<10) + "@example.com"
	for name, want := range map[string]struct{ canonical, label, id string }{
		"alice":                   {"alice", "alice", "alice-a975fae"},
		"a_b":                     {"a_b", "a_b", "a-b-306fbc1"},
		"alice@example.com":       {"alice@example.com", "alice-example-com--", "alice-example-com--"},
		"alice.smith":             {"alice.smith", "alice.smith", "alice-smith--"},
		"müller":                  {"müller", "m-ller--", "m-ller--"},
		norm.NFD.String("müller"): {"mu%CC%88ller", "mu-ller--", "mu-ller--"},
		"Alice":                   {"%41lice", "Alice", "alice--"},
		"K8s Admin":               {"%4B8s%20%41dmin", "k8s-admin--", "k8s-admin--"},
		"-rf":                     {"%2Drf", "rf--", "rf-"},
		"system:serviceaccount:ci:build": {
			"system%3Aserviceaccount%3Aci%3Abuild", "system-serviceaccount-ci-build--",
			"system-serviceaccount-ci-bui--",
		},
		"李雷":    {"李雷", "u--", "u--"},
		"a|b=c": {"a%7Cb%3Dc", "a-b-c--", "a-b-c--"},
		long:    {"alice-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx.sha256-", "alice-xxx", "alice-xxx"},
		"":      {"sha256-", "sha256-", "sha256-"},
	} {
		username := Username(name)
		u, err := Parse(Owner(username))
		if err != nil || u.User != username || !strings.HasPrefix(u.String(), want.canonical) ||
			!strings.HasPrefix(OwnerLabel(username), want.label) || !strings.HasPrefix(u.ID(), want.id) {
			t.Errorf("%.40q is %q, %v, with the label %q and the ID %q", name, u, err, OwnerLabel(username), u.ID())
		}
		if isShort := username != name; isShort != (name == long || name == "") {
			t.Errorf("%.40q has the username %q", name, username)
		}
	}
	for typed, want := range map[string]string{
		"Alice@Example.COM": "alice@example.com", "MÜLLER": "müller",
		"%41lice%7e": "Alice~", "m%C3%BCller": "müller", "%61": "a",
	} {
		if u, err := Parse(typed); err != nil || u.User != want {
			t.Errorf("%s is %q, %v", typed, u.User, err)
		}
	}
}

// A username of any characters is one part of its key.
func TestKeyOfUsername(t *testing.T) {
	for user, want := range map[string]string{
		"a|bp=dev": "u=a%7Cbp=dev", "a%7Cbp=dev": "u=a%257Cbp=dev", "a@b": "u=a@b",
		"ü\n": "u=ü\n",
	} {
		if got := (UserString{User: user}).Key(); got != want {
			t.Errorf("%q: %q", user, got)
		}
	}
}

// The canonical form of any name is read as that name, and so is what becomes of it.
func FuzzUsername(f *testing.F) {
	for _, name := range []string{
		"alice@example.com", "Müller", "a|b", "-", "\xff", "b64-x",
		"user.sha256-0123456789012345678901234567890123456789",
	} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		username := Username(name)
		if u, err := Parse(Owner(username)); err != nil || u.User != username ||
			utf8.RuneCountInString(escapeUser(username)) > MaxLength {
			t.Errorf("%q: %q is %q, %v", name, Owner(username), u.User, err)
		}
		if again := Username(username); (again == username) != (username == name) {
			t.Errorf("%q: %q, and then %q", name, username, again)
		}
	})
}
