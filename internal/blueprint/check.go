package blueprint

import (
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"unicode"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation"
)

// check finds everything that is wrong with a resolved blueprint.
func check(b Blueprint) (problems []string) {
	say := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }
	if n := len(b.Name); n > 40 {
		say("name: has %d characters, at most 40 are allowed", n)
	}
	if n := len(b.Description); n > 500 {
		say("description: has %d characters, at most 500 are allowed", n)
	}
	switch {
	case b.Image == "":
		say("image: is missing")
	case strings.ContainsFunc(b.Image, func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) }):
		say("image: %q has a space or a control character in it", b.Image)
	}
	oneOf(say, "imagePullPolicy", b.ImagePullPolicy, "", "Always", "IfNotPresent", "Never")
	if b.Hostname != "" {
		for _, what := range validation.IsDNS1123Label(b.Hostname) {
			say("hostname: %s", what)
		}
	}
	quantity(say, "resources.cpu", b.Resources.CPU)
	quantity(say, "resources.memory", b.Resources.Memory)
	for _, name := range slices.Sorted(maps.Keys(b.Env)) {
		for _, what := range validation.IsEnvVarName(name) {
			say("env.%s: %s", name, what)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(b.Storages)) {
		checkStorage(say, "storages."+name, name, b.Storages[name])
	}
	checkScripts(say, b.InitScripts)
	for _, file := range slices.Sorted(maps.Keys(b.ExtFiles)) {
		checkPath(say, "extFiles", file)
	}
	structured(say, "securityContext", b.SecurityContext, &corev1.SecurityContext{})
	return problems
}

func checkScripts(say sayer, scripts []InitScript) {
	seen := map[string]bool{}
	for i, script := range scripts {
		field := fmt.Sprintf("initScripts[%d]", i)
		for _, what := range validation.IsDNS1123Label(script.Name) {
			say("%s.name: %s", field, what)
		}
		if seen[script.Name] {
			say("%s.name: %q is used twice", field, script.Name)
		}
		seen[script.Name] = true
		if strings.TrimSpace(script.Script) == "" {
			say("%s.script: is missing", field)
		}
	}
}

func checkStorage(say sayer, field, name string, s Storage) {
	for _, what := range validation.IsDNS1123Label(name) {
		say("%s: %s", field, what)
	}
	oneOf(say, field+".type", s.Type, "local", "shared", "emptyDir", "memory")
	checkPath(say, field+".path", s.Path)
	if s.SizeLimit != "" && s.Claimed() {
		say("%s.sizeLimit: goes with emptyDir and memory only; a local storage has claimSpec.resources", field)
	}
	quantity(say, field+".sizeLimit", s.SizeLimit)
	if s.Claimed() && s.ExistingClaim == "" && len(s.ClaimSpec) == 0 {
		say("%s.claimSpec: is missing: a local storage needs one", field)
	}
	if !s.Claimed() && len(s.ClaimSpec) > 0 {
		say("%s.claimSpec: goes with type local only", field)
	}
	structured(say, field+".claimSpec", s.ClaimSpec, &corev1.PersistentVolumeClaimSpec{})
}

// checkPath wants what can be mounted: Kubernetes allows no colon.
func checkPath(say sayer, field, file string) {
	if !path.IsAbs(file) || path.Clean(file) != file || strings.ContainsRune(file, ':') || strings.ContainsFunc(file, unicode.IsControl) {
		say("%s: %q is no clean absolute path without a colon", field, file)
	}
}

type sayer = func(format string, args ...any)

func oneOf(say sayer, field, value string, allowed ...string) {
	if !slices.Contains(allowed, value) {
		say("%s: %q is not allowed; one of %s is", field, value, strings.Join(allowed, ", "))
	}
}

func quantity(say sayer, field, value string) {
	if value == "" {
		return
	}
	if _, err := resource.ParseQuantity(value); err != nil {
		say("%s: %q is no quantity; examples are 500m, 2, 512Mi, 10Gi", field, value)
	}
}

// structured checks that a free mapping is what Kubernetes reads in its place.
func structured(say sayer, field string, value map[string]any, into any) {
	if len(value) == 0 {
		return
	}
	text, err := json.Marshal(value)
	if err == nil {
		decoder := json.NewDecoder(strings.NewReader(string(text)))
		decoder.DisallowUnknownFields()
		err = decoder.Decode(into)
	}
	if err != nil {
		say("%s: %s", field, strings.TrimPrefix(err.Error(), "json: "))
	}
}
