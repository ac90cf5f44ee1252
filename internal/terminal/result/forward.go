package result

import (
	"strconv"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/terminal/style"
)

// PortForward is something that happened to forwarded ports.
type PortForward struct{ v1.PortForward }

// Text is one line, for an address the one that kubectl prints.
func (f PortForward) Text(p style.Page) ([]string, error) { return []string{p.Text(f.line())}, nil }

func (f PortForward) line() string {
	port := strconv.Itoa(int(f.Port))
	switch f.State {
	case v1.PortListening:
		return "Forwarding from " + f.Address + " -> " + port
	case v1.PortConnected:
		return "connected with pod " + f.Pod
	case v1.PortLost:
		return "lost pod " + f.Pod + ": " + f.Reason
	case v1.PortWaiting:
		return "waiting for a pod: " + f.Reason
	}
	return "connection to port " + port + " failed: " + f.Reason
}
