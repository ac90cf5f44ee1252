package lock

import (
	"crypto/rand"
	"fmt"
	"os"
	"os/user"
	"strconv"
	"strings"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"

	"github.com/berthdev/berth/internal/fault"
)

// Holder says who holds a lock, in a way that another process on the same host can check.
type Holder struct {
	User    string // the person, for messages
	Host    string // the machine, and the boot it has lived through since
	PID     int
	Started string // the process's start time, for process IDs are used again
	Nonce   string // tells two locks of one process apart
}

// Self is the holder that this process is.
func Self() Holder {
	name := "unknown"
	if u, err := user.Current(); err == nil {
		name = u.Username
	}
	pid := os.Getpid()
	started, _ := processStart(pid)
	return Holder{User: field(name), Host: host(), PID: pid, Started: started, Nonce: rand.Text()[:8]}
}

// String is the Lease's holderIdentity. Parse reads it.
func (h Holder) String() string {
	return fmt.Sprintf("%s@%s/%d/%s/%s", h.User, h.Host, h.PID, h.Started, h.Nonce)
}

// Human names the holder in a sentence.
func (h Holder) Human() string {
	host, _, _ := strings.Cut(h.Host, "+")
	if h.PID == 0 && strings.HasPrefix(h.User, theirHolder) {
		return "k8shell's provisioner"
	}
	if h.PID == 0 {
		return h.User
	}
	return fmt.Sprintf("%s on %s (process %d)", h.User, host, h.PID)
}

// parseHolder reads an identity; one that berth did not write is kept as the user's name.
func parseHolder(identity string) Holder {
	parts := strings.Split(identity, "/")
	name, host, ok := strings.Cut(parts[0], "@")
	if !ok || len(parts) != 4 {
		return Holder{User: fault.Shorten(identity, maxText)}
	}
	pid, err := strconv.Atoi(parts[1])
	if err != nil || pid < 1 || len(identity) > 4*maxText {
		return Holder{User: fault.Shorten(identity, maxText)}
	}
	return Holder{User: name, Host: host, PID: pid, Started: parts[2], Nonce: parts[3]}
}

// isDead is true only for a process known not to live any more: one of this
// host and boot whose ID is free or belongs to a younger process.
func (h Holder) isDead(self Holder) bool {
	if h.PID == 0 || h.Host != self.Host || h.Started == "" {
		return false
	}
	started, alive := processStart(h.PID)
	return !alive || started != h.Started
}

// field keeps the separators out of a part of the identity.
func field(s string) string {
	return strings.NewReplacer("/", "_", "@", "_", "+", "_").Replace(s)
}

// host is the host's name and, where they are known, its boot and process
// namespace: within one of these a process ID means one process.
func host() string {
	name, err := os.Hostname()
	if err != nil {
		name = "unknown"
	}
	name = field(name)
	if id := bootID(); id != "" {
		name += "+" + id
	}
	return name
}

// IsOverdue says of a lease that was read once whether it should have been renewed.
// The clocks of two hosts may differ by as much as a lock lasts.
func IsOverdue(lease *coordinationv1.Lease, now time.Time) bool {
	renewed := lease.Spec.RenewTime
	return renewed == nil || now.Sub(renewed.Time) > 2*Duration
}

// silence is how old a lease is that nobody renews any more, no matter whose clock is wrong: it is
// read once, and says what is told to people.
const silence = 6 * Duration

// JobOf is the job that a lease was taken for, no matter who holds it now.
func JobOf(lease *coordinationv1.Lease) string { return lease.Annotations[annotationJob] }

// JobInUse is the job that the holder of a lease works on; empty if it is for none, is known to be dead, or has not
// renewed the lease for long. Nothing is taken from the holder by that: Try decides with more care.
func JobInUse(lease *coordinationv1.Lease, self Holder, now time.Time) string {
	renewed := lease.Spec.RenewTime
	if renewed == nil || now.Sub(renewed.Time) > silence || parseHolder(identityIn(lease)).isDead(self) {
		return ""
	}
	return JobOf(lease)
}
