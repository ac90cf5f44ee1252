package instance

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/berthdev/berth/test/cluster/internal/kube"
	"github.com/berthdev/berth/test/cluster/internal/settings"
	"github.com/berthdev/berth/test/cluster/internal/supervisor"
)

// poll is how often conditions are looked at.
const poll = 50 * time.Millisecond

// errEnded is what wait returns if there is nothing to wait for any more.
var errEnded = errors.New("the cluster ended before it was ready")

// condition is something to wait for; check returns nil once it is met.
type condition struct {
	name  string
	check func(ctx context.Context) error
}

// wait returns when the cluster is ready for use.
func (i *Instance) wait(ctx context.Context, gone <-chan error) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	client, err := i.client()
	if err != nil {
		return err
	}
	for _, c := range i.conditions(client) {
		_, err := i.step(c.name, func() (string, error) { return "", await(ctx, c, gone) })
		if err != nil {
			return fmt.Errorf("%w\nlogs are in %s; %s", err, i.path("log"), i.tail("supervisor"))
		}
	}
	return nil
}

func (i *Instance) conditions(client *kube.Client) []condition {
	return []condition{
		{"API server", func(ctx context.Context) error { return client.Get(ctx, "/readyz/ping", nil) }},
		{"all daemons", func(context.Context) error { return i.daemonsReady() }},
		{"node", func(ctx context.Context) error { return nodeReady(ctx, client) }},
		{"storage class", func(ctx context.Context) error {
			return client.Create(ctx, "/apis/storage.k8s.io/v1/storageclasses", settings.StorageClass())
		}},
		// Without it no pod can be created.
		{"default service account", func(ctx context.Context) error {
			return client.Get(ctx, "/api/v1/namespaces/default/serviceaccounts/default", nil)
		}},
	}
}

func await(ctx context.Context, c condition, gone <-chan error) error {
	for {
		err := c.check(ctx)
		if err == nil {
			return nil
		}
		select {
		case exit := <-gone:
			return fmt.Errorf("%w: %w", errEnded, errors.Join(exit, err))
		case <-ctx.Done():
			return fmt.Errorf("%s: not ready in time: %w", c.name, err)
		case <-time.After(poll):
		}
	}
}

// daemonsReady names the daemons that are not.
func (i *Instance) daemonsReady() error {
	states, err := supervisor.ReadStates(i.dir)
	if err != nil {
		return err
	}
	var waiting []string
	for _, d := range i.settings().Daemons() {
		if state := states[d.Name]; !state.Ready {
			waiting = append(waiting, strings.TrimSpace(d.Name+" "+state.Exit))
		}
	}
	if len(waiting) == 0 {
		return nil
	}
	slices.Sort(waiting)
	return errors.New("still starting: " + strings.Join(waiting, ", "))
}

// nodeReady wants the taint gone, too, that new nodes have: no pod could be
// scheduled.
func nodeReady(ctx context.Context, client *kube.Client) error {
	var node struct {
		Spec struct {
			Taints []struct{ Key string }
		}
		Status struct {
			Conditions []struct{ Type, Status, Message string }
		}
	}
	if err := client.Get(ctx, "/api/v1/nodes/"+settings.NodeName, &node); err != nil {
		return err
	}
	for _, c := range node.Status.Conditions {
		if c.Type == "Ready" && c.Status == "True" && len(node.Spec.Taints) == 0 {
			return nil
		}
		if c.Type == "Ready" && c.Status != "True" {
			return errors.New(c.Message)
		}
	}
	return errors.New("the node has not reported yet")
}

// tail quotes the end of a log.
func (i *Instance) tail(daemon string) string {
	data, err := os.ReadFile(supervisor.LogFile(i.dir, daemon))
	if err != nil || len(data) == 0 {
		return "the " + daemon + " wrote nothing"
	}
	lines := strings.Split(strings.TrimSpace(string(data)), "\n")
	return "the " + daemon + " wrote:\n" + strings.Join(lines[max(0, len(lines)-10):], "\n")
}
