package exec

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/berthdev/berth/internal/commands/cmdutil"
	remote "github.com/berthdev/berth/internal/exec"
	"github.com/berthdev/berth/internal/exec/machine"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/terminal"
)

const aboutMachines = `machine/NAME is the serial console of a machine (compute.ironcore.dev). It is a
terminal without a command, a container and a standard error of its own, and may
show nothing until Enter is pressed; Ctrl-] leaves it. The API server connects to it;
with --direct berth itself reads the machine and its pool, chooses an address of the
pool, and sends the credentials of the kubeconfig to the poollet there, the program
that runs the machines of the pool. Its certificate is verified with the CA of
--poollet-ca.`

// Machine is what the command line says of a machine.
type Machine struct {
	Name   string // empty if a workspace is entered
	Direct bool
	Types  []string // of addresses, as they are preferred
	Trust  machine.Trust
}

const flagDirect = "direct"

// flags adds the flags of machines.
func (m *Machine) flags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.BoolVar(&m.Direct, flagDirect, false,
		"machine: connect to the poollet of its pool instead of through the API server, with your credentials")
	flags.StringVar(&m.Trust.CAFile, machine.FlagCA, "",
		"machine: with --direct, the file of the CA of the poollet, in PEM")
	flags.BoolVar(&m.Trust.Insecure, machine.FlagInsecure, false,
		"machine: do not verify the certificate of the poollet")
	flags.StringSliceVar(&m.Types, machine.FlagTypes, nil,
		"machine: with --direct, the types of addresses to use, in order of preference")
	_ = cmd.RegisterFlagCompletionFunc(machine.FlagTypes,
		func(*cobra.Command, []string, string) (types []cobra.Completion, _ cobra.ShellCompDirective) {
			for _, t := range machine.AddressTypes() {
				types = append(types, string(t))
			}
			return types, cobra.ShellCompDirectiveNoFileComp
		})
}

// parse finds out whether the first argument names a machine, and refuses what does not
// fit together.
func (m *Machine) parse(flags *pflag.FlagSet, args []string) error {
	name, is, err := machine.Argument(args[0])
	if err != nil {
		return err
	}
	var changed []string
	flags.Visit(func(flag *pflag.Flag) { changed = append(changed, flag.Name) })
	if !is {
		return notOfWorkspaces(changed)
	}
	m.Name = name
	return m.validate(args[1:], changed)
}

// notOfWorkspaces refuses the flags of machines for a workspace.
func notOfWorkspaces(changed []string) error {
	for _, flag := range changed {
		if slices.Contains([]string{flagDirect, machine.FlagTypes, machine.FlagCA, machine.FlagInsecure}, flag) {
			return fault.New(fault.InvalidArgument, "--%s requires a machine, as in machine/web", flag).
				WithHint("leave out --%s", flag)
		}
	}
	return nil
}

// validate refuses what a serial console does not have, and what only --direct has.
// ofWorkspaces are the flags that choose what is entered of a workspace, and how.
func (m *Machine) validate(command, changed []string) error {
	ofWorkspaces := []string{"container", "pod", "no-tty", "no-wait", "provision", flagKeep, "timeout", "stuck-after"}
	at := slices.IndexFunc(changed, func(flag string) bool { return slices.Contains(ofWorkspaces, flag) })
	switch {
	case len(command) > 0:
		return fault.New(fault.InvalidArgument, "machine/%s takes no command: it is entered at its serial console",
			m.Name).
			WithHint("leave out the command and type it at the console")
	case at >= 0:
		return fault.New(fault.InvalidArgument, "--%s requires a workspace: machine/%s is entered at "+
			"its serial console", changed[at], m.Name).
			WithHint("leave out --%s", changed[at])
	case !m.Direct && m.Trust.CAFile != "":
		return fault.New(fault.InvalidArgument, "--%s requires --%s: otherwise the API server verifies the poollet",
			machine.FlagCA, flagDirect).
			WithHint("leave out --%s, or add --%s", machine.FlagCA, flagDirect)
	case !m.Direct && len(m.Types) > 0:
		return fault.New(fault.InvalidArgument, "--%s requires --%s: otherwise the API server chooses the address",
			machine.FlagTypes, flagDirect).
			WithHint("leave out --%s, or add --%s", machine.FlagTypes, flagDirect)
	case m.Direct:
		if err := m.Trust.Check(); err != nil {
			return err
		}
	}
	_, err := machine.ParseAddressTypes(m.Types)
	return err
}

