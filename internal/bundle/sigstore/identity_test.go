package sigstore_test

import (
	"bytes"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"slices"
	"strings"
	"testing"

	"github.com/sigstore/sigstore/pkg/cryptoutils"

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

// A user name is that of Fulcio alone: a name of another kind, or two of them, say nothing about who it is.
func TestSignerOfUser(t *testing.T) {
	san, err := cryptoutils.MarshalOtherNameSAN("alice!example.com", true)
	if err != nil {
		t.Fatal(err)
	}
	one := san.Value[2:] // without the tag and the length of the list
	another := bytes.Replace(one, []byte{0x83, 0xbf, 0x30, 1, 7}, []byte{0x83, 0xbf, 0x30, 1, 8}, 1)
	for name, test := range map[string]struct {
		names []byte
		want  string
	}{
		"a user":           {one, "alice!example.com"},
		"of another kind":  {another, ""},
		"two":              {slices.Concat(one, one), ""},
		"one of each kind": {slices.Concat(one, another), ""},
		"no name":          {nil, ""},
	} {
		value := append([]byte{0x30, byte(len(test.names))}, test.names...)
		issuer, err := asn1.Marshal("https://i")
		if err != nil {
			t.Fatal(err)
		}
		who, err := sigstore.SignerOf(&x509.Certificate{Extensions: []pkix.Extension{
			{Id: cryptoutils.SANOID, Critical: true, Value: value},
			{Id: asn1.ObjectIdentifier{1, 3, 6, 1, 4, 1, 57264, 1, 8}, Value: issuer},
		}})
		if who.Subject != test.want || (err == nil) != (test.want != "") || err == nil && who.Issuer != "https://i" {
			t.Errorf("%s: %q, %v", name, who, err)
		}
	}
}
