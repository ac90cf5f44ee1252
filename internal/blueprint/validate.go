package blueprint

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	kjson "sigs.k8s.io/json"

	"github.com/berthdev/berth/internal/pattern"
)

// Validate returns the problems of a resolved blueprint, each as "path: message".
func (b Blueprint) Validate() (problems []string) {
	report := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }
	b.validate(report, report)
	return problems
}

// ValidateValues returns the problems of the values of a blueprint that is not whole, such as a template: not what is
// missing, and not what does not fit together.
func (b Blueprint) ValidateValues() (problems []string) {
	report := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }
	b.validate(report, func(string, ...any) {})
	return problems
}

// validate reports what is wrong with each value by itself, and relates what is wrong with several, one of which may be
// missing.
func (b Blueprint) validate(report, relate reporter) {
	if n := utf8.RuneCountInString(b.Name); n > maxBlueprintName {
		report("name: must have at most %d characters, has %d", maxBlueprintName, n)
	}
	if n := utf8.RuneCountInString(b.Description); n > maxDescription {
		report("description: must have at most %d characters, has %d", maxDescription, n)
	}
	if b.Image == "" {
		relate("image: required")
	}
	imageName(report, "image", b.Image)
	pullPolicy(report, "imagePullPolicy", b.ImagePullPolicy)
	imageName(report, "helperImage", b.HelperImage)
	ifGiven(report, "hostname", b.Hostname, validation.IsDNS1123Label)
	ifGiven(report, "subdomain", b.Subdomain, validation.IsDNS1035Label)
	if n := utf8.RuneCountInString(b.Splash); n > maxSplash {
		report("splash: must have at most %d characters, has %d", maxSplash, n)
	}
	validateResources(report, "resources", b.Resources)
	for _, name := range slices.Sorted(maps.Keys(b.Env)) {
		reportAll(report, "env."+name, validation.IsEnvVarName(name))
	}
	validateStorages(report, relate, "storages.", b.Storages)
	validateHome(report, relate, b)
	validateNetwork(report, b.Network)
	validatePodman(report, relate, b)
	validateAgent(report, relate, b)
	validateScripts(report, b.InitScripts)
	validateApps(report, b.Apps)
	for _, file := range slices.Sorted(maps.Keys(b.ExtFiles)) {
		validatePath(report, "extFiles", file)
	}
	for _, problem := range b.Limits.Validate() {
		report("%s", problem)
	}
	validateBounds(report, b)
}

type reporter = func(format string, args ...any)

func reportAll(report reporter, field string, problems []string) {
	for _, problem := range problems {
		problem, _, _ = strings.Cut(problem, " (e.g. ") // regular expressions are for machines
		report("%s: %s", field, problem)
	}
}

func oneOf(report reporter, field, value string, allowed ...string) {
	if !slices.Contains(allowed, value) {
		report("%s: %q: must be one of %s", field, shorten(value), strings.Join(allowed, ", "))
	}
}

func pullPolicy(report reporter, field, value string) {
	if value != "" {
		oneOf(report, field, value, "Always", "IfNotPresent", "Never")
	}
}

// ifGiven applies a rule of Kubernetes to a value that is not empty.
func ifGiven(report reporter, field, value string, rule func(string) []string) {
	if value != "" {
		reportAll(report, field, rule(value))
	}
}

// imageReference is the name of an image, as container runtimes take it apart: host, path, tag and digest.
const imageReference pattern.Expr = `^(?:(?:[a-zA-Z0-9.-]+|\[[0-9a-fA-F:]+\])(?::[0-9]+)?/)?` +
	`[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*(?:/[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*)*` +
	`(?::[a-zA-Z0-9_][a-zA-Z0-9_.-]{0,127})?(?:@[a-zA-Z][a-zA-Z0-9+._-]*:[0-9a-fA-F]+)?$`

func imageName(report reporter, field, image string) {
	switch {
	case image == "":
	case strings.ContainsFunc(image, func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) }):
		report("%s: %q contains a space or a control character", field, shorten(image))
	case len(image) <= maxImage && !imageReference.MatchString(image):
		report("%s: invalid image %q: use one such as ghcr.io/org/name:tag, with a path in lower case", field,
			shorten(image))
	}
}

