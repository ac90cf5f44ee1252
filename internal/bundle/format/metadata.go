package format

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/yamldoc"
)

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
