package initscript

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/logs"
)

// outputEvery is how often at most it is reported what a script that runs has written.
const outputEvery = 500 * time.Millisecond

// Follow reports on the scripts of a pod as they run: each when it begins and when it ends,
// and now and then what it has written last. It ends when all have come to their end, or the
// container has: whole says whether all were seen. The client is that of the pod's namespace.
func Follow(ctx context.Context, client *kube.Client, pod *corev1.Pod, container string,
	report func(v1.Script),
) (whole bool, err error) {
	f := &feed{object: kube.Object("Pod", pod.Name) + ":" + container, report: report}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var group sync.WaitGroup
	group.Go(func() { f.tick(ctx) })
	err = logs.Copy(ctx, client, pod, logs.Request{Container: container, Follow: true, Timestamps: true, Tail: -1}, f)
	stop()
	group.Wait()
	if errors.Is(err, errRead) {
		err = nil
	}
	return f.log.Ready(), err
}

const (
	// readTime and readBytes are how long, and how much of a log, is read for what the
	// scripts have done.
	readTime  = 5 * time.Second
	readBytes = 8 << 20
)

// Read reads what has become of the scripts of a pod so far, and whether all have come to
// their end. That is not known of a log that is too long, or of which the beginning is gone.
func Read(ctx context.Context, client *kube.Client, pod *corev1.Pod, container string) (scripts []v1.Script,
	ready bool, err error,
) {
	ctx, cancel := context.WithTimeout(ctx, readTime)
	defer cancel()
	f := &feed{object: kube.Object("Pod", pod.Name) + ":" + container, report: func(v1.Script) {}, left: readBytes}
	err = logs.Copy(ctx, client, pod, logs.Request{Container: container, Timestamps: true, Tail: -1}, f)
	if errors.Is(err, errRead) {
		err = nil
	}
	for _, s := range f.log.Scripts() {
		s.Object = f.object
		scripts = append(scripts, s)
	}
	return scripts, f.log.Ready(), err
}

// errRead ends the reading of a log that has nothing more to say.
var errRead = errors.New("the log has been read")

// feed feeds a log with what is written to it.
type feed struct {
	object string
	report func(v1.Script)
	left   int // bytes to be read; 0 at first for any number

	mu     sync.Mutex
	log    Log
	line   []byte // its beginning, as far as it has come
	output bool   // has come since the last report
}

// maxLine is how much of a line is kept while the rest comes.
const maxLine = 8 << 10

// Write takes the next piece of the log.
func (f *feed) Write(piece []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := len(piece)
	for len(piece) > 0 {
		end := bytes.IndexByte(piece, '\n')
		part := piece
		if end >= 0 {
			part = piece[:end]
		}
		f.line = append(f.line, part...)
		if len(f.line) > maxLine { // the runtime's words are at the end of one
			f.line = append(f.line[:0], f.line[len(f.line)-maxLine:]...)
		}
		if end < 0 {
			break
		}
		piece = piece[end+1:]
		f.take(string(f.line))
		if f.log.Ready() {
			return n, errRead
		}
		f.line = f.line[:0]
	}
	return n, f.count(n)
}

// count ends the reading of a log that is too long.
func (f *feed) count(n int) error {
	if f.left == 0 {
		return nil
	}
	if f.left -= n; f.left <= 0 {
		return errRead
	}
	return nil
}

func (f *feed) take(line string) {
	switch f.log.Line(line) {
	case Output:
		f.output = true
	case Step:
		f.tell()
	case Nothing:
	}
}

// tell reports on the script that was last spoken of.
func (f *feed) tell() {
	f.output = false
	s := f.log.Last()
	s.Object = f.object
	f.report(s)
}

// tick reports on what a script has written, now and then.
func (f *feed) tick(ctx context.Context) {
	ticker := time.NewTicker(outputEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			f.mu.Lock()
			if f.output {
				f.tell()
			}
			f.mu.Unlock()
		}
	}
}

// Container is the container of a pod that runs init scripts and says so in its log; false
// if the pod has none, or an agent that runs them in its own way.
func Container(pod *corev1.Pod) (name string, ok bool) {
	name = kube.MainContainer(pod.Labels)
	for i := range pod.Spec.Containers {
		c := &pod.Spec.Containers[i]
		if c.Name == name && slices.Contains(c.Command, runtime) {
			mounted := func(m corev1.VolumeMount) bool { return m.MountPath == directory }
			return name, slices.ContainsFunc(c.VolumeMounts, mounted)
		}
	}
	return name, false
}

// What the chart gives a workspace with init scripts: its main process, and where they are.
const (
	runtime   = "/k8shell/runtime/start.sh"
	directory = "/k8shell/init"
)

// Instance is an instance of the container of a pod: each runs those of the scripts again
// that have not ended well.
type Instance struct {
	PodUID, Container, ID string
}

// MostPods is in how many pods of a workload the scripts are looked at: they run the same in
// all of them.
const MostPods = 8

// ErrTooManyPods is why it is not known what has become of all scripts of a large workload.
var ErrTooManyPods = fmt.Errorf("they run in more than %d pods", MostPods)

// Strict says whether a script that fails in a pod is a failure of the workspace.
func Strict(pod *corev1.Pod) bool { return pod.Annotations[kube.AnnotationStrictScripts] == "true" }

// Running is the instance that runs in a pod; false if none does, or it has no init scripts.
func Running(pod *corev1.Pod) (Instance, bool) {
	name, ok := Container(pod)
	if !ok || pod.DeletionTimestamp != nil {
		return Instance{}, false
	}
	for i := range pod.Status.ContainerStatuses {
		if s := &pod.Status.ContainerStatuses[i]; s.Name == name && s.State.Running != nil {
			return Instance{PodUID: string(pod.UID), Container: name, ID: string(pod.UID) + "/" + s.ContainerID}, true
		}
	}
	return Instance{}, false
}
