package serve

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/berthdev/berth/internal/fault"
)

// Capacity is how many sessions a gateway has open at once: in all, and of one user.
type Capacity struct{ Sessions, SessionsPerUser int }

// DefaultCapacity is that of a gateway that is told nothing else.
func DefaultCapacity() Capacity { return Capacity{Sessions: 500, SessionsPerUser: 50} }

const (
	flagSessions        = "max-sessions"
	flagSessionsPerUser = "max-sessions-per-user"
)

func (c *Capacity) flags(cmd *cobra.Command) {
	flags, most := cmd.Flags(), DefaultCapacity()
	flags.IntVar(&c.Sessions, flagSessions, most.Sessions,
		"how many sessions of each pod are open at once; an idle one takes a quarter of a MiB")
	flags.IntVar(&c.SessionsPerUser, flagSessionsPerUser, most.SessionsPerUser, "how many of them one user has")
}

func (c *Capacity) validate() error {
	switch {
	case c.Sessions < 1:
		return fault.New(fault.InvalidArgument, "--%s must be at least 1, got %d", flagSessions, c.Sessions)
	case c.SessionsPerUser < 1:
		return fault.New(fault.InvalidArgument, "--%s must be at least 1, got %d", flagSessionsPerUser, c.SessionsPerUser)
	case c.SessionsPerUser > c.Sessions && c.SessionsPerUser != DefaultCapacity().SessionsPerUser:
		return fault.New(fault.InvalidArgument, "--%s is %d, more than the %d of --%s", flagSessionsPerUser,
			c.SessionsPerUser, c.Sessions, flagSessions)
	}
	return nil
}

// arguments are those of a gateway, without what is the default.
func (c *Capacity) arguments() (all []string) {
	most := DefaultCapacity()
	if c.Sessions != most.Sessions {
		all = append(all, fmt.Sprintf("--%s=%d", flagSessions, c.Sessions))
	}
	if c.SessionsPerUser != most.SessionsPerUser {
		all = append(all, fmt.Sprintf("--%s=%d", flagSessionsPerUser, c.SessionsPerUser))
	}
	return all
}
