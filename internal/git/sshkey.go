package git

import (
	"bytes"
	"os"
	"path/filepath"
)

// SSHKey is a client that logs in with one key and nothing else of the user's: no
// agent, no other key, no configuration. Without known hosts, those of the user and
// the machine are known; insecure trusts every host. The key is in a private directory
// until remove is called.
func SSHKey(privateKey, knownHosts []byte, insecure bool) (command []string, remove func(), err error) {
	dir, err := os.MkdirTemp("", "berth-ssh-")
	if err != nil {
		return nil, nil, err
	}
	remove = func() { _ = os.RemoveAll(dir) }
	key, known := filepath.Join(dir, "key"), filepath.Join(dir, "known_hosts")
	// Without the newline at its end, OpenSSH takes a key for none.
	err = os.WriteFile(key, append(bytes.TrimRight(privateKey, "\r\n "), '\n'), 0o600)
	if err == nil {
		err = os.WriteFile(known, append(knownHosts, '\n'), 0o600)
	}
	if err != nil {
		remove()
		return nil, nil, err
	}
	command = []string{
		"ssh", "-F", "none", "-i", key, "-o", "IdentitiesOnly=yes", "-o", "IdentityAgent=none",
		"-o", "PreferredAuthentications=publickey", "-o", "ControlPath=none", "-o", "ForwardAgent=no",
	}
	switch {
	case insecure:
		command = append(command, "-o", "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile="+os.DevNull, "-o",
			"GlobalKnownHostsFile="+os.DevNull)
	case len(bytes.TrimSpace(knownHosts)) > 0:
		command = append(command, "-o", `UserKnownHostsFile="`+known+`"`, "-o", "GlobalKnownHostsFile="+os.DevNull)
	}
	return command, remove, nil
}
