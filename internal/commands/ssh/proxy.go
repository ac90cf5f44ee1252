package ssh

import (
	"context"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/berthdev/berth/internal/commands/attach"
	"github.com/berthdev/berth/internal/commands/cmdutil"
	"github.com/berthdev/berth/internal/exec/sshd"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/lifecycle"
	"github.com/berthdev/berth/internal/provision/inventory"
	"github.com/berthdev/berth/internal/sshconfig"
	"github.com/berthdev/berth/internal/terminal"
	"github.com/berthdev/berth/internal/terminal/wording"
	"github.com/berthdev/berth/internal/userstring"
)

// ProxyOptions are what the command line of `berth ssh proxy` says.
type ProxyOptions struct {
	IO         terminal.Streams
	Workspaces func() (inventory.Reader, error)
	States     func(context.Context) (lifecycle.Place, func(), error)
	Dir        func() (string, error)
	Flags      []string
	// Start is whether a workspace that is stopped is started.
	Start bool
	// Another runs another command of berth about the workspace.
	Another another

	// Gateway is what to go through instead of the API server; empty for none.
	Gateway string
	Through Through

	// Host is a host name of a workspace that ends with Suffix; Workspace, if it is not empty, says instead what is
	// meant.
	Host, Suffix, Workspace string
	// Meant is a namespace that was named behind the workspace, where -n is ssh's; empty for none.
	Meant string
}

func newProxyCmd(f *cmdutil.Factory, runF func(context.Context, *ProxyOptions) error) *cobra.Command {
	o := &ProxyOptions{IO: f.IO, Workspaces: f.Workspaces, Dir: f.SSHDir}
	cmd := &cobra.Command{
		Use:    "proxy HOST",
		Hidden: true,
		Short:  "Serve one SSH connection on standard input and output",
		Long: `Serve one SSH connection to a workspace on standard input and output, as the ProxyCommand
of an SSH client. "berth ssh config" writes the configuration that uses it.`,
		Args:              cmdutil.OneArg("host name"),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: cmdutil.RunE(o, runF, func(cmd *cobra.Command, args []string) error {
			o.Host, o.Flags = args[0], cmdutil.ClusterFlags(cmd)
			o.Another = anotherProcess(cmdutil.ClusterArguments(cmd), o.Flags, nil)
			return nil
		}),
	}
	deps := f.For(cmd)
	o.States, o.Through = deps.States, deps.Through
	deps.AddGatewayFlag(cmd, &o.Gateway)
	cmd.Flags().StringVar(&o.Suffix, "suffix", sshconfig.Suffix, "what host names of workspaces end with")
	cmd.Flags().StringVar(&o.Workspace, "workspace", "", "the workspace, whatever the host name is")
	cmd.Flags().BoolVar(&o.Start, "start", false, "start a workspace that is stopped")
	cmd.Flags().StringVar(&o.Meant, flagMeant, "", "what may have been meant for a namespace")
	cmdutil.NoFlagValues(cmd, "suffix", "workspace", flagMeant)
	return cmd
}

// RunProxy serves the connection. What goes wrong with the workspace is said on the channels of the client: here only
// what keeps the connection from being made is an error.
func RunProxy(ctx context.Context, o *ProxyOptions) error {
	name := Name{Workspace: o.Workspace}
	if o.Workspace == "" {
		var err error
		if name, err = ParseName(o.Host, o.Suffix); err != nil {
			return err
		}
	}
	dir, err := o.Dir()
	if err != nil {
		return err
	}
	key, err := sshconfig.HostKey(dir)
	if err != nil {
		return err
	}
	server := sshd.Server{
		Key: key, Version: cmdutil.Version().Version, Find: o.find(ctx, name), Explain: o.hints(name).explain,
		Say: func(text string) { _, _ = io.WriteString(o.IO.Err, "berth: "+text+"\n") },
	}
	sshd.Widen(o.IO.In.Reader, o.IO.Out.Writer)
	err = server.Serve(ctx, stdio{o.IO.In, o.IO.Out})
	if ctx.Err() != nil { // the terminal is the client's, which says how it ends
		return cmdutil.ExitError(attach.ExitFailed)
	}
	return err
}

// find is what finds the workspace, for each channel.
func (o *ProxyOptions) find(ctx context.Context, name Name) func(context.Context, string, func(string)) (sshd.Place,
	error,
) {
	if o.Gateway != "" {
		return behind{through: o.Through, gateway: o.Gateway, name: name}.find
	}
	f := &finder{
		workspaces: o.Workspaces, states: o.States, flags: o.shown(name), name: name,
		mender: newMender(o.Start, o.Another), asOwn: "ssh $own@" + o.Host,
	}
	if o.Workspace != "" {
		f.asOwn = "-l $own"
	}
	f.begin(ctx)
	return f.find
}

// shown are the flags that lead to the workspace. The namespace of a host name is in none that was given.
func (o *ProxyOptions) shown(name Name) []string {
	if name.Namespace == "" {
		return o.Flags
	}
	return append(wording.WithoutNamespace(o.Flags), wording.Flag("--namespace", name.Namespace))
}

func (o *ProxyOptions) hints(name Name) hints {
	h := hints{flags: o.shown(name)}
	switch {
	case o.Workspace == "":
		h.suffix = o.Suffix
	case o.Meant != "":
		h.instead = "-n behind the workspace is ssh's own; for a namespace write: " +
			strings.Join([]string{"berth ssh", wording.Flag("-n", o.Meant), fault.Word(o.Workspace)}, " ")
	}
	return h
}

const flagMeant = "namespace-meant"

// stdio is the connection with a client that has started this process.
type stdio struct {
	io.Reader
	io.Writer
}

// Close implements io.Closer: the streams end with the process.
func (s stdio) Close() error {
	for _, stream := range []any{s.Reader, s.Writer} {
		if c, ok := stream.(io.Closer); ok {
			_ = c.Close()
		}
	}
	return nil
}

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

// typed reads what ssh takes for a workspace: ID.berth, ID.NAMESPACE.berth, and OSUSER in front. It is false for what
// can only be a user string.
func typed(text string) (user string, n Name, ok bool) {
	user, host, named := strings.Cut(text, "@")
	if !named {
		user, host = "", text
	}
	rest, isHost := strings.CutSuffix(host, "."+sshconfig.Suffix)
	n = Name{Workspace: rest}
	if isHost {
		n.Workspace, n.Namespace, _ = strings.Cut(rest, ".")
	}
	return user, n, (isHost || user != "") && userstring.LooksLikeID(n.Workspace) && !strings.Contains(n.Namespace, ".")
}
