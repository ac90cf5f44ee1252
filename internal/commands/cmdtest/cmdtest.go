// Package cmdtest is for tests of commands: it runs berth, and parses command lines
// without running anything.
package cmdtest

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/berthdev/berth/internal/commands"
	"github.com/berthdev/berth/internal/commands/cmdutil"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/terminal"
)

// now is the time at which commands are run.
func now() time.Time { return time.Date(2026, time.November, 21, 0, 0, 0, 0, time.UTC) }

// Run runs berth as main does, with a text on standard input.
func Run(t *testing.T, stdin string, args ...string) (status int, stdout, stderr string) {
	t.Helper()
	streams, b := terminal.Test(stdin, now())
	status = commands.Main(args, streams, func(int) { t.Error("berth exited at once") })
	return status, b.Out.String(), b.Err.String()
}

// Must runs berth, and fails the test if it ends with another status.
func Must(t *testing.T, want int, args ...string) (stdout, stderr string) {
	t.Helper()
	status, stdout, stderr := Run(t, "", args...)
	if status != want {
		t.Fatalf("berth %s: exit status %d, want %d\n%s\n%s", strings.Join(args, " "), status, want, stdout, stderr)
	}
	return stdout, stderr
}

// Case is a command line, and the options that it means or what its error says.
type Case[O any] struct {
	Args string
	Want O
	Err  string
}

// Options parses the command lines of a command, without running it. forget removes
// from the options what does not come from the command line.
func Options[O any](t *testing.T, newCmd func(*cmdutil.Factory, func(context.Context, *O) error) *cobra.Command,
	forget func(*O), cases map[string]Case[O],
) {
	t.Helper()
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := parse(newCmd, strings.Fields(c.Args))
			switch {
			case c.Err != "":
				if fault.CodeOf(err) != fault.InvalidArgument || !strings.Contains(err.Error(), c.Err) ||
					fault.From(err).Hint == "" {
					t.Errorf("the error is %v, want %q, with a hint", err, c.Err)
				}
			case err != nil:
				t.Error(err)
			default:
				forget(got)
				if !reflect.DeepEqual(*got, c.Want) {
					t.Errorf("got  %+v\nwant %+v", *got, c.Want)
				}
			}
		})
	}
}

func parse[O any](newCmd func(*cmdutil.Factory, func(context.Context, *O) error) *cobra.Command,
	args []string,
) (options *O, err error) {
	streams, _ := terminal.Test("", now())
	f := cmdutil.NewFactory(streams, func(string) string { return "" })
	cmd := newCmd(f, func(_ context.Context, o *O) error {
		options = o
		return nil
	})
	root := &cobra.Command{Use: "berth", SilenceErrors: true, SilenceUsage: true}
	f.AddKubeFlags(root.PersistentFlags())
	root.SetFlagErrorFunc(cmdutil.UsageError)
	root.AddCommand(cmd)
	root.SetArgs(append([]string{cmd.Name()}, args...))
	err = root.Execute()
	return options, err
}

// Offline makes sure that there is neither a cluster nor a configuration.
func Offline(t *testing.T) {
	t.Helper()
	t.Setenv("KUBECONFIG", filepath.Join(t.TempDir(), "none"))
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Setenv("BERTH_CONFIG", "")
	t.Setenv("BERTH_BLUEPRINTS", "")
}

// Unreachable makes sure that there is a cluster, which does not answer, and no
// configuration.
func Unreachable(t *testing.T) {
	t.Helper()
	Offline(t)
	Cluster(t, "http://127.0.0.1:1")
}

// Cluster makes the server at this address the cluster; the namespace is team.
func Cluster(t *testing.T, address string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "kubeconfig")
	text := fmt.Sprintf(`{apiVersion: v1, kind: Config, current-context: x,
clusters: [{name: x, cluster: {server: %q}}], contexts: [{name: x, context: {cluster: x, namespace: team}}]}`, address)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("KUBECONFIG", path)
}
