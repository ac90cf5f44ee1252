package instance

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/berthdev/berth/api/bundle/v1alpha1"
	"github.com/berthdev/berth/internal/bundle/installer"
	"github.com/berthdev/berth/internal/bundle/resource"
	"github.com/berthdev/berth/internal/event"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
)

// What content is told of a cluster is asked with the rights of the installer, never with berth's own.
func TestContentSeesWhatTheInstallerSees(t *testing.T) {
	own, installs := dynamicfake.NewSimpleDynamicClient(runtime.NewScheme()),
		dynamicfake.NewSimpleDynamicClient(runtime.NewScheme())
	r := Reconciler{
		Own:      &kube.Client{Interface: fake.NewClientset(), Dynamic: own},
		Installs: &kube.Client{Interface: fake.NewClientset(), Dynamic: installs},
		System:   "ns", Reserved: installer.Reserved{System: "ns"},
	}
	if _, err := r.clusterView().Lookup(t.Context(), "v1", "Secret", "shop", "s"); err != nil {
		t.Error(err)
	}
	if _, err := r.clusterView().Lookup(t.Context(), "v1", "Secret", "ns", "s"); err == nil {
		t.Error("it sees the system namespace")
	}
	if len(own.Actions()) > 0 || len(installs.Actions()) != 1 {
		t.Errorf("berth itself asks for %v, the installer for %v", own.Actions(), installs.Actions())
	}
}

// A permission that is missing is said to be that of the installer, with what to do; all else
// stays as it is.
func TestDenied(t *testing.T) {
	forbidden := func(text string) error {
		return kube.Fault(apierrors.NewForbidden(schema.GroupResource{Resource: "services"}, "s", errors.New(text)),
			kube.Call{Verb: "create", Resource: "services", Namespace: "shop"})
	}
	lacks := forbidden(`User "system:serviceaccount:shop:deployer" cannot create resource "services" in API group "" ` +
		`in the namespace "shop"`)
	cannot := forbidden(`User "system:serviceaccount:ns:berth-bundles" cannot impersonate resource "serviceaccounts" ` +
		`in API group "" in the namespace "shop"`)
	r := Reconciler{account: &v1alpha1.ServiceAccount{Namespace: "shop", Name: "deployer"}}
	for says, err := range map[string]error{
		"the ServiceAccount shop/deployer lacks a permission: you may not create services in namespace shop": lacks,
		"`berth serve manifests bundles --service-account shop/deployer`":                                    cannot,
	} {
		if got := resource.Why(r.denied(err)); !strings.Contains(got, says) ||
			fault.CodeOf(r.denied(err)) != fault.PermissionDenied {
			t.Errorf("%q, want %q", got, says)
		}
		if got := (Reconciler{}).denied(err); got != err { //nolint:errorlint // the very one
			t.Errorf("at a terminal it is %v", got)
		}
	}
	if other := fault.New(fault.Failed, "x"); r.denied(other) != error(other) { //nolint:errorlint // the very one
		t.Error("another error is changed")
	}
}

// A run that meets another's work on an instance says so; an uninstallation waits for the
// end of a server's pass.
func TestLock(t *testing.T) {
	for name, test := range map[string]struct {
		of, meets string
		waits     bool
	}{
		"a pass meets an installation":            {forPass, forInstall, false},
		"an installation meets a pass":            {forInstall, forPass, false},
		"an uninstallation meets a pass":          {forUninstall, forPass, true},
		"an uninstallation meets an upgrade":      {forUninstall, forInstall, false},
		"an uninstallation meets its own kind":    {forUninstall, forUninstall, false},
		"an installation meets an uninstalling":   {forInstall, forUninstall, false},
		"one pass meets another, of a new leader": {forPass, forPass, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client, met := fake.NewClientset(), make(chan struct{})
			meet := sync.OnceFunc(func() { close(met) })
			r := Reconciler{Own: &kube.Client{Interface: client}, System: "ns", Now: time.Now}
			other := r.locker(test.meets)
			other.Self.Nonce = "other"
			theirs, _, err := other.Try(t.Context(), lockID("web"), nil)
			if err != nil {
				t.Fatal(err)
			}
			client.PrependReactor("get", "leases", func(clienttesting.Action) (bool, runtime.Object, error) {
				meet()
				return false, nil, nil
			})
			steps := event.NewSteps(event.NewStream("", time.Now), time.Now)
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			if test.waits {
				go func() {
					<-met
					theirs.Release(context.WithoutCancel(ctx))
				}()
			} else {
				defer theirs.Release(context.WithoutCancel(ctx))
			}
			held, err := r.lock(ctx, "web", test.of, steps)
			if held != nil {
				defer held.Release(context.WithoutCancel(ctx))
			}
			if test.waits != (held != nil) || !test.waits &&
				(fault.CodeOf(err) != fault.Conflict || !strings.Contains(err.Error(), test.meets)) {
				t.Errorf("%v, %v", held, err)
			}
		})
	}
}
