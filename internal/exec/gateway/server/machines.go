package server

import (
	"context"
	"log/slog"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/berthdev/berth/internal/exec"
	"github.com/berthdev/berth/internal/exec/machine"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
)

// Consoles says which machines are connected to. Both are empty where each namespace has the
// machines of its own name there.
type Consoles struct {
	// Namespace is the only one whose machines are asked for, and There where they are: of
	// several, one would enter the machines of another by their names.
	Namespace, There string
}

// Machines are those of an API server, whose consoles it connects to.
func Machines(client *kube.Client, c Consoles, log *slog.Logger) Backend {
	return func(ctx context.Context, o Object, _ Options) (exec.Runner, error) {
		at := client.In(o.Namespace)
		switch {
		case c.There == "":
		case o.Namespace != c.Namespace:
			return nil, fault.New(fault.NotFound, "machine %s not found in namespace %s", o.Name, o.Namespace)
		default:
			at = client.In(c.There)
		}
		kind := schema.GroupVersionResource{Group: machine.Group, Version: machine.Version, Resource: "machines"}
		if _, err := at.Dynamic.Resource(kind).Namespace(at.Namespace).Get(ctx, o.Name, metav1.GetOptions{}); err != nil {
			if ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
			return nil, ofMachine(o, kube.Fault(err,
				kube.Call{Verb: "get", Resource: "machines." + machine.Group, Namespace: at.Namespace, Name: o.Name}), log)
		}
		console := at.CoreV1().RESTClient().Post().AbsPath(machine.Path(at.Namespace, o.Name)).URL()
		return func(ctx context.Context, _ []string, s exec.Session) (int, error) {
			status, err := exec.Stream(ctx, at.Config, console, s)
			if err != nil && ctx.Err() == nil {
				err = ofMachine(o, kube.Fault(err,
					kube.Call{
						Verb: "create", Resource: "machines." + machine.Group + "/exec", Namespace: at.Namespace,
						Name: o.Name,
					}), log)
			}
			return status, err
		}, nil
	}
}

// ofMachine is an error of the API server that has the machines, in words for a user: they
// know nothing of that server, and its addresses and the gateway's permissions there are for
// the log alone.
func ofMachine(o Object, err error, log *slog.Logger) error {
	if fault.CodeOf(err) == fault.NotFound {
		return fault.New(fault.NotFound, "machine %s not found in namespace %s", o.Name, o.Namespace)
	}
	log.Error("the API server of the machines could not connect to a console",
		slog.String("namespace", o.Namespace), slog.String("machine", o.Name), slog.String("error", fault.Line(err.Error())))
	if exec.IsLost(err) {
		return fault.New(fault.Unavailable, "the connection to the console of machine %s was lost", o.Name)
	}
	return fault.New(fault.Internal, "the console of machine %s cannot be reached; the log of the gateway says why",
		o.Name)
}
