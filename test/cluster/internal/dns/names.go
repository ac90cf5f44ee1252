// Package dns is the cluster's name server: it answers for Services as the
// API has them at that very moment, and knows no other names at all.
package dns

import (
	"context"
	"errors"
	"net"
	"slices"
	"strings"

	"github.com/berthdev/berth/test/cluster/internal/kube"
)

// Zone is what all names end in.
const Zone = "cluster.local."

// API reads objects of the Kubernetes API.
type API interface {
	Get(ctx context.Context, path string, out any) error
}

// records is what a name resolves to.
type records struct {
	addresses []net.IP
	alias     string
}

type service struct {
	Spec struct {
		Type         string `json:"type"`
		ClusterIP    string `json:"clusterIP"`
		ExternalName string `json:"externalName"`
	} `json:"spec"`
}

type endpointSlices struct {
	Items []struct {
		Endpoints []endpoint `json:"endpoints"`
	} `json:"items"`
}

type endpoint struct {
	Addresses  []string `json:"addresses"`
	Hostname   string   `json:"hostname"`
	Conditions struct {
		Ready *bool `json:"ready"`
	} `json:"conditions"`
}

// lookup finds a name. [kube.ErrNotFound] says that there is no such name; any
// other error, that the API did not say.
func lookup(ctx context.Context, api API, name string) (records, error) {
	host, svc, namespace, ok := parse(name)
	if !ok {
		return records{}, kube.ErrNotFound
	}
	var s service
	if err := api.Get(ctx, "/api/v1/namespaces/"+namespace+"/services/"+svc, &s); err != nil {
		return records{}, err
	}
	switch {
	case s.Spec.Type == "ExternalName" && host == "":
		return records{alias: strings.TrimSuffix(s.Spec.ExternalName, ".") + "."}, nil
	case s.Spec.ClusterIP != "None" && host == "":
		return records{addresses: []net.IP{net.ParseIP(s.Spec.ClusterIP)}}, nil
	}
	var list endpointSlices
	err := api.Get(ctx, "/apis/discovery.k8s.io/v1/namespaces/"+namespace+
		"/endpointslices?labelSelector=kubernetes.io/service-name%3D"+svc, &list)
	if err != nil {
		return records{}, err
	}
	var found records
	for _, item := range list.Items {
		for _, e := range item.Endpoints {
			if e.matches(host) {
				found.addresses = append(found.addresses, e.ips()...)
			}
		}
	}
	if len(found.addresses) == 0 {
		return records{}, kube.ErrNotFound
	}
	return found, nil
}

// matches selects the ready endpoints, or the one with a host name. A missing
// condition counts as ready, as the API says.
func (e endpoint) matches(host string) bool {
	ready := e.Conditions.Ready == nil || *e.Conditions.Ready
	return ready && (host == "" || strings.EqualFold(e.Hostname, host))
}

func (e endpoint) ips() []net.IP {
	var ips []net.IP
	for _, a := range e.Addresses {
		ips = append(ips, net.ParseIP(a))
	}
	return ips
}

// parse takes [<host>.]<service>.<namespace>.svc.cluster.local. apart.
func parse(name string) (host, svc, namespace string, ok bool) {
	rest, ok := strings.CutSuffix(strings.ToLower(name), ".svc."+Zone)
	if !ok {
		return "", "", "", false
	}
	labels := strings.Split(rest, ".")
	if len(labels) == 3 {
		host, labels = labels[0], labels[1:]
	}
	if len(labels) != 2 || slices.ContainsFunc(labels,
		func(l string) bool { return l == "" || strings.ContainsAny(l, "/?#%") }) {
		return "", "", "", false
	}
	return host, labels[0], labels[1], true
}

// exists tells "no such name" from "cannot tell".
func exists(err error) bool { return !errors.Is(err, kube.ErrNotFound) }
