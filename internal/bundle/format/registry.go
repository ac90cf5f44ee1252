package format

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/berthdev/berth/internal/chart/manifest"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/yamldoc"
)

// loadRegistry reads a bundle as operator registries keep them, and makes of its
// ClusterServiceVersion the objects that it stands for: an installation that watches all
// namespaces.
func loadRegistry(ctx context.Context, fsys fs.FS, o Options) (*Package, error) {
	about, problems := readMetadata(fsys)
	reader := &manifest.Reader{Repeats: true, Fits: true, Newer: o.Capabilities.Newer()}
	if err := readManifests(ctx, fsys, reader, func() bool { return false }); err != nil {
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
		Objects: objects, Warnings: slices.Concat(reader.Warnings(), about.warnings, c.warnings(others)),
	}, nil
}

// kindVersion is the kind of the object that an operator is described by.
const kindVersion = "ClusterServiceVersion"

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
		if object.GetKind() == kindVersion {
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

// The files that tell about a bundle of a registry.
const (
	annotationsFile  = "metadata/annotations.yaml"
	dependenciesFile = "metadata/dependencies.yaml"

	annotationPrefix    = "operators.operatorframework.io.bundle."
	annotationPackage   = annotationPrefix + "package.v1"
	annotationMediaType = annotationPrefix + "mediatype.v1"
	annotationManifests = annotationPrefix + "manifests.v1"
)

// metadata is what a bundle of a registry says about itself.
type metadata struct {
	name     string // of the package
	warnings []string
}

// readMetadata reads the annotations, and warns of what the bundle depends on.
func readMetadata(fsys fs.FS) (about metadata, problems []string) {
	var document struct {
		Annotations map[string]string `yaml:"annotations"`
	}
	if problems := readYAML(fsys, annotationsFile, &document); len(problems) > 0 {
		return about, problems
	}
	problem := func(format string, args ...any) {
		problems = append(problems, fault.Line(annotationsFile+": "+fmt.Sprintf(format, args...)))
	}
	if about.name = document.Annotations[annotationPackage]; about.name == "" {
		problem("annotation %s: required", annotationPackage)
	}
	if media, ok := document.Annotations[annotationMediaType]; ok && media != string(Registry) {
		problem("media type %q, not %s", media, Registry)
	}
	if dir, ok := document.Annotations[annotationManifests]; ok && dir != "manifests/" && dir != "manifests" {
		problem("the manifests are in %q, not in manifests/", dir)
	}
	var dependencies struct {
		Dependencies []struct {
			Type  string `yaml:"type"`
			Value any    `yaml:"value"`
		} `yaml:"dependencies"`
	}
	if _, err := fs.Stat(fsys, dependenciesFile); errors.Is(err, fs.ErrNotExist) {
		return about, problems
	}
	problems = append(problems, readYAML(fsys, dependenciesFile, &dependencies)...)
	for _, d := range dependencies.Dependencies {
		about.warnings = append(about.warnings,
			fault.Line(fmt.Sprintf("the bundle depends on %s %v, which is not installed with it", d.Type, d.Value)))
	}
	return about, problems
}

// readYAML decodes a file into a value. Fields that it does not have are left out.
func readYAML(fsys fs.FS, name string, into any) (problems []string) {
	text, err := readFile(fsys, name, yamldoc.MaxFile)
	if err != nil {
		return []string{fault.From(err).Message}
	}
	top, unread := yamldoc.Read(name, text)
	if top == nil || len(unread) > 0 {
		return yamldoc.Report(unread, nil)
	}
	if err := top.Decode(into); err != nil {
		return []string{fault.Line(fmt.Sprintf("%s: %v", name, err))}
	}
	return nil
}
