package cluster

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/berthdev/berth/internal/bundle/format"
	"github.com/berthdev/berth/internal/chart/manifest"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
)

// Conform compares the custom resources of a package with the definitions that the cluster has of their kinds, before
// anything is written. A field that such a definition lacks is refused, not left out: the cluster may get the
// definition that has it, and what is recorded would lack it then. A kind that the cluster does not have is left to
// what places the objects.
func (v View) Conform(ctx context.Context, pkg *format.Package) error {
	known, why := manifest.Definitions{}, map[schema.GroupVersionKind]string{}
	var rest []manifest.Unknown
	var problems []string
	absent := false
	for _, u := range pkg.Unknown {
		gvk := u.Object.GroupVersionKind()
		if _, asked := why[gvk]; u.Elsewhere && !asked {
			var err error
			if why[gvk], err = v.definitionOf(ctx, gvk, known); err != nil {
				return err
			}
		}
		switch reason := why[gvk]; {
		case !u.Elsewhere:
			rest = append(rest, u)
			continue
		case reason != "":
			rest = append(rest, manifest.Unknown{Object: u.Object, Reason: reason})
			continue
		}
		fitted := u.Object.DeepCopy()
		fit := known.Fit(fitted)
		name := u.Object.GetKind() + " " + u.Object.GetName() + ": "
		for _, field := range fit.Absent {
			problems = append(problems, fault.Line(name+field+" is not a field in the definition that the cluster has"))
		}
		for _, text := range fit.Refused {
			problems = append(problems, fault.Line(name+text))
		}
		for _, text := range fit.Dropped {
			pkg.Warnings = append(pkg.Warnings, fault.Line(name+text))
		}
		absent = absent || len(fit.Absent) > 0
		if len(fit.Absent) == 0 {
			u.Object.Object = fitted.Object
		}
		if u, is := known.Unknown(u.Object); is {
			rest = append(rest, u)
		}
	}
	pkg.Unknown = rest
	switch {
	case absent:
		return fault.From(format.Invalid(pkg.Format, problems)).
			WithHint("upgrade the definitions on the cluster first, or leave out the fields")
	case len(problems) > 0:
		return format.Invalid(pkg.Format, problems)
	}
	return nil
}

// definitionOf adds the definition that the cluster has of a kind, or says why there is none to compare with.
func (v View) definitionOf(ctx context.Context, gvk schema.GroupVersionKind, known manifest.Definitions) (
	why string, err error,
) {
	kind, there, err := v.ResourceOf(ctx, gvk)
	if err != nil {
		return "", err
	}
	if !there {
		return "the cluster does not have its kind", nil
	}
	name := kind.GroupResource().String()
	definition, err := v.Client.Dynamic.Resource(definitions()).Get(ctx, name, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return fmt.Sprintf("its kind has no definition (%s): another API server serves it", name), nil
	case apierrors.IsForbidden(err):
		return fmt.Sprintf("the definition of its kind (%s) may not be read", name), nil
	case err != nil:
		return "", kube.Fault(err, kube.Call{Verb: "get", Resource: definitions().GroupResource().String(), Name: name})
	}
	known.Add(definition)
	return "", nil
}

// definitions are where the API server has those of custom resources.
func definitions() schema.GroupVersionResource {
	return schema.GroupVersionResource{
		Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions",
	}
}
