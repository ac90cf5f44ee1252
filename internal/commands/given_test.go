package commands

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/berthdev/berth/internal/terminal"
)

func TestGivenFlags(t *testing.T) {
	streams, _ := terminal.Test("", time.Time{})
	for args, want := range map[string][]string{
		"status":      nil,
		"status -n t": {"-n t"},
		"--kubeconfig=/my|files/k --namespace t status --context x": {"--context x", "--kubeconfig '/my files/k'", "-n t"},
		"status --output json --token secret":                       nil,
		"status --insecure-skip-tls-verify --as-group a --as-group b": {
			"--as-group a", "--as-group b", "--insecure-skip-tls-verify=true",
		},
	} {
		root := newRoot(newApp(streams))
		words := strings.Fields(args)
		for i := range words {
			words[i] = strings.ReplaceAll(words[i], "|", " ")
		}
		root.SetArgs(words)
		status, _, err := root.Find([]string{"status"})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		status.RunE = func(cmd *cobra.Command, _ []string) error { got = givenFlags(cmd); return nil }
		if err := root.Execute(); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", args, got, want)
		}
	}
}
