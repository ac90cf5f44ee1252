//go:build unix

package sshd_test

import (
	"context"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/berthdev/berth/internal/exec"
	"github.com/berthdev/berth/internal/exec/sshd"
)

// The input of a command does not end before the command has begun: a runtime that closes it earlier loses the output.
func TestInputEndsAfterTheStart(t *testing.T) {
	var p sshd.Place
	p.Run = func(_ context.Context, c sshd.Command, s exec.Session) (int, error) {
		ended := make(chan struct{})
		go func() {
			_, _ = io.Copy(io.Discard, s.Stdin)
			close(ended)
		}()
		select {
		case <-ended:
			return 1, nil
		case <-time.After(50 * time.Millisecond): // it came long ago
		}
		c.Started(42)
		<-ended
		return 0, nil
	}
	client := connect(t, func(context.Context, string, func(string)) (sshd.Place, error) { return p, nil })
	for range 3 {
		s, err := client.NewSession()
		if err != nil {
			t.Fatal(err)
		}
		s.Stdin = strings.NewReader("")
		if err := s.Run("x"); err != nil {
			t.Error(err)
		}
	}
}
