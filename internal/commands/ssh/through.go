package ssh

import (
	"context"
	"io"
	"net"
	"strconv"

	"github.com/berthdev/berth/internal/exec"
	"github.com/berthdev/berth/internal/exec/gateway"
	"github.com/berthdev/berth/internal/exec/pod"
	"github.com/berthdev/berth/internal/exec/sshd"
)

// Through gives a gateway of the configuration, and what is meant by a target there.
type Through func(ctx context.Context, name, target, container string) (gateway.Gateway, gateway.Destination, error)

// behind finds a workspace behind a gateway, which has exec alone: ports are connected by a program in the image. In
// which pod it is, and whether it runs, is the gateway's to say when a command is run.
type behind struct {
	through Through
	gateway string
	name    Name
}

func (b behind) find(ctx context.Context, user string, _ func(string)) (sshd.Place, error) {
	g, to, err := b.through(ctx, b.gateway, b.name.Workspace, "")
	if err != nil {
		return sshd.Place{}, err
	}
	if b.name.Namespace != "" {
		to.Namespace = b.name.Namespace
	}
	to.User = osUser(to.User, user)
	to.Login = true
	run := g.Runner(to)
	place := where(run, pod.Login{})
	place.Names = []string{to.Workspace}
	place.Dial = func(ctx context.Context, port uint16) (io.ReadWriteCloser, error) {
		return exec.Relay(ctx, run, net.JoinHostPort("127.0.0.1", strconv.Itoa(int(port))), false)
	}
	return place, nil
}