// console enters the machine.
func (o *Options) console(ctx context.Context) error {
	reader, err := cmdutil.Await(ctx, o.Workspaces)
	if err != nil {
		return err
	}
	console, err := o.Machine.find(ctx, reader.Client)
	if err != nil {
		return err
	}
	return o.open(ctx, console.Open)
}

// find finds the console, the way that the command line says.
func (m *Machine) find(ctx context.Context, client *kube.Client) (machine.Console, error) {
	if !m.Direct {
		return machine.Through(client, m.Name, m.Trust.Insecure)
	}
	types, err := machine.ParseAddressTypes(m.Types)
	if err != nil {
		return machine.Console{}, err
	}
	return machine.Direct(ctx, client, m.Name, types, m.Trust)
}

// open connects the console with the terminal, or with the streams as they are.
func (o *Options) open(ctx context.Context,
	connect func(context.Context, remote.Session) (status int, err error),
) error {
	status, err := o.session(ctx, connect)
	if err == nil && status != 0 {
		err = cmdutil.ExitError(status)
	}
	return err
}

func (o *Options) session(ctx context.Context,
	connect func(context.Context, remote.Session) (int, error),
) (status int, err error) {
	session := remote.Session{Stdin: o.IO.In.Reader, Stdout: o.IO.Out}
	if !o.Terminal.Always && (!o.IO.In.TTY || !o.IO.Out.TTY) {
		return connect(ctx, session)
	}
	left := errors.New("left the console")
	ctx, leave := context.WithCancelCause(ctx)
	defer leave(nil)
	restore, sizes, err := terminal.Raw(o.IO.In, o.IO.Out)
	if err != nil {
		return 0, err
	}
	defer restore()
	o.IO.AtExit(restore)
	fmt.Fprintf(o.IO.Err, "Console of machine/%s. If you see nothing, press Enter; Ctrl-] leaves it.\r\n",
		o.Machine.Name)
	session.Sizes = sizes
	session.Stdin = machine.Leavable(o.IO.In.Reader, func() { leave(left) })
	status, err = connect(ctx, session)
	fmt.Fprint(o.IO.Err, "\r\n") // what comes next gets a line of its own
	switch {
	case errors.Is(err, left):
		return 0, nil
	case err == nil && status == 0: // a console does not end by itself
		return 0, fault.New(fault.Unavailable, "the console of machine/%s was closed by the other side",
			o.Machine.Name).
			WithHint("the machine may have been stopped; enter it again to see")
	}
	return status, err
}

// completing completes the name of a machine once machine/ is typed, and otherwise what
// it is given.
func completing(f *cmdutil.Factory, otherwise cobra.CompletionFunc) cobra.CompletionFunc {
	machines := cmdutil.CompleteOne(func(cmd *cobra.Command) ([]cobra.Completion, error) {
		ctx, cancel := context.WithTimeout(cmd.Context(), cmdutil.CompletionTimeout)
		defer cancel()
		client, err := cmdutil.Await(ctx, f.Client)
		if err != nil {
			return nil, err
		}
		names, err := machine.Names(ctx, client)
		for i, name := range names {
			names[i] = machine.Prefix + name
		}
		return names, err
	})
	return func(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) == 0 && strings.HasPrefix(typed, machine.Prefix) {
			return machines(cmd, args, typed)
		}
		return otherwise(cmd, args, typed)
	}
}
