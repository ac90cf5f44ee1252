package serve

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/berthdev/berth/internal/bundle/server"
	"github.com/berthdev/berth/internal/commands/cmdutil"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/keypair"
	"github.com/berthdev/berth/internal/serve"
	"github.com/berthdev/berth/internal/serve/manifest"
	"github.com/berthdev/berth/internal/terminal"
	"github.com/berthdev/berth/internal/volume"
)

// ManifestsOptions are what the command line says.
type ManifestsOptions struct {
	IO terminal.Streams

	Roles       []string
	Image       string
	Namespace   string
	Issuer      string
	InstallRole string
	// Accounts are ServiceAccounts that instances may name to be installed as.
	Accounts    []string
	AllowSystem bool
	Trust       server.Trust
	// Period is how often the role bundles looks at all objects.
	Period   time.Duration
	Replicas int32
	Hosts    []string
	ClientCA string
	// Configuration is the file of the role workspaces, and Only its namespace.
	Configuration, Only string
	TrustRecords        bool
	Getenv              func(string) string
	Capacity
	Machines
	Scratch
	// Read lets users read what their pods have left, by a port of nodes as well if ReadHostPort is not 0.
	Read         bool
	ReadHostPort int32
	// Like is the driver in whose place that of scratch volumes is put: its name and directory are the defaults.
	Like string
}

// NewManifests makes the command `berth serve manifests`.
func NewManifests(f *cmdutil.Factory, runF func(context.Context, *ManifestsOptions) error) *cobra.Command {
	o := &ManifestsOptions{IO: f.IO, Getenv: f.Getenv}
	cmd := &cobra.Command{
		Use:   "manifests ROLE...",
		Short: "Print the Kubernetes objects that run a role",
		Long: `Print the Kubernetes objects that run roles of ` + "`berth serve`" + ` in a cluster, to be
applied by an administrator. Nothing is sent to a cluster.

The roles are bundles, gateway, volumes and workspaces. What they may do is in docs/rbac.md. What instances
install is installed as another ServiceAccount, berth-bundles-installer, and --install-role
names the ClusterRole that this one gets. Most bundles create CustomResourceDefinitions
and roles of their own, which takes cluster-admin. Anyone who may create a bundle instance
then installs with that role. An instance can name another ServiceAccount, if its author
may impersonate that; --service-account names those that the server may.

Without --cert-manager what is printed has a certificate, good for two years, with
its private key, so that it is a secret; print and apply it again to renew it. The CA
for those who ask a role is the ConfigMap berth-ROLE-ca.

The gateway is a Service; how it is reached from outside (a load balancer, an ingress
that passes TLS through) is up to the cluster, and --host names it in the certificate.
Users get the ClusterRole workspace-user, by a RoleBinding in each namespace.

With --machine-pool the gateway is the poollet of that pool as well, on port 12319 of the Service, too.
The API server of machines has a certificate of --client-ca. The credential of --target-kubeconfig is
printed in a Secret, with the content of the files that it names and its current context alone; one that
a command makes is refused. Whatever enters all machines of the pool, such as the API server of machines,
gets the ClusterRole machine-pool-NAME-user, by a ClusterRoleBinding.

The role workspaces reads the file of --configuration, which is printed in a Secret: above
all "limits", and "jobs" if the desired state of workspaces is kept in NATS, which takes
--trust-records. A ValidatingAdmissionPolicy is printed with it, for the whole cluster
also with --only: the desired state of workspaces is recorded only by those who could do
it themselves.

The role volumes is a DaemonSet with a CSIDriver object. Its pods are privileged, so that
it has a namespace of its own and is printed alone; docs/volumes.md says why. With --like katbox
pods that name katbox's driver go on. With --read users read what their pods have left, by the
Service berth-volumes, which is all drivers, or by --read-host-port of each node, for
which --host is a name. They get the ClusterRole scratch-volume-reader by a RoleBinding.

The role runs in the namespace of --namespace, berth-system unless it is given
(berth-volumes for volumes).`,
		Example: `  berth serve manifests bundles --install-role cluster-admin | kubectl apply --server-side -f -
  berth serve manifests bundles --cert-manager letsencrypt --image registry.example.com/berth:v1
  berth serve manifests gateway --machine-pool east --client-ca apiserver-ca.pem --target-kubeconfig east.yaml
  berth serve manifests volumes --afterlife 24h | kubectl apply --server-side -f -
  berth serve manifests volumes --like katbox | kubectl apply --server-side -f -`,
		Args:              cobra.ArbitraryArgs,
		ValidArgsFunction: cobra.FixedCompletions(roles(), cobra.ShellCompDirectiveNoFileComp),
		RunE: cmdutil.RunE(o, runF, func(_ *cobra.Command, args []string) error {
			o.Roles, o.Namespace = args, cmp.Or(*f.Kube.Namespace, namespaceOf(args))
			return o.validate()
		}),
	}
	o.podFlags(cmd)
	o.bundleFlags(cmd)
	o.gatewayFlags(cmd)
	o.workspaceFlags(cmd)
	o.volumeFlags(cmd)
	return cmd
}

