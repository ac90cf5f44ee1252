package instance

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	helm "helm.sh/helm/v3/pkg/release"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/berthdev/berth/api/bundle/v1alpha1"
	"github.com/berthdev/berth/internal/bundle/cluster"
	"github.com/berthdev/berth/internal/bundle/content"
	"github.com/berthdev/berth/internal/bundle/format"
	"github.com/berthdev/berth/internal/bundle/resource"
	"github.com/berthdev/berth/internal/event"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
)

// Request is what somebody at a terminal wants to have installed.
type Request struct {
	Name string
	// Source is what the content was fetched from, and Resolved what exactly that was; of
	// content that is local, an upload.
	Source, Resolved v1alpha1.Source
	Content          *content.Content
	// Class is that of the content's format, and Package what the content is: see Load.
	Class   string
	Package *format.Package
	// Format is what the content is to be read as; empty if that is to be recognized.
	Format format.Format
	Config v1alpha1.Config
	// ServiceAccount is as what it is installed; nil for the caller, or the server's installer.
	ServiceAccount *v1alpha1.ServiceAccount
	// KeepValues installs a chart with the values of the last installation; see Load.
	KeepValues bool
	// KeepWatch has an operator watch the namespaces that it has watched; see Load.
	KeepWatch bool
	Until     Until
	// Revision is the one that is to be had again; 0 for what is new. See Earlier.
	Revision int
	// Charts are the versions of what its chart depended on, as PATH VERSION: whoever fetches it again takes these.
	Charts []string
}

// Load reads the content of a request as its class says, and recognizes the class if the request has
// none. What is installed from the same content already is read from its record.
func (r Reconciler) Load(ctx context.Context, q *Request, k Snapshot) error {
	found, err := formatOf(q)
	if err != nil {
		return err
	}
	if q.KeepValues && resource.FormatOf(q.Class) == format.Helm {
		values, err := k.Values()
		if err != nil {
			return err
		}
		q.Config.Values = values
	}
	if q.KeepWatch && resource.FormatOf(q.Class) == format.Registry {
		if q.Config.WatchNamespaces, err = k.Watch(); err != nil {
			return err
		}
	}
	wanted, err := instanceOf(*q)
	if err != nil {
		return err
	}
	if r, err = r.As(q.ServiceAccount); err != nil {
		return err
	}
	if k.Instance != nil {
		wanted.ObjectMeta = k.Instance.ObjectMeta
		b, _, err := resource.BundleFor(wanted, k.Bundles)
		if err != nil {
			return err
		}
		if b != nil {
			q.Package, err = recorded(k.Release, r.originOf(k.Instance, b, q.Class, q.Config))
		}
		if err != nil {
			return err
		}
	}
	if q.Package == nil {
		q.Package, err = r.read(ctx, q.Content, q.Name, found, q.Config, k.Release)
	} else {
		q.Package.Format = found
	}
	return err
}

// instanceOf is the object that says what is requested.
func instanceOf(q Request) (*v1alpha1.Instance, error) {
	text, err := json.Marshal(q.Config)
	if err != nil {
		return nil, err
	}
	in := &v1alpha1.Instance{Spec: v1alpha1.InstanceSpec{
		ProvisionerClassName: q.Class, Config: text, ServiceAccount: q.ServiceAccount,
		Template: v1alpha1.Template{
			// Other content from the same place is another bundle.
			Metadata: v1alpha1.TemplateMeta{
				Annotations: map[string]string{v1alpha1.AnnotationContent: q.Content.Digest},
			},
			Spec: v1alpha1.BundleSpec{ProvisionerClassName: q.Class, Source: q.Source},
		},
	}}
	if len(q.Charts) > 0 {
		in.Spec.Template.Metadata.Annotations[v1alpha1.AnnotationCharts] = strings.Join(q.Charts, ",")
	}
	in.Name = q.Name
	return in, nil
}

