package provision_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/berthdev/berth/internal/commands/cmdtest"
	"github.com/berthdev/berth/internal/commands/cmdutil"
	command "github.com/berthdev/berth/internal/commands/provision"
	"github.com/berthdev/berth/internal/identity"
	"github.com/berthdev/berth/internal/kubetest"
	"github.com/berthdev/berth/internal/provision"
	"github.com/berthdev/berth/internal/terminal"
	"github.com/berthdev/berth/internal/userstring"
)

// asked knows nobody, and remembers how long whoever asks for a user has.
type asked struct {
	identity.Users
	left sync.Map
}

func (a *asked) Resolve(ctx context.Context, username string) (identity.User, error) {
	left := time.Duration(0)
	if deadline, has := ctx.Deadline(); has {
		left = time.Until(deadline).Round(10 * time.Second)
	}
	a.left.Store(username, left)
	return identity.User{}, errors.New("nobody")
}

// Beside k8shell each workspace of a batch has its own time, whatever the others are; --timeout is for all of them.
func TestEachHasItsTime(t *testing.T) {
	const both = "alice~dev\nbob~dev+workload=deployment/web+ns=shop\n"
	for name, test := range map[string]struct {
		args       string
		scheme     userstring.Scheme
		alice, bob time.Duration
	}{
		"beside k8shell": {"-f -", userstring.K8shell, 20 * time.Second, 120 * time.Second},
		"berth alone":    {"-f -", userstring.Own, 0, 0},
		"--timeout":      {"-f - --timeout 50s", userstring.K8shell, 50 * time.Second, 50 * time.Second},
		"--wait":         {"-f - --wait", userstring.K8shell, 0, 0},
		"for ever":       {"-f - --timeout 0", userstring.K8shell, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			cmdtest.Offline(t)
			cmdtest.Cluster(t, kubetest.Start(t, nil).URL)
			users := &asked{}
			streams := terminal.Streams{Now: time.Now}
			streams.In.Reader, streams.Out.Writer, streams.Err.Writer = strings.NewReader(both), t.Output(), t.Output()
			factory := cmdutil.NewFactory(streams, func(string) string { return "" })
			cmd := command.NewCmd(factory, func(ctx context.Context, o *command.Options) error {
				made := o.Provisioner
				o.Provisioner = func() (*provision.Provisioner, error) {
					p, err := made()
					if err == nil {
						p.Scheme, users.Users = test.scheme, p.Users
						p.Users = users
					}
					return p, err
				}
				return command.Run(ctx, o)
			})
			cmd.SetArgs(strings.Fields(test.args))
			cmd.SilenceErrors, cmd.SilenceUsage = true, true
			if err := cmd.ExecuteContext(t.Context()); err == nil {
				t.Error("it succeeds")
			}
			for user, want := range map[string]time.Duration{"alice": test.alice, "bob": test.bob} {
				if got, _ := users.left.Load(user); got != want {
					t.Errorf("%s has %v, want %s", user, got, want)
				}
			}
		})
	}
}
