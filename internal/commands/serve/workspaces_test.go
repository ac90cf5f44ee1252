package serve_test

import (
	"testing"
	"time"

	"github.com/berthdev/berth/internal/commands/cmdtest"
	"github.com/berthdev/berth/internal/commands/serve"
	"github.com/berthdev/berth/internal/terminal"
)

func TestWorkspacesOptions(t *testing.T) {
	forget := func(o *serve.WorkspacesOptions) {
		o.IO, o.Provisioner, o.Recorders, o.Limits = terminal.Streams{}, nil, nil, nil
	}
	defaults := func(change func(*serve.WorkspacesOptions)) serve.WorkspacesOptions {
		o := serve.WorkspacesOptions{
			About: serve.About{MetricsListen: "127.0.0.1:8081"}, System: "berth-system",
			Partial: 10 * time.Second, Full: time.Hour, Timeout: 5 * time.Minute, Workers: 8,
		}
		change(&o)
		return o
	}
	cmdtest.Options(t, serve.NewWorkspaces, forget, map[string]cmdtest.Case[serve.WorkspacesOptions]{
		"the defaults": {Want: defaults(func(*serve.WorkspacesOptions) {})},
		"all of it": {
			Args: "--only team --system-namespace s --partial 1s --full 2s --timeout 3s --workers 4 --metrics-listen " +
				":1 --tls-cert c --tls-key k --trust-records",
			Want: defaults(func(o *serve.WorkspacesOptions) {
				o.Only, o.System, o.Partial, o.Full, o.Timeout, o.Workers = "team", "s", time.Second, 2*time.Second,
					3*time.Second, 4
				o.TrustRecords = true
				o.About = serve.About{MetricsListen: ":1", Cert: "c", Key: "k"}
			}),
		},
		"a certificate alone": {Args: "--tls-cert c", Err: "--tls-cert and --tls-key are given together"},
		"always":              {Args: "--partial 0s", Err: "--partial must be positive, got 0s"},
		"full before partial": {
			Args: "--partial 1m --full 1s",
			Err:  "--full must not be shorter than --partial (1m0s), got 1s",
		},
		"no time":              {Args: "--timeout 0s", Err: "--timeout must be positive, got 0s"},
		"nobody":               {Args: "--workers 0", Err: "--workers must be at least 1, got 0"},
		"no namespace":         {Args: "--system-namespace=", Err: "--system-namespace must not be empty"},
		"an argument":          {Args: "x", Err: "unexpected argument"},
		"no name of namespace": {Args: "--only A", Err: `--only must be the name of a namespace, got "A"`},
	})
}
