package main

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	"github.com/berthdev/berth/internal/commands"
	"github.com/berthdev/berth/internal/fault"
)

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
