package inventory

import (
	"context"
	"sync"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/initscript"
	"github.com/berthdev/berth/internal/kube"
)

// ReadScripts adds to the document of what was found what has become of its init scripts. Of
// more pods than are looked at, that is not known.
func (r Reader) ReadScripts(ctx context.Context, f Found, w *v1.Workspace) {
	r.readScripts(ctx, w, f.objects)
	if len(f.objects.Pods) > initscript.MostPods && w.ScriptsUnread == "" {
		w.ScriptsUnread = initscript.ErrTooManyPods.Error()
	}
}

// readScripts reads what has become of the init scripts, if there are any: a request for
// each pod, side by side.
func (r Reader) readScripts(ctx context.Context, w *v1.Workspace, objects Objects) {
	type answer struct {
		scripts []v1.Script
		unread  string
	}
	var answers [initscript.MostPods]answer
	var wg sync.WaitGroup
	n := 0
	for _, pod := range objects.Pods {
		instance, runs := initscript.Running(pod)
		if !runs || n == initscript.MostPods {
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
