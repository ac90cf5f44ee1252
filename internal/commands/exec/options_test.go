package exec_test

import (
	"testing"

	"github.com/berthdev/berth/internal/commands/attach"
	"github.com/berthdev/berth/internal/commands/cmdtest"
	"github.com/berthdev/berth/internal/commands/exec"
	"github.com/berthdev/berth/internal/exec/pod"
	"github.com/berthdev/berth/internal/terminal"
)

func TestOptions(t *testing.T) {
	forget := func(o *exec.Options) {
		o.IO, o.Workspaces, o.Follower, o.Provisioner, o.Recorders, o.States, o.Through = terminal.Streams{}, nil, nil,
			nil, nil, nil, nil
		o.Ended = nil
	}
	const usage, two = "requires a workspace", "requires one workspace, and the command to run in it after --"
	cmdtest.Options(t, exec.NewCmd, forget, map[string]cmdtest.Case[exec.Options]{
		"the shell": {Args: "alice", Want: exec.Options{Workspace: "alice", Command: []string{}}},
		"a command": {
			Args: "-i -t alice -- ls -l",
			Want: exec.Options{
				Workspace: "alice", Command: []string{"ls", "-l"}, Stdin: true,
				Terminal: attach.Terminal{Always: true},
			},
		},
		"no terminal": {
			Args: "-T alice -- ls",
			Want: exec.Options{Workspace: "alice", Command: []string{"ls"}, Terminal: attach.Terminal{Never: true}},
		},
		"kept, with a command":    {Args: "--keep alice -- make", Err: "--keep takes no command"},
		"kept, not at a terminal": {Args: "--keep alice", Err: "--keep requires a terminal"},
		"a terminal and none":     {Args: "-t -T alice", Err: "--tty and --no-tty are mutually exclusive"},
		"nothing":                 {Err: usage},
		"a gateway": {
			Args: "alice --gateway team -c main",
			Want: exec.Options{
				Workspace: "alice", Command: []string{}, Gateway: "team",
				Place: pod.Place{Container: "main"},
			},
		},
		"a pod through a gateway": {
			Args: "alice --gateway team --pod x",
			Err:  "--gateway and --pod are mutually exclusive",
		},
		"to provision through a gateway": {
			Args: "alice --gateway team --provision",
			Err:  "--gateway and --provision are mutually exclusive",
		},
		"direct through a gateway": {
			Args: "machine/web --gateway team --direct --poollet-ca x",
			Err:  "--gateway and --direct are mutually exclusive",
		},
		"no dashes":                {Args: "alice ls", Err: `the command "ls" requires -- before it`},
		"no dashes, and a flag":    {Args: "alice ls -la", Err: `the command "ls" requires -- before it`},
		"a flag that is not known": {Args: "alice -l -- ls", Err: "unknown shorthand flag: 'l'"},
		"dashes in front":          {Args: "-- alice", Err: usage},
		"more before the dash":     {Args: "alice bob -- ls", Err: two},
		"a container of a pod": {
			Args: "alice -c web --pod web-1",
			Want: exec.Options{
				Workspace: "alice", Command: []string{},
				Place: pod.Place{Pod: "web-1", Container: "web"},
			},
		},
		"at once or not at all": {
			Args: "alice --no-wait --context c",
			Want: exec.Options{Workspace: "alice", Command: []string{}, NoWait: true, Flags: []string{"--context c"}},
		},
		"to be provisioned": {
			Args: "alice~dev --provision",
			Want: exec.Options{Workspace: "alice~dev", Command: []string{}, Provision: true},
		},
		"an ID to be provisioned": {
			Args: "id/alice-2bd806c --provision",
			Err:  "id/alice-2bd806c is an ID, which does not say what to provision",
		},
		"a plain ID":              {Args: "alice-2bd806c --provision", Err: "alice-2bd806c is an ID"},
		"a pod to be provisioned": {Args: "alice~pod=ws1 --provision", Err: "names an existing workspace"},
		"an ID that is there": {
			Args: "alice-2bd806c",
			Want: exec.Options{Workspace: "alice-2bd806c", Command: []string{}},
		},
	})
}
