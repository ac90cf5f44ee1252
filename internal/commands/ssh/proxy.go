package ssh

import (
	"context"
	"io"
	"slices"
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
	cmdutil.NoFlagValues(cmd, "suffix", "workspace")
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
		Key: key, Version: cmdutil.Version().Version, Find: o.find(ctx, name), Explain: Explain,
		Say: func(text string) { _, _ = io.WriteString(o.IO.Err, "berth: "+text+"\n") },
	}
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
		workspaces: o.Workspaces, states: o.States, flags: o.Flags, name: name, mender: newMender(o.Start, o.Another),
	}
	if name.Namespace != "" { // of the host name, which no flag has said
		f.flags = append(slices.Clip(o.Flags), "--namespace", name.Namespace)
	}
	f.begin(ctx)
	return f.find
}

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
