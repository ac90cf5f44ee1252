// Package result is how each kind of document looks: its text for people, its
// names, and, of those that end a command with progress, its Outcome.
// What is printed as JSON is the kind itself.
package result

import (
	"slices"
	"strconv"
	"strings"

	"github.com/Masterminds/semver/v3"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/terminal/style"
	"github.com/berthdev/berth/internal/terminal/wording"
)

// Of is the kind of a result. The batch is what the command worked on.
func Of(r v1.Result, b wording.Batch) Ending {
	switch {
	case r.Error != nil:
		return Error{*r.Error}
	case r.Deletion != nil:
		return Deletion{*r.Deletion}
	case r.Stop != nil:
		return Stop{*r.Stop}
	case r.Workspace != nil:
		return Workspace{*r.Workspace}
	case r.Installation != nil:
		return Installation{*r.Installation}
	case r.Removal != nil:
		return Removal{*r.Removal}
	case r.Summary != nil:
		return newProvisionSummary(*r.Summary, b)
	case r.Deletions != nil:
		return newDeletionSummary(*r.Deletions, b)
	case r.States != nil:
		return newStateSummary(*r.States, b)
	}
	return Error{v1.Error{Code: "INTERNAL", ExitStatus: 1, Message: "the command ended without a result"}}
}

// Version is the version of the binary.
type Version struct{ v1.Version }

// Text is one line, and one about the newest release if that was asked for.
func (v Version) Text(p style.Page) ([]string, error) {
	line := "berth " + v.Version.Version
	if v.Commit != "" {
		line += style.Paint(p.Grey, " ("+v.Commit+")")
	}
	lines := []string{line + style.Paint(p.Grey, " "+v.Platform+" "+v.GoVersion)}
	switch {
	case v.Newest == "":
	case v.isOlder():
		lines = append(lines, "Version "+p.Text(v.Newest)+" is available")
	default:
		lines = append(lines, "No newer version is available")
	}
	return lines, nil
}

// isOlder says whether the newest release is newer, as it is than a version that cannot be compared with it.
func (v Version) isOlder() bool {
	this, thisErr := semver.NewVersion(v.Version.Version)
	newest, newestErr := semver.NewVersion(v.Newest)
	return thisErr != nil || newestErr != nil || this.LessThan(newest)
}

// PortForward is something that happened to forwarded ports.
type PortForward struct{ v1.PortForward }

// Text is one line, for an address the one that kubectl prints.
func (f PortForward) Text(p style.Page) ([]string, error) { return []string{p.Text(f.line())}, nil }

func (f PortForward) line() string {
	port := strconv.Itoa(int(f.Port))
	switch f.State {
	case v1.PortListening:
		return "Forwarding from " + f.Address + " -> " + port
	case v1.PortConnected:
		return "connected with pod " + f.Pod
	case v1.PortLost:
		return "lost pod " + f.Pod + ": " + f.Reason
	case v1.PortWaiting:
		return "waiting for a pod: " + f.Reason
	}
	return "connection to port " + port + " failed: " + f.Reason
}

// SSHConfiguration is what becomes of the configuration of ssh.
type SSHConfiguration struct {
	v1.SSHConfiguration
	// Shown is true if the differences have been printed before.
	Shown bool `json:"-"`
	// Flags say which cluster is meant, for commands that are proposed.
	Flags []string `json:"-"`
}

// Names are the pattern of host names.
func (c SSHConfiguration) Names() []string { return []string{c.Pattern} }

// Text is the differences, and what has become of them.
func (c SSHConfiguration) Text(p style.Page) (lines []string, err error) {
	if !c.Shown {
		lines = c.Changes(p)
	}
	return append(lines, c.outcome(p)...), nil
}

// Changes are the differences alone, as diff prints them.
func (c SSHConfiguration) Changes(p style.Page) (lines []string) {
	for _, file := range c.Files {
		for line := range strings.Lines(file.Diff) {
			text := p.Text(strings.TrimRight(line, "\r\n"))
			switch line[0] {
			case '+':
				text = style.Paint(p.Green, text)
			case '-':
				text = style.Paint(p.Red, text)
			}
			lines = append(lines, text)
		}
	}
	return lines
}

// outcome says what was done, and how to connect.
func (c SSHConfiguration) outcome(p style.Page) []string {
	first := "written"
	same := !slices.ContainsFunc(c.Files, func(f v1.SSHFile) bool { return f.Change != v1.SSHFileUnchanged })
	switch {
	case same && c.Removal:
		what := " has no block " + fault.Word(c.Name)
		if c.Name == "" {
			what = " has no block without a name"
		}
		return []string{p.Text("nothing to remove: " + c.Files[0].Path + what)}
	case same:
		first = "nothing to change: " + c.Files[0].Path + " is up to date"
	case c.DryRun:
		return nil
	case c.Removal:
		return []string{"removed"}
	}
	if len(c.Hosts) > 0 {
		return []string{p.Text(first), p.Text("connect: ssh " + c.Hosts[0])}
	}
	id := "ID" + strings.TrimPrefix(c.Pattern, "*")
	list := strings.Join(append([]string{"IDs of workspaces: berth status"}, c.Flags...), " ")
	return []string{p.Text(first), p.Text("connect: ssh " + id), p.Text(list)}
}
