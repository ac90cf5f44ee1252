package blueprint

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	corev1 "k8s.io/api/core/v1"
)

// The bounds of what a blueprint has, above what anybody needs and below what the kernel and the API server take.
const (
	maxBlueprintName = 40
	maxDescription   = 500
	maxSplash        = 4096
	maxImage         = 1024
	maxPath          = 4096 // bytes: PATH_MAX
	maxEnvName       = 253
	maxEnv           = 1000    // variables
	maxVariable      = 128_000 // bytes of one with its name: MAX_ARG_STRLEN is 131072
	maxEnvTotal      = 512_000 // bytes; the pod has to fit into a request
	maxStorages      = 64
	maxScripts       = 99 // the number is in front of their names, and they run in that order
	maxFiles         = 500
	maxConfigMap     = 1_000_000 // bytes; 1 MiB less what berth adds
	maxApps          = 256_000   // bytes as JSON
	maxAnnotations   = 256 << 10 // bytes; Kubernetes' own
	maxEgress        = 500
	maxRecord        = 900 << 10 // bytes; 1 MiB less the chart
)

// validateBounds checks numbers, lengths and totals that no rule of a field checks.
func validateBounds(report reporter, b Blueprint) {
	atMost := func(field string, n, most int, what string) {
		if n > most {
			report("%s: must have at most %d %s, has %d", field, most, what, n)
		}
	}
	atMost("env", len(b.Env), maxEnv, "variables")
	atMost("storages", len(b.Storages), maxStorages, "storages")
	atMost("podman.storages", len(b.Podman.Storages), maxStorages, "storages")
	atMost("podman.extFiles", len(b.Podman.ExtFiles), maxFiles, "files")
	atMost("initScripts", len(b.InitScripts), maxScripts, "scripts")
	atMost("extFiles", len(b.ExtFiles), maxFiles, "files")
	atMost("network.allowEgressToCIDRs", len(b.Network.AllowEgressToCIDRs), maxEgress, "blocks")
	atMost("network.allowEgressToPods", len(b.Network.AllowEgressToPods), maxEgress, "entries")
	atMost("image", utf8.RuneCountInString(b.Image), maxImage, "characters")
	atMost("podman.image", utf8.RuneCountInString(b.Podman.Image), maxImage, "characters")
	atMost("k8shelld.image", utf8.RuneCountInString(b.K8shelld.Image), maxImage, "characters")
	atMost("helperImage", utf8.RuneCountInString(b.HelperImage), maxImage, "characters")

	validateEnv(report, b.Env)
	scripts := 0
	for i, script := range b.InitScripts {
		validateText(report, fmt.Sprintf("initScripts[%d].script", i), script.Script)
		scripts += len(script.Script)
	}
	atMost("initScripts", scripts, maxConfigMap, "bytes in total")
	files := 0
	for _, path := range slices.Sorted(maps.Keys(b.ExtFiles)) {
		atMost("extFiles."+path, len(path), maxPath, "bytes in its path")
		if !utf8.ValidString(b.ExtFiles[path]) {
			report("extFiles.%s: must be text (UTF-8)", path)
		}
		files += len(b.ExtFiles[path])
	}
	for _, path := range slices.Sorted(maps.Keys(b.Podman.ExtFiles)) {
		atMost("podman.extFiles."+path, len(path), maxPath, "bytes in its path")
		if !utf8.ValidString(b.Podman.ExtFiles[path]) {
			report("podman.extFiles.%s: must be text (UTF-8)", path)
		}
		files += len(b.Podman.ExtFiles[path])
	}
	atMost("extFiles", files, maxConfigMap, "bytes in total")
	for _, name := range slices.Sorted(maps.Keys(b.Storages)) {
		atMost("storages."+name+".path", len(b.Storages[name].Path), maxPath, "bytes")
		total := 0
		for key, value := range b.Storages[name].ClaimSpecAnnotations {
			total += len(key) + len(value)
		}
		atMost("storages."+name+".claimSpecAnnotations", total, maxAnnotations, "bytes in total")
	}
	validateText(report, "splash", b.Splash)
	atMost("apps", sizeOf(report, "apps", b.Apps), maxApps, "bytes")
	atMost("k8shelld.connection", sizeOf(report, "k8shelld.connection", b.K8shelld.Connection), maxApps, "bytes")
	validateRecord(report, b)
}

func validateEnv(report reporter, env map[string]string) {
	total := 0
	for _, name := range slices.Sorted(maps.Keys(env)) {
		validateText(report, "env."+name, env[name])
		size := len(name) + len(env[name])
		if n := utf8.RuneCountInString(name); n > maxEnvName {
			report("env.%s: the name must have at most %d characters, has %d", name, maxEnvName, n)
		}
		if size > maxVariable {
			report("env.%s: must have at most %d bytes, has %d", name, maxVariable, size)
		}
		total += size
	}
	if total > maxEnvTotal {
		report("env: must have at most %d bytes in total, has %d", maxEnvTotal, total)
	}
}

// validateText requires what a program can be given as a text.
func validateText(report reporter, field, text string) {
	switch {
	case strings.ContainsRune(text, 0):
		report("%s: must not contain a NUL character", field)
	case !utf8.ValidString(text):
		report("%s: must be text (UTF-8)", field)
	}
}

// sizeOf is the size of what is handed on as it is, in bytes of JSON.
func sizeOf(report reporter, field string, value map[string]any) int {
	text, err := json.Marshal(value)
	if err != nil {
		report("%s: %s", field, strings.TrimPrefix(err.Error(), "json: "))
	}
	return len(text)
}

// validateSecurity checks the numbers of a security context.
func validateSecurity(report reporter, field string, c corev1.SecurityContext) {
	userID(report, field+".runAsUser", c.RunAsUser)
	userID(report, field+".runAsGroup", c.RunAsGroup)
}

func userID(report reporter, field string, id *int64) {
	if id != nil && (*id < 0 || *id > math.MaxInt32) {
		report("%s: %d: must be from 0 to %d", field, *id, math.MaxInt32)
	}
}

// validateRecord makes sure that Helm's record fits into a Secret. The texts of a blueprint are in it twice, compressed
// and in base64.
func validateRecord(report reporter, b Blueprint) {
	text, err := json.Marshal(b)
	if err != nil || len(text) < maxRecord/3 {
		return
	}
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	_, _ = w.Write(text) // a buffer takes everything
	_ = w.Close()
	if size := packed.Len() * 2 * 4 / 3; size > maxRecord {
		report("initScripts: the blueprint is too large: its texts would take about %d KiB of Helm's record, which "+
			"has room for %d KiB", size>>10, maxRecord>>10)
	}
}
