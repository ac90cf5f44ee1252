package cmdutil

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/berthdev/berth/internal/identity/provider"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/lifecycle"
	"github.com/berthdev/berth/internal/provision/inventory"
	"github.com/berthdev/berth/internal/provision/inventory/fleet"
	"github.com/berthdev/berth/internal/provision/inventory/recorded"
	"github.com/berthdev/berth/internal/watch/cause"
)

// openStates opens the place where it is kept what workspaces are meant to be.
type openStates = func(context.Context) (lifecycle.Place, func(), error)

// inCluster is that place where no configuration is read.
func inCluster(client *kube.Client) openStates {
	return func(context.Context) (lifecycle.Place, func(), error) {
		return lifecycle.Place{Client: client}, func() {}, nil
	}
}

// reader reads workspaces under a policy.
func reader(client *kube.Client, policy cause.Policy, states openStates) inventory.Reader {
	r := inventory.Reader{Client: client, Policy: policy, Now: time.Now, Former: provider.Former(client)}
	inner := r
	r.Meant = func(ctx context.Context, namespace, typed string) string {
		ctx, cancel := context.WithTimeout(ctx, CompletionTimeout)
		defer cancel()
		place, done, err := states(ctx)
		if err != nil {
			return ""
		}
		defer done()
		list, _, err := recorded.List(ctx, inner.In(namespace), place, lifecycle.Limits{}, fleet.Query{Namespace: namespace}, fleet.Names)
		if err != nil {
			return ""
		}
		var names []string
		for _, w := range list.Items {
			names = append(names, w.UserString, "id/"+w.ID)
		}
		return workspaceMeant(typed, names)
	}
	return r
}

// workspaceMeant is the workspace that is meant by what was typed, which may have left out
// that it is an ID.
func workspaceMeant(typed string, names []string) string {
	names = slices.DeleteFunc(slices.Clone(names), func(name string) bool { return name == "" || name == typed })
	if near := NearestName(typed, names); near != "" || strings.HasPrefix(typed, "id/") {
		return near
	}
	return NearestName("id/"+typed, names)
}
