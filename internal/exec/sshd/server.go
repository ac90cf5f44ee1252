// Package sshd ends SSH connections on this side: what a client asks for is done in a place, by commands that run there
// and connections with its ports. The place needs neither a server nor keys, and the connection outlives it: only the
// channels that ran there end with it. It knows neither Kubernetes nor a terminal.
package sshd

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"sync"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/berthdev/berth/internal/exec"
)

// Command is what a session runs.
type Command struct {
	// Line is a line for the user's shell; empty for the shell itself, as a login shell.
	Line string
	// Env are the variables that the client has sent, NAME=VALUE.
	Env []string
	// Rows and Columns are the size of the terminal at the start; 0 if there is none.
	Rows, Columns int
	// Started is called with the ID of the process, as soon as that is known, if it ever is.
	Started func(pid int)
}

// Place is where sessions run, as one user.
type Place struct {
	// Run runs a command, and returns its exit status.
	Run func(ctx context.Context, c Command, s exec.Session) (status int, err error)
	// Files serves SFTP on a stream, until that ends.
	Files func(ctx context.Context, stream io.ReadWriteCloser) error
	// Signal sends a signal, such as TERM, to a process that a command has started, and those of its group.
	Signal func(ctx context.Context, pid int, signal string) error
	// Dial connects with a port of the place itself.
	Dial func(ctx context.Context, port uint16) (io.ReadWriteCloser, error)
	// Relay connects with an address that is reached from the place; unix is the path of a socket.
	Relay func(ctx context.Context, address string, unix bool) (io.ReadWriteCloser, error)
	// Names are the host names and addresses of the place itself, besides those of loopback.
	Names []string
}

// Server serves connections.
type Server struct {
	// Key is what the server is known by.
	Key ssh.Signer
	// Version is named in the first line that a client gets; without spaces.
	Version string
	// Find finds the place of a user, as it is now. It is asked for each channel. What it tells by say, in lines, the
	// client sees while it waits.
	Find func(ctx context.Context, user string, say func(string)) (Place, error)
	// Explain is how an error reads for somebody at a client, and the exit status that it stands for.
	Explain func(error) (text string, status int)
	// Say tells the user, beside the connection, what no channel can; nil for nobody.
	Say func(text string)
}

const (
	handshakeTime = 2 * time.Minute
	maxChannels   = 100
	maxStarting   = 32       // sessions whose command has not begun
	maxRequest    = 64 << 10 // bytes
)

// Serve serves one connection until it ends, or the context does. Anyone who has the stream is let in: only its owner
// can write to it.
func (s *Server) Serve(ctx context.Context, stream io.ReadWriteCloser) error {
	return s.serve(ctx, stream, &ssh.ServerConfig{NoClientAuth: true})
}

// ServeKey serves one connection with a client that has a key.
func (s *Server) ServeKey(ctx context.Context, stream io.ReadWriteCloser, accepted ssh.PublicKey) error {
	return s.serve(ctx, stream, &ssh.ServerConfig{
		PublicKeyCallback: func(_ ssh.ConnMetadata, key ssh.PublicKey) (*ssh.Permissions, error) {
			if !bytes.Equal(key.Marshal(), accepted.Marshal()) {
				return nil, errors.New("another key is expected")
			}
			return &ssh.Permissions{}, nil
		},
	})
}

func (s *Server) serve(ctx context.Context, stream io.ReadWriteCloser, config *ssh.ServerConfig) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	conn := newConn(stream)
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	config.AddHostKey(s.Key)
	// Clients that see this name send the arguments of SFTP's symlink in the order of OpenSSH, as all others do.
	config.ServerVersion = "SSH-2.0-berth_" + s.Version + " like OpenSSH"
	late := time.AfterFunc(handshakeTime, func() { _ = conn.Close() })
	client, channels, requests, err := ssh.NewServerConn(conn, config)
	late.Stop()
	if err != nil {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return err
	}
	defer func() { _ = client.Close() }()
	var group sync.WaitGroup
	defer group.Wait()
	defer cancel()
	group.Go(func() { answerRequests(requests) })
	c := &connection{
		Server: s, user: client.User(), open: make(chan struct{}, maxChannels),
		starting: make(chan struct{}, maxStarting),
	}
	for channel := range channels {
		select {
		case c.open <- struct{}{}:
			group.Go(func() {
				defer func() { <-c.open }()
				c.channel(ctx, channel)
			})
		default:
			_ = channel.Reject(ssh.ResourceShortage, "too many channels are open on this connection")
		}
	}
	return context.Cause(ctx)
}

// connection is one that is served.
type connection struct {
	*Server
	user           string
	open, starting chan struct{} // hold one value for each
}

// answerRequests answers those that are about the whole connection: nothing is listened for at the place, and a sign of
// life gets an answer like any other.
func answerRequests(requests <-chan *ssh.Request) {
	for r := range requests {
		if r.WantReply {
			_ = r.Reply(r.Type == "keepalive@openssh.com", nil)
		}
	}
}

func (c *connection) channel(ctx context.Context, channel ssh.NewChannel) {
	switch channel.ChannelType() {
	case "session":
		c.session(ctx, channel)
	case "direct-tcpip":
		c.tcp(ctx, channel)
	case "direct-streamlocal@openssh.com":
		c.unix(ctx, channel)
	default:
		_ = channel.Reject(ssh.UnknownChannelType, "berth does not serve channels of type "+channel.ChannelType())
	}
}

// conn makes of a stream what the library takes for a connection.
type conn struct {
	io.ReadWriteCloser
	close func() error
}

func newConn(stream io.ReadWriteCloser) conn { return conn{stream, sync.OnceValue(stream.Close)} }

func (c conn) Close() error                     { return c.close() }
func (c conn) LocalAddr() net.Addr              { return address{} }
func (c conn) RemoteAddr() net.Addr             { return address{} }
func (c conn) SetDeadline(time.Time) error      { return nil }
func (c conn) SetReadDeadline(time.Time) error  { return nil }
func (c conn) SetWriteDeadline(time.Time) error { return nil }

type address struct{}

func (address) Network() string { return "stream" }
func (address) String() string  { return "stream" }
