package ssh

import (
	"strings"

	"github.com/berthdev/berth/internal/fault"
)

// Name is the host name of a workspace: WORKSPACE[.NAMESPACE].SUFFIX, read from the right, as a user string may have
// dots of its own.
type Name struct{ Workspace, Namespace string }

// ParseName reads a host name, with or without its suffix.
func ParseName(host, suffix string) (Name, error) {
	rest := strings.TrimSuffix(host, "."+suffix)
	n := Name{Workspace: rest}
	if at := strings.LastIndexByte(rest, '.'); at >= 0 {
		n.Workspace, n.Namespace = rest[:at], rest[at+1:]
	}
	if n.Workspace == "" || strings.HasSuffix(rest, ".") {
		return n, fault.New(fault.InvalidArgument, "%q is no host name of a workspace", host).
			WithHint("write WORKSPACE.%s or WORKSPACE.NAMESPACE.%s, with the ID of `berth status`", suffix, suffix)
	}
	return n, nil
}
