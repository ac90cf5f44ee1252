package judge

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/berthdev/berth/internal/watch/cause"
	"github.com/berthdev/berth/internal/watch/watchtest"
)

// A container that cannot be created as it is specified fails at once under both
// policies; a node that is slow does not.
func TestStart(t *testing.T) {
	for code, wait := range map[string]func(*corev1.ContainerStatus){
		cause.ConfigMissing:   watchtest.Waits("CreateContainerConfigError", "couldn't find key url in Secret dev/db"),
		cause.CommandNotFound: watchtest.Waits("RunContainerError", `exec: "nope": executable file not found in $PATH`),
		cause.ExecFormat:      watchtest.Waits("RunContainerError", "exec /app: exec format error"),
		cause.StartFailed:     watchtest.Waits("CreateContainerError", "who knows"),
		cause.NotExecutable:   watchtest.Waits("RunContainerError", `exec: "/app/start.sh": permission denied`),
		cause.RootRefused: watchtest.Waits("CreateContainerConfigError",
			"container has runAsNonRoot and image will run as root"),
		cause.BadMount: watchtest.Waits("CreateContainerConfigError",
			`failed to prepare subPath for volumeMount "x"`),
		cause.NodeDiskFull: watchtest.Waits("CreateContainerError", "write /x: no space left on device"),
		cause.OutOfMemory: watchtest.Waits("RunContainerError",
			"container init was OOM-killed (memory limit too low?)"),
		cause.OSMismatch: watchtest.Waits("CreateContainerError",
			"hcs::CreateComputeSystem app: The container operating system does not match the host operating system."),
		cause.NoIDMaps: watchtest.Waits("CreateContainerError",
			"failed to set MOUNT_ATTR_IDMAP on /data: invalid argument (maybe the filesystem used doesn't "+
				"support idmap mounts?)"),
		cause.TooManyOpenFiles: watchtest.Waits("CreateContainerError", "pipe2: too many open files"),
		"":                     watchtest.Waits("CreateContainerConfigError", "failed to sync secret cache: timed out"),
	} {
		for _, p := range []cause.Policy{cause.DefaultPolicy(), patient()} {
			compare(t, Pod(appThat(wait), p, watchtest.Epoch).Failed, code)
		}
	}
	for _, message := range []string{
		"context deadline exceeded",
		`failed to reserve container name "x": name "x" is reserved for "y"`,
	} {
		compare(t, Unready(appThat(watchtest.Waits("CreateContainerError", message))), cause.RuntimeSlow)
	}
	for _, reason := range []string{
		"CreateContainerError", "CreateContainerConfigError", "RunContainerError",
		"StartError",
	} {
		slow := appThat(watchtest.Waits(reason, "rpc error: code = DeadlineExceeded desc = context deadline exceeded"))
		compare(t, Pod(slow, cause.DefaultPolicy(), watchtest.Epoch).Failed, "")
		if Unready(slow) == nil {
			t.Errorf("%s: nothing is said of it", reason)
		}
	}
	slow := appThat(watchtest.Waits("CreateContainerConfigError", "failed to sync secret cache: timed out"))
	compare(t, Unready(slow), "RuntimeSlow: failed to sync")
}
