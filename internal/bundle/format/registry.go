package format

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/berthdev/berth/internal/bundle/operator"
	"github.com/berthdev/berth/internal/chart/manifest"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/yamldoc"
)

// loadRegistry reads a bundle as operator registries keep them, and makes of its
// ClusterServiceVersion the objects that it stands for.
func loadRegistry(ctx context.Context, fsys fs.FS, o Options) (*Package, error) {
	about, problems := readMetadata(fsys)
	reader := &manifest.Reader{Repeats: true, Fits: true, Newer: o.Capabilities.Newer()}
	if err := readManifests(ctx, fsys, reader, func() bool { return false }); err != nil {
		return nil, err
	}
	objects, files := reader.Objects()
	others, version, more := parted(objects, files)
	problems = append(append(problems, reader.Problems()...), more...)
	if len(problems) > 0 {
		return nil, Invalid(Registry, problems)
	}
	op, problems := operator.Read(version.object, others, operator.Options{
		Package: about.name, Watch: o.Watch, AnyWatch: o.anyWatch,
	})
	if len(problems) > 0 {
		for i := range problems {
			problems[i] = fault.Line(version.file + ": " + problems[i])
		}
		return nil, Invalid(Registry, problems)
	}
	all := &manifest.Reader{Namespace: op.Namespace, Fits: true, Newer: o.Capabilities.Newer()}
	if !has(others, "Namespace", op.Namespace) {
		namespace := &unstructured.Unstructured{}
		namespace.SetAPIVersion("v1")
		namespace.SetKind("Namespace")
		namespace.SetName(op.Namespace)
		all.Add(version.file, namespace.Object)
	}
	for _, other := range op.Others {
		all.Add(files[other.Place], other.Object.Object)
	}
	for _, object := range op.Objects {
		all.Add(version.file, object)
	}
	all.Conform()
	if problems := all.Problems(); len(problems) > 0 {
		return nil, Invalid(Registry, problems)
	}
	objects, _ = all.Objects()
	warnings := slices.Concat(reader.Warnings(), about.warnings, op.Warnings, all.Warnings())
	for i := range warnings {
		warnings[i] = fault.Line(warnings[i])
	}
	return &Package{
		Format: Registry, Name: about.name, Version: op.Version, Namespace: op.Namespace, Objects: objects,
		Warnings: warnings, Unknown: all.Unknown(),
	}, nil
}

// found is an object and the file that it was read from.
type found struct {
	object *unstructured.Unstructured
	file   string
}

// parted parts the one ClusterServiceVersion from the other objects, and from their files.
func parted(objects []*unstructured.Unstructured, files []string) (others []*unstructured.Unstructured,
	version found, problems []string,
) {
	var versions []found
	kept := files[:0]
	for i, object := range objects {
		if object.GetKind() == operator.Kind {
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
		about.warnings = append(about.warnings, "the bundle depends on "+operator.Dependency(d.Type, d.Value)+
			", which is not installed with it: install that, too")
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
