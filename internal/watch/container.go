package watch

import (
	"slices"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/watch/cause"
	"github.com/berthdev/berth/internal/watch/evidence"
)

// container is a container as it is printed.
func (r *reading) container(c evidence.Container) v1.Container {
	printed := v1.Container{
		Name:     c.Name,
		Init:     c.Init,
		Image:    c.Image,
		State:    r.containerState(c),
		Restarts: int(c.Status.RestartCount),
	}
	switch state := c.Status.State; {
	case state.Waiting != nil:
		printed.Reason = state.Waiting.Reason
	case state.Terminated != nil:
		printed.Reason = state.Terminated.Reason
	}
	if t := c.Ended(); t != nil {
		code := int(t.ExitCode)
		printed.ExitCode = &code
	}
	return printed
}

func (r *reading) containerState(c evidence.Container) v1.ContainerState {
	state := c.Status.State
	switch {
	case slices.ContainsFunc(r.pulls, func(p pull) bool { return p.container == c.Name }):
		return v1.ContainerPulling
	case c.IsReady():
		return v1.ContainerReady
	case state.Running != nil:
		return v1.ContainerRunning
	case state.Terminated != nil && state.Terminated.ExitCode == 0:
		return v1.ContainerDone
	case state.Terminated != nil, c.Ended() != nil && c.Ended().ExitCode != 0, cause.IsStuck(c):
		return v1.ContainerFailed
	}
	return v1.ContainerWaiting
}
