package serve

import (
	"fmt"
	"path"
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/berthdev/berth/api/bundle/v1alpha1"
	"github.com/berthdev/berth/internal/bundle/installer"
	"github.com/berthdev/berth/internal/bundle/server"
	"github.com/berthdev/berth/internal/commands/cmdutil"
	"github.com/berthdev/berth/internal/config"
	"github.com/berthdev/berth/internal/exec/iri"
	"github.com/berthdev/berth/internal/exec/machine"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/provision/controller/guard"
	"github.com/berthdev/berth/internal/rbac"
	"github.com/berthdev/berth/internal/serve"
	"github.com/berthdev/berth/internal/serve/manifest"
)

// bundles is the role that reconciles bundles and serves their content, in a namespace.
func bundles(namespace string) (manifest.Role, error) {
	definitions, err := v1alpha1.Definitions()
	return manifest.Role{
		Name: server.Role, Everywhere: rbac.Named(rbac.ServeBundles), InSystem: rbac.Named(rbac.ServeBundlesInSystem),
		Users: []manifest.UserRole{{
			Name: server.ReaderRole, Rules: []rbacv1.PolicyRule{{
				NonResourceURLs: []string{server.Paths},
				Verbs:           []string{"get"},
			}},
		}},
		Definitions: definitions, Cache: "4Gi", NeedsBaseURL: true,
		Policies: installer.Policies(namespace), Installer: rbac.Named(rbac.ServeBundlesAsInstaller),
	}, err
}

// ofBundles are the objects of the role that reconciles bundles and serves their content.
func (o *ManifestsOptions) ofBundles(options manifest.Options) ([]byte, error) {
	role, err := bundles(o.Namespace)
	if err != nil {
		return nil, err
	}
	options.InstallRole = o.InstallRole
	for _, text := range o.Accounts {
		account, err := cmdutil.ParseServiceAccount(text)
		if err != nil {
			return nil, err
		}
		options.Accounts = append(options.Accounts, types.NamespacedName{
			Namespace: account.Namespace,
			Name:      account.Name,
		})
	}
	if o.AllowSystem {
		options.Arguments = append(options.Arguments, "--"+flagAllowSystem)
	}
	if o.Period != defaultPeriod {
		options.Arguments = append(options.Arguments, "--"+flagPeriod+"="+o.Period.String())
	}
	if err := o.trust(&options); err != nil {
		return nil, err
	}
	if err := o.verification(&options); err != nil {
		return nil, err
	}
	if o.InstallRole == "" {
		fmt.Fprintln(o.IO.Err, "The server can install nothing: choose the ClusterRole for that with --install-role "+
			"(cluster-admin is what most bundles take).")
	} else {
		fmt.Fprintf(o.IO.Err, "Anyone who may create a bundle instance installs with the ClusterRole %s.\n",
			fault.Line(o.InstallRole))
	}
	return o.ofRole(role, options)
}

// verification is what the server is told about by whom bundles have to be signed: of the configuration nothing else.
func (o *ManifestsOptions) verification(options *manifest.Options) error {
	if o.Configuration == "" {
		return nil
	}
	text, err := cmdutil.ReadFile(o.Configuration, o.IO.In, maxFile, "--"+flagConfiguration)
	if err != nil {
		return err
	}
	if options.Configuration, err = config.ForServer(o.Configuration, text, o.Getenv); err != nil {
		return err
	}
	if n := len(options.Configuration); n > maxFile {
		return fault.New(fault.InvalidArgument, "the keys of bundles in the file of --%s are too large: %d bytes, "+
			"more than %d", flagConfiguration, n, maxFile).
			WithHint("export the keys of the signers alone: gpg --export KEY > FILE")
	}
	return nil
}

// trust are the options of the server about other programs that serve content.
func (o *ManifestsOptions) trust(options *manifest.Options) (err error) {
	if len(o.Trust.Hosts) > 0 {
		options.Arguments = append(options.Arguments, "--"+server.FlagHost+"="+strings.Join(o.Trust.Hosts, ","))
	}
	if o.Trust.CAFile == "" {
		return nil
	}
	options.Arguments = append(options.Arguments, "--"+server.FlagCA+"="+manifest.PathAuthorities)
	options.Authorities, err = cmdutil.ReadFile(o.Trust.CAFile, o.IO.In, maxFile, "--"+server.FlagCA)
	return err
}

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
			manifest.UserRole{Name: rbac.MachinePoolUser(pool), Rules: rbac.Named(rbac.EnterMachineByPool).
				PolicyRulesOf(pool)})
		role.Everywhere.Rules = slices.Concat(role.Everywhere.Rules, rbac.Named(rbac.ServeGatewayPool).Rules)
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
	role := gatewayRole(o.MachinePool)
	if o.ReportPool {
		role.Grants = grantsOfReport(o.MachinePool)
		options.Arguments = append(options.Arguments,
			o.Reporting.within(role.Hosts(o.Namespace)[0], o.Hosts).arguments()...)
	}
	return o.ofRole(role, options)
}

// clientCA are the options of a role about client certificates.
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
	if o.Endpoint != "" {
		return o.runtime(options)
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
	o.withoutClientCA()
	return nil
}

// runtime are the options of the gateway about a machine runtime of its node.
func (o *ManifestsOptions) runtime(options *manifest.Options) error {
	socket, err := iri.Socket(o.Endpoint)
	if err != nil {
		return err
	}
	options.HostDirectory = path.Dir(socket)
	inPod := o.Machines
	inPod.Endpoint = "unix://" + path.Join(manifest.PathHost, path.Base(socket))
	options.Arguments = append(options.Arguments, inPod.arguments("")...)
	fmt.Fprintf(o.IO.Err, "The pods mount %s of their nodes, so namespace %s has the pod security level privileged. "+
		"Each node that they may run on needs the runtime there, "+
		"and user or group 65532 needs to write to the socket.\n",
		fault.Line(options.HostDirectory), o.Namespace)
	o.withoutClientCA()
	return nil
}

func (o *ManifestsOptions) withoutClientCA() {
	if o.ClientCA == "" {
		fmt.Fprintf(o.IO.Err, "Without --%s the API server of machines is not let in: it has a client certificate, "+
			"and no token.\n", serve.FlagClientCA)
	}
}

// ofVolumes are the objects of the driver of scratch volumes.
func (o *ManifestsOptions) ofVolumes(options manifest.Options) ([]byte, error) {
	role := manifest.Role{
		Name: roleVolumes, NoService: true,
		Node: manifest.Node{
			Driver: o.Driver, Directory: path.Clean(o.Directory), Kubelet: path.Clean(o.Kubelet), Read: o.Read,
		},
	}
	options.Arguments = append(options.Arguments, "--"+flagNode+"=$("+manifest.EnvNode+")")
	options.Arguments = append(options.Arguments, o.Scratch.arguments()...)
	if o.Read {
		role.Everywhere = rbac.Named(rbac.ServeVolumesReading)
		role.Users = []manifest.UserRole{{
			Name: rbac.ScratchVolumeReader, Rules: rbac.Named(rbac.VolumeRead).PolicyRules(),
		}}
		options.Hosts, options.HostPort = o.Hosts, o.ReadHostPort
		options.Arguments = append(options.Arguments, "--"+flagReadListen+"=:8443")
		if err := o.clientCA(&options); err != nil {
			return nil, err
		}
	}
	fmt.Fprintf(o.IO.Err, "The pods of the namespace %s are privileged. Anyone who may create pods there, or exec "+
		"into them, has every scratch volume.\n", o.Namespace)
	return o.ofRole(role, options)
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
