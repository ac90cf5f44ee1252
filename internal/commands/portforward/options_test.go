package portforward_test

import (
	"testing"

	"github.com/berthdev/berth/internal/commands/cmdtest"
	"github.com/berthdev/berth/internal/commands/portforward"
	"github.com/berthdev/berth/internal/exec/forward"
	"github.com/berthdev/berth/internal/exec/pod"
	"github.com/berthdev/berth/internal/terminal"
)

func TestOptions(t *testing.T) {
	forget := func(o *portforward.Options) { o.IO, o.Workspaces, o.States = terminal.Streams{}, nil, nil }
	localhost := []string{"localhost"}
	cmdtest.Options(t, portforward.NewCmd, forget, map[string]cmdtest.Case[portforward.Options]{
		"the same port": {
			Args: "alice 8080",
			Want: portforward.Options{
				Workspace: "alice", Ports: []forward.Port{{Local: 8080, Remote: 8080}},
				Addresses: localhost,
			},
		},
		"several, two of them picked": {
			Args: "alice 9000:80 :81 0:82",
			Want: portforward.Options{
				Workspace: "alice",
				Ports:     []forward.Port{{Local: 9000, Remote: 80}, {Remote: 81}, {Remote: 82}}, Addresses: localhost,
			},
		},
		"addresses and a pod": {
			Args: "alice 80 --address 127.0.0.1,::1 --pod web-1",
			Want: portforward.Options{
				Workspace: "alice", Ports: []forward.Port{{Local: 80, Remote: 80}},
				Addresses: []string{"127.0.0.1", "::1"}, Place: pod.Place{Pod: "web-1"},
			},
		},
		"no port":        {Args: "alice", Err: "requires one workspace and at least one port"},
		"a name":         {Args: "alice http", Err: `"http" is not a number up to 65535`},
		"a large number": {Args: "alice 65536", Err: "not a number up to 65535"},
		"port 0":         {Args: "alice 80:0", Err: "must be from 1 to 65535"},
		"the same twice": {Args: "alice 80 80:81", Err: "local port 80 is given twice"},
		"a host's name": {
			Args: "alice 80 --address example.com",
			Err:  `--address "example.com" is neither an IP address nor localhost`,
		},
		"another format": {Args: "alice 80 -o yaml", Err: "must be one of: text, jsonl"},
	})
}
