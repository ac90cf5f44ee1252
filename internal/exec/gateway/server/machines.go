package server

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"

	"github.com/berthdev/berth/internal/exec"
	"github.com/berthdev/berth/internal/exec/machine"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/rbac"
)

// Consoles says which machines are connected to.
type Consoles struct {
	// Pool is the pool whose machines they are. Those of others are refused, whatever there is on the other side.
	Pool string
	// Namespace is the only one whose machines are asked for; empty for all.
	Namespace string
	// There is the namespace in which they run, in the other API; empty for the one asked for.
	There string
}

// Machines are those of a pool, which run as machines of another API server: a broker has made them there. Front reads
// the API in which users have theirs.
func Machines(front machine.Reader, client *kube.Client, c Consoles, log *slog.Logger) Backend {
	return func(ctx context.Context, o Object, _ Options) (exec.Runner, error) {
		meant, err := c.meant(ctx, front, o, log)
		if err != nil {
			return nil, err
		}
		if meant.AtBroker() == "" {
			return nil, notRunning(o, meant, "that is no name of a machine", log)
		}
		at := client.In(cmp.Or(c.There, o.Namespace))
		there, err := machine.InCluster(at).Machine(ctx, at.Namespace, meant.AtBroker())
		switch {
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case fault.CodeOf(err) == fault.NotFound && fault.ReasonOf(err) != machine.ReasonNotServed:
			return nil, notRunning(o, meant, "there is no such machine", log)
		case err != nil:
			return nil, ofMachine(o, err, log)
		case meant.UID == "" || there.OfUID != meant.UID:
			return nil, notRunning(o, meant, "it is that of the machine with UID "+there.OfUID, log)
		}
		console := at.CoreV1().RESTClient().Post().AbsPath(machine.Path(at.Namespace, there.Name)).URL()
		return func(ctx context.Context, _ []string, s exec.Session) (int, error) {
			status, err := exec.Stream(ctx, exec.Server{Config: at.Config}, console, s)
			if err != nil && ctx.Err() == nil {
				err = ofMachine(o, err, log)
			}
			return status, err
		}, nil
	}
}

// meant is the machine that a user means, if it runs in the pool.
func (c Consoles) meant(ctx context.Context, front machine.Reader, o Object, log *slog.Logger) (machine.Machine,
	error,
) {
	none := fault.New(fault.NotFound, "machine %s not found in namespace %s", o.Name, o.Namespace)
	if c.Namespace != "" && o.Namespace != c.Namespace {
		return machine.Machine{}, none
	}
	m, err := front.Machine(ctx, o.Namespace, o.Name)
	switch {
	case ctx.Err() != nil:
		return m, context.Cause(ctx)
	case fault.ReasonOf(err) == machine.ReasonNotServed:
		return m, ofMachine(o, err, log)
	case fault.CodeOf(err) == fault.NotFound:
		return m, none
	case err != nil:
		return m, err
	case m.Pool != c.Pool:
		return m, fault.New(fault.NotFound, "machine %s in namespace %s is not in machine pool %s", o.Name, o.Namespace,
			c.Pool)
	case m.AtRuntime() == "":
		return m, fault.New(fault.Failed, "machine %s in namespace %s does not run in machine pool %s yet", o.Name,
			o.Namespace, c.Pool)
	}
	return m, nil
}

// notRunning is a machine that is not what its pool reports: it was removed at the runtime, or made again.
func notRunning(o Object, m machine.Machine, why string, log *slog.Logger) error {
	log.Warn("a machine is not the one that its pool reports", slog.String("namespace", o.Namespace),
		slog.String("machine", o.Name), slog.String("uid", m.UID), slog.String("id", m.ID), slog.String("why", why))
	return fault.New(fault.NotFound, "machine %s not found in namespace %s: it does not run as its pool reports it",
		o.Name, o.Namespace)
}

// ofMachine is an error of the API server that has the machines, in words for a user: they know nothing of that server,
// and its addresses and the gateway's permissions there are for the log alone.
func ofMachine(o Object, err error, log *slog.Logger) error {
	log.Error("the API server of the machines could not connect to a console",
		slog.String("namespace", o.Namespace), slog.String("machine", o.Name),
		slog.String("error", fault.Line(kube.Fault(err, kube.Call{
			Verb: "create", Resource: rbac.Access{Group: machine.Group, Resource: "machines/exec"}.Object(),
		}).Error())))
	if how, is := exec.Unsure(err); is {
		return fault.New(fault.Unavailable, "the session with the console of machine %s %s", o.Name, how).
			WithReason(exec.ReasonUnsure)
	}
	if exec.IsLost(err) {
		return fault.New(fault.Unavailable, "the connection to the console of machine %s was lost", o.Name)
	}
	status, _ := exec.Refusal(err)
	switch {
	case exec.InWords(err) == http.StatusNotFound:
		return fault.New(fault.Unavailable,
			"the runtime of machine %s does not know the URL of the session, which works once; enter it again", o.Name)
	case status.Code == http.StatusTooManyRequests:
		return fault.New(fault.Unavailable, "the runtime of machine %s has too many sessions; try again in a while",
			o.Name)
	}
	return fault.New(fault.Internal, "the console of machine %s cannot be reached; the log of the gateway says why",
		o.Name)
}