// structured decodes a mapping into the type that Kubernetes has for it.
func structured(report reporter, field string, value map[string]any, into any) bool {
	if len(value) == 0 {
		return true
	}
	text, err := json.Marshal(value)
	var unknown []error
	if err == nil {
		unknown, err = kjson.UnmarshalStrict(text, into, kjson.DisallowUnknownFields)
	}
	if err != nil {
		report("%s: %s", field, strings.TrimPrefix(err.Error(), "json: "))
	}
	for _, problem := range unknown {
		if at, ok := errors.AsType[kjson.FieldError](problem); ok {
			report("%s.%s: unknown field: Kubernetes has none of this name here", field, at.FieldPath())
		}
	}
	return err == nil && len(unknown) == 0
}

// ValidateOwn returns the problems of what a user has set in a resolved blueprint, each as "path: message", that a
// platform blueprint may have; own says of a field whether it is the user's. That is a security boundary, as
// CustomFields is: what a repository mounts is not over what its platform relies on, root does not prepare it where the
// template does not run as root, which driver mounts something is not its choice, and what others may have stays
// theirs.
func (b Blueprint) ValidateOwn(own func(field string) bool) (problems []string) {
	report := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }
	home := b.platformHome(own)
	forbidden := b.forbidsOwners()
	known := home == "" || path.IsAbs(home) // or it is an expression
	for _, name := range b.mounted() {
		s, field := b.Storages[name], "storages."+name
		if known && own(field+".path") && pathProblem(s.Path) == "" && !available(s.Path, home) {
			report("%s.path: %q is not available to users: mount it in the home directory or in one of %s", field,
				s.Path, strings.Join(userPaths(), ", "))
		}
		validateOwner(report, field, s, forbidden, own)
		if s.Driver != "" && own(field+".driver") {
			report("%s.driver: not available to users: a CSI driver is the platform's to name", field)
		}
	}
	return problems
}

// platformHome is the home directory as far as the platform has chosen it.
func (b Blueprint) platformHome(own func(field string) bool) string {
	b.Env, b.Storages = maps.Clone(b.Env), maps.Clone(b.Storages)
	maps.DeleteFunc(b.Env, func(name, _ string) bool { return own("env." + name) })
	maps.DeleteFunc(b.Storages, func(name string, _ Storage) bool { return own("storages." + name + ".path") })
	dir, _ := b.Home()
	return dir
}

// validateOwner reports what of a storage's owner is the user's and must not be, or which directory that gets the
// platform's.
func validateOwner(report reporter, field string, s Storage, forbidden string, own func(field string) bool) {
	inherited := false
	for _, id := range []struct {
		name  string
		given *int64
	}{{"fsOwnerUid", s.FsOwnerUID}, {"fsOwnerGid", s.FsOwnerGID}} {
		switch theirs := own(field + "." + id.name); {
		case !theirs:
			inherited = inherited || id.given != nil
		case forbidden != "":
			report("%s.%s: only root can give a directory away, which the template's %s forbids: leave it out; "+
				"everybody can write to a storage of type emptyDir, and one with an owner is the platform's to define",
				field, id.name, forbidden)
		case s.ofOthers():
			report("%s.%s: only the platform gives away the directory of a claim that others may have (existingClaim, "+
				"type shared): leave it out", field, id.name)
		}
	}
	for _, which := range []string{"type", "id", "existingClaim"} {
		if inherited && s.ofOthers() && own(field+"."+which) {
			report("%s.%s: the template gives this directory to a user, and others may have the one of this claim: "+
				"leave it out, or mount the claim as a storage of another name", field, which)
		}
	}
}

// ofOthers reports whether the directory is not the workspace's alone.
func (s Storage) ofOthers() bool {
	return s.Claimed() && (s.Type == StorageShared || s.ExistingClaim != "")
}

// forbidsOwners is the field by which the blueprint's own container can give no directory away; empty if it can.
func (b Blueprint) forbidsOwners() string {
	var c corev1.SecurityContext
	structured(func(string, ...any) {}, "", b.SecurityContext, &c) // Validate reports what is wrong with it
	switch {
	case c.RunAsNonRoot != nil && *c.RunAsNonRoot:
		return "securityContext.runAsNonRoot"
	case c.RunAsUser != nil && *c.RunAsUser != 0:
		return "securityContext.runAsUser"
	case drops(c.Capabilities, "CHOWN"):
		return "securityContext.capabilities"
	}
	return ""
}
