package doctor

import (
	"context"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/metadata"

	"github.com/berthdev/berth/internal/blueprint"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/job"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/rbac"
	"github.com/berthdev/berth/internal/store"
)

// Configured is what the checks go by.
type Configured struct {
	Jobs job.Config
	// Certificates is true if workspaces are to get some.
	Certificates bool
	// Default gives the blueprint that a user string without one means.
	Default func(context.Context) (blueprint.Blueprint, error)
}

// configured are the checks of what is configured.
func (l live) configured(c Configured, review func(context.Context) (rbac.Review, error)) []Check {
	checks := []Check{
		{Name: "room", Look: func(ctx context.Context) (Finding, error) { return l.room(ctx, c) }},
		{Name: "records", Look: func(ctx context.Context) (Finding, error) { return l.records(ctx, c.Jobs) }},
	}
	if c.Jobs.UsesNATS() {
		checks = append(checks, Check{
			Name: "nats",
			Look: func(ctx context.Context) (Finding, error) { return l.nats(ctx, c.Jobs) },
		})
	}
	if c.Certificates {
		checks = append(checks, Check{
			Name: "certificates",
			Look: func(ctx context.Context) (Finding, error) { return l.certificates(ctx, review) },
		})
	}
	return checks
}

func (l live) room(ctx context.Context, c Configured) (Finding, error) {
	b, err := c.Default(ctx)
	if err != nil {
		return Skipped("the default blueprint cannot be read"), nil //nolint:nilerr // another check says why
	}
	quotas, err := l.client.CoreV1().ResourceQuotas(l.client.Namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return Finding{}, l.fault(err, "list", "resourcequotas")
	}
	ranges, err := l.client.CoreV1().LimitRanges(l.client.Namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return Finding{}, l.fault(err, "list", "limitranges")
	}
	return Fits(AsksOf(b), quotas.Items, ranges.Items), nil
}

// records reads the labels alone: a record can be half a megabyte.
func (l live) records(ctx context.Context, c job.Config) (Finding, error) {
	client, err := metadata.NewForConfigAndClient(l.client.Config, l.client.HTTP)
	if err != nil {
		return Finding{}, fault.New(fault.InvalidArgument, "kubeconfig: %w", err)
	}
	list, err := client.Resource(corev1.SchemeGroupVersion.WithResource("configmaps")).Namespace(l.client.Namespace).
		List(ctx, metav1.ListOptions{LabelSelector: job.Selector})
	if err != nil {
		return Finding{}, l.fault(err, "list", "configmaps")
	}
	labels := make([]map[string]string, len(list.Items))
	for i := range list.Items {
		labels[i] = list.Items[i].Labels
	}
	return Records(job.Count(labels, l.now()), c.UsesNATS()), nil
}

// nats gives up before the check does, so that it can say what failed.
func (l live) nats(ctx context.Context, c job.Config) (Finding, error) {
	if until, ok := ctx.Deadline(); ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Until(until)*3/4)
		defer cancel()
	}
	stores := job.Open(ctx, c, l.client, l.now)
	defer stores.Close()
	p, err := stores.Probe(ctx)
	return NATS(p, c.Keep(), err), nil
}

// certificates asks whether the API server knows the kind, which everybody may.
func (l live) certificates(ctx context.Context, review func(context.Context) (rbac.Review, error)) (Finding, error) {
	known, err := review(ctx)
	if err != nil {
		return Finding{}, err
	}
	const path = "/apis/cert-manager.io/v1"
	_, err = l.client.Discovery().RESTClient().Get().AbsPath(path).DoRaw(ctx)
	if err != nil && !apierrors.IsNotFound(err) {
		return Finding{}, kube.Fault(err, kube.Call{Verb: "get", Resource: path})
	}
	return Certificates(err == nil, known.Missing(rbac.Named(rbac.Provision).On("certificates")), l.client.Namespace),
		nil
}

func (l live) networkPolicies(ctx context.Context) (Finding, error) {
	list, err := l.client.AppsV1().DaemonSets(metav1.NamespaceAll).List(ctx, metav1.ListOptions{})
	if apierrors.IsForbidden(err) {
		return Skipped("cannot tell whether network policies are enforced: you may not list daemonsets.apps " +
			"in all namespaces"), nil
	}
	if err != nil {
		return Finding{}, kube.Fault(err, kube.Call{Verb: "list", Resource: "daemonsets.apps"})
	}
	return NetworkPolicies(list.Items), nil
}

// NATS judges where records are to be kept. Workspaces are provisioned without it, so it never fails.
func NATS(p store.Probe, keep time.Duration, err error) Finding {
	if err != nil {
		f := fault.From(err)
		hint := f.Hint
		if hint == "" {
			hint = "correct jobs.nats in the configuration, or set jobs.store to cluster"
		}
		return Warning(f.Message+"; meanwhile records stay in the cluster", hint)
	}
	switch {
	case !p.Exists:
		return OK(fmt.Sprintf("%s; the first record creates the bucket %s, which keeps them for %s", p.Address,
			job.Bucket, job.FormatRetention(keep)))
	case p.Keep == 0:
		return Warning(fmt.Sprintf("%s keeps records forever (%d in bucket %s)", p.Address, p.Documents, job.Bucket),
			fmt.Sprintf("give the bucket an age: nats stream edit KV_%s --max-age %s", job.Bucket,
				job.FormatRetention(keep)))
	case p.Keep != keep:
		return OK(fmt.Sprintf("%s keeps records for %s (set in bucket %s) instead of %s", p.Address,
			job.FormatRetention(p.Keep), job.Bucket, job.FormatRetention(keep)))
	}
	return OK(fmt.Sprintf("%s keeps records for %s (%d in bucket %s)", p.Address, job.FormatRetention(p.Keep),
		p.Documents, job.Bucket))
}

// Records judges the records of jobs that lie in the namespace.
func Records(r job.Counts, usesNATS bool) Finding {
	said := fmt.Sprintf("%d in the namespace", r.Kept)
	if r.Expired > 0 {
		said += fmt.Sprintf(", and %d that expired: the next command that writes here removes them", r.Expired)
	}
	switch {
	case r.Pending > 0 && !usesNATS:
		return Warning(fmt.Sprintf("%s; %d wait for a NATS that is not configured here", said, r.Pending),
			"configure jobs.nats as it was where they were written, then `berth jobs` moves them; or leave them "+
				"until they expire")
	case r.Pending > 0:
		return OK(fmt.Sprintf("%s; %d wait for NATS: the next command that reaches it moves them", said, r.Pending))
	}
	return OK(said)
}

// Certificates judges whether workspaces can get those that are configured: whether cert-manager is installed, and what
// the caller may not do of what that takes.
func Certificates(installed bool, missing []rbac.Access, namespace string) Finding {
	if !installed {
		return Failed("the configuration asks for certificates, but the cluster has no certificates.cert-manager.io",
			"have cert-manager installed (https://cert-manager.io), or set certificate.enabled to false")
	}
	if len(missing) == 0 {
		return OK("cert-manager is installed")
	}
	verbs := make([]string, len(missing))
	for i, a := range missing {
		verbs[i] = a.Verb
	}
	return Failed("you may not "+strings.Join(verbs, ", ")+" "+missing[0].Object()+" in namespace "+namespace+
		", which the configuration asks for",
		"ask for the Role "+rbac.Named(rbac.Provision).
			ObjectName()+" of docs/rbac.md, or set certificate.enabled to false")
}
