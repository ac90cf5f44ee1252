package sshconfig

import (
	"fmt"
	"slices"
	"strings"

	"github.com/berthdev/berth/internal/fault"
)

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
	// Hosts are named one by one besides the pattern, for editors that list the hosts of a configuration.
	Hosts []string
	// Options are the user's own, such as "Compression yes".
	Options []string
	// Multiplex lets several sessions share a connection, by OpenSSH's own means. ControlPath is where, with OpenSSH's tokens.
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

// text is the block, without its first line.
func (b Block) text() string {
	hosts := slices.Clone(b.Hosts)
	slices.Sort(hosts)
	var t strings.Builder
	for _, host := range slices.Compact(hosts) {
		fmt.Fprintf(&t, "Host %s.%s\n", host, DomainOf(b.Name)) // what is set for it is below
	}
	fmt.Fprintf(&t, "Host *.%s\n", DomainOf(b.Name))
	words := make([]string, len(b.Proxy))
	for i, word := range b.Proxy {
		words[i] = quote(word)
	}
	options := []string{
		"ProxyCommand " + strings.Join(words, " ") + " %n", // %h is in lower case
		"User berth",
		"HostKeyAlias " + HostAlias,
		"UserKnownHostsFile " + quotePath(b.KnownHosts),
		"GlobalKnownHostsFile /dev/null",
		"StrictHostKeyChecking yes",
		"UpdateHostKeys no",
		"PreferredAuthentications none",
		"IdentityFile none",
		"IdentitiesOnly yes",
		"Ciphers aes128-gcm@openssh.com,chacha20-poly1305@openssh.com",
		"ServerAliveInterval 0",
	}
	if b.Multiplex {
		options = append(options, "ControlMaster auto", "ControlPersist 10m", `ControlPath "`+b.ControlPath+`"`)
	}
	// The first value of an option counts.
	for _, option := range append(slices.Clone(b.Options), options...) {
		t.WriteString("  " + option + "\n")
	}
	return t.String()
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
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("-_./:=,@+%", r)
	})
}

// quotePath is a path as an option has it.
func quotePath(path string) string { return `"` + strings.ReplaceAll(path, "%", "%%") + `"` }
