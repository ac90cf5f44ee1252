package sigstore_test

import (
	"strings"
	"testing"

	"github.com/berthdev/berth/internal/bundle/sigstore"
)

// An identity is the whole of a subject and of its issuer: what is part of one does not match.
func TestIdentity(t *testing.T) {
	names := [4]string{"subject", "subjectRegExp", "issuer", "issuerRegExp"}
	for name, test := range map[string]struct {
		identity sigstore.Identity
		signer   sigstore.Signer
		match    bool
		says     string
	}{
		"the same": {
			sigstore.Identity{Subject: "a@b.c", Issuer: "https://i"},
			sigstore.Signer{Subject: "a@b.c", Issuer: "https://i"},
			true, "",
		},
		"another issuer": {
			sigstore.Identity{Subject: "a@b.c", Issuer: "https://i"},
			sigstore.Signer{Subject: "a@b.c", Issuer: "https://j"},
			false, "",
		},
		"another subject": {
			sigstore.Identity{Subject: "a@b.c", Issuer: "https://i"},
			sigstore.Signer{Subject: "d@b.c", Issuer: "https://i"},
			false, "",
		},
		"no issuer in the certificate": {
			sigstore.Identity{Subject: "a@b.c", Issuer: "https://i"}, sigstore.Signer{Subject: "a@b.c"}, false, "",
		},
		"of the expressions": {
			sigstore.Identity{SubjectRegExp: `https://h/org/.*`, IssuerRegExp: `https://i\.(a|b)`},
			sigstore.Signer{Subject: "https://h/org/app", Issuer: "https://i.b"},
			true, "",
		},
		"the beginning of a subject": {
			sigstore.Identity{SubjectRegExp: `.*@b\.c`, Issuer: "i"},
			sigstore.Signer{Subject: "a@b.c.evil", Issuer: "i"},
			false, "",
		},
		"the end of a subject": {
			sigstore.Identity{SubjectRegExp: `https://h/org`, Issuer: "i"},
			sigstore.Signer{Subject: "https://evil/?https://h/org", Issuer: "i"},
			false, "",
		},
		"the end of an issuer": {
			sigstore.Identity{Subject: "s", IssuerRegExp: `https://i`},
			sigstore.Signer{Subject: "s", Issuer: "https://i.evil"},
			false, "",
		},
		"a line of a subject": {
			sigstore.Identity{SubjectRegExp: `(?m)^a@b\.c$`, Issuer: "i"},
			sigstore.Signer{Subject: "x\na@b.c", Issuer: "i"},
			false, "",
		},
		"an alternative": {
			sigstore.Identity{SubjectRegExp: `a|b`, Issuer: "i"},
			sigstore.Signer{Subject: "bx", Issuer: "i"},
			false, "",
		},
		"no subject": {identity: sigstore.Identity{Issuer: "i"}, says: "subject or subjectRegExp is missing"},
		"no issuer":  {identity: sigstore.Identity{Subject: "s"}, says: "issuer or issuerRegExp is missing"},
		"nothing":    {says: "subject or subjectRegExp is missing"},
		"two of a subject": {
			identity: sigstore.Identity{Subject: "s", SubjectRegExp: "s", Issuer: "i"}, says: "one of them",
		},
		"no expression": {
			identity: sigstore.Identity{SubjectRegExp: "(", Issuer: "i"}, says: "subjectRegExp is not valid",
		},
		"half of one": {identity: sigstore.Identity{SubjectRegExp: "a)|(b", Issuer: "i"}, says: "is not valid"},
		"a huge expression": {
			identity: sigstore.Identity{Subject: "s", IssuerRegExp: strings.Repeat("i", 1<<13)}, says: "KiB",
		},
	} {
		t.Run(name, func(t *testing.T) {
			m, err := test.identity.Matcher(names)
			if (err == nil) != (test.says == "") || err != nil && !strings.Contains(err.Error(), test.says) {
				t.Fatalf("%v, wanted %q", err, test.says)
			}
			if err == nil && m.Match(test.signer) != test.match {
				t.Errorf("%s: %t", test.signer, !test.match)
			}
		})
	}
}
