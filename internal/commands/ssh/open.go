package ssh

import (
	"context"
	"io"
	"net/url"
	"os/exec"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/berthdev/berth/internal/commands/cmdutil"
	"github.com/berthdev/berth/internal/exec/pod"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/lifecycle"
	"github.com/berthdev/berth/internal/provision/inventory"
	"github.com/berthdev/berth/internal/sshconfig"
	"github.com/berthdev/berth/internal/terminal/wording"
)

// OpenOptions are what the command line of `berth open` says. What it needs of the configuration is written as
// `berth ssh config` does.
type OpenOptions struct {
	ConfigOptions
	FindWorkspaces func() (inventory.Reader, error)
	States         func(context.Context) (lifecycle.Place, func(), error)
	Getenv         func(string) string
	LookPath       func(string) (string, error)
	// Start starts a program and waits until it has handed over to the editor.
	Start func(ctx context.Context, program string, arguments []string) error
	// Another runs another command of berth about the workspace, which the user sees.
	Another another

	Workspace, Path, Editor string
	Within                  string // the namespace of a host name; empty for that of the flags
}

const aboutOpen = `Open a workspace in the editor that is installed here and works over SSH: VS Code,
Cursor, Windsurf, VSCodium, Zed or JetBrains Gateway. Of several, the first is taken, or
that of --editor or $BERTH_EDITOR. A workspace that is stopped, or whose pod was
deleted, is started first, and one that starts is waited for.

The editor finds the workspace by the configuration of ssh. If berth is not in there yet,
what would change is shown, and you are asked, as by "berth ssh config".`

// NewOpenCmd makes `berth open`.
func NewOpenCmd(f *cmdutil.Factory, runF func(context.Context, *OpenOptions) error) *cobra.Command {
	o := &OpenOptions{
		ConfigOptions:  ConfigOptions{IO: f.IO, Read: sshconfig.Read, Executable: executable, Places: places(f)},
		FindWorkspaces: f.Workspaces, Getenv: f.Getenv, LookPath: exec.LookPath,
		Start: func(ctx context.Context, program string, arguments []string) error {
			cmd := exec.CommandContext(ctx, program, arguments...) // it ends as soon as a window is open
			cmd.Stdout, cmd.Stderr = f.IO.ForPrograms(), f.IO.ForPrograms()
			return cmd.Run()
		},
	}
	cmd := &cobra.Command{
		Use:        "open USERSTR|ID [PATH]",
		SuggestFor: []string{"code", "edit", "vscode"},
		Short:      "Open a workspace in your editor",
		Long:       aboutOpen,
		Example: `  berth open alice~dev
  berth open alice~dev /home/alice/project
  berth open alice~dev --editor zed /src --yes`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) < 1 || len(args) > 2 {
				return cmdutil.UsageError(cmd, fault.New(fault.InvalidArgument,
					"requires one workspace, and a path in it at most"))
			}
			return nil
		},
		ValidArgsFunction: f.CompleteWorkspace,
		RunE: cmdutil.RunE(o, runF, func(cmd *cobra.Command, args []string) error {
			o.Workspace, o.Path, o.Flags = args[0], cmdutil.Optional(args[1:]), cmdutil.ClusterFlags(cmd)
			if user, name, ok := typed(o.Workspace); ok && user == "" {
				o.Workspace, o.Within = name.Workspace, name.Namespace
			}
			given := slices.DeleteFunc(cmdutil.ClusterArguments(cmd),
				func(word string) bool { return strings.HasPrefix(word, "--namespace=") })
			o.Pinned = func() (env, flags []string, err error) { return f.Pinned(given) }
			o.Namespace, o.KeepList = namespace(f), true
			o.Another = anotherProcess(cmdutil.ClusterArguments(cmd), o.Flags, f.IO.ForPrograms())
			if o.Path != "" && !path.IsAbs(o.Path) {
				return fault.New(fault.InvalidArgument, "the path %q must be absolute", o.Path)
			}
			return nil
		}),
	}
	o.States = f.For(cmd).States
	cmdutil.EnumVar(cmd, &o.Editor, "editor", "the editor (default: $BERTH_EDITOR, or the first that is installed)",
		editorNames()...)
	cmd.Flags().BoolVarP(&o.Yes, "yes", "y", false, "change the configuration of ssh without asking")
	return cmd
}

// Open opens the workspace.
func Open(ctx context.Context, o *OpenOptions) error {
	if o.Getenv("SSH_CONNECTION") != "" {
		return fault.New(fault.Failed,
			"this is a session over SSH: an editor would open on a screen that is not yours").
			WithHint("run this on your own machine, where its kubeconfig leads to the same cluster")
	}
	wanted := o.Editor
	if wanted == "" {
		wanted = o.Getenv("BERTH_EDITOR")
	}
	e, program, err := choose(wanted, o.LookPath)
	if err != nil {
		return o.byHand(ctx, err)
	}
	id, namespace, err := o.running(ctx)
	if err != nil {
		return err
	}
	// An editor of Windows, called from WSL, reads the configuration there.
	o.Windows = o.Getenv("WSL_DISTRO_NAME") != "" && strings.HasPrefix(program, "/mnt/")
	if err := o.configure(ctx); err != nil {
		return err
	}
	host := o.host(id, namespace)
	if _, err := io.WriteString(o.IO.Err, "opening "+host+" in "+e.title+"\n"); err != nil {
		return err
	}
	if err := o.Start(ctx, program, e.arguments(host, o.Path)); err != nil {
		return fault.New(fault.Failed, "%s: %w", program, err)
	}
	return nil
}

