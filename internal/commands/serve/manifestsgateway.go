package serve

import (
	"fmt"
	"net"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/berthdev/berth/internal/commands/cmdutil"
	"github.com/berthdev/berth/internal/exec/machine"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/rbac"
	"github.com/berthdev/berth/internal/serve"
	"github.com/berthdev/berth/internal/serve/manifest"
)

// roleGateway is the role that lets users into workspaces and machines.
const roleGateway = "gateway"

// gatewayRole is that role, for the machines of a pool, too, if one is named.
func gatewayRole(pool string) manifest.Role {
	role := manifest.Role{
		Name: roleGateway, Everywhere: rbac.Named(rbac.ServeGateway),
		Users: []manifest.UserRole{{Name: rbac.WorkspaceUser, Rules: rbac.Named(rbac.EnterByGateway).PolicyRules()}},
	}
	if pool != "" {
		role.Users = append(role.Users,
			manifest.UserRole{Name: rbac.MachinePoolUser(pool), Rules: rbac.Named(rbac.EnterMachineByPool).PolicyRulesOf(pool)})
		role.Ports = []manifest.Port{{Name: "poollet", Number: machine.DefaultPort}}
	}
	return role
}

func (o *ManifestsOptions) ofGateway(options manifest.Options) ([]byte, error) {
	options.Hosts = o.Hosts
	if err := o.clientCA(&options); err != nil {
		return nil, err
	}
	options.Arguments = append(options.Arguments, o.Capacity.arguments()...)
	if err := o.machines(&options); err != nil {
		return nil, err
	}
	return o.ofRole(gatewayRole(o.MachinePool), options)
}

// clientCA are the options of the gateway about client certificates.
func (o *ManifestsOptions) clientCA(options *manifest.Options) (err error) {
	if o.ClientCA == "" {
		return nil
	}
	options.Arguments = append(options.Arguments, "--"+serve.FlagClientCA+"="+manifest.PathAuthorities)
	options.Authorities, err = cmdutil.ReadFile(o.ClientCA, o.IO.In, maxFile, "--"+serve.FlagClientCA)
	return err
}

// machines are the options of the gateway about machines.
func (o *ManifestsOptions) machines(options *manifest.Options) error {
	if o.MachinePool == "" {
		return nil
	}
	options.Arguments = append(options.Arguments, o.Machines.arguments(manifest.PathKubeconfig)...)
	text, err := cmdutil.ReadFile(o.TargetKubeconfig, o.IO.In, maxFile, "--"+flagTargetKubeconfig)
	if err != nil {
		return err
	}
	if options.Kubeconfig, err = kube.SelfContained(text, o.TargetKubeconfig); err != nil {
		return err
	}
	if n := len(options.Kubeconfig); n > maxFile {
		return fault.New(fault.InvalidArgument,
			"the kubeconfig of --%s is too large: with the files that it names it has %d bytes, more than %d",
			flagTargetKubeconfig, n, maxFile)
	}
	fmt.Fprintf(o.IO.Err, "The Secret %s that is printed holds the credential of --%s.\n",
		manifest.SecretKubeconfig(roleGateway), flagTargetKubeconfig)
	return nil
}

// checkHosts refuses what no certificate can name.
func checkHosts(hosts []string) error {
	for _, host := range hosts {
		if net.ParseIP(host) == nil && len(validation.IsDNS1123Subdomain(strings.TrimPrefix(host, "*."))) > 0 {
			return fault.New(fault.InvalidArgument, "--host must be a DNS name or an IP address, got %q", host)
		}
	}
	return nil
}
