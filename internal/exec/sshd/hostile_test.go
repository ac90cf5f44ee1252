//go:build unix

package sshd_test

import (
	"context"
	"io"
	"testing"

	"golang.org/x/crypto/ssh"

	"github.com/berthdev/berth/internal/exec"
	"github.com/berthdev/berth/internal/exec/sshd"
)

// FuzzHandshake is what comes before anybody is known.
func FuzzHandshake(f *testing.F) {
	for _, text := range []string{
		"", "SSH-2.0-x\r\n", "GET / HTTP/1.0\r\n\r\n",
		"SSH-2.0-x\r\n\x00\x00\x00\x0c\x0a\x14",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, sent []byte) {
		mine, theirs := pair(t)
		server := sshd.Server{Key: key(t), Version: "1"}
		served := make(chan error, 1)
		go func() { served <- server.Serve(t.Context(), theirs) }()
		go func() { _, _ = io.Copy(io.Discard, mine) }()
		_, _ = mine.Write(sent)
		_ = mine.Close()
		if err := <-served; err == nil {
			t.Error("it is let in")
		}
	})
}

// FuzzChannels is what comes in channels: their types, and requests in sessions. What gets as far as a command has only
// variables that may be set.
func FuzzChannels(f *testing.F) {
	f.Add("session", "exec", []byte("\x00\x00\x00\x02id"))
	f.Add("session", "env", []byte("\x00\x00\x00\x04PATH\x00\x00\x00\x01x"))
	f.Add("session", "pty-req", []byte("\x00\x00\x00\x05xterm"))
	f.Add("session", "subsystem", []byte("\x00\x00\x00\x04sftp"))
	f.Add("session", "signal", []byte("\x00\x00\x00\x08; reboot"))
	f.Add("direct-tcpip", "", tcp("localhost", 70000))
	f.Add("direct-streamlocal@openssh.com", "", []byte("\xff\xff\xff\xff"))
	f.Fuzz(func(t *testing.T, kind, request string, payload []byte) {
		p := here(t.TempDir())
		p.Run = func(_ context.Context, c sshd.Command, _ exec.Session) (int, error) {
			for _, variable := range c.Env {
				if variable[0] == '=' || variable[0] >= '0' && variable[0] <= '9' {
					t.Errorf("%q is set", variable)
				}
			}
			return 0, nil
		}
		p.Dial = func(context.Context, uint16) (io.ReadWriteCloser, error) { return nil, io.EOF }
		p.Files = func(context.Context, io.ReadWriteCloser) error { return nil }
		client := connect(t, func(context.Context, string, func(string)) (sshd.Place, error) { return p, nil })
		channel, requests, err := client.OpenChannel(kind, payload)
		if err == nil {
			go ssh.DiscardRequests(requests)
			_, _ = channel.SendRequest(request, true, payload)
			_, _ = channel.SendRequest("exec", true, ssh.Marshal(struct{ Line string }{"true"}))
			_ = channel.Close()
		}
		if ok, _, err := client.SendRequest("keepalive@openssh.com", true, payload); !ok || err != nil {
			t.Errorf("the connection is over: %v", err)
		}
	})
}