// formatOf is what the content of a request is read as, by which it gets its class if it has none. Where that does not
// follow from the content and the class, the instance says it.
func formatOf(q *Request) (found format.Format, err error) {
	switch {
	case q.Format == "" && q.Class == "":
		found, err = format.Recognize(q.Content.FS())
	case q.Format == "":
		found, err = contentOf(q.Content, q.Class, q.Config)
	default:
		found = q.Format
	}
	if err != nil {
		return "", err
	}
	if q.Class == "" {
		q.Class = resource.ClassOf(found)
	}
	if q.Format != "" && q.Format != q.Format.Base() {
		q.Config.Format = string(q.Format)
	}
	return found, nil
}

// contentOf is what content is read as by an instance that has a bundle of a class.
func contentOf(c *content.Content, class string, conf v1alpha1.Config) (format.Format, error) {
	wanted := resource.FormatOf(class)
	switch asked := format.Format(conf.Format); {
	case wanted != format.Plain:
		return wanted, nil
	case asked == "":
		found, err := format.RecognizeAs(c.FS(), wanted)
		if found.Base() != wanted {
			found = wanted // which says what is missing
		}
		return found, err
	case asked.Base() != wanted:
		return "", fault.New(fault.InvalidArgument, "spec.config.format %q is not one of class %s", asked, class).
			WithHint("leave it out, or use %s or %s", format.YAML, format.Kustomize)
	default:
		return asked, nil
	}
}

// Stored is the content of the bundle that is installed of an instance, and the bundle: as it was unpacked, whatever is
// at its source now. The content is to be closed.
func (r Reconciler) Stored(ctx context.Context, name string, steps *event.Steps) (*content.Content, *v1alpha1.Bundle,
	error,
) {
	k, err := r.Snapshot(ctx, name)
	switch {
	case err != nil:
		return nil, nil, err
	case k.Instance == nil:
		return nil, nil, notInstalled(name)
	case k.Instance.Status.InstalledBundleName == "":
		return nil, nil, fault.New(fault.NotFound, "nothing is installed of bundle %s", name).
			WithHint("`berth bundle status %s` says why", name)
	}
	installed := k.Instance.Status.InstalledBundleName
	i := slices.IndexFunc(k.Bundles, func(b v1alpha1.Bundle) bool { return b.Name == installed })
	if i < 0 {
		return nil, nil, fault.New(fault.NotFound, "the Bundle %s, which is installed of %s, does not exist any more",
			installed, name).
			WithHint("install it again from its source, or write what its release has: helm get manifest %s "+
				"--namespace %s", name, r.System)
	}
	b, unpacker := &k.Bundles[i], r.unpacker("")
	if !resource.IsOurs(b.Spec.ProvisionerClassName) {
		c, err := unpacker.FromOthers(ctx, b)
		return c, b, err
	}
	c, err := unpacker.Content(ctx, b, steps)
	return c, b, err
}

// read reads content of a format. Templates of charts see the cluster, and whether there is a release already.
func (r Reconciler) read(ctx context.Context, c *content.Content, instance string, of format.Format,
	conf v1alpha1.Config, current *helm.Release,
) (*format.Package, error) {
	o := format.Options{
		Format: of, Instance: instance, Namespace: r.namespaceOf(conf),
		Values: []byte(conf.Values), Watch: conf.WatchNamespaces,
	}
	view := r.clusterView()
	if o.Format == format.Helm {
		if o.Upgrade = current != nil; o.Upgrade {
			o.Revision = current.Version + 1
		}
		var err error
		if o.Capabilities, err = view.Capabilities(); err != nil {
			return nil, err
		}
		o.Lookup = view.Lookup
	}
	o.RenderTime = r.RenderTime
	pkg, err := r.turns.Load(ctx, c.FS(), o)
	if err == nil {
		err = view.Conform(ctx, pkg)
	}
	return pkg, err
}

// clusterView is what content is told of the cluster.
func (r Reconciler) clusterView() cluster.View {
	return cluster.View{
		Client: r.Installs, Reserved: r.Reserved,
		ResourceOf: func(ctx context.Context, kind schema.GroupVersionKind) (kube.Resource, bool, error) {
			return r.Applier("", "").ResourceOf(ctx, kind) // another one may be defined meanwhile
		},
	}
}
