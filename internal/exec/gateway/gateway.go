// Package gateway runs commands through a gateway (`berth serve gateway`), for those who have
// no kubeconfig of the namespace. Inside it, server/ is the gateway itself.
package gateway

import (
	"context"
	"net/url"
	"strconv"
	"strings"

	"k8s.io/client-go/rest"

	"github.com/berthdev/berth/internal/credential"
	"github.com/berthdev/berth/internal/exec"
	"github.com/berthdev/berth/internal/exec/machine"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
)

// Gateway is one that the configuration names, with the one credential that it is sent.
type Gateway struct {
	// Name is what the configuration calls it.
	Name string
	URL  string
	// CAFile has the authorities of its certificate; empty for those of the system.
	CAFile string

	// One of these is the credential: a token, a certificate with its key, or the credentials of a kubeconfig.
	Token             *credential.Source
	CertFile, KeyFile string
	Kubeconfig        func() (*rest.Config, error)
}

// Destination is what is entered.
type Destination struct {
	Namespace string
	// Workspace is a canonical ID, and Container one of its containers, empty for the main one; User is one of its OS
	// users, empty for the workspace's own. Or else Machine is the name of a machine.
	Workspace, Container, User string
	// Login runs commands as the shell would: as the user, in the home directory. Without it, they run as the container
	// does, unless User is set.
	Login   bool
	Machine string
}

// path is where the gateway has it.
func (t Destination) path() string {
	if t.Machine != "" {
		return machine.PoolletPath(t.Namespace, t.Machine)
	}
	return WorkspacePath(t.Namespace, t.Workspace)
}

func (t Destination) String() string {
	if t.Machine != "" {
		return "machine " + t.Machine + " in namespace " + t.Namespace
	}
	return "workspace " + t.Workspace + " in namespace " + t.Namespace
}

// Runner runs commands in a target, through the gateway. Without a command it is the shell of
// the workspace, or the console of the machine.
func (g Gateway) Runner(t Destination) exec.Runner {
	return func(ctx context.Context, command []string, s exec.Session) (int, error) {
		config, err := g.Config(ctx, "gateway "+g.Name)
		if err != nil {
			return 0, err
		}
		to, err := url.Parse(strings.TrimSuffix(g.URL, "/") + t.path())
		if err != nil {
			return 0, fault.New(fault.InvalidArgument, "the URL of gateway %s: %w", g.Name, err)
		}
		if t.Machine == "" {
			to.RawQuery = Query(t, command, s).Encode()
		}
		status, err := exec.Stream(ctx, exec.Server{Config: config}, to, s)
		if err != nil && ctx.Err() == nil {
			err = g.failure(err, t)
		}
		return status, err
	}
}

// Config is how the gateway, or another server that is called so in messages, is reached. Nothing of a kubeconfig is in
// it but the credentials, and those only if the configuration says so.
func (g Gateway) Config(ctx context.Context, called string) (*rest.Config, error) {
	config := &rest.Config{
		Host:            g.URL,
		TLSClientConfig: rest.TLSClientConfig{CAFile: g.CAFile, CertFile: g.CertFile, KeyFile: g.KeyFile},
	}
	if g.Kubeconfig != nil {
		from, err := g.Kubeconfig()
		if err != nil {
			return nil, err
		}
		if from.Impersonate.UserName != "" {
			return nil, fault.New(fault.InvalidArgument, "%s cannot be used as another user (--as)", called).
				WithHint("leave out --as: it knows only whose credential it is sent")
		}
		config.BearerToken, config.BearerTokenFile = from.BearerToken, from.BearerTokenFile
		config.ExecProvider, config.AuthProvider, config.AuthConfigPersister = from.ExecProvider, from.AuthProvider,
			from.AuthConfigPersister
		own := from.TLSClientConfig
		config.CertFile, config.KeyFile, config.CertData, config.KeyData = own.CertFile, own.KeyFile, own.CertData,
			own.KeyData
	}
	token, err := g.Token.Get(ctx)
	if err != nil {
		return nil, fault.New(fault.Unauthenticated, "the credential of %s: %w", called, err).
			WithHint("see the configuration (`berth help environment`)")
	}
	if !token.Anonymous() {
		config.BearerToken = token.Token.Reveal()
	}
	return config, nil
}

// Group is the API group of workspaces, for paths and permissions. No API server serves it.
const Group = kube.Group

// WorkspacePath is where a gateway connects to a command in a workspace.
func WorkspacePath(namespace, id string) string {
	return "/apis/" + Group + "/v1/namespaces/" + url.PathEscape(namespace) + "/workspaces/" + url.PathEscape(id) +
		"/exec"
}

// The keys of a query, which are those of pods/exec, the OS user, and whether a command is one of a login.
const (
	KeyContainer = "container"
	KeyUser      = "user"
	KeyLogin     = "login"
	KeyCommand   = "command"
	KeyStdin     = "stdin"
	KeyStdout    = "stdout"
	KeyStderr    = "stderr"
	KeyTTY       = "tty"
)

// Query says what to run, as whom, and which streams it has.
func Query(t Destination, command []string, s exec.Session) url.Values {
	q := url.Values{}
	if t.Container != "" {
		q.Set(KeyContainer, t.Container)
	}
	if t.User != "" {
		q.Set(KeyUser, t.User)
	}
	if len(command) > 0 {
		q[KeyCommand] = command
	}
	for key, is := range map[string]bool{
		KeyStdin: s.Stdin != nil, KeyStdout: s.Stdout != nil, KeyStderr: s.Stderr != nil && !s.TTY, KeyTTY: s.TTY,
		KeyLogin: t.Login,
	} {
		if is {
			q.Set(key, strconv.FormatBool(is))
		}
	}
	return q
}
