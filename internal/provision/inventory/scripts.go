package inventory

import (
	"context"
	"sync"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/initscript"
	"github.com/berthdev/berth/internal/kube"
)

// mostRead is in how many pods of a workload it is looked for what the init scripts have
// done: they run the same in all of them.
const mostRead = 8

// readScripts reads what has become of the init scripts, if there are any: a request for
// each pod, side by side.
func (r Reader) readScripts(ctx context.Context, w *v1.Workspace, objects Objects) {
	type answer struct {
		scripts []v1.Script
		unread  string
	}
	var answers [mostRead]answer
	var wg sync.WaitGroup
	n := 0
	for _, pod := range objects.Pods {
		instance, runs := initscript.Running(pod)
		if !runs || n == mostRead {
			continue
		}
		to := &answers[n]
		n++
		wg.Go(func() {
			scripts, ready, err := initscript.Read(ctx, r.Client, pod, instance.Container)
			to.scripts, to.unread = scripts, unread(pod, ready, err)
		})
	}
	wg.Wait()
	for _, a := range answers[:n] {
		w.Scripts = append(w.Scripts, a.scripts...)
		if w.ScriptsUnread == "" {
			w.ScriptsUnread = a.unread
		}
	}
}

// unread says why it is not known what has become of all scripts; empty if it is.
func unread(pod *corev1.Pod, ready bool, err error) string {
	switch {
	case err != nil:
		return err.Error()
	case !ready && kube.IsReady(pod):
		return "the log of container " + kube.MainContainer(pod.Labels) + " is too long, or its beginning is gone"
	}
	return ""
}
