// Package gateway runs commands through a gateway (`berth serve gateway`), for those who have
// no kubeconfig of the namespace. Inside it, server/ is the gateway itself.
package gateway

import (
	"net/url"
	"strconv"

	"github.com/berthdev/berth/internal/exec"
	"github.com/berthdev/berth/internal/kube"
)

// Group is the API group of workspaces, for paths and permissions. No API server serves it.
const Group = kube.Group

// WorkspacePath is where a gateway connects to a command in a workspace.
func WorkspacePath(namespace, id string) string {
	return "/apis/" + Group + "/v1/namespaces/" + url.PathEscape(namespace) + "/workspaces/" + url.PathEscape(id) + "/exec"
}

// The keys of a query, which are those of pods/exec, and the OS user.
const (
	KeyContainer = "container"
	KeyUser      = "user"
	KeyCommand   = "command"
	KeyStdin     = "stdin"
	KeyStdout    = "stdout"
	KeyStderr    = "stderr"
	KeyTTY       = "tty"
)

// Query says what to run, as whom, and which streams it has.
func Query(container, user string, command []string, s exec.Session) url.Values {
	q := url.Values{}
	if container != "" {
		q.Set(KeyContainer, container)
	}
	if user != "" {
		q.Set(KeyUser, user)
	}
	if len(command) > 0 {
		q[KeyCommand] = command
	}
	for key, is := range map[string]bool{
		KeyStdin: s.Stdin != nil, KeyStdout: s.Stdout != nil, KeyStderr: s.Stderr != nil && !s.TTY, KeyTTY: s.TTY,
	} {
		if is {
			q.Set(key, strconv.FormatBool(is))
		}
	}
	return q
}
