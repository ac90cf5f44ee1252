package supervisor

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// poll is how often state without notifications is checked.
const poll = 50 * time.Millisecond

// maxDelay is the longest pause before a daemon that keeps ending is started
// again.
const maxDelay = 5 * time.Second

type supervisor struct {
	dir      string
	listener *os.File
	children *children
	lock     sync.Mutex
	states   map[string]State
}

// Run is the supervisor of the plan in dir. It returns only if the namespaces
// cannot be set up.
func Run(dir string, listener *os.File) error {
	var plan Plan
	if err := read(planFile(dir), &plan); err != nil {
		return err
	}
	if err := mount(dir, plan); err != nil {
		return err
	}
	if err := network(plan.NodeAddress, plan.ServiceRange); err != nil {
		return err
	}
	s := &supervisor{dir: dir, listener: listener, children: newChildren(), states: map[string]State{}}
	for _, d := range plan.Daemons {
		s.states[d.Name] = State{}
	}
	go s.children.reap()
	for _, d := range plan.Daemons {
		go s.keep(d)
	}
	select {}
}

// network brings up the inside of the network namespace.
func network(node, services string) error {
	for _, args := range [][]string{
		{"link", "set", "lo", "up"},
		{"address", "add", node + "/32", "dev", "lo"},
		{"route", "add", services, "dev", "lo", "src", node},
	} {
		if out, err := exec.Command("ip", args...).CombinedOutput(); err != nil {
			return fmt.Errorf("ip %v: %w: %s", args, err, out)
		}
	}
	return nil
}

// keep runs one daemon for ever.
func (s *supervisor) keep(d Daemon) {
	delay := poll
	for {
		for !s.ready(d.After) {
			time.Sleep(poll)
		}
		began := time.Now()
		exit := s.once(d)
		s.change(d.Name, func(state *State) {
			*state = State{Restarts: state.Restarts + 1, Exit: exit}
		})
		if time.Since(began) > maxDelay {
			delay = poll
		}
		time.Sleep(delay)
		delay = min(2*delay, maxDelay)
	}
}

// once runs a daemon until it ends, and says how it did.
func (s *supervisor) once(d Daemon) string {
	exited, err := s.start(d)
	if err != nil {
		return err.Error()
	}
	looks := time.NewTicker(poll)
	defer looks.Stop()
	for ready := false; ; {
		select {
		case status := <-exited:
			return describe(status)
		case <-looks.C:
			if !ready && probe(d.Ready) == nil {
				ready = true
				s.change(d.Name, func(state *State) { state.Ready = true })
			}
		}
	}
}

func (s *supervisor) start(d Daemon) (<-chan unix.WaitStatus, error) {
	log, err := os.OpenFile(LogFile(s.dir, d.Name), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	null, err := os.Open(os.DevNull)
	if err != nil {
		return nil, err
	}
	defer null.Close()
	files := []*os.File{null, log, log}
	if d.Listener {
		files = append(files, s.listener)
	}
	return s.children.start(d.Args, files)
}

func (s *supervisor) ready(names []string) bool {
	s.lock.Lock()
	defer s.lock.Unlock()
	return !slices.ContainsFunc(names, func(name string) bool { return !s.states[name].Ready })
}

func (s *supervisor) change(name string, change func(*State)) {
	s.lock.Lock()
	defer s.lock.Unlock()
	state := s.states[name]
	change(&state)
	s.states[name] = state
	if err := write(statesFile(s.dir), s.states); err != nil {
		fmt.Fprintln(os.Stderr, "supervisor:", err) // its log; the daemons matter more
	}
}
