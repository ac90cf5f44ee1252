package bundle

import (
	"context"
	"reflect"
	"strings"

	"github.com/pmezard/go-difflib/difflib"
	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/berthdev/berth/api/bundle/v1alpha1"
	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/apply"
	"github.com/berthdev/berth/internal/bundle/resource"
	"github.com/berthdev/berth/internal/commands/cmdutil"
	"github.com/berthdev/berth/internal/english"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/terminal/printer"
	"github.com/berthdev/berth/internal/terminal/result/bundle"
)

// DiffOptions are what the command line of diff says.
type DiffOptions struct {
	InstallOptions
	ExitCode bool
}

// NewDiff makes `berth bundle diff`.
func NewDiff(f *cmdutil.Factory, runF func(context.Context, *DiffOptions) error) *cobra.Command {
	o := &DiffOptions{InstallOptions: InstallOptions{IO: f.IO, DryRun: apply.DryRunServer}}
	cmd := &cobra.Command{
		Use:   "diff NAME SOURCE",
		Short: "Show what installing a bundle would change",
		Long: `Show what installing a bundle under a name would change, object by object, as diff
--unified does. The API server computes it, and checks it, and keeps nothing. What
Secrets hold is masked: only whether it changes is shown.

The exit status is 0 whenever a comparison was made; with --exit-code it is 3 if
anything would change.`,
		Example: `  berth bundle diff shop ./shop
  berth bundle diff shop oci://registry.example.com/shop:v2 --exit-code`,
		ValidArgsFunction: completeSource(f),
		RunE: cmdutil.RunE(o, runF, func(cmd *cobra.Command, args []string) error {
			if len(args) != 2 {
				return fault.New(fault.InvalidArgument, "requires a name and a source, got %s",
					english.Plural(len(args), "argument"))
			}
			o.Name, o.Arg, o.Namespaced = args[0], args[1], cmd.Flags().Changed("namespace")
			return o.validate()
		}),
	}
	o.Open = f.For(cmd).VerifiedBundles
	o.addInstallFlags(cmd)
	cmdutil.AddOutputFlag(cmd, &o.Output, "text", "json", "yaml", "name", "jsonpath=", "go-template=")
	cmdutil.AddTimeoutFlag(cmd, &o.Timeout)
	cmd.Flags().BoolVar(&o.ExitCode, "exit-code", false, "exit with status 3 if anything would change")
	return cmd
}

// Diff prints what would change.
func Diff(ctx context.Context, o *DiffOptions) error {
	ctx, cancel := cmdutil.WithTimeout(ctx, o.Timeout)
	defer cancel()
	values, err := o.values(ctx, o.IO)
	if err != nil {
		return err
	}
	r, err := o.Open(ctx, o.System)
	if err != nil {
		return err
	}
	r.RenderTime = o.RenderTimeout
	conf := v1alpha1.Config{Values: string(values), Namespace: r.Own.Namespace}
	changes, err := o.preview(ctx, r, o.fetching(conf))
	if err != nil {
		return cmdutil.Because(ctx, err)
	}
	d := v1.BundleDiff{Name: o.Name}
	for _, c := range changes {
		item, err := compare(c)
		if err != nil {
			return err
		}
		d.Items = append(d.Items, item)
	}
	if err := printer.Print(o.IO, o.Output, bundle.Diff{BundleDiff: d}); err != nil {
		return err
	}
	if o.ExitCode && len(d.Items) > 0 {
		return cmdutil.ExitError(fault.Failed.Exit())
	}
	return nil
}

// compare compares an object with what it would be.
func compare(c apply.Change) (v1.BundleDiffObject, error) {
	item := v1.BundleDiffObject{
		Object:    kube.Object(c.Object.GetKind(), c.Object.GetName()),
		Namespace: c.Object.GetNamespace(), Action: string(c.Action),
	}
	before, after := c.Before, c.Object
	switch c.Action {
	case apply.Created:
		before = nil
	case apply.Deleted:
		after = nil
	}
	left, right := masked(before, after)
	old, err := text(left)
	if err != nil {
		return item, err
	}
	wanted, err := text(right)
	if err != nil {
		return item, err
	}
	item.Diff, err = difflib.GetUnifiedDiffString(difflib.UnifiedDiff{A: old, B: wanted, Context: 3})
	return item, err
}

// text is an object as people read it: without what the API server and kubectl apply write
// on the side (which has a Secret's values in it), and the marks that say whose it is.
func text(object *unstructured.Unstructured) ([]string, error) {
	if object == nil {
		return nil, nil
	}
	object = object.DeepCopy()
	for _, path := range [][]string{
		{"metadata", "managedFields"},
		{"metadata", "resourceVersion"},
		{"metadata", "uid"},
		{"metadata", "generation"},
		{"metadata", "creationTimestamp"},
		{"metadata", "ownerReferences"},
		{"metadata", "annotations", corev1.LastAppliedConfigAnnotation},
		{"status"},
	} {
		unstructured.RemoveNestedField(object.Object, path...)
	}
	object.SetLabels(without(object.GetLabels(), resource.Marks()))
	object.SetAnnotations(without(object.GetAnnotations(), resource.Marks()))
	document, err := yaml.Marshal(object.Object)
	return difflib.SplitLines(strings.TrimSuffix(string(document), "\n")), err
}

func without(all map[string]string, some []string) map[string]string {
	for _, key := range some {
		delete(all, key)
	}
	if len(all) == 0 {
		return nil
	}
	return all
}

// masked are the two states of an object, without what a Secret holds: of a value that
// changes, it is only seen that it does.
func masked(before, after *unstructured.Unstructured) (left, right *unstructured.Unstructured) {
	hide := func(object, other *unstructured.Unstructured, differs string) *unstructured.Unstructured {
		if object == nil || object.GetKind() != "Secret" {
			return object
		}
		object = object.DeepCopy()
		for _, field := range []string{"data", "stringData"} {
			values, _, _ := unstructured.NestedMap(object.Object, field)
			var others map[string]any
			if other != nil {
				others, _, _ = unstructured.NestedMap(other.Object, field)
			}
			for key, value := range values {
				values[key] = "***"
				if there, both := others[key]; both && !reflect.DeepEqual(there, value) {
					values[key] = differs
				}
			}
			if values != nil {
				object.Object[field] = values
			}
		}
		return object
	}
	return hide(before, after, "*** (before)"), hide(after, before, "*** (after)")
}
