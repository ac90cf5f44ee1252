package sshd

import (
	"context"
	"errors"
	"io"
	"strings"
	"sync"
	"time"

	"golang.org/x/crypto/ssh"
	"k8s.io/client-go/tools/remotecommand"

	"github.com/berthdev/berth/internal/exec"
)

// session is one channel on which a command runs.
type session struct {
	*connection
	channel ssh.Channel
	env     environment
	pty     *ptyRequest
	sizes   chan remotecommand.TerminalSize // the last one that is not taken yet

	mu      sync.Mutex
	pid     int      // of the command; 0 while it is not known
	pending []string // signals that came before that
	kill    func(pid int, signal string)
}

// session serves a channel: what is set before the command, the command, and what happens to it meanwhile.
func (c *connection) session(ctx context.Context, offered ssh.NewChannel) {
	channel, requests, err := offered.Accept()
	if err != nil {
		return
	}
	defer func() { _ = channel.Close() }()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s := &session{connection: c, channel: channel, sizes: make(chan remotecommand.TerminalSize, 1)}
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel() // the client has closed the channel
	started := false
	for r := range requests {
		run, err := s.request(ctx, r, started)
		if r.WantReply {
			_ = r.Reply(err == nil, nil)
		}
		if run != nil {
			started = true
			running.Go(func() {
				s.end(run(ctx))
			})
		}
	}
}

// runs is what a session does, until it ends with an exit status.
type runs func(context.Context) (status int, err error)

var errRefused = errors.New("refused")

// request does what a client asks for; what it asks to run is returned.
func (s *session) request(ctx context.Context, r *ssh.Request, started bool) (runs, error) {
	switch r.Type {
	case "shell", "exec", "subsystem":
		if started {
			return nil, errRefused
		}
		return s.start(r)
	case "pty-req":
		pty, err := parse[ptyRequest](r.Payload)
		if err == nil && !started {
			s.pty = &pty
		}
		return nil, err
	case "env":
		v, err := parse[envRequest](r.Payload)
		if err == nil && started {
			err = errRefused
		}
		if err == nil {
			err = s.env.set(v.Name, v.Value)
		}
		return nil, err
	case "window-change":
		size, err := parse[sizeRequest](r.Payload)
		if err == nil {
			s.resize(size.Columns, size.Rows)
		}
		return nil, err
	case "signal":
		name, err := parse[textRequest](r.Payload)
		if err == nil {
			s.signal(ctx, name.Text)
		}
		return nil, err
	case "break":
		_, err := parse[breakRequest](r.Payload)
		if err == nil {
			s.signal(ctx, "INT")
		}
		return nil, err
	case "keepalive@openssh.com":
		return nil, nil
	}
	return nil, errRefused
}

// start is what one of the three requests that run something asks for.
func (s *session) start(r *ssh.Request) (runs, error) {
	if r.Type == "shell" {
		return s.command(""), nil
	}
	text, err := parse[textRequest](r.Payload)
	switch {
	case err != nil:
		return nil, err
	case r.Type == "exec":
		return s.command(text.Text), nil
	case text.Text == "sftp":
		return s.files, nil
	}
	return nil, errRefused
}

// command runs a line, or the shell.
func (s *session) command(line string) runs {
	return func(ctx context.Context) (int, error) {
		var keys *ahead
		if s.pty != nil {
			ctx, keys = s.typing(ctx)
		}
		status, err := s.place(ctx, func(p Place, begun func()) (int, error) {
			if keys != nil {
				keys.pass()
			}
			if ctx.Err() != nil {
				return 0, context.Cause(ctx)
			}
			return s.run(ctx, p, line, keys, begun)
		})
		if errors.Is(context.Cause(ctx), errInterrupted) {
			return interrupted, nil
		}
		return status, err
	}
}

