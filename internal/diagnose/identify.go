package diagnose

import (
	"cmp"
	"reflect"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/berthdev/berth/internal/watch"
)

// place is where an object is: there can be one at a time.
type place struct{ kind, namespace, name string }

func placeOf(o metav1.Object) place {
	return place{reflect.TypeOf(o).Elem().Name(), o.GetNamespace(), o.GetName()}
}

// objects are those of the records.
func (d Dump) objects() (all []metav1.Object) {
	for _, r := range d.Records {
		if o, err := meta.Accessor(r.Object); err == nil {
			all = append(all, o)
		}
	}
	return all
}

// identify gives a UID to objects from which it was removed, that by which others refer
// to them if there is one. Without one they could not be distinguished. Events that do
// not say which object of a name they are about are about the one that is there.
func (d Dump) identify() {
	referred, known := map[place]types.UID{}, map[place]types.UID{}
	for _, o := range d.objects() {
		for _, owner := range o.GetOwnerReferences() {
			referred[place{owner.Kind, o.GetNamespace(), owner.Name}] = owner.UID
		}
		if e, ok := o.(*corev1.Event); ok && e.InvolvedObject.UID != "" {
			referred[about(e)] = e.InvolvedObject.UID
		}
	}
	for _, o := range d.objects() {
		at := placeOf(o)
		if o.GetUID() == "" {
			o.SetUID(cmp.Or(referred[at], types.UID(at.kind+"/"+at.namespace+"/"+at.name)))
		}
		known[at] = o.GetUID()
	}
	for _, o := range d.objects() {
		if e, ok := o.(*corev1.Event); ok && e.InvolvedObject.UID == "" {
			e.InvolvedObject.UID = known[about(e)]
		}
	}
}

func about(e *corev1.Event) place {
	return place{e.InvolvedObject.Kind, e.InvolvedObject.Namespace, e.InvolvedObject.Name}
}

// dropFormer leaves out objects in whose place there is a newer one: kubectl get --watch
// does not say that the one before was deleted.
func (d *Dump) dropFormer() {
	newest := map[place]metav1.Object{}
	for _, o := range d.objects() {
		known := newest[placeOf(o)]
		if known == nil || !o.GetCreationTimestamp().Time.Before(known.GetCreationTimestamp().Time) {
			newest[placeOf(o)] = o
		}
	}
	d.Records = slices.DeleteFunc(d.Records, func(r watch.Record) bool {
		o, err := meta.Accessor(r.Object)
		return err == nil && newest[placeOf(o)].GetUID() != o.GetUID()
	})
}
