package cmdutil

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/berthdev/berth/internal/terminal"
)

func TestClusterFlags(t *testing.T) {
	streams, _ := terminal.Test("", time.Time{})
	for args, want := range map[string][]string{
		"status":      nil,
		"status -n t": {"-n t"},
		"--kubeconfig=/my|files/k --namespace t status --context x": {
			"--context x", "--kubeconfig '/my files/k'",
			"-n t",
		},
		"status --output json --token secret": nil,
		"status --insecure-skip-tls-verify --as-group a --as-group b": {
			"--as-group a", "--as-group b", "--insecure-skip-tls-verify=true",
		},
	} {
		root := &cobra.Command{Use: "berth"}
		NewFactory(streams, func(string) string { return "" }).AddKubeFlags(root.PersistentFlags())
		status := &cobra.Command{Use: "status"}
		status.Flags().String("output", "", "")
		root.AddCommand(status)
		words := strings.Fields(args)
		for i := range words {
			words[i] = strings.ReplaceAll(words[i], "|", " ")
		}
		root.SetArgs(words)
		var got []string
		status.RunE = func(cmd *cobra.Command, _ []string) error { got = ClusterFlags(cmd); return nil }
		if err := root.Execute(); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", args, got, want)
		}
	}
}
