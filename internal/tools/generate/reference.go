package main

import (
	"bytes"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"github.com/berthdev/berth/internal/commands"
	"github.com/berthdev/berth/internal/fault"
)

// kubectlFlags is said where flags are listed, of those that are not.
const kubectlFlags = "All other flags of `kubectl` that say how a cluster is reached work too, such as\n" +
	"`--server`, `--token`, `--as` and `--request-timeout`: see `kubectl options`."

// manualDate is the date of the man pages. It does not follow the calendar, as the pages would otherwise change without
// the code having changed.
func manualDate() time.Time { return time.Date(2026, time.November, 1, 0, 0, 0, 0, time.UTC) }

// reference makes a page of Markdown for each command.
func reference(all files) error {
	return eachCommand(func(cmd *cobra.Command) error {
		var b bytes.Buffer
		if err := doc.GenMarkdown(cmd, &b); err != nil {
			return err
		}
		page := trimLines(b.String())
		heading := "### Options inherited from parent commands\n"
		if !cmd.HasParent() {
			heading = "### Options\n"
		}
		page = endSection(page, heading, "### ", kubectlFlags+"\n\n")
		all["docs/commands/"+strings.ReplaceAll(cmd.CommandPath(), " ", "_")+".md"] = []byte(page)
		return nil
	})
}

// manual makes a man page for each command, in a directory.
func manual(dir string) (files, error) {
	all := files{}
	err := eachCommand(func(cmd *cobra.Command) error {
		var b bytes.Buffer
		date := manualDate()
		name := strings.ReplaceAll(cmd.CommandPath(), " ", "-")
		header := &doc.GenManHeader{
			Title: strings.ToUpper(name), Section: "1", Date: &date, Source: "berth",
			Manual: "berth manual",
		}
		if err := doc.GenMan(cmd, header, &b); err != nil {
			return err
		}
		heading := ".SH OPTIONS INHERITED FROM PARENT COMMANDS\n"
		if !cmd.HasParent() {
			heading = ".SH OPTIONS\n"
		}
		text := ".PP\n" + strings.ReplaceAll(strings.ReplaceAll(kubectlFlags, "`", ""), "-", `\-`) + "\n\n"
		all[filepath.Join(dir, name+".1")] = []byte(endSection(trimLines(b.String()), heading, ".SH ", text))
		return nil
	})
	return all, err
}

// eachCommand visits every command that has a page of its own.
func eachCommand(visit func(*cobra.Command) error) error {
	var walk func(cmd *cobra.Command) error
	walk = func(cmd *cobra.Command) error {
		if !cmd.IsAvailableCommand() || cmd.IsAdditionalHelpTopicCommand() {
			return nil
		}
		cmd.DisableAutoGenTag = true
		cmd.Long = fenced(cmd.Long)
		if err := visit(cmd); err != nil {
			return err
		}
		for _, child := range cmd.Commands() {
			if err := walk(child); err != nil {
				return err
			}
		}
		return nil
	}
	return walk(commands.Tree())
}

// fenced makes code blocks of what a help text sets off by an indentation, which Markdown would run together.
func fenced(text string) string {
	var b strings.Builder
	inside := false
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		indented := strings.HasPrefix(line, "  ") || strings.HasPrefix(line, "\t")
		// An empty line between two indented ones does not end the block.
		goesOn := inside && line == "" && i+1 < len(lines) && strings.HasPrefix(lines[i+1], "  ")
		if now := indented || goesOn; now != inside {
			inside = now
			b.WriteString("```\n")
		}
		b.WriteString(line + "\n")
	}
	if inside {
		b.WriteString("```\n")
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// endSection puts a text at the end of the section with a heading, if the page has it.
func endSection(page, heading, next, text string) string {
	before, after, found := strings.Cut(page, heading)
	if !found {
		return page
	}
	end := strings.Index(after, "\n"+next) + 1
	if end == 0 {
		return page + "\n" + strings.TrimSuffix(text, "\n")
	}
	return before + heading + after[:end] + text + after[end:]
}

// trimLines drops blanks at the ends of lines, and empty lines at the end.
func trimLines(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRight(line, " \t")
	}
	return strings.TrimRight(strings.Join(lines, "\n"), "\n") + "\n"
}

// otherPage is a page that a topic names, in a line that is not set off as code.
var otherPage = regexp.MustCompile(`(?m)^((?:[^ \n].*?)?)\bdocs/([a-z-]+\.md)\b`)

// linked makes links of the pages that a topic names, of the first in each line.
func linked(text string) string { return otherPage.ReplaceAllString(text, "$1[docs/$2]($2)") }

// topics makes a page of each topic of `berth help`.
func topics(all files) error {
	for _, cmd := range commands.Tree().Commands() {
		if !cmd.IsAdditionalHelpTopicCommand() {
			continue
		}
		text := fenced(linked(cmd.Long))
		if cmd.Name() == "exit-codes" {
			text = exitCodes(cmd)
		}
		if cmd.Name() == "rbac" {
			text = permissionsPage()
		}
		all["docs/"+cmd.Name()+".md"] = fmt.Appendf(nil, "# %s\n\n%s\n\nAlso in the terminal: `berth help %s`.\n",
			cmd.Short, text, cmd.Name())
	}
	return nil
}

// exitCodes has the table as a table, and the words around it as they are.
func exitCodes(cmd *cobra.Command) string {
	var table strings.Builder
	table.WriteString("| exit | code | when |\n| --- | --- | --- |\n| 0 | | done |\n")
	for _, m := range fault.Table() {
		codes := make([]string, len(m.Codes))
		for i, code := range m.Codes {
			codes[i] = "`" + string(code) + "`"
		}
		fmt.Fprintf(&table, "| %d | %s | %s |\n", m.Exit, strings.Join(codes, ", "), m.When)
	}
	before, rest, _ := strings.Cut(fenced(cmd.Long), "```\n")
	_, after, _ := strings.Cut(rest, "```\n")
	return before + table.String() + after
}

// completions makes a script for each shell.
func completions(all files) error {
	root := commands.Tree()
	for shell, write := range map[string]func(io.Writer) error{
		"bash": func(w io.Writer) error { return root.GenBashCompletionV2(w, true) },
		"zsh":  root.GenZshCompletion,
		"fish": func(w io.Writer) error { return root.GenFishCompletion(w, true) },
		"ps1":  root.GenPowerShellCompletionWithDesc,
	} {
		var b bytes.Buffer
		if err := write(&b); err != nil {
			return err
		}
		all["completions/berth."+shell] = b.Bytes()
	}
	return nil
}
