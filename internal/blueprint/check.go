package blueprint

import (
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"unicode"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation"
)

const maxSplash = 4096

// check finds everything that is wrong with a resolved blueprint.
func check(b Blueprint) (problems []string) {
	say := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }
	if n := len(b.Name); n > 40 {
		say("name: must have at most 40 characters, has %d", n)
	}
	if n := len(b.Description); n > 500 {
		say("description: must have at most 500 characters, has %d", n)
	}
	if b.Image == "" {
		say("image: required")
	}
	imageName(say, "image", b.Image)
	pullPolicy(say, "imagePullPolicy", b.ImagePullPolicy)
	ifGiven(say, "hostname", b.Hostname, validation.IsDNS1123Label)
	ifGiven(say, "subdomain", b.Subdomain, validation.IsDNS1035Label)
	if n := len(b.Splash); n > maxSplash {
		say("splash: must have at most %d characters, has %d", maxSplash, n)
	}
	quantity(say, "resources.cpu", b.Resources.CPU)
	quantity(say, "resources.memory", b.Resources.Memory)
	for _, name := range slices.Sorted(maps.Keys(b.Env)) {
		for _, what := range validation.IsEnvVarName(name) {
			say("env.%s: %s", name, what)
		}
	}
	checkStorages(say, b.Storages)
	checkNetwork(say, b.Network)
	checkPodman(say, b.Podman)
	checkAgent(say, b)
	checkScripts(say, b.InitScripts)
	for _, file := range slices.Sorted(maps.Keys(b.ExtFiles)) {
		checkPath(say, "extFiles", file)
	}
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
			say("%s.name: duplicate name %q", field, script.Name)
		}
		seen[script.Name] = true
		if strings.TrimSpace(script.Script) == "" {
			say("%s.script: required", field)
		}
	}
}

// checkPath wants what can be mounted: Kubernetes allows no colon.
func checkPath(say sayer, field, file string) {
	if !path.IsAbs(file) || path.Clean(file) != file || strings.ContainsRune(file, ':') || strings.ContainsFunc(file, unicode.IsControl) {
		say("%s: invalid path %q: must be absolute and clean, without colons", field, file)
	}
}

type sayer = func(format string, args ...any)

func oneOf(say sayer, field, value string, allowed ...string) {
	if !slices.Contains(allowed, value) {
		say("%s: %q: must be one of %s", field, value, strings.Join(allowed, ", "))
	}
}

func pullPolicy(say sayer, field, value string) {
	if value != "" {
		oneOf(say, field, value, "Always", "IfNotPresent", "Never")
	}
}

// ifGiven applies a rule of Kubernetes to what is not empty.
func ifGiven(say sayer, field, value string, rule func(string) []string) {
	if value == "" {
		return
	}
	for _, what := range rule(value) {
		say("%s: %s", field, what)
	}
}

// imageName wants what can be the name of an image, as far as a look tells.
func imageName(say sayer, field, image string) {
	if strings.ContainsFunc(image, func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) }) {
		say("%s: %q contains a space or a control character", field, image)
	}
}

func quantity(say sayer, field, value string) {
	if value == "" {
		return
	}
	switch parsed, err := resource.ParseQuantity(value); {
	case err != nil:
		say("%s: invalid quantity %q: use one such as 500m, 2, 512Mi, 10Gi", field, value)
	case parsed.Sign() < 0:
		say("%s: %q must not be negative", field, value)
	}
}

// structured checks that a free mapping is what Kubernetes reads in its place,
// and reads it.
func structured(say sayer, field string, value map[string]any, into any) bool {
	if len(value) == 0 {
		return true
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
	return err == nil
}
