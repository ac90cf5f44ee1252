package deploy

// Plan is what a provisioning does about what it has found.
type Plan string

// The plans.
const (
	Create  Plan = "create"  // nothing is there: the run that creates the record is the first
	Install Plan = "install" // something is there, but no pod
	Refuse  Plan = "refuse"  // it is running
	Resume  Plan = "resume"  // it is starting: complete what is missing, and follow it
	Heal    Plan = "heal"    // it is there, and something that belongs to it is gone: create that, and follow it
	Replace Plan = "replace" // it failed, stopped or was asked to stop: make a new one
	Await   Plan = "await"   // its pod is terminating: wait for that, then install
	Update  Plan = "update"  // it is not what it is to be: make it again, as a revision of its own
)

// String describes the plan in a few words; it is empty if there is nothing to say.
func (p Plan) String() string {
	switch p {
	case Refuse:
		return "already running"
	case Resume:
		return "already starting: following it"
	case Heal:
		return "something that belongs to it is gone: creating it again"
	case Replace:
		return "failed or stopped: replacing it"
	case Await:
		return "the old one is terminating: waiting for that"
	}
	return ""
}

// Writes says whether the workspace is to be made, for a job of this run. Otherwise
// it stays that of the job that made it.
func (p Plan) Writes() bool { return p != Refuse && p != Resume && p != Heal }
