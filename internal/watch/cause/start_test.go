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
		StartFailed:     watchtest.Waits("CreateContainerError", "mount failed"),
		"":              watchtest.Waits("CreateContainerConfigError", "failed to sync secret cache: timed out"),
	} {
		for _, p := range []Policy{DefaultPolicy(), patient()} {
			compare(t, Judge(appThat(wait), p, watchtest.Epoch).Failed, code)
		}
	}
	for _, reason := range []string{"CreateContainerError", "CreateContainerConfigError", "RunContainerError", "StartError"} {
		slow := appThat(watchtest.Waits(reason, "rpc error: code = DeadlineExceeded desc = context deadline exceeded"))
		compare(t, Judge(slow, DefaultPolicy(), watchtest.Epoch).Failed, "")
		if OfUnready(slow) == nil {
			t.Errorf("%s: nothing is said of it", reason)
		}
	}
	slow := appThat(watchtest.Waits("CreateContainerConfigError", "failed to sync secret cache: timed out"))
	compare(t, OfUnready(slow), "ConfigMissing: failed to sync")
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
		{"a missing key", v1.Cause{Code: ConfigMissing, Message: "couldn't find key url in Secret shop/db"}, About{Namespace: "shop"}, []string{"Secret db has no key url", "`kubectl edit secret db --namespace shop`"}},
		{"a missing Secret", v1.Cause{Code: ConfigMissing, Message: `secret "db" not found`}, About{}, []string{"`kubectl create secret generic db --from-literal=KEY=VALUE`"}},
		{"no shell in a workspace", v1.Cause{Code: CommandNotFound}, About{Blueprint: "dev"}, []string{"needs a /bin/sh"}},
		{"no such program in a pod", v1.Cause{Code: CommandNotFound}, About{}, []string{`correct "command"`}},
	})
}
