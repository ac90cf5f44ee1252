package store_test

import (
	"encoding/json"
	"errors"
	"strconv"
	"sync"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
)

// newCluster is a fake client that gives ConfigMaps resource versions and checks
// them, and selects what is watched, as the API server does.
func newCluster() *fake.Clientset {
	client := fake.NewClientset()
	c := &versions{Clientset: client, react: clienttesting.ObjectReaction(client.Tracker())}
	client.PrependReactor("create", "configmaps", c.create)
	client.PrependReactor("patch", "configmaps", c.patch)
	client.PrependReactor("delete", "configmaps", c.delete)
	client.PrependWatchReactor("configmaps", c.watch)
	return client
}

type versions struct {
	*fake.Clientset
	react clienttesting.ReactionFunc
	mu    sync.Mutex
	last  int
}

var errConflict = errors.New("the object has been modified")

func (v *versions) next() string {
	v.last++
	return strconv.Itoa(v.last + 100)
}

func (v *versions) conflicts(a clienttesting.Action, name, version string) error {
	object, err := v.Tracker().Get(a.GetResource(), a.GetNamespace(), name)
	if err != nil || version == "" || object.(*corev1.ConfigMap).ResourceVersion == version {
		return err
	}
	return apierrors.NewConflict(a.GetResource().GroupResource(), name, errConflict)
}

func (v *versions) create(action clienttesting.Action) (bool, runtime.Object, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	action.(clienttesting.CreateAction).GetObject().(*corev1.ConfigMap).ResourceVersion = v.next()
	return v.react(action)
}

func (v *versions) patch(action clienttesting.Action) (bool, runtime.Object, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	a := action.(clienttesting.PatchActionImpl)
	var object corev1.ConfigMap
	if err := json.Unmarshal(a.Patch, &object); err != nil {
		return true, nil, err
	}
	err := v.conflicts(a, a.Name, object.ResourceVersion)
	if err != nil && (!apierrors.IsNotFound(err) || a.PatchType != "application/apply-patch+yaml") {
		return true, nil, err
	}
	object.ResourceVersion = v.next()
	if a.Patch, err = json.Marshal(&object); err != nil {
		return true, nil, err
	}
	return v.react(a)
}

func (v *versions) delete(action clienttesting.Action) (bool, runtime.Object, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	a := action.(clienttesting.DeleteActionImpl)
	if p := a.DeleteOptions.Preconditions; p != nil {
		if err := v.conflicts(a, a.Name, *p.ResourceVersion); err != nil {
			return true, nil, err
		}
	}
	return v.react(a)
}

func (v *versions) watch(action clienttesting.Action) (bool, watch.Interface, error) {
	a := action.(clienttesting.WatchActionImpl)
	w, err := v.Tracker().Watch(a.GetResource(), a.GetNamespace(), a.ListOptions)
	if err != nil {
		return true, nil, err
	}
	return true, watch.Filter(w, func(e watch.Event) (watch.Event, bool) {
		return e, a.WatchRestrictions.Labels.Matches(labels.Set(e.Object.(*corev1.ConfigMap).Labels))
	}), nil
}
