package exec

import (
	"bytes"
	"context"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/berthdev/berth/internal/kube"
)

// Usage measures how many bytes the files below directories of a workspace take, with
// its own du: the directories that it answers for, in as much time as the context has.
func Usage(ctx context.Context, client *kube.Client, pod *corev1.Pod, paths []string) map[string]int64 {
	container, err := Container(pod)
	if err != nil || len(paths) == 0 {
		return nil
	}
	var out, ignored bounded
	command := append([]string{"du", "-skx"}, paths...)
	// A directory that it may not read makes it fail, and it answers all the same.
	_, _ = Run(ctx, client.In(pod.Namespace), Request{Pod: pod.Name, Container: container, Command: command, Stdout: &out, Stderr: &ignored})
	return usage(out.String())
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

// bounded keeps the beginning of what is written.
type bounded struct{ bytes.Buffer }

func (b *bounded) Write(p []byte) (int, error) {
	b.Buffer.Write(p[:min(len(p), max(maxUsage-b.Len(), 0))])
	return len(p), nil
}
