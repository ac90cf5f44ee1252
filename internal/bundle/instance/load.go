package instance

import (
	"context"
	"slices"
	"sync"

	helm "helm.sh/helm/v3/pkg/release"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"

	"github.com/berthdev/berth/api/bundle/v1alpha1"
	"github.com/berthdev/berth/internal/apply"
	"github.com/berthdev/berth/internal/bundle/content"
	"github.com/berthdev/berth/internal/bundle/format"
	"github.com/berthdev/berth/internal/bundle/resource"
	"github.com/berthdev/berth/internal/chart"
	"github.com/berthdev/berth/internal/chart/budget"
	"github.com/berthdev/berth/internal/event"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
)

// Load reads the content of a request as what its class says it is, which is recognized if
// there is none. What is installed of the same is read from its record.
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
	if o.Format == format.Helm {
		if err := r.ofCluster(ctx, &o, current); err != nil {
			return nil, err
		}
	}
	o.RenderTime = r.RenderTime
	pkg, err := r.turns.Load(ctx, c.FS(), o)
	if err == nil {
		err = r.conform(ctx, pkg)
	}
	return pkg, err
}

// ofCluster lets a chart ask the cluster.
func (r Reconciler) ofCluster(ctx context.Context, o *format.Options, current *helm.Release) (err error) {
	if current != nil {
		o.Upgrade, o.Revision = true, current.Version+1
	}
	if o.Capabilities, err = r.capabilities(ctx); err != nil {
		return err
	}
	o.Lookup = r.lookup
	return nil
}

// required says what is missing on the cluster in the words of this API.
func required(err error) string {
	f := fault.From(err)
	if f.Reason == apply.ReasonKindMissing || kube.IsNamespaceMissing(err) || fault.CodeOf(err) == fault.NotFound {
		return "required resource not found: " + resource.Why(err)
	}
	return resource.Why(err)
}

// capabilities are the cluster's version and the versions of its APIs.
func (r Reconciler) capabilities(context.Context) (c chart.Capabilities, err error) {
	discovery := r.Installs.Discovery()
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

// maxLookup is how many objects a template is given in a list.
const maxLookup = 1000

// The sizes of pages in which a list is read, and what is read at once, in bytes: objects may
// have 1.5 MiB each, and most have some KiB.
const (
	firstPage = 16
	pageBytes = 8 << 20
)

// listed reads a list of objects without those that are hidden, but not more of it than a chart
// may have.
func listed(ctx context.Context, api dynamic.ResourceInterface,
	hidden func(unstructured.Unstructured) bool,
) (map[string]any, error) {
	var all *unstructured.UnstructuredList
	size, held, token := int64(firstPage), 0.0, ""
	for {
		page, err := api.List(ctx, metav1.ListOptions{Limit: size, Continue: token})
		if err != nil {
			return nil, err
		}
		held += budget.Held(page.UnstructuredContent())
		if held > budget.MaxAnswer {
			return nil, fault.New(fault.InvalidArgument, "the objects take more than %d MiB", budget.MaxAnswer>>20)
		}
		if token = page.GetContinue(); all == nil {
			all = page
		} else {
			all.Items = append(all.Items, page.Items...)
		}
		rest := maxLookup - int64(len(all.Items))
		if token == "" || rest <= 0 {
			all.Items = slices.DeleteFunc(all.Items, hidden)
			return all.UnstructuredContent(), nil
		}
		size = min(rest, max(1, int64(pageBytes/(held/float64(len(all.Items))))))
	}
}

// reserved names what is looked up in the system namespace, or that namespace itself.
func (r Reconciler) reserved(kind, name string) string {
	system := "the system namespace " + r.Reserved.System
	switch {
	case kind == "Namespace":
		return system
	case name == "":
		return "every " + kind + " in " + system
	}
	return kube.Object(kind, name) + " in " + system
}

// lookup finds an object for a template, or a list of them.
func (r Reconciler) lookup(ctx context.Context, apiVersion, kind, namespace, name string) (map[string]any, error) {
	object := &unstructured.Unstructured{}
	object.SetAPIVersion(apiVersion)
	object.SetKind(kind)
	object.SetNamespace(namespace)
	object.SetName(name)
	if r.Reserved.Hides(namespace) || r.Reserved.Hides(name) && kind == "Namespace" {
		return nil, fault.New(fault.Failed, "the template looks up %s, which bundles leave alone",
			r.reserved(kind, name)).
			WithHint("a server with --allow-system lets it")
	}
	resource, known, err := r.Applier("", namespace).ResourceOf(ctx, object.GroupVersionKind())
	if err != nil || !known {
		return nil, err
	}
	var api dynamic.ResourceInterface = r.Installs.Dynamic.Resource(resource.GroupVersionResource)
	if namespace != "" && resource.Namespaced {
		api = r.Installs.Dynamic.Resource(resource.GroupVersionResource).Namespace(namespace)
	}
	call := kube.Call{Verb: "get", Resource: resource.GroupResource().String(), Namespace: namespace, Name: name}
	if name == "" {
		call.Verb = "list"
		hidden := func(o unstructured.Unstructured) bool { return r.Reserved.Hides(o.GetNamespace()) }
		list, err := listed(ctx, api, hidden)
		return list, kube.Fault(err, call)
	}
	found, err := api.Get(ctx, name, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, kube.Fault(err, call)
	}
	return found.Object, nil
}

// remembered asks the cluster for each version of an API once. What the cluster does not
// have is asked for again, as it may have been defined meanwhile.
type remembered struct {
	discovery.ServerResourcesInterface

	mu    sync.Mutex
	lists map[string]*metav1.APIResourceList
}

// ServerResourcesForGroupVersion implements discovery.ServerResourcesInterface.
func (r *remembered) ServerResourcesForGroupVersion(version string) (*metav1.APIResourceList, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if list := r.lists[version]; list != nil {
		return list, nil
	}
	list, err := r.ServerResourcesInterface.ServerResourcesForGroupVersion(version)
	if err == nil {
		if r.lists == nil {
			r.lists = map[string]*metav1.APIResourceList{}
		}
		r.lists[version] = list
	}
	return list, err
}
