package server

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"

	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/berthdev/berth/internal/exec/gateway"
	"github.com/berthdev/berth/internal/exec/machine"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/serve"
)

// Kind is what a path names.
type Kind string

// The kinds.
const (
	Workspace Kind = "workspace"
	Machine   Kind = "machine"
)

// Object is what a path names, with nothing in it that needs escaping.
type Object struct {
	Kind            Kind
	Namespace, Name string
}

// String names the object in the log.
func (o Object) String() string { return string(o.Kind) + "/" + o.Namespace + "/" + o.Name }

// ObjectAt reads a path: exactly one of the two that are served, letter by letter. Whatever is
// escaped, is cleaned elsewhere, or is no name names nothing.
func ObjectAt(u *url.URL) (Object, bool) {
	path := u.EscapedPath()
	if path != u.Path || strings.ContainsAny(path, "%;\\") {
		return Object{}, false
	}
	parts := strings.Split(path, "/")
	for _, at := range []struct{ kind, namespace, name int }{{workspaceAt, 5, 7}, {machineAt, 4, 6}} {
		if len(parts) != at.name+2 {
			continue
		}
		namespace, name := parts[at.namespace], parts[at.name]
		o := Object{Kind: Workspace, Namespace: namespace, Name: name}
		same := gateway.WorkspacePath(namespace, name)
		invalid := validation.IsDNS1123Label(name)
		if at.kind == machineAt {
			o.Kind, same, invalid = Machine, machine.PoolletPath(namespace, name), validation.IsDNS1123Subdomain(name)
		}
		if len(invalid) == 0 && len(validation.IsDNS1123Label(namespace)) == 0 && path == same {
			return o, true
		}
	}
	return Object{}, false
}

const (
	workspaceAt = iota
	machineAt
)

// Access is what it takes to enter an object: that workspace itself, or the proxy of the pool that machines are in. A
// poollet asks about that as an API server does, by the method: WebSockets take get, and SPDY create.
func (o Object) Access(pool, method string) serve.Access {
	if o.Kind == Machine {
		verb := "create"
		if method == http.MethodGet {
			verb = "get"
		}
		return serve.Access{Resource: &authorizationv1.ResourceAttributes{
			Verb: verb, Group: machine.Group, Version: machine.Version, Resource: "machinepools",
			Subresource: "proxy", Name: pool,
		}}
	}
	return serve.Access{Resource: &authorizationv1.ResourceAttributes{
		Verb: "create", Group: gateway.Group, Version: "v1", Resource: "workspaces", Subresource: "exec",
		Namespace: o.Namespace, Name: o.Name,
	}}
}

// Options are what a query asks for.
type Options struct {
	Container                  string
	User                       string   // an OS user of the container; empty for the workspace's own
	Command                    []string // empty for the shell
	Login                      bool     // runs the command as the shell would
	Stdin, Stdout, Stderr, TTY bool
}

// maxCommand and maxUser are how long a command and the name of a user may be, in bytes.
const (
	maxCommand = 16 << 10
	maxUser    = 128
)

// OptionsOf reads a query. A machine has a console, whatever is asked for.
func OptionsOf(kind Kind, query string) (o Options, err error) {
	if kind == Machine {
		return Options{Stdin: true, Stdout: true, TTY: true}, nil
	}
	invalid := func(format string, args ...any) (Options, error) {
		return Options{}, fault.New(fault.InvalidArgument, format, args...)
	}
	values, err := url.ParseQuery(query)
	if err != nil {
		return invalid("the query cannot be read: %w", err)
	}
	texts := map[string]*string{gateway.KeyContainer: &o.Container, gateway.KeyUser: &o.User}
	streams := map[string]*bool{
		gateway.KeyStdin: &o.Stdin, gateway.KeyStdout: &o.Stdout, gateway.KeyStderr: &o.Stderr,
		gateway.KeyTTY: &o.TTY, gateway.KeyLogin: &o.Login,
	}
	for key, all := range values {
		is, isStream := streams[key]
		text, isText := texts[key]
		switch {
		case key == gateway.KeyCommand:
			o.Command = all
		case !isStream && !isText:
			return invalid("unknown option %q", key)
		case len(all) != 1:
			return invalid("option %q is given %d times", key, len(all))
		case isText:
			*text = all[0]
		default:
			if *is, err = strconv.ParseBool(all[0]); err != nil {
				return invalid("option %q must be true or false", key)
			}
		}
	}
	if !o.Stdin && !o.Stdout && !o.Stderr {
		return invalid("at least one of stdin, stdout and stderr is required")
	}
	if o.TTY && o.Stderr {
		return invalid("a terminal has no stderr of its own")
	}
	if len(o.User) > maxUser {
		return invalid("the user is longer than %d bytes", maxUser)
	}
	if len(strings.Join(o.Command, " ")) > maxCommand {
		return invalid("the command is longer than %d bytes", maxCommand)
	}
	return o, nil
}

// IsUpgrade says whether a request wants another protocol on its connection.
func IsUpgrade(r *http.Request) bool {
	return strings.Contains(strings.ToLower(r.Header.Get("Connection")), "upgrade") && r.Header.Get("Upgrade") != ""
}
