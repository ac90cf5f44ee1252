package forward

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/streaming/pkg/httpstream"

	"github.com/berthdev/berth/internal/fault"
)

// fakePod is a connection with a pod that answers each connection with its name.
type fakePod struct {
	httpstream.Connection
	name   string
	wrong  string // with each connection
	closed chan bool
	once   sync.Once
}

func newPod(name string) *fakePod { return &fakePod{name: name, closed: make(chan bool)} }

func (p *fakePod) CreateStream(h http.Header) (httpstream.Stream, error) {
	select {
	case <-p.closed:
		return nil, errors.New("closed")
	default:
	}
	here, there := net.Pipe()
	text := ""
	if h.Get(corev1.StreamType) == corev1.StreamTypeData {
		text = p.name + " " + h.Get(corev1.PortHeader)
	} else {
		text = p.wrong
	}
	go func() {
		if text != "" {
			_, _ = io.WriteString(there, text)
		}
		_ = there.Close()
	}()
	return &fakeStream{Conn: here}, nil
}

func (p *fakePod) Close() error {
	p.once.Do(func() { close(p.closed) })
	return nil
}

func (p *fakePod) isClosed() bool {
	select {
	case <-p.closed:
		return true
	default:
		return false
	}
}
func (p *fakePod) CloseChan() <-chan bool             { return p.closed }
func (p *fakePod) RemoveStreams(...httpstream.Stream) {}

type fakeStream struct {
	net.Conn
	httpstream.Stream
}

func (s *fakeStream) Read(b []byte) (int, error)  { return s.Conn.Read(b) }
func (s *fakeStream) Write(b []byte) (int, error) { return s.Conn.Write(b) }
func (s *fakeStream) Close() error                { return nil }
func (s *fakeStream) Reset() error                { return s.Conn.Close() }

// What goes wrong with one connection leaves the others as they are; the next begins on another link.
func TestOneConnectionFails(t *testing.T) {
	p := newPod("one")
	p.wrong = "error forwarding port 80: read tcp4: connection reset by peer"
	l := newLink(Endpoint{Pod: "one"}, p)
	other, err := l.open(81)
	if err != nil {
		t.Fatal(err)
	}
	s, err := l.open(80)
	if err != nil {
		t.Fatal(err)
	}
	here, there := net.Pipe()
	go func() { _, _ = io.Copy(io.Discard, there); _ = there.Close() }()
	if why := s.join(here); why != p.wrong {
		t.Errorf("%q", why)
	}
	if p.isClosed() || !l.isRetired() {
		t.Errorf("closed: %t, retired: %t; the other connection goes on", p.isClosed(), l.isRetired())
	}
	other.link.leave()
	if !p.isClosed() {
		t.Error("the link was kept")
	}
}

// A port that is refused is not felt by others, and is tried again on another link. Links that are not used are closed
// where somebody tries many ports.
func TestDialer(t *testing.T) {
	var pods []*fakePod
	d := &Dialer{Connect: func(context.Context) (httpstream.Connection, error) {
		p := newPod(fmt.Sprint(len(pods)))
		if p.name == "1" {
			p.wrong = "connection refused"
		}
		pods = append(pods, p)
		return p, nil
	}}
	read := func(port uint16) (string, error) {
		t.Helper()
		conn, err := d.Dial(t.Context(), port)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		text, err := io.ReadAll(conn)
		return string(text), err
	}
	for _, step := range []struct {
		port      uint16
		text, err string
	}{
		{80, "0 80", ""}, {99, "1 99", "connection refused"}, {80, "0 80", ""}, {99, "2 99", ""}, {99, "2 99", ""},
	} {
		if text, err := read(step.port); text != step.text || err != nil != (step.err != "") {
			t.Errorf("%d: %q, %v", step.port, text, err)
		}
	}
	if pods[0].isClosed() || !pods[1].isClosed() {
		t.Error("not the link of the refused port was closed")
	}
	for port := range uint16(100) {
		_, _ = read(1000 + port)
	}
	open := slices.DeleteFunc(pods, func(p *fakePod) bool { return p.isClosed() })
	if len(open) > maxLinks {
		t.Errorf("%d links are open", len(open))
	}
}

