// Package sshconfig is what OpenSSH is told about workspaces: the host key that berth is known by, and a configuration
// that leads every host name of a workspace to `berth ssh proxy`.
package sshconfig

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/crypto/ssh"
)

// HostAlias is the name under which the host key is known: the same for all workspaces, as it is berth that answers.
const HostAlias = "berth"

const (
	keyFile        = "host_key"
	knownHostsFile = "known_hosts"
)

// HostKey reads the host key in a directory, or makes it, with the line of known_hosts beside it. Two processes that
// make it at the same time get the same one.
func HostKey(dir string) (ssh.Signer, error) {
	at := filepath.Join(dir, keyFile)
	text, err := os.ReadFile(at) //nolint:gosec // the user's own
	if errors.Is(err, fs.ErrNotExist) {
		if err := makeKey(dir, at); err != nil {
			return nil, err
		}
		text, err = os.ReadFile(at) //nolint:gosec // the user's own
	}
	if err != nil {
		return nil, err
	}
	signer, err := ssh.ParsePrivateKey(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", at, err)
	}
	return signer, nil
}

// makeKey writes a new key, unless another process was faster.
func makeKey(dir, at string) error {
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return err
	}
	block, err := ssh.MarshalPrivateKey(private, "berth")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, keyFile+".*") // 0600
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(f.Name()) }()
	_, err = f.Write(pem.EncodeToMemory(block))
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	if err := os.Link(f.Name(), at); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}

// Known sees to it that a directory has the file known_hosts with the host key, which is made if there is none. It
// returns the path of the file.
func Known(dir string) (string, error) {
	key, err := HostKey(dir)
	if err != nil {
		return "", err
	}
	at, line := filepath.Join(dir, knownHostsFile), KnownHosts(key.PublicKey())
	if old, err := os.ReadFile(at); err == nil && string(old) == line { //nolint:gosec // the user's own
		return at, nil
	}
	return at, Change{Path: at, New: []byte(line)}.Write()
}

// KnownHosts is the line of known_hosts for a host key.
func KnownHosts(key ssh.PublicKey) string {
	return HostAlias + " " + string(ssh.MarshalAuthorizedKey(key))
}
