package manifest

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

func pick[T any](r *rand.Rand, items ...T) T { return items[r.IntN(len(items))] }

// hostileBlueprint is a custom blueprint as somebody writes it who is after the
// rights of the platform.
func hostileBlueprint(r *rand.Rand, template string) string {
	var text strings.Builder
	fmt.Fprintf(&text, "template: %s\n", template)
	line := func(chance float64, format string, args ...any) {
		if r.Float64() < chance {
			fmt.Fprintf(&text, format+"\n", args...)
		}
	}
	line(0.5, "image: %s", pick(r, "evil.example.com/x:1", helperImage, "registry.example.com/k8shelld:1"))
	line(0.03, "helperImage: evil.example.com/x:1")
	line(0.03, "securityContext: {privileged: true}")
	line(0.03, "podman: {enabled: true, image: evil.example.com/x}")
	line(0.03, "k8shelld: {image: evil.example.com/x}")
	line(0.03, "extFiles: {/k8shell/runtime/clone.sh: x}")
	line(0.5, "env: {%s: %q, LD_PRELOAD: /home/x.so, GIT_CONFIG_COUNT: \"1\"}",
		pick(r, "HOME", "https_proxy", "HTTP_PROXY", "PATH"),
		pick(r, "/home/dev", "/", "/usr", "/bin", "/k8shell", "http://evil.example.com", "/data/x"))
	line(0.3, "resources: {cpu: %s, memory: %s}", pick(r, "1m", "64"), pick(r, "1Mi", "64Gi"))
	line(0.3, "network: {networkPolicyClass: %s}", pick(r, "system", "isolated"))
	line(0.3, "initScripts: [{name: %s, script: cat /k8shell/git/password}]", pick(r, "a", "k8shell"))
	if r.Float64() < 0.8 {
		fmt.Fprintln(&text, "storages:")
		for range 1 + r.IntN(2) {
			hostileStorage(r, &text)
		}
	}
	return text.String()
}

func hostileStorage(r *rand.Rand, text *strings.Builder) {
	name := pick(r, "home", "git", "runtime", "repository", "state", "x", "y")
	if strings.Contains(text.String(), "\n  "+name+":") {
		return
	}
	fmt.Fprintf(text, "  %s: {path: %q", name, pick(r,
		"/bin", "/usr/bin", "/k8shell", "/k8shell/git", "/k8shell/runtime", "/k8shell/..", "/", "//", "/./bin",
		"/home/../bin", "/bin/", "/etc", "/lib64", "/proc", "/run/secrets",
		"/home/dev", "/home/dev", "/home/dev/cache", "/data", "/data/x", "/mnt/y", "/scratch", "/work/z", "/workspaces",
		"/opt/tools", "/root", "/tmp"))
	switch r.IntN(6) {
	case 0:
		fmt.Fprintf(text, ", type: local, existingClaim: of-others")
	case 1:
		fmt.Fprintf(text, ", type: %s, claimSpec: {accessModes: [ReadWriteOnce], resources: {requests: "+
			"{storage: 1Gi}}}",
			pick(r, "local", "shared"))
	case 2:
		fmt.Fprintf(text, ", %s", pick(r, "existingClaim: of-others", "id: of-others", "type: shared"))
	case 3:
		fmt.Fprintf(text, ", type: emptyDir")
	default:
		fmt.Fprintf(text, ", type: memory")
	}
	if r.Float64() < 0.4 {
		fmt.Fprintf(text, ", fsOwnerUid: %d", r.IntN(3)*1000)
	}
	if r.Float64() < 0.2 {
		fmt.Fprintf(text, ", fsOwnerGid: %d", r.IntN(3)*1000)
	}
	if r.Float64() < 0.2 {
		fmt.Fprint(text, ", readonly: true")
	}
	fmt.Fprintln(text, "}")
}
