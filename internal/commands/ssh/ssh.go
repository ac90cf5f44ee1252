// Package ssh is the command `berth ssh`.
package ssh

import (
	"context"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/berthdev/berth/internal/commands/cmdutil"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/lifecycle"
	"github.com/berthdev/berth/internal/provision/inventory"
	"github.com/berthdev/berth/internal/sshconfig"
	"github.com/berthdev/berth/internal/terminal"
	"github.com/berthdev/berth/internal/terminal/wording"
)

// Options are what the command line says.
type Options struct {
	IO         terminal.Streams
	Dir        func() (string, error)
	LookPath   func(string) (string, error)
	Executable func() (string, error)
	// Become runs a program in the place of this one; it returns the exit status where the system has no such thing.
	Become func(ctx context.Context, program string, arguments []string) (status int, err error)
	// Cluster are the flags that say which cluster is meant, all of them.
	Cluster []string

	Workspace string
	Namespace string   // of a host name; empty for that of the flags
	Client    []string // the client's own arguments

	// Gateway is what to go through instead of the API server; empty for none.
	Gateway string
	Through Through

	// Listen is the address to serve clients on instead; Workspaces, States, Flags and Another are for that.
	Listen     string
	Another    another
	Workspaces func() (inventory.Reader, error)
	States     func(context.Context) (lifecycle.Place, func(), error)
	Flags      []string
}

const long = `Run your own SSH client, connected with a workspace. What follows the workspace is for
that client: its options, and a command. The exit status is the client's.

Nothing of SSH has to be in the image: berth serves the connection on this side, runs
what the client asks for by exec, and forwards ports as "berth port-forward" does. There
are no keys to make or to copy, and the configuration of ssh is not read: pass -F FILE
after the workspace for one that is.

With --listen, berth serves a port of this machine instead, for clients that cannot run a
program to be connected by, such as FileZilla. It makes a key for that and says where.

"berth ssh config" sets up ssh, scp, rsync, git and editors, so that all of them find
workspaces by name. Here, too, ID.berth and ID.NAMESPACE.berth name a workspace, and
OSUSER@ID is "-l OSUSER ID".`

// NewCmd makes the command.
func NewCmd(f *cmdutil.Factory, runF func(context.Context, *Options) error) *cobra.Command {
	o := &Options{
		IO: f.IO, Dir: f.SSHDir, LookPath: exec.LookPath, Executable: executable, Become: become,
		Workspaces: f.Workspaces,
	}
	cmd := &cobra.Command{
		Use:   "ssh USERSTR|ID [SSH-OPTION...] [COMMAND [ARG...]]",
		Short: "Enter a workspace with your own SSH client",
		Long:  long,
		Example: `  berth ssh alice~dev
  berth ssh alice~dev uname -a
  berth ssh alice~dev -L 8080:localhost:80 -N
  berth ssh --listen 127.0.0.1:0 alice~dev
  berth ssh --gateway office alice~dev
  berth ssh config`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cmdutil.UsageError(cmd, fault.New(fault.InvalidArgument, "requires a workspace"))
			}
			return nil
		},
		ValidArgsFunction: f.CompleteWorkspace,
		Annotations:       map[string]string{cmdutil.PassesStatus: ""},
		RunE: cmdutil.RunE(o, runF, func(cmd *cobra.Command, args []string) error {
			o.Workspace, o.Client, o.Cluster, o.Flags = args[0], args[1:], cmdutil.ClusterArguments(cmd),
				cmdutil.ClusterFlags(cmd)
			o.readHost()
			o.Another = anotherProcess(o.Cluster, o.Flags, nil)
			if options, _ := Split(o.Client); slices.ContainsFunc(options, isLong) {
				return cmdutil.UsageError(cmd, fault.New(fault.InvalidArgument,
					"%s is no option of ssh", options[slices.IndexFunc(options, isLong)]).
					WithHint("flags of berth go before the workspace, as in `berth ssh --namespace NAME %s`",
						fault.Word(o.Workspace)))
			}
			if o.Listen != "" && len(o.Client) > 0 {
				return cmdutil.UsageError(cmd, fault.New(fault.InvalidArgument,
					"with --listen, no client is run: %q cannot be passed on", o.Client[0]))
			}
			return nil
		}),
	}
	deps := f.For(cmd)
	o.States, o.Through = deps.States, deps.Through
	deps.AddGatewayFlag(cmd, &o.Gateway)
	cmd.Flags().StringVar(&o.Listen, "listen", "", "serve SSH clients on this address of the machine, "+
		"such as 127.0.0.1:0")
	cmdutil.NoFlagValues(cmd, "listen")
	cmd.Flags().SetInterspersed(false) // what follows the workspace is the client's
	cmd.AddCommand(newConfigCmd(f, RunConfig), newProxyCmd(f, RunProxy))
	return cmd
}

