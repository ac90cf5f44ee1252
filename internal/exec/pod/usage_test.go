package pod

import (
	"context"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/streaming/pkg/httpstream"

	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/kubetest"
)

// What du prints is read as far as it is what du prints: the image brings it.
func TestUsage(t *testing.T) {
	for text, want := range map[string]map[string]int64{
		"":                          {},
		"4\t/home/dev\n12\t/data\n": {"/home/dev": 4096, "/data": 12288},
		"3\t/with space and\ttab\n": {"/with space and\ttab": 3072},
		"4\t/home/dev":              {"/home/dev": 4096},
		"-4\t/home\n1e3\t/x\n99999999999999999999\t/y\n4 /z\n4\t\n": {},
	} {
		if got := usage(text); !maps.Equal(got, want) {
			t.Errorf("%q is %v, want %v", text, got, want)
		}
	}
}

// du ends by itself when nobody waits for it any more, and what it says until then is
// kept while it goes on.
func TestUsageHasAnEnd(t *testing.T) {
	asked := make(chan url.Values, 1)
	client := clientOf(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		kubetest.Exec(w, r, func(streams map[string]httpstream.Stream) {
			asked <- r.URL.Query()
			for range time.Tick(time.Millisecond) {
				if _, err := io.WriteString(streams["stdout"], "4\t/data\n"); err != nil {
					return
				}
			}
		})
	}))
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "alice", Namespace: "dev"}}
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{{
		Name:  kube.MainContainer(nil),
		State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}},
	}}
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
	defer cancel()
	if used := Usage(ctx, client, pod, []string{"/data"}); used["/data"] != 4096 {
		t.Errorf("%v", used)
	}
	if got := strings.Join((<-asked)["command"], " "); got != "timeout 3 du -skx /data" {
		t.Errorf("asked for %s", got)
	}
}
