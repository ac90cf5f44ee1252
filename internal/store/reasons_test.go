package store

import (
	"io"
	"testing"

	"github.com/nats-io/nats.go"
)

// After a refusal the server closes the connection, which says nothing; but another
// refusal is news, and a connection ends all of it.
func TestRefusalIsNotForgotten(t *testing.T) {
	n := &NATS{created: make(chan struct{}), attempted: make(chan struct{})}
	for _, c := range []struct{ noted, want error }{
		{io.EOF, io.EOF},
		{nats.ErrAuthorization, nats.ErrAuthorization},
		{io.EOF, nats.ErrAuthorization},
		{nats.ErrSecureConnWanted, nats.ErrSecureConnWanted},
		{nil, nil},
		{io.EOF, io.EOF},
	} {
		n.note(c.noted)
		if last, _ := n.reasons(); last != c.want { //nolint:errorlint // the very same
			t.Errorf("after %v the reason is %v, want %v", c.noted, last, c.want)
		}
	}
}