// podFlags adds the flags of all roles.
func (o *ManifestsOptions) podFlags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&o.Image, "image", "ghcr.io/berthdev/berth:"+imageTag(cmdutil.Version().Version),
		"the image to run")
	flags.StringVar(&o.Issuer, "cert-manager", "",
		"cert-manager's issuer of the certificate: NAME of a ClusterIssuer, or Issuer/NAME")
	flags.Int32Var(&o.Replicas, "replicas", 2, "how many pods run")
}

// volumeFlags adds the flags of the role volumes.
func (o *ManifestsOptions) volumeFlags(cmd *cobra.Command) {
	o.Scratch.flags(cmd)
	cmd.Flags().BoolVar(&o.Read, flagRead, false,
		"let users read what their pods have left (volume list, read and cp), at port 8443 of the role volumes")
	cmd.Flags().Int32Var(&o.ReadHostPort, flagReadHostPort, 0,
		"the port of each node by which they do so from outside of the cluster (default: none)")
	cmdutil.NoFlagValues(cmd, flagReadHostPort)
	cmd.Flags().StringVar(&o.Like, flagLike, "", "the driver that the role volumes takes the place of: "+katbox+
		"; its name and its directory are the defaults then")
	_ = cmd.RegisterFlagCompletionFunc(flagLike,
		cobra.FixedCompletions([]cobra.Completion{katbox}, cobra.ShellCompDirectiveNoFileComp))
}

// bundleFlags adds the flags of the role bundles.
func (o *ManifestsOptions) bundleFlags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&o.InstallRole, "install-role", "",
		"the ClusterRole of the ServiceAccount as which instances are installed (default: none; nothing is installed)")
	flags.StringSliceVar(&o.Accounts, cmdutil.FlagServiceAccount, nil,
		"a ServiceAccount, NAMESPACE/NAME, that instances may name to be installed as")
	flags.BoolVar(&o.AllowSystem, flagAllowSystem, false,
		"let bundles touch the system namespace, and berth's definitions, roles and policies, as far as the "+
			"install role goes")
	addPeriodFlag(cmd, &o.Period, "how often the role bundles looks at all objects, beside those that change")
	cmdutil.AddContentFlags(cmd, &o.Trust)
}

// gatewayFlags adds the flags of the role gateway.
func (o *ManifestsOptions) gatewayFlags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringSliceVar(&o.Hosts, "host", nil,
		"a DNS name or IP address by which the gateway, or the role volumes, is reached from outside, "+
			"for its certificate")
	flags.StringVar(&o.ClientCA, serve.FlagClientCA, "",
		"the file of the authorities whose client certificates the gateway, or the role volumes, takes "+
			"(default: only tokens)")
	o.Capacity.flags(cmd)
	o.Machines.flags(cmd)
}

