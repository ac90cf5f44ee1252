package doctor

import (
	"context"
	"net/http"
	"sync"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/version"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/rbac"
)

// Cluster are the checks that ask the API server; those of what is configured only where that could be read.
func Cluster(client *kube.Client, now func() time.Time, configured *Configured) []Check {
	l := live{client, now}
	core, ns := client.CoreV1(), client.Namespace
	checks := []Check{
		{Name: "cluster", Look: l.server, Reaches: true},
		{Name: "clock", Look: l.clock},
		{Name: "namespace", Look: l.namespace},
		{Name: "storage", Look: listing(client.StorageV1().StorageClasses().List, "storageclasses.storage.k8s.io", "",
			"", func(list *storagev1.StorageClassList) Finding { return Storage(list.Items) })},
		{Name: "scratch", Look: func(ctx context.Context) (Finding, error) { return l.scratch(ctx, configured) }},
		{Name: "nodes", Look: listing(core.Nodes().List, "nodes", "", "",
			func(list *corev1.NodeList) Finding { return Nodes(list.Items) })},
		{Name: "network", Look: l.networkPolicies},
		{Name: "quotas", Look: listing(core.ResourceQuotas(ns).List, "resourcequotas", ns, "",
			func(list *corev1.ResourceQuotaList) Finding { return Quotas(list.Items) })},
		{Name: "limits", Look: listing(core.LimitRanges(ns).List, "limitranges", ns, "",
			func(list *corev1.LimitRangeList) Finding { return LimitRanges(list.Items) })},
		{Name: "locks", Look: listing(client.CoordinationV1().Leases(ns).List, "leases.coordination.k8s.io", ns,
			kube.LabelCanonicalID,
			func(list *coordinationv1.LeaseList) Finding { return Locks(list.Items, now()) })},
		{Name: "releases", Look: l.releases},
	}
	ask := once(func(ctx context.Context) (rbac.Review, error) { return rbac.Ask(ctx, client, client.Namespace) })
	if configured != nil {
		checks = append(checks, l.configured(*configured, ask)...)
	}
	for _, c := range rbac.Commands() {
		if !c.Cluster {
			checks = append(checks, Check{Name: "permissions", Look: func(ctx context.Context) (Finding, error) {
				review, err := ask(ctx)
				return Permissions(c, review), err
			}})
		}
	}
	return checks
}

// once asks one time for several checks, which begin together and have the same time.
func once(ask func(context.Context) (rbac.Review, error)) func(context.Context) (rbac.Review, error) {
	var asked sync.Once
	var review rbac.Review
	var err error
	return func(ctx context.Context) (rbac.Review, error) {
		asked.Do(func() { review, err = ask(ctx) })
		return review, err
	}
}

type live struct {
	client *kube.Client
	now    func() time.Time
}

func (l live) fault(err error, verb, resource string) error {
	return kube.Fault(err, kube.Call{Verb: verb, Resource: resource, Namespace: l.client.Namespace})
}

// get asks for a path and keeps the header of the answer, which client-go does not hand out.
func (l live) get(ctx context.Context, path string) (http.Header, error) {
	var header http.Header
	config := rest.CopyConfig(l.client.Config)
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return keeping{next, &header} })
	client, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return nil, fault.New(fault.InvalidArgument, "kubeconfig: %w", err)
	}
	_, err = client.RESTClient().Get().AbsPath(path).DoRaw(ctx)
	return header, kube.Fault(err, kube.Call{Verb: "get", Resource: path})
}

// keeping notes the header of the last answer.
type keeping struct {
	next   http.RoundTripper
	header *http.Header
}

// RoundTrip makes it an http.RoundTripper.
func (k keeping) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := k.next.RoundTrip(r)
	if err == nil {
		*k.header = answer.Header
	}
	return answer, err
}

// server asks twice: setting up the connection is not what commands wait for.
func (l live) server(ctx context.Context) (Finding, error) {
	api := l.client.Discovery().RESTClient()
	ask := func() ([]byte, error) { return api.Get().AbsPath("/version").DoRaw(ctx) }
	if _, err := ask(); err != nil {
		return Finding{}, l.fault(err, "get", "/version")
	}
	began := l.now()
	text, err := ask()
	if err != nil {
		return Finding{}, l.fault(err, "get", "/version")
	}
	latency := l.now().Sub(began)
	var v version.Info
	if err := yaml.Unmarshal(text, &v); err != nil {
		return Finding{}, fault.New(fault.Internal, "/version cannot be read: %w", err)
	}
	return Version(v, latency), nil
}

func (l live) clock(ctx context.Context) (Finding, error) {
	before := l.now()
	header, err := l.get(ctx, "/version")
	if err != nil {
		return Finding{}, err
	}
	at, _ := http.ParseTime(header.Get("Date")) // zero if there is none
	return Clock(at, before, l.now()), nil
}

func (l live) namespace(ctx context.Context) (Finding, error) {
	ns, err := l.client.CoreV1().Namespaces().Get(ctx, l.client.Namespace, metav1.GetOptions{})
	if err != nil {
		return Finding{}, l.fault(err, "get", "namespaces")
	}
	return Namespace(ns), nil
}

// listing is a check that judges one list; the namespace is empty for what belongs to none.
func listing[L any](list func(context.Context, metav1.ListOptions) (L, error), resource, namespace, selector string,
	judge func(L) Finding,
) func(context.Context) (Finding, error) {
	return func(ctx context.Context) (Finding, error) {
		found, err := list(ctx, metav1.ListOptions{LabelSelector: selector})
		if err != nil {
			return Finding{}, kube.Fault(err, kube.Call{Verb: "list", Resource: resource, Namespace: namespace})
		}
		return judge(found), nil
	}
}

func (l live) releases(ctx context.Context) (Finding, error) {
	records, err := l.client.CoreV1().Secrets(l.client.Namespace).
		List(ctx, metav1.ListOptions{LabelSelector: "owner=helm"})
	if err != nil {
		return Finding{}, l.fault(err, "list", "secrets")
	}
	judge := func(leases *coordinationv1.LeaseList) Finding { return Releases(records.Items, leases.Items, l.now()) }
	return listing(l.client.CoordinationV1().Leases(l.client.Namespace).List, "leases.coordination.k8s.io",
		l.client.Namespace, kube.LabelCanonicalID, judge)(ctx)
}
