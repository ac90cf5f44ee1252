// Package bundle is the commands below `berth bundle`.
package bundle

import (
	"github.com/spf13/cobra"

	"github.com/berthdev/berth/internal/commands/cmdutil"
)

// NewCmd makes the commands.
func NewCmd(f *cmdutil.Factory) *cobra.Command {
	cmd := cmdutil.Group(&cobra.Command{
		Use:   "bundle",
		Short: "Install bundles of Kubernetes content",
		Long: `Install bundles of Kubernetes content: plain manifests, kustomizations, Helm charts, and
operator bundles of a registry, from wherever they are. A bundle is fetched, checked as
a whole, and installed as a Helm release; what was installed before stays until the new
one is installed and healthy.

SOURCE is one of

  ./dir                          a local directory
  ./dir//part                    a part of one, with what it refers to by paths in the rest
  install.yaml, bundle.tgz, -    a local file of YAML, an archive, or either on standard input
  oci://host/repo:tag            an image, or a chart in a registry: --version for the tag
  repo+https://host/path//chart  a chart of a chart repository: --version, or the newest
  git+https://host/repo.git//dir a directory of a repository: --branch, --tag, --commit
  https://host/install.yaml      a file of YAML, or an archive, on a web server
  configmap/NAME                 immutable ConfigMaps of the system namespace

The state is on the cluster: a BundleInstance says what is to be installed, and a
Bundle is its content. A BundleInstance that is applied with kubectl or by GitOps is
installed by "berth serve bundles", or by "berth bundle reconcile" when it is run.`,
		Example: `  berth bundle validate ./shop
  berth bundle template ./chart --set image.tag=v2
  berth bundle install shop ./shop
  berth bundle install shop https://example.com/install.yaml
  berth bundle install shop oci://registry.example.com/shop:v2
  berth bundle status shop
  berth bundle rollback shop
  berth bundle uninstall shop`,
	})
	cmd.AddCommand(
		NewInstall(f, Install), NewList(f, List), NewStatus(f, Status), NewUninstall(f, Uninstall), NewDiff(f, Diff),
		NewHistory(f, History), NewRollback(f, Rollback), NewReconcile(f, Reconcile),
		NewContent(f, Content), NewUnpack(f, Unpack), NewTemplate(f, Template), NewValidate(f, Validate),
		NewDefinitions(f, Definitions),
	)
	return cmd
}
