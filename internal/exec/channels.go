package exec

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gorilla/websocket"
	"k8s.io/apimachinery/pkg/util/remotecommand"
)

// patience is how long a server may be silent, and how often it is asked whether it is there.
type patience struct{ silence, every time.Duration }

// asClientGo is the patience of client-go.
func asClientGo() patience { return patience{silence: 61 * time.Second, every: 5 * time.Second} }

// maxStatus is how much of the status of a command is read, in bytes.
const maxStatus = 64 << 10

// channels are the streams of one session over one WebSocket: the first byte of each message says which it is of.
type channels struct {
	conn     *websocket.Conn
	session  Session
	patience patience

	writing sync.Mutex // one message at a time
	status  []byte     // what the server says of the end
	dropped [256]bool  // channels whose output could not be written

	// heard is whether something came since that was last looked at, and owed whether input was sent since. It does not
	// count as silence when nobody listens: a pager that is paused for an hour. Nor does the time of a command that
	// does not read its input, as the server answers nothing behind it; a terminal takes what is typed.
	heard, owed atomic.Bool
	listening   atomic.Bool
	failed      error // of output that could not be written
	silent      atomic.Bool
}

// attached runs a session over a connection to its end. The exit status is in a clientexec.CodeExitError, as with
// client-go; nil for 0.
func attached(ctx context.Context, conn *websocket.Conn, s Session, p patience) error {
	c := &channels{conn: conn, session: s, patience: p}
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	defer func() { _ = conn.Close() }()
	ended := make(chan struct{})
	defer close(ended)
	conn.SetPongHandler(func(string) error {
		c.hear()
		return nil
	})
	conn.SetPingHandler(func(text string) error {
		go c.control(websocket.PongMessage, text) // reading goes on
		return nil
	})
	go c.watch(ended)
	if s.Stdin != nil {
		go c.sendInput()
	}
	if s.TTY && s.Sizes != nil {
		go c.sendSizes()
	}
	err := c.receive()
	if err != nil && c.silent.Load() {
		err = fmt.Errorf("no response from the server for %s", p.silence)
	}
	if err != nil {
		return brokenOff(err, c.status)
	}
	return withOutput(statusOf(c.status), c.failed)
}

// receive passes on what comes, until the server closes the connection.
func (c *channels) receive() error {
	for {
		kind, message, err := c.next()
		if closed, ok := errors.AsType[*websocket.CloseError](err); ok && closed.Code == websocket.CloseNormalClosure {
			return nil
		}
		if err != nil {
			return err
		}
		if kind != websocket.BinaryMessage {
			return fmt.Errorf("unexpected message type: %d", kind)
		}
		if err := c.pass(message); err != nil {
			return err
		}
	}
}

func (c *channels) next() (kind int, message io.Reader, err error) {
	c.listen()
	defer c.listening.Store(false)
	kind, message, err = c.conn.NextReader()
	c.hear()
	return kind, message, err
}

// pass gives a message to whom it is for. What nobody wants is dropped.
func (c *channels) pass(message io.Reader) error {
	buffer := buffers.Get().(*[]byte) //nolint:forcetypeassert // nothing else is in there
	defer buffers.Put(buffer)
	n, err := c.read(message, (*buffer)[:1])
	if n == 0 {
		return orEnd(err)
	}
	id := (*buffer)[0]
	to := c.channel(id)
	for err == nil {
		n, err = c.read(message, *buffer)
		if to == nil || n == 0 {
			continue
		}
		if _, failed := to.Write((*buffer)[:n]); failed != nil {
			to, c.dropped[id], c.failed = nil, true, cmp.Or(c.failed, failed) // the command goes on
		}
	}
	return orEnd(err)
}

// read reads a part of a message.
func (c *channels) read(message io.Reader, into []byte) (int, error) {
	c.listen()
	defer c.listening.Store(false)
	n, err := message.Read(into)
	c.hear()
	return n, err
}

// orEnd is nil for the end of a message.
func orEnd(err error) error {
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// channel is where the messages of a channel go; nil for nowhere.
func (c *channels) channel(id byte) io.Writer {
	switch {
	case c.dropped[id]:
	case id == remotecommand.StreamStdOut && c.session.Stdout != nil:
		return c.session.Stdout
	case id == remotecommand.StreamStdErr && c.session.Stderr != nil && !c.session.TTY:
		return c.session.Stderr
	case id == remotecommand.StreamErr:
		return (*ending)(c)
	}
	return nil
}

// ending keeps what the server says of the end.
type ending channels

func (e *ending) Write(p []byte) (int, error) {
	e.status = append(e.status, p[:min(len(p), maxStatus-len(e.status))]...)
	return len(p), nil
}

// sendInput sends stdin, and says that it has ended.
func (c *channels) sendInput() {
	message := make([]byte, 1+bufferSize)
	message[0] = remotecommand.StreamStdIn
	for {
		n, err := c.session.Stdin.Read(message[1:])
		if n > 0 && c.send(message[:1+n]) != nil {
			return // the session ends with the connection
		}
		if err != nil {
			_ = c.send([]byte{remotecommand.StreamClose, remotecommand.StreamStdIn})
			return
		}
	}
}

// sendSizes sends the sizes of the terminal.
func (c *channels) sendSizes() {
	for size := c.session.Sizes.Next(); size != nil; size = c.session.Sizes.Next() {
		text, err := json.Marshal(size)
		if err != nil || c.send(append([]byte{remotecommand.StreamResize}, text...)) != nil {
			return
		}
	}
}

// send sends a message. It waits as long as the command does not read what it is sent.
func (c *channels) send(message []byte) error {
	c.writing.Lock()
	defer c.writing.Unlock()
	c.owed.Store(true)
	return c.conn.WriteMessage(websocket.BinaryMessage, message)
}

func (c *channels) hear() {
	c.heard.Store(true)
	c.owed.Store(false)
}

// listen is called before waiting for what comes.
func (c *channels) listen() {
	c.heard.Store(true)
	c.listening.Store(true)
}

// watch asks the server whether it is still there, once nothing has come for a moment, and ends a connection on which
// nothing comes. It does not ask while nobody listens: the server may have said all and closed the connection, and what
// it has said is lost when something reaches it then. Silence is counted in questions, so that a machine may sleep.
func (c *channels) watch(ended <-chan struct{}) {
	ticker := time.NewTicker(c.patience.every)
	defer ticker.Stop()
	for silence := time.Duration(0); ; silence += c.patience.every {
		select {
		case <-ended:
			return
		case <-ticker.C:
		}
		switch {
		case c.heard.Swap(false) || !c.listening.Load():
			silence = 0
			continue
		case c.owed.Load() && !c.session.TTY:
			silence = 0
		case silence > c.patience.silence:
			c.silent.Store(true)
			_ = c.conn.Close()
			return
		}
		go c.control(websocket.PingMessage, "") // it may have to wait
	}
}

// control sends a message of the connection itself, unless one of a channel is on its way: the server is there then, or
// the system sees that it is not. It waits like any other: one that is given up would end the connection.
func (c *channels) control(kind int, text string) {
	if !c.writing.TryLock() {
		return
	}
	defer c.writing.Unlock()
	_ = c.conn.WriteControl(kind, []byte(text), time.Time{})
}

// buffers are what messages are read into.
var buffers = sync.Pool{New: func() any { //nolint:gochecknoglobals // a pool is for all
	buffer := make([]byte, bufferSize)
	return &buffer
}}
