package fleet

import (
	"context"
	"slices"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/metadata"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/provision/inventory"
	"github.com/berthdev/berth/internal/release"
	"github.com/berthdev/berth/internal/userstring"
)

// Belongings are what workspaces have beside their pods, by its labels alone: Helm's records
// and claims. A workspace without a pod is known by them.
type Belongings struct {
	reader    inventory.Reader
	namespace string
	installed map[key]installation
	claims    map[key]metav1.ObjectMeta
	// blind is true if Helm's records may not be listed.
	blind bool
}

// installation is what Helm's records of a release say of it, by their labels.
type installation struct {
	guarded  bool // beside such a record, others do not count
	deployed bool // as a whole, ever
}

// ReadBelongings lists Helm's records and the claims of a namespace, or of all, side by side:
// one request of each for every 500. What the caller may not list is left out.
func ReadBelongings(ctx context.Context, r inventory.Reader, namespace string) (*Belongings, error) {
	b := newBelongings(r, namespace)
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() (err error) {
		b.blind, err = orDenied(b.records(ctx))
		return err
	})
	group.Go(func() error {
		_, err := orDenied(b.list(ctx, "persistentvolumeclaims", kube.LabelCanonicalID, b.addClaim))
		return err
	})
	return b, group.Wait()
}

// ReadRecords is ReadBelongings without claims. It is PERMISSION_DENIED for who may not list
// Helm's records.
func ReadRecords(ctx context.Context, r inventory.Reader, namespace string) (*Belongings, error) {
	b := newBelongings(r, namespace)
	err := b.records(ctx)
	return b, err
}

// Installed describes those of some workspaces without pods that are installed, by Helm's records
// of these alone: a request for every 50.
func Installed(ctx context.Context, r inventory.Reader, namespace string, some []v1.Workspace) ([]v1.Workspace, error) {
	b, is := newBelongings(r, namespace), map[key]bool{}
	for _, w := range some {
		k := key{w.Namespace, w.ID}
		b.installed[k], is[k] = installation{}, true
	}
	return b.Podless(ctx, func(namespace, id string) bool { return !is[key{namespace, id}] })
}

func newBelongings(r inventory.Reader, namespace string) *Belongings {
	return &Belongings{
		reader: r, namespace: namespace, installed: map[key]installation{},
		claims: map[key]metav1.ObjectMeta{},
	}
}

// orDenied tells what may not be read from what cannot be.
func orDenied(err error) (denied bool, _ error) {
	if fault.CodeOf(err) == fault.PermissionDenied {
		return true, nil
	}
	return false, err
}

func (b *Belongings) records(ctx context.Context) error {
	return b.list(ctx, "secrets", "owner=helm", b.addRecord)
}

// list reads the metadata of what has a label.
func (b *Belongings) list(ctx context.Context, resource, selector string, add func(metav1.ObjectMeta)) error {
	call := kube.Call{Verb: "list", Resource: resource, Namespace: b.namespace}
	client, err := metadata.NewForConfigAndClient(b.reader.Client.Config, b.reader.Client.HTTP)
	if err != nil {
		return kube.Fault(err, call)
	}
	objects := client.Resource(corev1.SchemeGroupVersion.WithResource(resource)).Namespace(b.namespace)
	err = eachPage(ctx, metav1.ListOptions{LabelSelector: selector}, objects.List,
		func(page *metav1.PartialObjectMetadataList) {
			for i := range page.Items {
				meta := page.Items[i].ObjectMeta
				meta.ManagedFields = nil
				add(meta)
			}
		})
	return kube.Fault(err, call)
}

func (b *Belongings) addRecord(secret metav1.ObjectMeta) {
	name := secret.Labels["name"]
	if !userstring.LooksLikeID(name) {
		return
	}
	k := key{secret.Namespace, name}
	is := installation{
		guarded:  secret.Labels[release.LabelGuarded] != "",
		deployed: secret.Labels["status"] == "deployed",
	}
	switch before, ok := b.installed[k]; {
	case !ok || is.guarded && !before.guarded:
		b.installed[k] = is
	case is.guarded == before.guarded:
		is.deployed = is.deployed || before.deployed
		b.installed[k] = is
	}
}

// addClaim notes one claim of each workspace: those that are kept say whose it was as well.
func (b *Belongings) addClaim(claim metav1.ObjectMeta) {
	k := key{claim.Namespace, claim.Labels[kube.LabelCanonicalID]}
	if !userstring.LooksLikeID(k.name) || claim.DeletionTimestamp != nil {
		return
	}
	if before, ok := b.claims[k]; !ok || isKept(before) {
		b.claims[k] = claim
	}
}

func isKept(claim metav1.ObjectMeta) bool { return claim.Labels[kube.LabelKept] == "true" }

// Deployed names the workspaces that were installed as a whole, whether they have pods or not.
// Releases of others may have a name like them.
func (b *Belongings) Deployed() (all []v1.Workspace) {
	for k, is := range b.installed {
		if is.deployed {
			all = append(all, v1.Workspace{ID: k.name, Namespace: k.namespace})
		}
	}
	return all
}

// Podless describes the workspaces that are not known otherwise. Of those that are installed,
// Helm's records are read, which say whose they are and why they have no pod: a request for every 50.
func (b *Belongings) Podless(ctx context.Context, known func(namespace, id string) bool) (all []v1.Workspace,
	err error,
) {
	unknown := func(k key) bool { return !known(k.namespace, k.name) }
	var names []string
	for k := range b.installed {
		if unknown(k) {
			names = append(names, k.name)
		}
	}
	slices.Sort(names)
	found, err := release.Several(ctx, b.reader.Client.CoreV1(), b.namespace, slices.Compact(names))
	if err != nil {
		return nil, err
	}
	described := map[key]bool{}
	for of, record := range found {
		k := key{of.Namespace, of.Name}
		target := inventory.Target{
			ID: of.Name, Namespace: of.Namespace,
			Found: inventory.Found{Record: record.Release, Unreadable: record.Err},
		}
		w, is := target.Installed()
		if !is || !unknown(k) {
			continue
		}
		if claim, ok := b.claims[k]; ok && w.UserString == "" {
			w = inventory.NamedBy(w, &claim)
		}
		described[k] = true
		all = append(all, w)
	}
	for k, claim := range b.claims {
		if unknown(k) && !described[k] {
			all = append(all, inventory.OfClaim(&claim, !b.blind))
		}
	}
	Sort(all, ByDefault)
	return all, nil
}