// run runs a line in the place, or the shell.
func (s *session) run(ctx context.Context, p Place, line string, keys *ahead, begun func()) (int, error) {
	started, running := s.started(ctx, p), make(chan struct{})
	alive := sync.OnceFunc(func() { close(running) })
	c := Command{Line: line, Env: s.env.all, Started: func(pid int) {
		begun()
		alive()
		started(pid)
	}}
	io := exec.Session{
		Stdin: lasting{s.channel, running, ctx.Done()}, Stdout: s.channel,
		Stderr: s.channel.Stderr(),
	}
	if s.pty != nil {
		c.Rows, c.Columns = int(s.pty.Rows), int(s.pty.Columns)
		c.Env = append(c.Env, "TERM="+strings.ReplaceAll(s.pty.Term, "\x00", ""))
		s.resize(s.pty.Columns, s.pty.Rows)
		io.TTY, io.Sizes, io.Stderr = true, sizes{ctx, s.sizes}, nil
		io.Stdin = typed{ctx, keys}
	}
	// They pause in the client's stead: over WebSockets, which begin faster than SPDY.
	out, errs := newSpool(), newSpool()
	if io.Stdout = out; io.Stderr != nil {
		io.Stderr = errs
	}
	var copied sync.WaitGroup
	copied.Go(func() { out.copyTo(s.channel) })
	copied.Go(func() { errs.copyTo(s.channel.Stderr()) })
	defer copied.Wait()
	defer out.end()
	defer errs.end()
	return p.Run(ctx, c, io)
}

// files serves SFTP.
func (s *session) files(ctx context.Context) (int, error) {
	return s.place(ctx, func(p Place, begun func()) (int, error) {
		begun() // it is one among many requests
		return 0, p.Files(ctx, s.channel)
	})
}

// startTime is how long a command that has not said that it has begun keeps others from starting.
const startTime = 10 * time.Second

// place does something in the place. Not all sessions of a connection start theirs at the same time: what is done calls
// begun once it has started.
func (s *session) place(ctx context.Context, do func(p Place, begun func()) (int, error)) (int, error) {
	select {
	case s.starting <- struct{}{}:
	case <-ctx.Done():
		return 0, context.Cause(ctx)
	}
	begun := sync.OnceFunc(func() { <-s.starting })
	defer begun()
	defer time.AfterFunc(startTime, begun).Stop()
	p, err := s.Find(ctx, s.user, s.say)
	if err != nil {
		return 0, err
	}
	return do(p, begun)
}

// end tells the client how the command has ended. A client that has gone is not told.
func (s *session) end(status int, err error) {
	if err != nil {
		var text string
		text, status = s.Explain(err)
		s.say(text)
	}
	_ = s.channel.CloseWrite()
	ended := exitStatus{uint32(status)} //nolint:gosec // 0 to 255
	_, _ = s.channel.SendRequest("exit-status", false, ssh.Marshal(ended))
	_ = s.channel.Close()
}

// say tells the client something that is not of the command.
func (s *session) say(text string) {
	if s.pty != nil {
		text = strings.ReplaceAll(text, "\n", "\r\n") // the terminal of the client is raw
	}
	_, _ = io.WriteString(s.channel.Stderr(), text)
}

// resize keeps the last size that the client has told.
func (s *session) resize(columns, rows uint32) {
	size := remotecommand.TerminalSize{
		Width: uint16(min(columns, 1<<16-1)), Height: uint16(min(rows, 1<<16-1)), //nolint:gosec // they fit
	}
	for {
		select {
		case s.sizes <- size:
			return
		default:
		}
		select {
		case <-s.sizes:
		default:
		}
	}
}

// sizes are those of a terminal, until the session ends.
type sizes struct {
	ctx  context.Context //nolint:containedctx // the queue has no other way to end
	next <-chan remotecommand.TerminalSize
}

// Next implements remotecommand.TerminalSizeQueue.
func (s sizes) Next() *remotecommand.TerminalSize {
	select {
	case size := <-s.next:
		return &size
	case <-s.ctx.Done():
		return nil
	}
}

// signalTime is how long the sending of one signal may take.
const signalTime = 30 * time.Second

// started returns what takes the ID of the process, and sends it the signals that came before.
func (s *session) started(ctx context.Context, p Place) func(pid int) {
	send := func(pid int, name string) {
		ctx, cancel := context.WithTimeout(ctx, signalTime)
		defer cancel()
		_ = p.Signal(ctx, pid, name) // there is no answer to it
	}
	return func(pid int) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.pid, s.kill = pid, send
		for _, name := range s.pending {
			go send(pid, name)
		}
		s.pending = nil
	}
}

// maxPending is how many signals wait for the start of the command.
const maxPending = 16

// signal sends a signal to the command, once it has started.
func (s *session) signal(_ context.Context, name string) {
	if !isSignal(name) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.pid != 0:
		go s.kill(s.pid, name)
	case len(s.pending) < maxPending:
		s.pending = append(s.pending, name)
	}
}
