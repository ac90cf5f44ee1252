package provision

import (
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/lock"
	"github.com/berthdev/berth/internal/userstring"
)

func busy(id string, by *lock.Observed) error {
	return fault.New(fault.Conflict, "%s is working on workspace %s (%s)", by.Holder.Human(), id, by.Purpose).
		WithHint("try again when that is done, or pass --wait")
}

func alreadyRunning(id string, u userstring.UserString) error {
	return fault.New(fault.AlreadyExists, "workspace %s is already running", id).
		WithHint("enter it with `berth exec %s`, or pass --if-not-exists", u)
}
