package diagnose

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/watch"
)

// candidate is something in a dump that can be diagnosed.
type candidate struct {
	watch.Subject
	uid       types.UID
	owner     types.UID // empty for an object without a controller
	workspace bool
}

func (c candidate) String() string {
	return kube.Object(strings.ToLower(c.Kind), c.Name)
}

// candidates are the pods and workloads of a dump, in alphabetical order, one
// for each name.
func (d Dump) candidates() []candidate {
	known := map[watch.Subject]candidate{}
	for _, r := range d.Records {
		o, err := meta.Accessor(r.Object)
		if err != nil || watch.SubjectOf(o).Kind == "" {
			continue
		}
		c := candidate{Subject: watch.SubjectOf(o), uid: o.GetUID()}
		if owner := metav1.GetControllerOf(o); owner != nil {
			c.owner = owner.UID
		}
		c.workspace = c.Kind == watch.KindPod && o.GetLabels()[kube.LabelCanonicalID] != ""
		known[c.Subject] = c
	}
	return slices.SortedFunc(maps.Values(known), func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.String(), b.String()))
	})
}