// Run runs the client.
func Run(ctx context.Context, o *Options) error {
	arg, err := inventory.ParseArgument(o.Workspace)
	if err != nil {
		return err
	}
	if o.Listen != "" {
		return listen(ctx, o)
	}
	client, err := o.LookPath("ssh")
	if err != nil {
		return fault.New(fault.Failed, "there is no program ssh here").
			WithHint("install the OpenSSH client, or enter without it: %s", fault.Command("berth", "exec", o.Workspace))
	}
	own, err := o.Executable()
	if err != nil {
		return fault.New(fault.Internal, "find this program: %w", err)
	}
	dir, err := o.Dir()
	if err != nil {
		return err
	}
	known, err := sshconfig.Known(dir)
	if err != nil {
		return fault.New(fault.Failed, "keep the host key: %w", err)
	}
	proxy := append([]string{own, "ssh", "proxy"}, o.Cluster...)
	if o.Gateway != "" {
		proxy = append(proxy, "--"+cmdutil.FlagGateway+"="+o.Gateway)
	}
	options, command := Split(o.Client)
	if meant := namespaceMeant(options, command); meant != "" {
		proxy = append(proxy, "--"+flagMeant+"="+meant)
	}
	block := sshconfig.Block{
		Proxy:      append(proxy, "--workspace="+o.Workspace),
		KnownHosts: filepath.ToSlash(known),
	}
	arguments := append([]string{"-F", "none"}, options...) // before those of berth: the first value counts
	arguments = append(append(arguments, block.Arguments()...), arg.IDs()[0]+"."+sshconfig.Suffix)
	status, err := o.Become(ctx, client, append(arguments, command...))
	if err == nil && status != 0 {
		err = cmdutil.ExitError(status)
	}
	return err
}

// readHost takes a host name of the configuration of ssh for what it names, and a user in front for that of -l.
func (o *Options) readHost() {
	user, name, ok := typed(o.Workspace)
	if !ok {
		return
	}
	o.Workspace, o.Namespace = name.Workspace, name.Namespace
	if user != "" {
		o.Client = append([]string{"-l", user}, o.Client...)
	}
	if name.Namespace != "" {
		o.Cluster = append(slices.Clip(o.Cluster), "--namespace="+name.Namespace) // the last one counts
		o.Flags = append(wording.WithoutNamespace(o.Flags), wording.Flag("--namespace", name.Namespace))
	}
}

// namespaceMeant returns the word after a -n that went to ssh, which takes no argument there, or "" if it cannot be a
// namespace.
func namespaceMeant(options, command []string) string {
	if len(options) == 0 || options[len(options)-1] != "-n" || len(command) == 0 ||
		len(validation.IsDNS1123Label(command[0])) > 0 {
		return ""
	}
	return command[0]
}

// isLong is true for an option such as --namespace: ssh has none.
func isLong(option string) bool { return strings.HasPrefix(option, "--") && option != "--" }

// withArgument are the options of OpenSSH's client that have an argument.
const withArgument = "BbcDEeFIiJLlmOoPpQRSWw"

// Split tells the options of the client from the command that follows them.
func Split(arguments []string) (options, command []string) {
	for i := 0; i < len(arguments); i++ {
		word := arguments[i]
		if len(word) < 2 || word[0] != '-' || word == "--" {
			return arguments[:i], arguments[i:]
		}
		for at, letter := range word[1:] {
			if !hasArgument(letter) {
				continue
			}
			if at+2 == len(word) { // its argument is the next word
				i++
			}
			break
		}
	}
	return arguments, nil
}

func hasArgument(option rune) bool {
	for _, letter := range withArgument {
		if letter == option {
			return true
		}
	}
	return false
}
