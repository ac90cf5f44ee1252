package sshconfig

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/berthdev/berth/internal/fault"
)

// User is the user name of the configuration: it stands for the workspace's own user.
const User = "berth"

// Suffix ends the host names of workspaces.
const Suffix = "berth"

// Block is what OpenSSH is told about the workspaces of one cluster.
type Block struct {
	// Name tells the workspaces of several clusters apart: their host names end with NAME.berth. Empty for those that
	// end with .berth alone.
	Name string
	// Proxy is the command that serves a connection; the host name follows it.
	Proxy []string
	// KnownHosts is the file with the host key.
	KnownHosts string
	// Hosts are named one by one besides the pattern, for editors that list the hosts of a configuration: the
	// workspaces of Namespace, which is empty where none are named.
	Hosts     []string
	Namespace string
	// Options are the user's own, such as "Compression yes".
	Options []string
	// Multiplex lets several sessions share a connection, by OpenSSH's own means. ControlPath is where, with OpenSSH's
	// tokens.
	Multiplex   bool
	ControlPath string
}

// DomainOf is what host names of a block end with.
func DomainOf(name string) string {
	if name == "" {
		return Suffix
	}
	return name + "." + Suffix
}

// CheckName finds names that are no part of a host name.
func CheckName(name string) error {
	for _, r := range name {
		if (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-' {
			return fault.New(fault.InvalidArgument, "--name %q must have only a-z, 0-9 and -", name)
		}
	}
	return nil
}

// CheckOption finds what would be more than one line of a block, or begin another one.
func CheckOption(option string) error {
	words := strings.Fields(strings.ReplaceAll(option, "=", " "))
	switch {
	case strings.ContainsAny(option, "\r\n\x00"), len(words) < 2, strings.HasPrefix(option, "#"):
		return fault.New(fault.InvalidArgument, "--option %q is not an option of ssh_config", option).
			WithHint(`write KEYWORD=VALUE, such as --option "Compression=yes"`)
	}
	switch strings.ToLower(words[0]) {
	case "host", "match", "include":
		return fault.New(fault.InvalidArgument, "--option %q would not be about workspaces alone", option)
	}
	return nil
}

// text is the block, without its first line.
func (b Block) text() string {
	var t strings.Builder
	t.WriteString(b.list())
	fmt.Fprintf(&t, "Host *.%s\n", DomainOf(b.Name))
	for _, option := range b.settings() {
		t.WriteString("  " + option + "\n")
	}
	return t.String()
}

// HostNames are those of Hosts, each once.
func (b Block) HostNames() (names []string) {
	for _, host := range b.Hosts {
		names = append(names, host+"."+DomainOf(b.Name))
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// check refuses what would end a line or a quoted path: the name of a context may come from others.
func (b Block) check() error {
	for _, word := range slices.Concat(b.Proxy, b.Options, b.Hosts,
		[]string{b.Name, b.KnownHosts, b.ControlPath, b.Namespace}) {
		if strings.ContainsFunc(word, unicode.IsControl) {
			return fmt.Errorf("%q has a control character, which no configuration of ssh can have", word)
		}
	}
	for _, host := range b.Hosts {
		if !isHost(host) {
			return fmt.Errorf("%q is no name that a configuration of ssh can have", host)
		}
	}
	for _, path := range []string{b.KnownHosts, b.ControlPath} {
		if strings.Contains(path, `"`) {
			return fmt.Errorf("%s has a quote, which no path in a configuration of ssh can have", path)
		}
	}
	return nil
}

// Arguments are the block as options of a command line.
func (b Block) Arguments() []string {
	var arguments []string
	for _, option := range b.settings() {
		arguments = append(arguments, "-o", option)
	}
	return arguments
}

// settings are the options, the user's own first: the first value of an option counts.
func (b Block) settings() []string {
	words := make([]string, len(b.Proxy))
	for i, word := range b.Proxy {
		words[i] = quote(word)
	}
	options := append(slices.Clone(b.Options),
		"ProxyCommand "+strings.Join(words, " ")+" %n", // %h is in lower case
		"User "+User,
		"HostKeyAlias "+HostAlias,
		"UserKnownHostsFile "+quotePath(b.KnownHosts),
		"GlobalKnownHostsFile /dev/null",
		"StrictHostKeyChecking yes",
		"UpdateHostKeys no",
		"PreferredAuthentications none",
		"IdentityFile none",
		"IdentitiesOnly yes",
		"Ciphers aes128-gcm@openssh.com,chacha20-poly1305@openssh.com",
		"ServerAliveInterval 0",
	)
	if b.Multiplex {
		options = append(options, "ControlMaster auto", "ControlPersist 10m", `ControlPath "`+b.ControlPath+`"`)
	}
	return options
}

// quote is a word of a command that OpenSSH gives to a shell, after it has replaced what begins with %. Backslashes are
// avoided where they can be: some clients that read this file themselves take them for escapes.
func quote(word string) string {
	word = strings.ReplaceAll(word, "%", "%%")
	if plain(word) {
		return word
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "$", `\$`, "`", "\\`").Replace(word) + `"`
}

func plain(word string) bool {
	return word != "" && !strings.ContainsFunc(word, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') &&
			!strings.ContainsRune("-_./:=,@+%", r)
	})
}

// quotePath is a path as an option has it.
func quotePath(path string) string { return `"` + strings.ReplaceAll(path, "%", "%%") + `"` }
