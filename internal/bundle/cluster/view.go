// Package cluster is what the content of bundles is told of a cluster, with the rights of those
// who install it: charts learn its version, its APIs and its objects, and custom resources are
// compared with the definitions of their kinds.
package cluster

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/berthdev/berth/internal/bundle/installer"
	"github.com/berthdev/berth/internal/chart"
	"github.com/berthdev/berth/internal/kube"
)

// View is the part of a cluster that a bundle may see.
type View struct {
	// Client has the rights of those who install the bundle.
	Client *kube.Client
	// ResourceOf is how a kind is addressed in the API, if the cluster has it.
	ResourceOf func(context.Context, schema.GroupVersionKind) (resource kube.Resource, known bool, err error)
	// Reserved is what charts do not see.
	Reserved installer.Reserved
}

// Capabilities are the cluster's version and the versions of its APIs, for format.Options.
func (v View) Capabilities() (c chart.Capabilities, err error) {
	discovery := v.Client.Discovery()
	version, err := discovery.ServerVersion()
	if err != nil {
		return c, kube.Fault(err, kube.Call{Verb: "get", Resource: "/version"})
	}
	c.Version = version.GitVersion
	_, lists, err := discovery.ServerGroupsAndResources()
	if err != nil && len(lists) == 0 { // an API service that does not answer leaves a gap
		return c, kube.Fault(err, kube.Call{Verb: "get", Resource: "/apis"})
	}
	for _, list := range lists {
		c.APIVersions = append(c.APIVersions, list.GroupVersion)
		for _, resource := range list.APIResources {
			c.APIVersions = append(c.APIVersions, list.GroupVersion+"/"+resource.Kind)
		}
	}
	return c, nil
}
