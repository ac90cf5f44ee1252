package config

import (
	"fmt"

	"github.com/spf13/pflag"
	"go.yaml.in/yaml/v3"

	"github.com/berthdev/berth/internal/bundle/signature"
	"github.com/berthdev/berth/internal/bundle/sigstore"
	"github.com/berthdev/berth/internal/fault"
)

// Bundles says by whom bundles have to be signed.
type Bundles struct {
	// Verify is "required" if each bundle has to be signed; without it signatures are verified where the command line
	// says so.
	Verify string `yaml:"verify,omitempty"`
	// Keys are public keys of cosign, each a file or its text.
	Keys []string `yaml:"keys,omitempty"`
	// Keyring has the OpenPGP keys by which charts are signed with helm: a file, or its text in armor.
	Keyring string `yaml:"keyring,omitempty"`
	// Identities are whose certificates count, where cosign signs without a key.
	Identities []sigstore.Identity `yaml:"identities,omitempty"`
	// TrustedRoot says which authorities and logs vouch for certificates: a file, or its text. Without it these are
	// those of sigstore's public instance.
	TrustedRoot string `yaml:"trustedRoot,omitempty"`
}

// check finds what is wrong with the section, and makes paths those of the file's directory.
func (b *Bundles) check(dir string) (problems []string) {
	if b.Verify != "" && b.Verify != signature.Required {
		problems = append(problems, fmt.Sprintf("bundles.verify: %q: must be %s, or left out", b.Verify,
			signature.Required))
	}
	for i, key := range b.Keys {
		if key == "" {
			problems = append(problems, fmt.Sprintf("bundles.keys[%d]: must be a file, or the text of one", i))
		}
		if !signature.IsText(key) {
			relativeTo(dir, &b.Keys[i])
		}
	}
	if !signature.IsText(b.Keyring) {
		relativeTo(dir, &b.Keyring)
	}
	if !sigstore.IsRoot(b.TrustedRoot) {
		relativeTo(dir, &b.TrustedRoot)
	}
	for i, identity := range b.Identities {
		at := fmt.Sprintf("bundles.identities[%d].", i)
		_, err := identity.Matcher([4]string{at + "subject", at + "subjectRegExp", at + "issuer", at + "issuerRegExp"})
		if err != nil {
			problems = append(problems, err.Error())
		}
	}
	return problems
}

// lay lays the flags over the section: keys that are named there are the ones that count, and signatures are verified
// then. What the file requires no flag takes back. An empty value is given as well: a script whose variable is not set
// does not turn verification off.
func (b *Bundles) lay(flags *pflag.FlagSet) error {
	given := func(name string) bool { return flags.Changed(name) }
	verify, _ := flags.GetBool(signature.FlagVerify)
	if given(signature.FlagVerify) && !verify && b.Verify == signature.Required {
		return fault.New(fault.InvalidArgument, "--%s=false: the configuration requires that bundles are signed",
			signature.FlagVerify).
			WithHint("see bundles.verify in the configuration: %s", "`berth help environment` says where it is")
	}
	identity, identified := sigstore.Identity{}, false
	for name, part := range map[string]*string{
		signature.FlagIdentity: &identity.Subject, signature.FlagIdentityRegExp: &identity.SubjectRegExp,
		signature.FlagIssuer: &identity.Issuer, signature.FlagIssuerRegExp: &identity.IssuerRegExp,
	} {
		*part, _ = flags.GetString(name)
		identified = identified || given(name)
	}
	replaced := identified || given(signature.FlagKey) || given(signature.FlagKeyring)
	if replaced {
		b.Keys, _ = flags.GetStringArray(signature.FlagKey)
		b.Keyring, _ = flags.GetString(signature.FlagKeyring)
		if b.Identities = nil; identified {
			b.Identities = []sigstore.Identity{identity}
		} else {
			b.TrustedRoot = "" // of the identities that no longer count
		}
	}
	if given(signature.FlagRoot) {
		b.TrustedRoot, _ = flags.GetString(signature.FlagRoot)
	}
	if (replaced || given(signature.FlagRoot)) && !given(signature.FlagVerify) {
		verify = true
	}
	if verify {
		b.Verify = signature.Required
	}
	return nil
}

// Policy is by whom bundles have to be signed; nil if they do not have to be. Without keys, helm's default keyring
// counts. cache is where the root of sigstore's public instance is kept between runs; in memory if it is empty.
func (b Bundles) Policy(getenv func(string) string, cache string) (*signature.Policy, error) {
	if b.Verify != signature.Required {
		return nil, nil
	}
	keys := b.signers()
	keys.Cache = cache
	return signature.New(keys, getenv)
}

func (b Bundles) signers() signature.Keys {
	return signature.Keys{Public: b.Keys, Keyring: b.Keyring, Identities: b.Identities, TrustedRoot: b.TrustedRoot}
}

// ForServer is what a server of bundles is told of a configuration file: the section bundles, with the keys in it
// rather than the names of their files. The policy that it makes has been tried.
func ForServer(path string, raw []byte, getenv func(string) string) ([]byte, error) {
	c, err := parse(path, raw, getenv)
	if err != nil {
		return nil, err
	}
	if s := c.Bundles; s.Verify != signature.Required &&
		(len(s.Keys) > 0 || s.Keyring != "" || len(s.Identities) > 0 || s.TrustedRoot != "") {
		return nil, fault.New(fault.InvalidArgument,
			"bundles of the configuration says whose signatures count, and not that bundles have to be signed").
			WithHint("add `verify: %s` to the section bundles: a server verifies nothing without it",
				signature.Required)
	}
	keys, err := c.Bundles.signers().Texts()
	if err != nil {
		return nil, err
	}
	own := Bundles{
		Verify: c.Bundles.Verify, Keys: keys.Public, Keyring: keys.Keyring, Identities: keys.Identities,
		TrustedRoot: keys.TrustedRoot,
	}
	if _, err := own.Policy(nil, ""); err != nil {
		return nil, err
	}
	return yaml.Marshal(map[string]Bundles{"bundles": own})
}
