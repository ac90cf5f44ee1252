package ssh

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/berthdev/berth/internal/commands/cmdutil"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/sshconfig"
)

// Places are the files of a configuration.
type Places struct {
	// Dir has the host key.
	Dir string
	// Own is berth's own file, and User that of OpenSSH.
	Own, User string
	// Include and KnownHosts are berth's own files as OpenSSH is told them.
	Include, KnownHosts string
	// Known makes the file with the host key.
	Known func() error
	// Before begins the command of the proxy.
	Before []string
}

// places finds them; those of Windows from within WSL.
func places(f *cmdutil.Factory) func(context.Context, bool) (Places, error) {
	return func(ctx context.Context, windows bool) (Places, error) {
		dir, err := f.SSHDir()
		if err != nil {
			return Places{}, err
		}
		if windows {
			return windowsPlaces(ctx, dir, f.Getenv("WSL_DISTRO_NAME"), said)
		}
		home, err := os.UserHomeDir()
		if err != nil {
			return Places{}, err
		}
		p := Places{Dir: dir, Own: filepath.Join(dir, cmdutil.SSHFile), User: filepath.Join(home, ".ssh", "config")}
		p.Include, p.KnownHosts = filepath.ToSlash(p.Own), filepath.ToSlash(filepath.Join(dir, "known_hosts"))
		if below, ok := strings.CutPrefix(p.Include, filepath.ToSlash(home)+"/"); ok && isHome(home) {
			p.Include = "~/" + below // the file may be shared by machines
		}
		p.Known = func() error {
			_, err := sshconfig.Known(dir)
			return err
		}
		return p, nil
	}
}

// isHome is true for a directory that OpenSSH calls ~, whatever $HOME is. On Windows it wants absolute paths.
func isHome(dir string) bool {
	self, err := user.Current()
	return err == nil && self.HomeDir == dir && runtime.GOOS != "windows"
}

// executable is this program as the user calls it, if that is the same: the file behind a link may be gone with the
// next version.
func executable() (string, error) {
	own, err := os.Executable()
	if err != nil {
		return "", err
	}
	for _, name := range []string{os.Args[0], "berth"} {
		called, err := exec.LookPath(name)
		if err != nil {
			continue
		}
		if called, err = filepath.Abs(called); err == nil && isSame(called, own) {
			return called, nil
		}
	}
	return own, nil
}

func isSame(a, b string) bool {
	first, err := os.Stat(a)
	if err != nil {
		return false
	}
	second, err := os.Stat(b)
	return err == nil && os.SameFile(first, second)
}

// said runs a program and returns what it prints.
func said(ctx context.Context, program string, arguments ...string) (string, error) {
	out, err := exec.CommandContext(ctx, program, arguments...).Output() //nolint:gosec // one of two
	return strings.TrimSpace(string(out)), err
}

// checkedBySSH asks the ssh of this machine, if there is one, what it makes of a configuration for a host. It connects
// with nothing.
func checkedBySSH(ctx context.Context, text []byte, host string) error {
	program, err := exec.LookPath("ssh")
	if err != nil {
		return nil // there is nobody to be asked
	}
	file, err := os.CreateTemp("", "berth-ssh-config-")
	if err != nil {
		return fault.New(fault.Failed, "%w", err)
	}
	defer func() { _ = os.Remove(file.Name()) }()
	_, err = file.Write(text)
	if err := errors.Join(err, file.Close()); err != nil {
		return fault.New(fault.Failed, "%w", err)
	}
	var said bytes.Buffer
	cmd := exec.CommandContext(ctx, program, "-G", "-F", file.Name(), host) //nolint:gosec // ssh
	cmd.Stderr = &said
	if err := cmd.Run(); err == nil || ctx.Err() != nil {
		return ctx.Err()
	}
	why, _, _ := strings.Cut(strings.TrimSpace(said.String()), "\n")
	if _, after, found := strings.Cut(why, file.Name()); found {
		why = strings.TrimLeft(after, ": ")
	}
	return fault.New(fault.InvalidArgument, "--option: ssh does not take the configuration: %s",
		cmp.Or(strings.TrimSpace(why), "it does not say why")).
		WithHint("`man ssh_config` has the options of this version")
}

// windowsPlaces are those of the user of Windows, who runs this distribution.
func windowsPlaces(
	ctx context.Context, dir, distribution string, say func(context.Context, string, ...string) (string, error),
) (Places, error) {
	if distribution == "" {
		return Places{}, fault.New(fault.InvalidArgument, "--wsl: this is not a distribution of WSL").
			WithHint("on Windows itself, and elsewhere, leave out --wsl")
	}
	there, err := say(ctx, "cmd.exe", "/d", "/c", "echo %USERPROFILE%")
	if err != nil {
		return Places{}, fault.New(fault.Failed, "ask Windows for the user's directory: %w", err)
	}
	here, err := say(ctx, "wslpath", "-u", there)
	if err != nil {
		return Places{}, fault.New(fault.Failed, "find %s from here: %w", there, err)
	}
	there = strings.ReplaceAll(there, `\`, "/")
	p := Places{
		Dir: dir, Own: filepath.Join(here, ".ssh", "berth", "config"), User: filepath.Join(here, ".ssh", "config"),
		Include: there + "/.ssh/berth/config", KnownHosts: there + "/.ssh/berth/known_hosts",
		Before: []string{"wsl.exe", "-d", distribution, "--exec"},
	}
	p.Known = func() error {
		known, err := sshconfig.Known(dir)
		if err != nil {
			return err
		}
		line, err := os.ReadFile(known) //nolint:gosec // the user's own
		if err != nil {
			return err
		}
		return sshconfig.Change{Path: filepath.Join(filepath.Dir(p.Own), "known_hosts"), New: line}.Write()
	}
	return p, nil
}
