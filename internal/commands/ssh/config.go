package ssh

import (
	"context"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/berthdev/berth/internal/commands/batch"
	"github.com/berthdev/berth/internal/commands/cmdutil"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/sshconfig"
	"github.com/berthdev/berth/internal/terminal"
	"github.com/berthdev/berth/internal/terminal/printer"
	"github.com/berthdev/berth/internal/terminal/result"
	"github.com/berthdev/berth/internal/terminal/style"
)

// ConfigOptions are what the command line of `berth ssh config` says.
type ConfigOptions struct {
	IO     terminal.Streams
	Places func(ctx context.Context, windows bool) (Places, error)
	// Read reads one of the files, which need not be there.
	Read       func(path string) (sshconfig.Change, error)
	Executable func() (string, error)
	// Pinned is how the proxy finds the cluster of this run in another one: variables, and flags.
	Pinned func() (env, flags []string, err error)
	// Workspaces lists the IDs of the workspaces of Namespace.
	Workspaces func() ([]string, error)
	Namespace  func() (string, error)
	// Check asks ssh whether it takes a configuration, with options of the user's; nil for no such question.
	Check func(ctx context.Context, text []byte, host string) error
	// Flags say which cluster is meant, for commands that are proposed.
	Flags []string

	Gateway string // what the proxy goes through instead of the API server; empty for none

	Block                      sshconfig.Block
	List, Start, Windows       bool
	KeepList                   bool // the command line does not say whether there is a list
	Yes, DryRun, Print, Remove bool
	Output                     printer.Format
}

const aboutConfig = `Let every SSH client and editor of this machine find workspaces by name, as in

  ssh alice-2bd806c.berth        the ID of "berth status"
  scp file alice-2bd806c.berth:
  code --remote ssh-remote+alice-2bd806c.berth /home/alice

A line at the top of your ~/.ssh/config includes a file of berth's own, with a block that
leads every host name WORKSPACE.berth or WORKSPACE.NAMESPACE.berth to "berth ssh proxy".
What would change is shown, and you are asked. With --remove, your file is what it was.

The cluster is that of this run: its context is written into the block. For workspaces of
several clusters, give each a --name: with "--name prod", host names end with .prod.berth.

Editors that list the hosts of the configuration see the pattern alone; with --list there
is a line for each workspace of the namespace. "berth provision" and "berth delete" keep
these lines up to date, except in the configuration of Windows. Another run of this command
without --list keeps them, and --list=false takes them out.

A block is as this run says: --start, --multiplex and --option are to be given again.

With --gateway, workspaces are entered through that gateway of the configuration: give the
block a --name to have both. Ports take nc, socat, bash or python3 in the image then.

In WSL, --wsl writes the configuration of Windows, for editors that run there.`

