package config

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"github.com/berthdev/berth/internal/bundle/sigstore"
	"github.com/berthdev/berth/internal/bundle/sigstore/sigstoretest"
	"github.com/berthdev/berth/internal/fault"
)

const publicKey = `-----BEGIN PUBLIC KEY-----
MCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=
-----END PUBLIC KEY-----
`

// What the file requires is verified, with the keys of the flags rather than those of the file, and no flag takes it
// back.
func TestBundlesHaveToBeSigned(t *testing.T) {
	for name, test := range map[string]struct {
		file, flags string
		keys        string // the files that count
		identities  string
		verified    bool
		says        string
	}{
		"nothing":            {},
		"keys alone":         {file: "keys: [a.pub]", keys: "/a.pub"},
		"keys, and --verify": {file: "keys: [a.pub]", flags: "--verify", keys: "/a.pub", verified: true},
		"required":           {file: "verify: required\n  keys: [a.pub]", keys: "/a.pub", verified: true},
		"another key":        {file: "keys: [a.pub]", flags: "--verify-key b.pub", keys: "b.pub", verified: true},
		"a keyring instead": {
			file: "verify: required\n  keys: [a.pub]", flags: "--keyring k", keys: "k", verified: true,
		},
		"not verified, without being required": {file: "keys: [a.pub]", flags: "--verify=false", keys: "/a.pub"},
		"not verified, although required": {
			file: "verify: required", flags: "--verify=false",
			says: "the configuration requires that bundles are signed",
		},
		"an identity instead": {
			file:  "keys: [a.pub]\n  identities: [{subject: a, issuer: i}]",
			flags: "--certificate-identity b --certificate-oidc-issuer j", identities: "{b  j }", verified: true,
		},
		"identities of the file": {
			file: "verify: required\n" +
				"  identities: [{subjectRegExp: a, issuerRegExp: i}, {subject: b, issuer: j}]",
			identities: "{ a  i}{b  j }", verified: true,
		},
		"a key instead of identities": {
			file: "identities: [{subject: a, issuer: i}]", flags: "--verify-key b.pub", keys: "b.pub", verified: true,
		},
		"a trusted root alone": {
			file:  "identities: [{subject: a, issuer: i}]",
			flags: "--trusted-root r", identities: "{a  i }", verified: true,
		},
		"a trusted root, not verified": {
			file:  "identities: [{subject: a, issuer: i}]",
			flags: "--trusted-root r --verify=false", identities: "{a  i }",
		},
		"a trusted root without identities": {flags: "--trusted-root r", says: "no identity is given"},
		"an empty identity": {
			flags: "--certificate-identity= --certificate-oidc-issuer=",
			says:  "--certificate-identity (bundles.identities[0].subject)",
		},
		"an identity without an issuer": {
			flags: "--certificate-identity a", says: "--certificate-oidc-issuer (bundles.identities[0].issuer)",
		},
		"an empty keyring": {flags: "--keyring=", says: "no keys are given"},
		"a key instead of identities with a trusted root": {
			file:  "trustedRoot: r\n  identities: [{subject: a, issuer: i}]",
			flags: "--verify-key b.pub", keys: "b.pub", verified: true,
		},
		"an identity of the file without an issuer": {
			file: "identities: [{subject: a}]", says: "bundles.identities[0].issuer",
		},
		"an expression of the file": {
			file: "identities: [{subjectRegExp: '(', issuer: i}]", says: "bundles.identities[0].subjectRegExp",
		},
		"another word": {file: "verify: maybe", says: `bundles.verify: "maybe": must be required, or left out`},
		"an empty key": {file: "keys: ['']", says: "bundles.keys[0]: must be a file"},
	} {
		t.Run(name, func(t *testing.T) {
			flags := pflag.NewFlagSet("test", pflag.ContinueOnError)
			flags.Bool("verify", false, "")
			flags.StringArray("verify-key", nil, "")
			flags.String("keyring", "", "")
			for _, name := range []string{
				"certificate-identity", "certificate-identity-regexp", "certificate-oidc-issuer",
				"certificate-oidc-issuer-regexp", "trusted-root",
			} {
				flags.String(name, "", "")
			}
			if err := flags.Parse(strings.Fields(test.flags)); err != nil {
				t.Fatal(err)
			}
			text := ""
			if test.file != "" {
				text = "bundles:\n  " + test.file + "\n"
			}
			file := write(t, text)
			t.Setenv("BERTH_CONFIG", file)
			c, err := Load(flags, os.Getenv)
			if test.says != "" {
				if err == nil {
					_, err = c.Bundles.Policy(nil, "")
				}
				if err == nil {
					t.Fatalf("%+v", c.Bundles)
				}
				if all := err.Error() + strings.Join(fault.From(err).Problems, ""); !strings.Contains(all, test.says) {
					t.Error(all)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			keys := strings.Join(append(c.Bundles.Keys, c.Bundles.Keyring), "")
			if keys = filepath.ToSlash(strings.TrimPrefix(keys, filepath.Dir(file))); keys != test.keys ||
				(c.Bundles.Verify == "required") != test.verified {
				t.Errorf("%+v", c.Bundles)
			}
			identities := ""
			for _, i := range c.Bundles.Identities {
				identities += fmt.Sprint(i)
			}
			root, _ := flags.GetString("trusted-root")
			if identities != test.identities || c.Bundles.TrustedRoot != root {
				t.Errorf("%+v", c.Bundles)
			}
		})
	}
}

// A server gets the keys themselves, and nothing else of the file; what it cannot work with is refused before that.
func TestForServer(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.pub"), []byte(publicKey), 0o600); err != nil {
		t.Fatal(err)
	}
	at := filepath.Join(dir, "config.yaml")
	text, err := ForServer(at, []byte("bundles: {verify: required, keys: [a.pub]}\ndefaultRegistry: x.example.com\n"),
		os.Getenv)
	if err != nil {
		t.Fatal(err)
	}
	c, err := parse("elsewhere.yaml", text, os.Getenv)
	if err != nil || len(c.Bundles.Keys) != 1 || c.Bundles.Keys[0] != publicKey || c.DefaultRegistry != "" {
		t.Errorf("%+v %v", c.Bundles, err)
	}
	if p, err := c.Bundles.Policy(nil, ""); p == nil || err != nil {
		t.Error(p, err)
	}
	for text, says := range map[string]string{
		"bundles: {verify: required}":                      "no keys are given",
		"bundles: {verify: required, keys: [none.pub]}":    "cannot be read",
		"bundles: {verify: required, keyring: a.pub}":      "the keyring",
		"bundles: {verify: required, identities: [alice]}": "invalid configuration",
		"bundles: {keys: [a.pub]}":                         "not that bundles have to be signed",
		"bundles: {identities: [{subject: a, issuer: i}]}": "not that bundles have to be signed",
	} {
		if _, err := ForServer(at, []byte(text), os.Getenv); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// A server gets the trusted root itself, beside the identities.
func TestIdentitiesForServer(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "root.json"), sigstoretest.New(t).Root(), 0o600); err != nil {
		t.Fatal(err)
	}
	own := "bundles: {verify: required, identities: [{subject: a, issuer: i}], trustedRoot: root.json}\n"
	text, err := ForServer(filepath.Join(dir, "config.yaml"), []byte(own), os.Getenv)
	if err != nil {
		t.Fatal(err)
	}
	c, err := parse("elsewhere.yaml", text, os.Getenv)
	if err != nil || len(c.Bundles.Identities) != 1 || !sigstore.IsRoot(c.Bundles.TrustedRoot) {
		t.Errorf("%+v %v", c.Bundles, err)
	}
	if p, err := c.Bundles.Policy(nil, ""); p == nil || err != nil {
		t.Error(p, err)
	}
}