// workspaceFlags adds the flags of the role workspaces.
func (o *ManifestsOptions) workspaceFlags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&o.Configuration, flagConfiguration, "",
		"the configuration file of the role workspaces, or of bundles, which gets the section bundles of it "+
			"(default: none)")
	flags.StringVar(&o.Only, flagOnly, "", "the one namespace whose workspaces the role workspaces "+
		"keeps (default: all)")
	cmdutil.AddTrustFlag(cmd, &o.TrustRecords)
}

const (
	flagConfiguration = "configuration"
	flagOnly          = "only"
)

// namespaceOf is where roles run unless the namespace is given.
func namespaceOf(roles []string) string {
	if slices.Contains(roles, roleVolumes) {
		return volume.Namespace
	}
	return systemNamespace
}

// imageTag is the tag of a version's image: v1.2.3 for 1.2.3, latest for what is no release.
func imageTag(version string) string {
	if release := strings.TrimPrefix(version, "v"); strings.Count(release, ".") == 2 &&
		!strings.ContainsAny(release, "-+ ()") {
		return "v" + release
	}
	return "latest"
}

func roles() []string { return []string{server.Role, roleGateway, roleVolumes, roleWorkspaces} }

func (o *ManifestsOptions) validate() error {
	if len(o.Roles) == 0 {
		return invalid("a role is required: one of %s", strings.Join(roles(), ", "))
	}
	for _, role := range o.Roles {
		if !slices.Contains(roles(), role) {
			return invalid("unknown role %q: must be one of %s", role, strings.Join(roles(), ", "))
		}
	}
	switch kind, name, divided := strings.Cut(o.Issuer, "/"); {
	case o.Image == "":
		return invalid("--image must not be empty")
	case o.Replicas < 1:
		return invalid("--replicas must be at least 1, got %d", o.Replicas)
	case len(validation.IsDNS1123Label(o.Namespace)) > 0:
		return invalid("--namespace must be the name of a namespace, got %q", o.Namespace)
	case o.MachinePool != "" && !slices.Contains(o.Roles, roleGateway):
		return invalid("--%s requires the role %s", flagMachinePool, roleGateway)
	case divided && (kind != "Issuer" && kind != "ClusterIssuer" || name == ""):
		return invalid("--cert-manager must be NAME, Issuer/NAME or ClusterIssuer/NAME, got %q", o.Issuer)
	}
	for _, check := range []func() error{
		o.checkBundles, o.checkWorkspaces, o.Capacity.validate, o.Machines.validate, o.checkVolumes,
		func() error { return checkHosts(o.Hosts) },
	} {
		if err := check(); err != nil {
			return err
		}
	}
	return o.Trust.Check()
}

// checkBundles finds what is wrong with the options of that role.
func (o *ManifestsOptions) checkBundles() error {
	if o.Period != defaultPeriod && !slices.Contains(o.Roles, server.Role) {
		return invalid("--%s requires the role %s", flagPeriod, server.Role)
	}
	return checkPeriod(o.Period)
}

// checkWorkspaces finds what is wrong with the options of that role.
func (o *ManifestsOptions) checkWorkspaces() error {
	for flag, value := range map[string]string{flagConfiguration: o.Configuration, flagOnly: o.Only} {
		also := flag == flagConfiguration && slices.Contains(o.Roles, server.Role)
		if value != "" && !also && !slices.Contains(o.Roles, roleWorkspaces) {
			return invalid("--%s requires the role %s", flag, roleWorkspaces)
		}
	}
	if o.TrustRecords && !slices.Contains(o.Roles, roleWorkspaces) {
		return invalid("--trust-records requires the role %s", roleWorkspaces)
	}
	if o.Only != "" && len(validation.IsDNS1123Label(o.Only)) > 0 {
		return invalid("--%s must be the name of a namespace, got %q", flagOnly, o.Only)
	}
	return nil
}

