package serve

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/berthdev/berth/internal/commands/cmdutil"
	"github.com/berthdev/berth/internal/config"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/provision/controller/guard"
	"github.com/berthdev/berth/internal/rbac"
	"github.com/berthdev/berth/internal/serve/manifest"
)

const (
	flagConfiguration = "configuration"
	flagOnly          = "only"
)

// workspaceFlags adds the flags of the role workspaces.
func (o *ManifestsOptions) workspaceFlags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&o.Configuration, flagConfiguration, "",
		"the configuration file of the role workspaces (default: none)")
	flags.StringVar(&o.Only, flagOnly, "", "the one namespace whose workspaces the role workspaces keeps (default: all)")
	cmdutil.AddTrustFlag(cmd, &o.TrustRecords)
}

// checkWorkspaces finds what is wrong with the options of that role.
func (o *ManifestsOptions) checkWorkspaces() error {
	for flag, value := range map[string]string{flagConfiguration: o.Configuration, flagOnly: o.Only} {
		if value != "" && !slices.Contains(o.Roles, roleWorkspaces) {
			return fault.New(fault.InvalidArgument, "--%s requires the role %s", flag, roleWorkspaces)
		}
	}
	if o.TrustRecords && !slices.Contains(o.Roles, roleWorkspaces) {
		return fault.New(fault.InvalidArgument, "--trust-records requires the role %s", roleWorkspaces)
	}
	if o.Only != "" && len(validation.IsDNS1123Label(o.Only)) > 0 {
		return fault.New(fault.InvalidArgument, "--%s must be the name of a namespace, got %q", flagOnly, o.Only)
	}
	return nil
}

// ofWorkspaces are the objects of the role that keeps workspaces in their desired state.
func (o *ManifestsOptions) ofWorkspaces(options manifest.Options) ([]byte, error) {
	role := manifest.Role{
		Name: roleWorkspaces, Everywhere: rbac.Named(rbac.ServeWorkspaces),
		InSystem: rbac.Named(rbac.ServeWorkspacesInSystem), NoService: true,
		Guard: rbac.Named(rbac.ServeWorkspacesGuard), Policies: []manifest.Policy{guard.Policy()},
	}
	options.Arguments = append(options.Arguments, "--system-namespace="+o.Namespace)
	if options.Only = o.Only; o.Only != "" {
		options.Arguments = append(options.Arguments, "--"+flagOnly+"="+o.Only)
	}
	if o.TrustRecords {
		options.Arguments = append(options.Arguments, "--trust-records")
	}
	if o.Configuration != "" {
		text, err := cmdutil.ReadFile(o.Configuration, o.IO.In, maxFile, "--"+flagConfiguration)
		if err != nil {
			return nil, err
		}
		if err := config.Check(o.Configuration, text, o.Getenv); err != nil {
			return nil, err
		}
		options.Configuration = text
		fmt.Fprintf(o.IO.Err, "The Secret %s that is printed holds the file of --%s.\n",
			manifest.SecretConfiguration(roleWorkspaces), flagConfiguration)
	}
	return o.ofRole(role, options)
}