func newConfigCmd(f *cmdutil.Factory, runF func(context.Context, *ConfigOptions) error) *cobra.Command {
	o := &ConfigOptions{
		IO: f.IO, Read: sshconfig.Read, Executable: executable, Places: places(f), Check: checkedBySSH,
	}
	cmd := &cobra.Command{
		Use:   "config",
		Short: "Let SSH clients and editors find workspaces by name",
		Long:  aboutConfig,
		Example: `  berth ssh config
  berth ssh config --dry-run
  berth ssh config --name prod --context prod
  berth ssh config --start --option Compression=yes
  berth ssh config --remove`,
		Args:              cmdutil.NoArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: cmdutil.RunE(o, runF, func(cmd *cobra.Command, _ []string) error {
			o.Pinned = func() (env, flags []string, err error) { return f.Pinned(cmdutil.ClusterArguments(cmd)) }
			o.Workspaces = func() ([]string, error) { return f.WorkspaceIDs(cmd) }
			o.Flags = cmdutil.ClusterFlags(cmd)
			o.Namespace, o.KeepList = namespace(f), !cmd.Flags().Changed("list")
			return o.validate()
		}),
	}
	f.For(cmd).AddGatewayFlag(cmd, &o.Gateway)
	flags := cmd.Flags()
	flags.StringVar(&o.Block.Name, "name", "", "name of the block: host names end with .NAME.berth")
	flags.StringArrayVarP(&o.Block.Options, "option", "o", nil, "an option of ssh_config for workspaces, "+
		"KEYWORD=VALUE; may be repeated (-o is not --output here)")
	flags.BoolVar(&o.Block.Multiplex, "multiplex", false, "let the sessions of a workspace share one "+
		"connection (ControlMaster)")
	flags.BoolVar(&o.Start, "start", false, "start a workspace that is stopped or has no pod when a client connects")
	flags.BoolVar(&o.List, "list", false, "a line for each workspace, for editors that list hosts")
	flags.BoolVar(&o.Windows, "wsl", false, "write the configuration of Windows (in WSL)")
	flags.BoolVarP(&o.Yes, "yes", "y", false, "do not ask")
	flags.BoolVar(&o.DryRun, "dry-run", false, "show what would change, and change nothing")
	flags.BoolVar(&o.Print, "print", false, "print berth's own file, and change nothing")
	flags.BoolVar(&o.Remove, "remove", false, "remove the block; with the last one, also the line in ~/.ssh/config")
	cmdutil.NoFlagValues(cmd, "option")
	cmdutil.AddOutputFlag(cmd, &o.Output, "text", "json", "yaml", "name", "jsonpath=", "go-template=")
	_ = cmd.RegisterFlagCompletionFunc("name", cmdutil.CompleteList(func(cmd *cobra.Command) ([]string, error) {
		return blockNames(cmd.Context(), o)
	}))
	return cmd
}

// blockNames are the names of the blocks that there are.
func blockNames(ctx context.Context, o *ConfigOptions) ([]string, error) {
	p, err := o.Places(ctx, false)
	if err != nil {
		return nil, err
	}
	own, err := o.Read(p.Own)
	return slices.DeleteFunc(sshconfig.Names(own.Old), func(name string) bool { return name == "" }), err
}

// validate finds what is wrong with the command line.
func (o *ConfigOptions) validate() error {
	if err := sshconfig.CheckName(o.Block.Name); err != nil {
		return err
	}
	for i, option := range o.Block.Options {
		if keyword, value, ok := strings.Cut(option, "="); ok && !strings.ContainsAny(keyword, " \t\"") {
			o.Block.Options[i] = keyword + " " + value
		}
		if _, err := printer.ParseFormat(option); err == nil && option != "" {
			return fault.New(fault.InvalidArgument, "--option %q is not an option of ssh_config", option).
				WithHint("as with ssh, -o is --option here: write %s", fault.Command("--output", option))
		}
		if err := sshconfig.CheckOption(option); err != nil {
			return err
		}
	}
	if o.Gateway != "" && (o.Start || o.List) {
		return fault.New(fault.InvalidArgument, "--%s is mutually exclusive with --start and --list",
			cmdutil.FlagGateway).
			WithHint("a gateway neither starts workspaces nor lists them")
	}
	if o.Print && (o.Remove || o.DryRun || !o.Output.IsText()) {
		return fault.New(fault.InvalidArgument, "--print is mutually exclusive with --remove, --dry-run and --output")
	}
	return nil
}

// RunConfig shows what would change, asks, and writes it.
func RunConfig(ctx context.Context, o *ConfigOptions) error {
	places, err := o.Places(ctx, o.Windows)
	if err != nil {
		return err
	}
	if err := o.fill(places); err != nil {
		return err
	}
	planned, err := o.plan(places)
	if err != nil {
		return err
	}
	if err := o.check(ctx, planned); err != nil {
		return err
	}
	if o.Print {
		_, err := o.IO.Out.Write(planned.own.New)
		return err
	}
	doc, err := o.document(planned)
	if err != nil {
		return err
	}
	if planned.none() || o.DryRun {
		if !o.Remove && !o.DryRun {
			if _, err := sshconfig.Known(places.Dir); err != nil {
				return err
			}
		}
		return printer.Print(o.IO, o.Output, doc)
	}
	if err := o.show(&doc); err != nil {
		return err
	}
	if err := o.confirm(ctx); err != nil {
		return err
	}
	if err := o.write(places, planned); err != nil {
		return err
	}
	doc.Written = true
	return printer.Print(o.IO, o.Output, doc)
}

