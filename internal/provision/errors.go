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

func notFound(id, namespace string) error {
	return fault.New(fault.NotFound, "there is no workspace %s in namespace %s", id, namespace).
		WithHint("`berth status` lists what there is; --namespace looks elsewhere")
}

func noPods(id, workload, namespace string) error {
	return fault.New(fault.Failed, "no pod of %s has workspace %s", workload, id).
		WithHint("see why: kubectl describe %s --namespace %s", workload, namespace)
}

func isNotFound(err error) bool { return fault.CodeOf(err) == fault.NotFound }
