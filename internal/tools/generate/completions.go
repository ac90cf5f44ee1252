package main

import (
	"bytes"
	"io"

	"github.com/berthdev/berth/internal/commands"
)

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
