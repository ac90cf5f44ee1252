package pod

import (
	"context"
	"io"
	"math"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/berthdev/berth/internal/exec"
	"github.com/berthdev/berth/internal/kube"
)

// Usage measures how many bytes the files below directories of a workspace take, with
// its own du: the directories that it answers for, until the deadline of the context.
// An image without du or timeout has no answer.
func Usage(ctx context.Context, client *kube.Client, pod *corev1.Pod, paths []string) map[string]int64 {
	r, err := Into(pod)
	if err != nil || len(paths) == 0 {
		return nil
	}
	out := exec.Beginning{Max: maxUsage}
	r.Stdout, r.Stderr = &out, io.Discard
	// It would go on when nobody waits for it any more.
	r.Command = append([]string{"timeout", seconds(ctx), "du", "-skx"}, paths...)
	// A directory that it may not read makes it fail, and it answers all the same.
	_, _ = Run(ctx, client.In(pod.Namespace), r)
	return usage(out.String())
}

// seconds is the time that a context has left, rounded up.
func seconds(ctx context.Context) string {
	deadline, _ := ctx.Deadline()
	return strconv.Itoa(max(int(math.Ceil(time.Until(deadline).Seconds())), 1))
}

// usage reads lines of du: kibibytes, a tab, the directory.
func usage(text string) map[string]int64 {
	used := map[string]int64{}
	for line := range strings.Lines(text) {
		size, path, _ := strings.Cut(strings.TrimRight(line, "\n"), "\t")
		if kib, err := strconv.ParseUint(size, 10, 53); err == nil && path != "" {
			used[path] = int64(kib) << 10
		}
	}
	return used
}

// maxUsage is how much of what du prints is read, in bytes: the image brings it, and
// can print anything.
const maxUsage = 64 << 10
