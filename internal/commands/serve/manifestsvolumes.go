package serve

import (
	"fmt"
	"path"
	"slices"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/serve/manifest"
	"github.com/berthdev/berth/internal/volume"
)

// namespaceOf is where roles run unless the namespace is given.
func namespaceOf(roles []string) string {
	if slices.Contains(roles, roleVolumes) {
		return volume.Namespace
	}
	return systemNamespace
}

// checkVolumes finds what is wrong with the options of that role.
func (o *ManifestsOptions) checkVolumes() error {
	is := slices.Contains(o.Roles, roleVolumes)
	switch {
	case !is && o.Scratch != DefaultScratch():
		return fault.New(fault.InvalidArgument, "%s require the role %s", o.Scratch.arguments(), roleVolumes)
	case is && slices.ContainsFunc(o.Roles, func(role string) bool { return role != roleVolumes }):
		return fault.New(fault.InvalidArgument,
			"the role %s is printed alone: its pods are privileged, and have a namespace of their own", roleVolumes)
	}
	return o.Scratch.validate()
}

// ofVolumes are the objects of the driver of scratch volumes.
func (o *ManifestsOptions) ofVolumes(options manifest.Options) ([]byte, error) {
	role := manifest.Role{
		Name: roleVolumes, NoService: true,
		Node: manifest.Node{Driver: o.Driver, Directory: path.Clean(o.Directory), Kubelet: path.Clean(o.Kubelet)},
	}
	options.Arguments = append(options.Arguments, "--"+flagNode+"=$("+manifest.EnvNode+")")
	options.Arguments = append(options.Arguments, o.Scratch.arguments()...)
	fmt.Fprintf(o.IO.Err, "The pods of the namespace %s are privileged. Anyone who may create pods there, or exec into them, has every scratch volume.\n", o.Namespace)
	return o.ofRole(role, options)
}