// fill adds what the block has besides what the command line says.
func (o *ConfigOptions) fill(places Places) error {
	if o.Remove {
		return nil
	}
	own, err := o.Executable()
	if err != nil {
		return fault.New(fault.Internal, "find this program: %w", err)
	}
	env, flags, err := o.Pinned()
	if err != nil {
		return err
	}
	if err := o.list(places, slices.Concat(env, flags)); err != nil {
		return err
	}
	named := func(word string) bool { return strings.HasPrefix(word, "--namespace=") }
	if o.Block.Namespace != "" && !slices.ContainsFunc(flags, named) {
		flags = append(flags, "--namespace="+o.Block.Namespace) // those that are listed are found there
	}
	proxy := slices.Clone(places.Before)
	if len(env) > 0 {
		proxy = append(append(proxy, "env"), env...)
	}
	proxy = append(append(proxy, filepath.ToSlash(own), "ssh", "proxy"), flags...)
	if o.Gateway != "" {
		proxy = append(proxy, "--"+cmdutil.FlagGateway+"="+o.Gateway)
	}
	if o.Block.Name != "" {
		proxy = append(proxy, "--suffix="+sshconfig.DomainOf(o.Block.Name))
	}
	if o.Start {
		proxy = append(proxy, "--start")
	}
	o.Block.Proxy, o.Block.KnownHosts, o.Block.ControlPath = proxy, places.KnownHosts, controlPath(places)
	return nil
}

// list says which workspaces are named one by one: those that there are, or, if the command line does not say, those
// that the block names already, unless it is of another cluster or namespace.
func (o *ConfigOptions) list(places Places, words []string) (err error) {
	if o.List {
		if o.Block.Namespace, err = o.Namespace(); err == nil {
			o.Block.Hosts, err = o.Workspaces()
		}
		return err
	}
	if !o.KeepList || o.Gateway != "" {
		return nil
	}
	own, err := o.Read(places.Own)
	if err != nil {
		return err
	}
	of, ids, listed := sshconfig.Listed(own.Old, o.Block.Name)
	if !listed || !sshconfig.Leads(own.Old, o.Block.Name, sshconfig.Deciding(words)) {
		return nil
	}
	here, err := o.Namespace()
	if here == of {
		o.Block.Namespace, o.Block.Hosts = of, ids
	}
	return err
}

// namespace is the one that the command works in.
func namespace(f *cmdutil.Factory) func() (string, error) {
	return func() (string, error) {
		name, _, err := f.Kube.ToRawKubeConfigLoader().Namespace()
		if err != nil {
			return "", fault.New(fault.InvalidArgument, "the namespace is not known: %w", err).
				WithHint("set --namespace")
		}
		return name, nil
	}
}

// show prints the differences, before a question is asked about them. Where standard output is for the document, they
// are on the side of the question.
func (o *ConfigOptions) show(doc *result.SSHConfiguration) error {
	on := o.IO
	switch {
	case o.Output.IsText():
		doc.Shown = true
	case o.Yes:
		return nil
	default:
		on.Out = on.Err
	}
	_, err := io.WriteString(on.Out, style.JoinLines(doc.Changes(printer.Page(on, printer.Format{}))))
	return err
}

func (o *ConfigOptions) confirm(ctx context.Context) error {
	if o.Yes {
		return nil
	}
	if !o.IO.CanAsk() {
		return fault.New(fault.InvalidArgument, "--yes is required to change the configuration of ssh "+
			"without a terminal").
			WithHint("pass --yes to write it, or --dry-run to see the changes alone")
	}
	return batch.Confirm(ctx, o.IO, "Make these changes?", "changed")
}

// controlPath is where the sockets of shared connections are: beside the user's configuration, as OpenSSH names that.
func controlPath(places Places) string {
	if strings.HasPrefix(places.Include, "~/") {
		return "~/.ssh/berth-%C"
	}
	return strings.ReplaceAll(filepath.ToSlash(filepath.Dir(places.User)), "%", "%%") + "/berth-%C"
}
