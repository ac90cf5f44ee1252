// Package wording is what is said of workspaces and their stages, warnings and
// containers, and the commands to type next: the same words, whether they are
// drawn, printed or written as lines.
package wording

import (
	"slices"
	"strings"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/terminal/style"
)

// Title is what a command works on, for the first line and for the commands that
// are proposed at the end.
type Title struct {
	UserString string
	ID         string
	Namespace  string
	// Verb is the name of the command: provision, delete, …
	Verb string
	// Flags are those that led here and that the proposed commands need as well,
	// as one would type them: -n t1.
	Flags []string
	// Enters is set if the command enters the workspace once it runs.
	Enters bool
	// SSH is set where there is a client of SSH.
	SSH bool
}

// Target is how one would address the workspace in a command.
func (t Title) Target() string {
	if t.UserString != "" {
		return t.UserString
	}
	return t.ID
}

// Command is a berth command for the workspace, as one would type it.
func (t Title) Command(verb string) string {
	words := append([]string{"berth", verb, fault.Word(t.Target())}, t.Flags...)
	return strings.Join(words, " ")
}

// Enter are the commands that enter the workspace.
func (t Title) Enter() []Command {
	exec := Command{Line: t.Command("exec")}
	if !t.SSH {
		return []Command{exec}
	}
	return []Command{exec, {Line: t.BySSH(), Why: "the same by ssh, also for files, ports and editors"}}
}

// BySSH is the command that enters the workspace by ssh. Behind the workspace, flags are those of ssh.
func (t Title) BySSH() string {
	return strings.Join(slices.Concat([]string{"berth", "ssh"}, t.Flags, []string{fault.Word(t.Target())}), " ")
}

// Located adds the flags that led here to the berth commands that a hint quotes.
func (t Title) Located(hint string) string {
	if len(t.Flags) == 0 {
		return hint
	}
	parts := strings.Split(hint, "`") // those with odd numbers are quoted
	for i := 1; i < len(parts)-1; i += 2 {
		if strings.HasPrefix(parts[i], "berth ") && !strings.HasPrefix(parts[i], "berth help ") &&
			!strings.HasPrefix(parts[i], "berth explain") && !strings.HasSuffix(parts[i], " --help") {
			parts[i] = strings.Join(append([]string{parts[i]}, t.missingIn(parts[i])...), " ")
		}
	}
	return strings.Join(parts, "`")
}

// missingIn are the flags that a command does not have. It may name its namespace
// itself, or be about all of them.
func (t Title) missingIn(command string) []string {
	if !strings.Contains(command, " -n ") && !strings.Contains(command, " --namespace ") &&
		!strings.Contains(command, " --all-namespaces") {
		return t.Flags
	}
	return WithoutNamespace(t.Flags)
}

// WithoutNamespace are flags without the one that names a namespace.
func WithoutNamespace(flags []string) []string {
	return slices.DeleteFunc(slices.Clone(flags), func(flag string) bool {
		return strings.HasPrefix(flag, "-n ") || strings.HasPrefix(flag, "--namespace ")
	})
}

// Header names what is worked on: alice~dev → alice-3f9c2e1 in workspaces.
func (t Title) Header(p style.Page) string {
	id, in := p.Text(t.ID), ""
	if t.Namespace != "" {
		in = " in " + p.Text(t.Namespace)
	}
	if t.UserString == "" || t.UserString == t.ID {
		room := p.Width - 1 - style.Width(in)
		return style.Paint(p.Bold, p.CutMiddle(id, max(room, 8))) + style.Paint(p.Grey, in)
	}
	arrow := " " + p.Arrow + " "
	room := p.Width - 1 - style.Width(arrow) - style.Width(id) - style.Width(in)
	user := p.CutMiddle(p.Text(t.UserString), max(room, 8))
	return style.Paint(p.Bold, user) + style.Paint(p.Grey, arrow) + id + style.Paint(p.Grey, in)
}

// Batch is what a command works on: one workspace or several.
type Batch struct {
	// Members are in the order in which they were asked for.
	Members []Title
	// Single is set for a command that works on the one member, and whose result
	// is not a summary.
	Single    bool
	Namespace string
	// Parallel is how many of them are worked on at the same time.
	Parallel int
	// Flags are those that led here: see Title.
	Flags []string
	// Again is the command that continues with what is not done.
	Again string
	// AgainFor is Again for some of the members alone; nil where the command is for all.
	AgainFor func(members []int) string
}

// Command is something to type next, and what it does.
type Command struct{ Line, Why string }

// CommandLines are the commands to type next, whole, so that they can be copied.
func CommandLines(commands []Command, p style.Page) []string {
	widest := 0
	for i := range commands {
		commands[i].Line = p.Text(commands[i].Line) // a user string may come from the cluster
		widest = max(widest, style.Width(commands[i].Line))
	}
	var lines []string
	for _, c := range commands {
		line, why := "    "+style.Pad(c.Line, widest)+"    ", ""
		if c.Why != "" {
			why = "# " + c.Why // a comment in scripts, and in the shells that take one at a prompt
		}
		if style.Width(line)+style.Width(why) >= p.Width {
			why = ""
		}
		lines = append(lines, strings.TrimRight(line+style.Paint(p.Grey, why), " "))
	}
	return style.Paragraph(lines)
}

// Flag is a flag and its value as one would type them.
func Flag(name, value string) string { return name + " " + fault.Word(value) }
