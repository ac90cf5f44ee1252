package ssh

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"sync"

	xssh "golang.org/x/crypto/ssh"

	"github.com/berthdev/berth/internal/commands/cmdutil"
	"github.com/berthdev/berth/internal/exec"
	"github.com/berthdev/berth/internal/exec/sshd"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/sshconfig"
)

// maxConnections is how many clients may be connected with a port at a time.
const maxConnections = 32

// listen serves a port of this machine, for clients that cannot run a program to be connected by. Everybody on this
// machine can reach it, so it takes a key, which is made for this run and ends with it.
func listen(ctx context.Context, o *Options) error {
	if err := checkAddress(o.Listen); err != nil {
		return err
	}
	dir, err := o.Dir()
	if err != nil {
		return err
	}
	key, err := sshconfig.HostKey(dir)
	if err != nil {
		return fault.New(fault.Failed, "keep the host key: %w", err)
	}
	keys, err := os.MkdirTemp("", "berth-ssh-")
	if err != nil {
		return fault.New(fault.Failed, "keep the client's key: %w", err)
	}
	defer func() { _ = os.RemoveAll(keys) }()
	file := filepath.Join(keys, "id_ed25519")
	accepted, err := clientKey(file)
	if err != nil {
		return fault.New(fault.Failed, "keep the client's key: %w", err)
	}
	name := Name{Workspace: o.Workspace, Namespace: o.Namespace}
	find := (&finder{
		workspaces: o.Workspaces, states: o.States, flags: o.Flags, name: name,
		mender: newMender(false, o.Another),
	}).find
	if o.Gateway != "" {
		find = behind{through: o.Through, gateway: o.Gateway, name: name}.find
	}
	say := func(text string) { _, _ = io.WriteString(o.IO.Err, text) }
	if err := try(ctx, find, say, o.Gateway != ""); err != nil { // said here rather than to each client
		return err
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", o.Listen)
	if err != nil {
		return fault.New(fault.Failed, "listen on %s: %w", o.Listen, err)
	}
	host, port, err := net.SplitHostPort(listener.Addr().String())
	if err != nil {
		return err
	}
	known := filepath.Join(keys, "known_hosts")
	line := fmt.Sprintf("[%s]:%s %s", host, port, xssh.MarshalAuthorizedKey(key.PublicKey()))
	if err := os.WriteFile(known, []byte(line), 0o600); err != nil {
		return fault.New(fault.Failed, "keep the host key: %w", err)
	}
	_, _ = fmt.Fprintf(o.IO.Out, `Listening on %s for SSH clients until this command ends.
user:      %s
key:       %s
host key:  %s
connect:   %s
`, listener.Addr(), sshconfig.User, file, xssh.FingerprintSHA256(key.PublicKey()),
		fault.Command("ssh", "-F", "none", "-i", file, "-o", "IdentitiesOnly=yes", "-o", "UserKnownHostsFile="+known,
			"-p", port, sshconfig.User+"@"+host))
	server := &sshd.Server{
		Key: key, Version: cmdutil.Version().Version, Find: find, Explain: hints{flags: o.Flags}.explain,
	}
	return cmdutil.FollowEnded(ctx, accept(ctx, listener, func(ctx context.Context, conn net.Conn) {
		_ = server.ServeKey(ctx, conn, accepted) // its client has been told
	}))
}

// try finds the workspace; behind a gateway only a command shows whether it can be entered.
func try(
	ctx context.Context, find func(context.Context, string, func(string)) (sshd.Place, error), say func(string),
	run bool,
) error {
	place, err := find(ctx, sshconfig.User, say)
	if err != nil || !run {
		return err
	}
	_, err = place.Run(ctx, sshd.Command{Line: "true", Started: func(int) {}},
		exec.Session{Stdout: io.Discard, Stderr: io.Discard})
	return err
}

// checkAddress refuses what others than the users of this machine can reach.
func checkAddress(address string) error {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return fault.New(fault.InvalidArgument, "--listen %s is not ADDRESS:PORT", address).
			WithHint("use --listen 127.0.0.1:0 for a free port")
	}
	if ip, err := netip.ParseAddr(host); host != "localhost" && (err != nil || !ip.IsLoopback()) {
		return fault.New(fault.InvalidArgument, "--listen takes an address that only this machine can reach, not %s",
			host).
			WithHint("use --listen 127.0.0.1:0 for a free port")
	}
	return nil
}

// clientKey writes a new key, which its file alone has, and returns the public one.
func clientKey(file string) (xssh.PublicKey, error) {
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, err
	}
	block, err := xssh.MarshalPrivateKey(private, "berth ssh --listen")
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(file, pem.EncodeToMemory(block), 0o600); err != nil {
		return nil, err
	}
	return xssh.NewPublicKey(public)
}

// accept serves connections, each by itself, until ctx ends. One too many waits until another ends.
func accept(ctx context.Context, listener net.Listener, serve func(context.Context, net.Conn)) error {
	defer context.AfterFunc(ctx, func() { _ = listener.Close() })()
	var group sync.WaitGroup
	defer group.Wait()
	defer func() { _ = listener.Close() }()
	places := make(chan struct{}, maxConnections)
	for {
		select {
		case places <- struct{}{}:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		conn, err := listener.Accept()
		if err != nil {
			return errors.Join(context.Cause(ctx), err)
		}
		group.Go(func() {
			defer func() { <-places }()
			serve(ctx, conn)
		})
	}
}
