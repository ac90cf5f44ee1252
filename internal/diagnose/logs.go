package diagnose

import (
	"context"
	"io"
	"strings"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/kube"
)

const (
	tailLines = 10
	tailBytes = 16 << 10
)

// Logs are the last lines of the container that a cause names: of the instance
// before, if it was restarted and the one that runs has said nothing yet. Nil
// if there are none, for whatever reason: this explains a failure, and must not
// become one.
func Logs(ctx context.Context, client kube.Interface, namespace, pod string, cause *v1.Cause) *v1.LogTail {
	found, _ := logs(ctx, client, namespace, pod, cause)
	return found
}

// logs also says why there are none, if that was an error.
func logs(ctx context.Context, client kube.Interface, namespace, pod string, cause *v1.Cause) (*v1.LogTail, error) {
	if cause == nil || cause.Container == "" {
		return nil, nil
	}
	restarted := cause.Restarts != nil && *cause.Restarts > 0
	var failed error
	for _, previous := range []bool{restarted, !restarted} {
		lines, err := tail(ctx, client, namespace, pod, cause.Container, previous)
		if err == nil && len(lines) > 0 {
			return &v1.LogTail{Container: cause.Container, Previous: previous, Lines: lines}, nil
		}
		if err != nil {
			failed = err
		}
	}
	return nil, failed
}

func tail(ctx context.Context, client kube.Interface, namespace, pod, container string, previous bool) ([]string,
	error,
) {
	lines, bytes := int64(tailLines), int64(tailBytes)
	stream, err := client.CoreV1().Pods(namespace).GetLogs(pod, &corev1.PodLogOptions{
		Container: container, Previous: previous, TailLines: &lines, LimitBytes: &bytes,
	}).Stream(ctx)
	if err != nil {
		return nil, err
	}
	defer stream.Close()
	text, err := io.ReadAll(stream)
	if err != nil {
		return nil, err
	}
	trimmed := strings.TrimRight(string(text), "\n")
	if trimmed == "" || lost(trimmed) {
		return nil, nil
	}
	return strings.Split(trimmed, "\n"), nil
}

// lost recognizes what the kubelet returns in place of a log, without any error, once
// it has cleared away the instance or is about to.
func lost(log string) bool {
	return strings.HasPrefix(log, "unable to retrieve container logs for ") ||
		strings.HasPrefix(log, "failed to try resolving symlinks in path ")
}
