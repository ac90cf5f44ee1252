package terminal

import (
	"os"
	"sync"

	"golang.org/x/term"
	"k8s.io/client-go/tools/remotecommand"

	"github.com/berthdev/berth/internal/fault"
)

// Raw hands the terminal over to a remote program: what is typed goes there as
// it is. It returns what gives the terminal back, and the terminal's sizes.
func Raw(in Input, out Output) (restore func(), sizes *Sizes, err error) {
	file, ok := in.Reader.(*os.File)
	if !ok || !in.TTY {
		return nil, nil, fault.New(fault.InvalidArgument, "-t requires a terminal on standard input").
			WithHint("leave out -t")
	}
	before, err := term.MakeRaw(int(file.Fd()))
	if err != nil {
		return nil, nil, fault.New(fault.Internal, "cannot set up the terminal: %w", err)
	}
	sizes = newSizes(out)
	return sync.OnceFunc(func() {
		sizes.stop()
		_ = term.Restore(int(file.Fd()), before)
	}), sizes, nil
}

// Sizes tells the terminal's size, and again whenever it changes.
type Sizes struct {
	out  Output
	next chan remotecommand.TerminalSize
	done chan struct{}
}

// Next waits for another size; nil when there are no more.
func (s *Sizes) Next() *remotecommand.TerminalSize {
	select {
	case size := <-s.next:
		return &size
	case <-s.done:
		return nil
	}
}

func newSizes(out Output) *Sizes {
	s := &Sizes{out: out, next: make(chan remotecommand.TerminalSize), done: make(chan struct{})}
	go s.follow()
	return s
}

func (s *Sizes) stop() { close(s.done) }

// follow measures at the beginning and with every hint of a change.
func (s *Sizes) follow() {
	changed, stop := resizes()
	defer stop()
	var last remotecommand.TerminalSize
	for {
		width, height := s.out.Size()
		if size := (remotecommand.TerminalSize{Width: clamp(width), Height: clamp(height)}); size != last &&
			height > 0 {
			select {
			case s.next <- size:
				last = size
			case <-s.done:
				return
			}
		}
		select {
		case <-changed:
		case <-s.done:
			return
		}
	}
}

func clamp(n int) uint16 { return uint16(min(max(n, 0), 1<<16-1)) }
