package main

import (
	"context"
	"strings"
	"time"

	"github.com/berthdev/berth/internal/commands/cmdutil"
	"github.com/berthdev/berth/internal/commands/ssh"
	"github.com/berthdev/berth/internal/sshconfig"
	"github.com/berthdev/berth/internal/terminal"
)

// session is a picture of a command, of berth or another program, and of what the code of berth says there.
type session struct {
	name, command string
	columns       int
	lines         func() (text string, err error)
}

func sessions() []session {
	return []session{
		{"sshconfig", "berth ssh config --dry-run", 72, sshConfiguration},
		{"ssherror", "ssh alice-2bd806c.berth", 72, sshError},
	}
}

func (s session) draw() ([]byte, error) {
	text, err := s.lines()
	if err != nil {
		return nil, err
	}
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	return picture(s.command, append([]string{"$ " + s.command}, lines...), s.columns)
}

// sshConfiguration is what that command prints for a user who has no configuration of ssh.
func sshConfiguration() (string, error) {
	streams, buffers := terminal.Test("", time.Time{})
	streams.Out.Capabilities = screen()
	const own = "/home/alice/.config/berth/ssh/"
	err := ssh.RunConfig(context.Background(), &ssh.ConfigOptions{
		IO: streams, DryRun: true,
		Places: func(context.Context, bool) (ssh.Places, error) {
			return ssh.Places{
				Own: own + cmdutil.SSHFile, User: "/home/alice/.ssh/config", KnownHosts: own + "known_hosts",
				Include: "~/.config/berth/ssh/" + cmdutil.SSHFile,
			}, nil
		},
		Read:       func(path string) (sshconfig.Change, error) { return sshconfig.Change{Path: path}, nil },
		Executable: func() (string, error) { return "/usr/local/bin/berth", nil },
		Pinned:     func() (env, flags []string, err error) { return nil, []string{"--context=prod"}, nil },
	})
	return buffers.Out.String(), err
}

// sshError is what a client shows of a workspace that is stopped.
func sshError() (string, error) {
	const id = "alice-2bd806c"
	text, _ := ssh.Explain(cmdutil.Stopped(id, id, []string{"--context prod"}))
	return text, nil
}
