package format

import (
	"context"
	"fmt"
	"io/fs"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/berthdev/berth/internal/chart/manifest"
	"github.com/berthdev/berth/internal/fault"
)

// loadRegistry reads a bundle as operator registries keep them, and makes of its
// ClusterServiceVersion the objects that it stands for: an installation that watches all
// namespaces.
func loadRegistry(ctx context.Context, fsys fs.FS) (*Package, error) {
	about, problems := readMetadata(fsys)
	reader := &manifest.Reader{Strict: true}
	if err := readManifests(ctx, fsys, reader); err != nil {
		return nil, err
	}
	objects, files := reader.Objects()
	others, version, more := operator(objects, files)
	problems = append(append(problems, reader.Problems()...), more...)
	if len(problems) > 0 {
		return nil, invalid(Registry, problems)
	}
	c, problems := readVersion(version.object, version.file)
	problems = append(problems, c.unsupported(version.file)...)
	namespace, problem := c.namespace(about.name)
	if problem != "" {
		problems = append(problems, version.file+": "+problem)
	}
	if len(problems) > 0 {
		return nil, invalid(Registry, problems)
	}
	all := &manifest.Reader{Namespace: namespace}
	if !has(others, "Namespace", namespace) {
		all.Add(version.file, plainObject("v1", "Namespace", "", namespace))
	}
	for i, object := range others {
		all.Add(files[i], object.Object)
	}
	for _, object := range c.objects(namespace, others) {
		all.Add(version.file, object)
	}
	if problems := all.Problems(); len(problems) > 0 {
		return nil, invalid(Registry, problems)
	}
	objects, _ = all.Objects()
	return &Package{
		Format: Registry, Name: about.name, Version: c.Spec.Version, Namespace: namespace,
		Objects: objects, Warnings: append(about.warnings, c.warnings(others)...),
	}, nil
}

// found is an object and the file that it was read from.
type found struct {
	object *unstructured.Unstructured
	file   string
}

// operator parts the one ClusterServiceVersion from the other objects, and from their files.
func operator(objects []*unstructured.Unstructured, files []string) (others []*unstructured.Unstructured,
	version found, problems []string,
) {
	var versions []found
	kept := files[:0]
	for i, object := range objects {
		gvk := object.GroupVersionKind()
		if gvk.Group == "operators.coreos.com" && gvk.Kind == "ClusterServiceVersion" {
			versions = append(versions, found{object, files[i]})
			continue
		}
		others, kept = append(others, object), append(kept, files[i])
	}
	switch len(versions) {
	case 0:
		return nil, found{}, []string{"manifests/: holds no ClusterServiceVersion"}
	case 1:
		return others, versions[0], nil
	}
	names := make([]string, len(versions))
	for i, v := range versions {
		names[i] = v.object.GetName()
	}
	return nil, found{}, []string{fault.Line("manifests/: holds several ClusterServiceVersions: " +
		strings.Join(names, ", "))}
}

// has says whether objects have one of a kind and a name.
func has(objects []*unstructured.Unstructured, kind, name string) bool {
	for _, object := range objects {
		if object.GetKind() == kind && object.GetName() == name {
			return true
		}
	}
	return false
}

// plainObject is an object with nothing but its name.
func plainObject(version, kind, namespace, name string) map[string]any {
	metadata := map[string]any{"name": name}
	if namespace != "" {
		metadata["namespace"] = namespace
	}
	return map[string]any{"apiVersion": version, "kind": kind, "metadata": metadata}
}

// unsupported says what the operator asks for that an installation as plain objects cannot
// give.
func (c *operatorVersion) unsupported(file string) (problems []string) {
	problem := func(format string, args ...any) {
		problems = append(problems, fault.Line(file+": "+fmt.Sprintf(format, args...)))
	}
	for _, service := range c.Spec.APIServices.Owned {
		problem("apiServiceDefinitions are not supported: %s", cmpName(service.Name, service.Kind))
	}
	for _, webhook := range c.Spec.Webhooks {
		problem("webhookDefinitions are not supported: %s %s", webhook.Type, webhook.GenerateName)
	}
	if strategy := c.Spec.Install.Strategy; strategy != "deployment" {
		problem("install strategy %q is not supported, only deployment", strategy)
	}
	var modes []string
	for _, mode := range c.Spec.InstallModes {
		if mode.Supported && mode.Type == "AllNamespaces" {
			return problems
		}
		if mode.Supported {
			modes = append(modes, mode.Type)
		}
	}
	problem("install mode AllNamespaces is required, the operator supports %s", orNone(modes))
	return problems
}

func orNone(some []string) string {
	if len(some) == 0 {
		return "none"
	}
	return strings.Join(some, ", ")
}