// checkVolumes finds what is wrong with the options of that role.
func (o *ManifestsOptions) checkVolumes() error {
	is := slices.Contains(o.Roles, roleVolumes)
	switch {
	case o.Like != "" && o.Like != katbox:
		return invalid("--%s must be %s, got %q", flagLike, katbox, o.Like)
	case o.Like != "" && !is:
		return invalid("--%s requires the role %s", flagLike, roleVolumes)
	case o.Read && !is:
		return invalid("--%s requires the role %s", flagRead, roleVolumes)
	case o.ReadHostPort != 0 && !o.Read:
		return invalid("--%s requires --%s", flagReadHostPort, flagRead)
	case o.ReadHostPort < 0 || o.ReadHostPort > 65535:
		return invalid("--%s must be a port, got %d", flagReadHostPort, o.ReadHostPort)
	case !is && o.Scratch != DefaultScratch():
		return invalid("%s require the role %s", o.Scratch.arguments(), roleVolumes)
	case is && slices.ContainsFunc(o.Roles, func(role string) bool { return role != roleVolumes }):
		return fault.New(fault.InvalidArgument,
			"the role %s is printed alone: its pods are privileged, and have a namespace of their own", roleVolumes)
	}
	if o.Like == katbox {
		o.likeKatbox()
	}
	return o.Scratch.validate()
}

// katbox is the driver that berth's takes after. Its name is the one that its manifests give it, and so is
// the directory of the node.
const (
	katbox          = "katbox"
	katboxDriver    = "katbox.csi.paypal.com"
	katboxDirectory = "/var/lib/csi-katbox-data"
)

const (
	flagLike         = "like"
	flagRead         = "read"
	flagReadHostPort = "read-host-port"
)

// likeKatbox has katbox's name and directory unless others are given.
func (s *Scratch) likeKatbox() {
	d := DefaultScratch()
	if s.Driver == d.Driver {
		s.Driver = katboxDriver
	}
	if s.Directory == d.Directory {
		s.Directory = katboxDirectory
	}
}

// checkHosts refuses what no certificate can name.
func checkHosts(hosts []string) error {
	for _, host := range hosts {
		if net.ParseIP(host) == nil && len(validation.IsDNS1123Subdomain(strings.TrimPrefix(host, "*."))) > 0 {
			return invalid("--host must be a DNS name or an IP address, got %q", host)
		}
	}
	return nil
}

// Manifests prints the objects.
func Manifests(_ context.Context, o *ManifestsOptions) error {
	var all [][]byte
	for _, name := range slices.Compact(slices.Sorted(slices.Values(o.Roles))) {
		text, err := o.manifests(name)
		if err != nil {
			return err // before anything is printed: half of it would be applied
		}
		all = append(all, text)
	}
	_, err := o.IO.Out.Write(bytes.Join(all, []byte("---\n")))
	return err
}

// manifests are the objects of a role.
func (o *ManifestsOptions) manifests(name string) ([]byte, error) {
	options := manifest.Options{Namespace: o.Namespace, Image: o.Image, Replicas: o.Replicas, Issuer: o.Issuer}
	switch name {
	case roleGateway:
		return o.ofGateway(options)
	case roleWorkspaces:
		return o.ofWorkspaces(options)
	case roleVolumes:
		return o.ofVolumes(options)
	}
	return o.ofBundles(options)
}

func (o *ManifestsOptions) ofRole(role manifest.Role, options manifest.Options) (_ []byte, err error) {
	if o.Issuer == "" {
		now := o.IO.Now()
		if options.Pair, err = keypair.New(append(role.Hosts(o.Namespace), options.Hosts...), now); err != nil {
			return nil, err
		}
		fmt.Fprintf(o.IO.Err, "The Secret that is printed holds a private key. Its certificate is good until %s.\n",
			now.Add(keypair.Lifetime).UTC().Format(time.DateOnly))
	}
	return manifest.YAML(role, options)
}

// maxFile is how large a file may be that goes into a ConfigMap or a Secret, in bytes.
const maxFile = 512 << 10
