package cmdutil

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/berthdev/berth/internal/terminal"
)

func TestClusterFlags(t *testing.T) {
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
		words := strings.Fields(args)
		for i := range words {
			words[i] = strings.ReplaceAll(words[i], "|", " ")
		}
		got := flagsOf(t, ClusterFlags, words...)
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", args, got, want)
		}
	}
}

// For another process, each value is an argument of its own, whatever is in it.
func TestClusterArguments(t *testing.T) {
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for args, want := range map[string][]string{
		"status": nil,
		"status -n t --context x --output json --kubeconfig k": {
			"--context=x", "--kubeconfig=" + filepath.Join(here, "k"), "--namespace=t",
		},
		"status --as u --as-group a,b --as-group c --token secret": {
			"--as=u", "--as-group=a,b", "--as-group=c", "--token=secret",
		},
	} {
		if got := flagsOf(t, ClusterArguments, strings.Fields(args)...); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", args, got, want)
		}
	}
}

// flagsOf is what is made of the flags of a command line.
func flagsOf(t *testing.T, of func(*cobra.Command) []string, words ...string) (got []string) {
	t.Helper()
	streams, _ := terminal.Test("", time.Time{})
	root := &cobra.Command{Use: "berth"}
	NewFactory(streams, func(string) string { return "" }).AddKubeFlags(root.PersistentFlags())
	status := &cobra.Command{Use: "status"}
	status.Flags().String("output", "", "")
	status.RunE = func(cmd *cobra.Command, _ []string) error { got = of(cmd); return nil }
	root.AddCommand(status)
	root.SetArgs(words)
	if err := root.Execute(); err != nil {
		t.Fatal(err)
	}
	return got
}
