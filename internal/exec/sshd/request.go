package sshd

import (
	"errors"
	"fmt"
	"strings"

	"golang.org/x/crypto/ssh"
)

// What requests of clients contain, as RFC 4254 has it.
type (
	ptyRequest struct {
		Term                                 string
		Columns, Rows, WidthPixels, HeightPx uint32
		Modes                                string
	}
	sizeRequest struct {
		Columns, Rows, WidthPixels, HeightPx uint32
	}
	envRequest   struct{ Name, Value string }
	textRequest  struct{ Text string } // exec, subsystem, signal
	breakRequest struct{ Milliseconds uint32 }
	exitStatus   struct{ Status uint32 }
	tcpRequest   struct {
		Host       string
		Port       uint32
		OriginHost string
		OriginPort uint32
	}
	socketRequest struct {
		Path, Reserved0 string
		Reserved1       uint32
	}
)

// parse reads what a request contains.
func parse[T any](payload []byte) (request T, err error) {
	if len(payload) > maxRequest {
		return request, fmt.Errorf("the request has more than %d bytes", maxRequest)
	}
	err = ssh.Unmarshal(payload, &request)
	return request, err
}

// What a client may set in the environment: as much as sshd takes.
const (
	maxVariables     = 64
	maxVariableBytes = 32 << 10
)

// environment is what a client has set so far.
type environment struct {
	all   []string
	bytes int
}

// set takes one variable, unless it would change which programs run.
func (e *environment) set(name, value string) error {
	switch {
	case !isName(name) || strings.ContainsRune(value, 0):
		return errors.New("not a variable")
	case changesPrograms(name):
		return fmt.Errorf("%s is the place's own", name)
	case len(e.all) == maxVariables || e.bytes+len(name)+len(value) > maxVariableBytes:
		return errors.New("too many variables")
	}
	e.all, e.bytes = append(e.all, name+"="+value), e.bytes+len(name)+len(value)
	return nil
}

func isName(name string) bool {
	for i, r := range name {
		letter := r == '_' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
		if !letter && (i == 0 || r < '0' || r > '9') {
			return false
		}
	}
	return name != ""
}

// changesPrograms is true for variables that decide what a shell runs, or with what.
func changesPrograms(name string) bool {
	switch name {
	case "PATH", "HOME", "SHELL", "USER", "LOGNAME", "ENV", "BASH_ENV", "IFS", "SHELLOPTS", "BASHOPTS",
		"PROMPT_COMMAND", "PS4":
		return true
	}
	return strings.HasPrefix(name, "LD_") || strings.HasPrefix(name, "BASH_FUNC_")
}

// isSignal is true for the signals that RFC 4254 names, and those that OpenSSH sends besides.
func isSignal(name string) bool {
	switch name {
	case "ABRT", "ALRM", "FPE", "HUP", "ILL", "INT", "KILL", "PIPE", "QUIT", "SEGV", "TERM", "USR1", "USR2", "INFO":
		return true
	}
	return false
}
