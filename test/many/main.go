// Command many installs many objects through internal/apply and internal/release, as a
// bundle is, so that what these cost is known by itself: time, requests, memory. Called
// again it is an upgrade, which changes nothing if the manifest is the same.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"syscall"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/cli-runtime/pkg/genericclioptions"

	"github.com/berthdev/berth/internal/apply"
	"github.com/berthdev/berth/internal/apply/health"
	"github.com/berthdev/berth/internal/apply/live"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/release"
)

type options struct {
	objects, namespace, name, kubeconfig string
	wait                                 time.Duration
}

func main() {
	var o options
	flag.StringVar(&o.objects, "filename", "", "a manifest")
	flag.StringVar(&o.namespace, "namespace", "default", "where the record is kept")
	flag.StringVar(&o.name, "name", "many", "of the release")
	flag.StringVar(&o.kubeconfig, "kubeconfig", os.Getenv("KUBECONFIG"), "of the cluster")
	flag.DurationVar(&o.wait, "wait", time.Minute, "for health")
	flag.Parse()
	if err := run(context.Background(), o); err != nil {
		fmt.Fprintln(os.Stderr, "many:", err)
		os.Exit(1)
	}
}

// outcome is what is printed.
type outcome struct {
	Objects, Created, Updated, Unchanged int
	Requests                             int // watches included
	Applied, Healthy                     string
	MemoryMiB                            int64
}

func run(ctx context.Context, o options) error {
	began := time.Now()
	flags := genericclioptions.NewConfigFlags(true)
	flags.KubeConfig, flags.Namespace = &o.kubeconfig, &o.namespace
	client, err := kube.NewClient(flags, "many", nil)
	if err != nil {
		return err
	}
	text, err := os.ReadFile(o.objects)
	if err != nil {
		return err
	}
	objects, err := release.Objects(string(text))
	if err != nil {
		return err
	}
	owner := release.Owner(o.name, o.namespace)
	owner.Tags = map[string]string{"core.rukpak.io/owner-name": o.name}
	view := live.New(client.Dynamic, "core.rukpak.io/owner-name="+o.name)
	defer view.Close()
	applier := apply.Applier{Client: client.Dynamic, Discovery: client.Discovery(), Namespace: o.namespace, Owner: owner, Live: view}
	changes, err := install(ctx, applier, o, release.Records{Secrets: client.CoreV1().Secrets(o.namespace), Namespace: o.namespace}, objects)
	if err != nil {
		return err
	}
	applied := time.Since(began)
	if err := applier.Watch(ctx, changes.Objects()); err != nil {
		return err
	}
	if _, err := health.Wait(ctx, view, changes.Objects(), o.wait, func(health.Reading) {}); err != nil {
		return err
	}
	var usage syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &usage)
	return json.NewEncoder(os.Stdout).Encode(outcome{
		Objects: len(objects), Created: len(changes.With(apply.Created)), Updated: len(changes.With(apply.Updated)), Unchanged: len(changes.With(apply.Unchanged)),
		Requests: client.Requests.Count(), Applied: applied.String(), Healthy: time.Since(began).String(), MemoryMiB: usage.Maxrss >> 10,
	})
}

// install is an installation or an upgrade, with its record.
func install(ctx context.Context, applier apply.Applier, o options, records release.Records, objects []*unstructured.Unstructured) (apply.Changes, error) {
	before, err := records.Latest(ctx, o.name)
	if err != nil {
		return nil, err
	}
	manifest, err := release.Manifest(objects)
	if err != nil {
		return nil, err
	}
	if before != nil && before.Manifest == manifest {
		return applier.Apply(ctx, apply.Objects(objects))
	}
	applier.First = before == nil
	revision := release.NewRevision(o.name, o.namespace, release.Content{Chart: release.Plain("many", "0.0.0"), Manifest: manifest}, before, time.Now())
	if err := records.Create(ctx, revision); err != nil {
		return nil, err
	}
	changes, err := applier.Apply(ctx, apply.Objects(objects))
	if err != nil {
		return nil, err
	}
	return changes, records.Succeeded(ctx, revision, 3, time.Now())
}