// A port on which nothing listens is said in two words, whatever the runtime says.
func TestPlain(t *testing.T) {
	for text, want := range map[string]string{
		`error forwarding port 99 to pod 48db, uid : failed to execute portforward in network namespace ` +
			`"/run/netns/cni": failed to connect to localhost:99 inside namespace "48db", IPv4: dial tcp4 ` +
			`127.0.0.1:99: connect: connection refused IPv6 dial tcp6: address localhost: no suitable address ` +
			`found`: "connection refused",
		"exit status 1: 2026/11/27 socat[7] E connect(5, AF=2 127.0.0.1:99, 16): " +
			"Connection refused": "connection refused",
		"error forwarding port 80: read tcp4: connection reset by peer": "error forwarding port 80: read tcp4: " +
			"connection reset by peer",
		"": "",
	} {
		if got := plain(text); got != want {
			t.Errorf("%q", got)
		}
	}
}

// Ports stay open when the pod is replaced: a connection that comes before the next pod is there waits for it. When the
// workspace ends, so does the forwarding.
func TestFollowsThePod(t *testing.T) {
	pods := make(chan *fakePod, 1)
	var mu sync.Mutex
	current, deleted := newPod("one"), false
	lost, events := make(chan string, 1), make(chan Event, 20)
	f := Forward{
		Addresses: []string{"127.0.0.1"}, Ports: []Port{{0, 80}, {0, 81}},
		Find: func(context.Context) (*Endpoint, string, error) {
			mu.Lock()
			defer mu.Unlock()
			switch {
			case deleted:
				return nil, "", fault.New(fault.NotFound, "deleted")
			case current == nil:
				return nil, "no pod", nil
			}
			pods <- current
			return &Endpoint{Pod: current.name}, "", nil
		},
		Dial: func(context.Context, Endpoint) (httpstream.Connection, error) { return <-pods, nil },
		Gone: func(ctx context.Context, _ Endpoint) string {
			select {
			case why := <-lost:
				return why
			case <-ctx.Done():
				return ""
			}
		},
		Report: func(e Event) { events <- e },
	}
	ended := make(chan error, 1)
	go func() { ended <- f.Run(t.Context()) }()
	next := func(want Kind) Event {
		t.Helper()
		e := <-events
		if e.Kind != want {
			t.Fatalf("%+v, want %s", e, want)
		}
		return e
	}
	next(Connected)
	addresses := []string{next(Listening).Address, next(Listening).Address}
	read := func(address string) string {
		var dialer net.Dialer
		conn, err := dialer.DialContext(t.Context(), "tcp", address)
		if err != nil {
			t.Error(err)
			return ""
		}
		defer conn.Close()
		text, _ := io.ReadAll(conn)
		return string(text)
	}
	if got := []string{read(addresses[0]), read(addresses[1])}; !slices.Equal(got, []string{"one 80", "one 81"}) {
		t.Errorf("%q", got)
	}
	mu.Lock()
	current = nil
	mu.Unlock()
	lost <- "it was deleted"
	if e := next(Lost); e.Why != "it was deleted" || e.Pod != "one" {
		t.Errorf("%+v", e)
	}
	if e := next(Waiting); e.Why != "no pod" {
		t.Errorf("%+v", e)
	}
	waited := make(chan string, 1)
	go func() { waited <- read(addresses[0]) }()
	mu.Lock()
	current = newPod("two")
	mu.Unlock()
	next(Connected)
	if got := <-waited; got != "two 80" {
		t.Errorf("%q", got)
	}
	mu.Lock()
	deleted = true
	mu.Unlock()
	lost <- "it was deleted"
	next(Lost)
	if err := <-ended; fault.CodeOf(err) != fault.NotFound {
		t.Error(err)
	}
}

// A port that is taken is named, and nothing stays open.
func TestPortInUse(t *testing.T) {
	var config net.ListenConfig
	taken, err := config.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	port := listener{Listener: taken}.local()
	_, err = listen(t.Context(), []string{"localhost"}, []Port{{0, 80}, {port, 81}})
	if fault.CodeOf(err) != fault.Failed || fault.From(err).Hint == "" {
		t.Error(err)
	}
}
