package cause

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/watch/watchtest"
)

// A container that cannot be created as it is specified fails at once under both
// policies; a node that is slow does not.
func TestStart(t *testing.T) {
	for code, wait := range map[string]func(*corev1.ContainerStatus){
		ConfigMissing:   watchtest.Waits("CreateContainerConfigError", "couldn't find key url in Secret dev/db"),
		CommandNotFound: watchtest.Waits("RunContainerError", `exec: "nope": executable file not found in $PATH`),
		ExecFormat:      watchtest.Waits("RunContainerError", "exec /app: exec format error"),
		StartFailed:     watchtest.Waits("CreateContainerError", "who knows"),
		NotExecutable:   watchtest.Waits("RunContainerError", `exec: "/app/start.sh": permission denied`),
		RootRefused: watchtest.Waits("CreateContainerConfigError",
			"container has runAsNonRoot and image will run as root"),
		BadMount:     watchtest.Waits("CreateContainerConfigError", `failed to prepare subPath for volumeMount "x"`),
		NodeDiskFull: watchtest.Waits("CreateContainerError", "write /x: no space left on device"),
		OutOfMemory:  watchtest.Waits("RunContainerError", "container init was OOM-killed (memory limit too low?)"),
		"":           watchtest.Waits("CreateContainerConfigError", "failed to sync secret cache: timed out"),
	} {
		for _, p := range []Policy{DefaultPolicy(), patient()} {
			compare(t, Judge(appThat(wait), p, watchtest.Epoch).Failed, code)
		}
	}
	for _, message := range []string{
		"context deadline exceeded",
		`failed to reserve container name "x": name "x" is reserved for "y"`,
	} {
		compare(t, OfUnready(appThat(watchtest.Waits("CreateContainerError", message))), RuntimeSlow)
	}
	for _, reason := range []string{
		"CreateContainerError", "CreateContainerConfigError", "RunContainerError",
		"StartError",
	} {
		slow := appThat(watchtest.Waits(reason, "rpc error: code = DeadlineExceeded desc = context deadline exceeded"))
		compare(t, Judge(slow, DefaultPolicy(), watchtest.Epoch).Failed, "")
		if OfUnready(slow) == nil {
			t.Errorf("%s: nothing is said of it", reason)
		}
	}
	slow := appThat(watchtest.Waits("CreateContainerConfigError", "failed to sync secret cache: timed out"))
	compare(t, OfUnready(slow), "RuntimeSlow: failed to sync")
}

func TestTrimStart(t *testing.T) {
	said := `failed to create containerd task: OCI runtime create failed: unable to start container process: error during container init: exec: "nope": executable file not found in $PATH: unknown`
	want := `cannot start: exec: "nope": executable file not found in $PATH`
	if got := trimStart(said); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestStartHints(t *testing.T) {
	checkHints(t, []hintTest{
		{
			"a missing key",
			v1.Cause{Code: ConfigMissing, Message: "couldn't find key url in Secret shop/db"},
			About{Namespace: "shop"},
			[]string{"Secret db has no key url", "`kubectl edit secret db --namespace shop`"},
		},
		{
			"the certificate of a workspace",
			v1.Cause{Code: ConfigMissing, Object: "pod/alice-1", Message: `secret "alice-1-tls" not found`},
			About{Blueprint: "dev"},
			[]string{"certificate of the workspace has not been issued"},
		},
		{
			"a Secret that is called so",
			v1.Cause{Code: ConfigMissing, Object: "pod/api", Message: `secret "api-tls" not found`},
			About{},
			[]string{"Secret api-tls does not exist"},
		},
		{
			"a missing Secret",
			v1.Cause{Code: ConfigMissing, Message: `secret "db" not found`},
			About{},
			[]string{"`kubectl create secret generic db --from-literal=KEY=VALUE`"},
		},
		{"no shell in a workspace", v1.Cause{Code: CommandNotFound}, About{Blueprint: "dev"}, []string{"needs a /bin/sh"}},
		{"no such program in a pod", v1.Cause{Code: CommandNotFound}, About{}, []string{`correct "command"`}},
	})
}
