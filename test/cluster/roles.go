//go:build linux

package main

import (
	"fmt"
	"net"
	"net/http"
	"os"

	"github.com/berthdev/berth/test/cluster/internal/dns"
	"github.com/berthdev/berth/test/cluster/internal/images"
	"github.com/berthdev/berth/test/cluster/internal/instance"
	"github.com/berthdev/berth/test/cluster/internal/kube"
	"github.com/berthdev/berth/test/cluster/internal/registry"
	"github.com/berthdev/berth/test/cluster/internal/relay"
	"github.com/berthdev/berth/test/cluster/internal/supervisor"
)

// role is one of the things that this program does inside a cluster.
type role struct {
	args int
	run  func(args []string) error
}

// roles are started by the supervisor, and the supervisor by up; never by
// hand.
func roles() map[string]role {
	return map[string]role{
		"supervise": {1, func(args []string) error {
			return supervisor.Run(args[0], os.NewFile(instance.ListenerFile, "listener"))
		}},
		"registry": {2, func(args []string) error { return serveRegistry(args[0], args[1]) }},
		"dns":      {3, func(args []string) error { return serveDNS(args[0], args[1], args[2]) }},
		"relay":    {1, func(args []string) error { return serveRelay(args[0]) }},
	}
}

func serveRegistry(address, programs string) error {
	catalog, err := images.NewCatalog()
	if err != nil {
		return err
	}
	handler, err := registry.New(catalog, programs)
	if err != nil {
		return err
	}
	return http.ListenAndServe(address, handler)
}

func serveDNS(address, api, pki string) error {
	client, err := kube.New(api, pki, "dns")
	if err != nil {
		return err
	}
	return dns.Serve(address, client)
}

func serveRelay(address string) error {
	listener, err := net.FileListener(os.NewFile(instance.ListenerFile, "listener"))
	if err != nil {
		return fmt.Errorf("the listening socket of the supervisor: %w", err)
	}
	return relay.Serve(listener, address)
}