// host is what the configuration of ssh calls the workspace.
func (o *OpenOptions) host(id, namespace string) string {
	return id + "." + namespace + "." + sshconfig.DomainOf(o.Block.Name)
}

// byHandTime is how long the cluster is asked for what is only a hint.
const byHandTime = 3 * time.Second

// byHand adds to the error about an editor that is not found how the workspace can be entered without: by what the
// configuration of ssh calls it, if it is found and the configuration does not lead to another cluster.
func (o *OpenOptions) byHand(ctx context.Context, err error) error {
	f := *fault.From(err)
	if f.Code != fault.Failed {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, byHandTime)
	defer cancel()
	_, target, missing := o.find(ctx)
	if missing != nil {
		return err
	}
	shell := "a shell: " + wording.Title{UserString: o.Workspace, Flags: o.Flags}.BySSH()
	before := ""
	known, own, words, missing := o.known(ctx)
	switch {
	case missing == nil && !known && elsewhere(own, words):
		if name, missing := o.name(); missing == nil {
			return f.WithHint("%s; by hand: %s; %s", f.Hint, name, shell)
		}
		return f.WithHint("%s; %s", f.Hint, shell)
	case missing != nil || !known:
		before = fault.Command("berth", "ssh", "config") + flagged(o.Flags) + ", and then "
	}
	host := o.host(target.ID, target.Namespace)
	address := "vscode://vscode-remote/ssh-remote+" + host + (&url.URL{Path: o.Path}).EscapedPath()
	return f.WithHint("%s; by hand: %sthe host %s with Remote-SSH, or the address %s; %s",
		f.Hint, before, host, address, shell)
}

// flagged are flags behind a command.
func flagged(flags []string) string {
	return strings.TrimRight(" "+strings.Join(flags, " "), " ")
}

// running finds the workspace, and brings it up if it does not run.
func (o *OpenOptions) running(ctx context.Context) (id, namespace string, err error) {
	m := newMender(true, o.Another)
	say := func(text string) { _, _ = io.WriteString(o.IO.Err, text) }
	err = m.until(ctx, Name{Workspace: o.Workspace, Namespace: o.Within}, say, func() error {
		id, namespace, err = o.look(ctx)
		return err
	})
	return id, namespace, err
}

// find finds the workspace, whether it runs or not.
func (o *OpenOptions) find(ctx context.Context) (reader inventory.Reader, target *inventory.Target, err error) {
	arg, err := inventory.ParseArgument(o.Workspace)
	if err != nil {
		return reader, nil, err
	}
	if reader, err = cmdutil.Await(ctx, o.FindWorkspaces); err != nil {
		return reader, nil, err
	}
	if o.Within != "" {
		reader = reader.In(o.Within)
	}
	target, err = reader.Find(ctx, arg)
	return reader, target, err
}

// look finds the workspace as it is now, and that it runs.
func (o *OpenOptions) look(ctx context.Context) (id, namespace string, err error) {
	reader, target, err := o.find(ctx)
	if err != nil {
		return "", "", err
	}
	pods, err := reader.PodsFound(ctx, target)
	if err == nil {
		_, err = pod.Place{Ready: true}.In(pods)
	}
	if err != nil {
		return "", "", cmdutil.OrStopped(ctx, o.States, o.Flags, target, o.Workspace, err)
	}
	return target.ID, target.Namespace, nil
}

// known is whether the configuration of ssh has a block that leads to this cluster, which it names. Own is berth's own
// part of it, and words are those that lead there.
func (o *OpenOptions) known(ctx context.Context) (known bool, own sshconfig.Change, words []string, err error) {
	there, err := o.Places(ctx, o.Windows)
	if err != nil {
		return false, own, nil, err
	}
	env, flags, err := o.Pinned()
	if err != nil {
		return false, own, nil, err
	}
	if own, err = o.Read(there.Own); err != nil {
		return false, own, nil, err
	}
	user, err := o.Read(there.User)
	if err != nil {
		return false, own, nil, err
	}
	words = slices.Concat(env, flags)
	for _, name := range sshconfig.Names(own.Old) {
		if sshconfig.Leads(own.Old, name, words) && len(sshconfig.Include(user.Old, there.Include)) == len(user.Old) {
			o.Block.Name = name
			return true, own, words, nil
		}
	}
	return false, own, words, nil
}

// configure sees to it that the configuration of ssh has a block that leads to this cluster, and names it.
func (o *OpenOptions) configure(ctx context.Context) error {
	known, own, words, err := o.known(ctx)
	if known || err != nil {
		return err
	}
	if elsewhere(own, words) {
		name, err := o.name()
		if err != nil {
			return err
		}
		return fault.New(fault.Conflict, "the configuration of ssh leads to another cluster").WithHint("%s", name)
	}
	return RunConfig(ctx, &o.ConfigOptions)
}

// elsewhere is true if the block without a name leads to another cluster.
func elsewhere(own sshconfig.Change, words []string) bool {
	return slices.Contains(sshconfig.Names(own.Old), "") && !sshconfig.Leads(own.Old, "", words)
}

// name is the hint by which this cluster gets a block of its own.
func (o *OpenOptions) name() (string, error) {
	_, flags, err := o.Pinned()
	return "add this one under a name: " +
		fault.Command(append([]string{"berth", "ssh", "config", "--name", "NAME"}, flags...)...), err
}
