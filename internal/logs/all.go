package logs

import (
	"bufio"
	"context"
	"errors"
	"io"
	"sync"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
)

// CopyAll writes the logs of all containers, each line behind the name of its
// container: one after the other, or as they come if they are followed. A
// container without a log to read is left out, unless none has one.
func CopyAll(ctx context.Context, client *kube.Client, pod *corev1.Pod, r Request, out io.Writer) error {
	var all []part
	for _, name := range Containers(pod) {
		all = append(all, part{pod, name, name})
	}
	return copyParts(ctx, client, all, r, out)
}

// CopyPods writes the logs of several pods, each line behind the name of its
// pod: of one container, or of all, whose names follow.
func CopyPods(ctx context.Context, client *kube.Client, pods []*corev1.Pod, r Request, containers bool,
	out io.Writer,
) error {
	var all []part
	for _, pod := range pods {
		if !containers {
			all = append(all, part{pod, r.Container, pod.Name})
			continue
		}
		for _, name := range Containers(pod) {
			all = append(all, part{pod, name, pod.Name + " " + name})
		}
	}
	return copyParts(ctx, client, all, r, out)
}

// part is one of several logs, and the name before its lines.
type part struct {
	pod             *corev1.Pod
	container, name string
}

func copyParts(ctx context.Context, client *kube.Client, all []part, r Request, out io.Writer) error {
	shared := &lines{out: out}
	var group errgroup.Group
	if !r.Follow {
		group.SetLimit(1)
	}
	errs := make([]error, len(all))
	for i, p := range all {
		one := r
		one.Container = p.container
		group.Go(func() error {
			errs[i] = copyLines(ctx, client, p, one, shared)
			return nil
		})
	}
	_ = group.Wait() // each error is kept on its own
	return worst(errs)
}

// worst is the error that counts: that a container has no log does not, if
// another has one.
func worst(errs []error) error {
	var without error
	missing := 0
	for _, err := range errs {
		switch code := fault.CodeOf(err); {
		case err == nil:
		case errors.Is(err, context.Canceled), code != fault.Failed && code != fault.NotFound:
			return err
		default:
			without = err
			missing++
		}
	}
	if missing == len(errs) {
		return without
	}
	return nil
}

// copyLines writes one container's log line by line.
func copyLines(ctx context.Context, client *kube.Client, p part, r Request, out *lines) error {
	prefix := "[" + p.name + "] "
	if r.Follow {
		return followLog(ctx, client, p.pod, r, func(line string) error { return out.write(prefix, line) })
	}
	stream, err := open(ctx, client, p.pod, r)
	if err != nil {
		return err
	}
	defer stream.Close()
	text := bufio.NewReaderSize(stream, maxPiece)
	if removed(text) {
		return nil // the others have one
	}
	return kube.Fault(out.copy(prefix, text), call(client, p.pod.Name))
}

// maxPiece is how much of a line is read at once, in bytes: a workspace can print any
// amount without an end of line.
const maxPiece = 64 << 10

// next reads a line, or a piece of one that is longer than the reader's buffer.
func next(text *bufio.Reader) (string, error) {
	piece, err := text.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		err = nil
	}
	return string(piece), err
}

// lines lets several write to one, a line at a time. A long one becomes several.
type lines struct {
	mu  sync.Mutex
	out io.Writer
}

func (l *lines) copy(prefix string, reader *bufio.Reader) error {
	for {
		line, err := next(reader)
		if line != "" {
			if err := l.write(prefix, line); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func (l *lines) write(prefix, line string) error {
	if line[len(line)-1] != '\n' {
		line += "\n" // another one's line may follow
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	_, err := io.WriteString(l.out, prefix+line)
	return err
}
