package logs

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
)

// kubelet has a log, which it sends from the second asked for on, as a kubelet does,
// and breaks off after so many lines.
type kubelet struct {
	lines  []string
	breaks []int // after how many lines of each answer; those that follow are whole
	asked  []string
}

func (k *kubelet) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	k.asked = append(k.asked, query.Get("sinceTime")+" "+query.Get("tailLines"))
	since, _ := time.Parse(time.RFC3339, query.Get("sinceTime"))
	var lines []string
	for _, line := range k.lines {
		stamp, text, _ := strings.Cut(line, " ")
		if at, _ := time.Parse(time.RFC3339Nano, stamp); at.Before(since) {
			continue
		}
		if query.Get("timestamps") == "true" {
			text = line
		}
		lines = append(lines, text+"\n")
	}
	breaks := -1
	if len(k.breaks) > 0 {
		breaks, k.breaks = k.breaks[0], k.breaks[1:]
	}
	for i, line := range lines {
		if i == breaks {
			_, _ = fmt.Fprint(w, line[:len(line)/2])
			w.(http.Flusher).Flush()
			panic(http.ErrAbortHandler)
		}
		_, _ = fmt.Fprint(w, line)
	}
}

func clientOf(t *testing.T, handler http.Handler) *kube.Client {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	config := &rest.Config{Host: server.URL}
	typed, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return &kube.Client{Interface: typed, Config: config, Namespace: "dev"}
}

func runs() *corev1.Pod {
	return pod(corev1.PodRunning,
		corev1.ContainerStatus{State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}})
}

// A log that breaks off goes on where it was: no line is lost and none comes twice,
// also if several have the same time.
func TestFollowAgain(t *testing.T) {
	var lines, texts []string
	for i := range 40 {
		at := time.Date(2026, 1, 1, 0, 0, i/20, i/3*1000, time.UTC) // three lines a time
		lines = append(lines, fmt.Sprintf("%s line %d", at.Format(time.RFC3339Nano), i))
		texts = append(texts, fmt.Sprintf("line %d", i))
	}
	for name, c := range map[string]struct {
		request Request
		want    []string
	}{
		"texts":      {Request{Container: "main", Follow: true, Tail: -1}, texts},
		"with times": {Request{Container: "main", Follow: true, Tail: -1, Timestamps: true}, lines},
	} {
		t.Run(name, func(t *testing.T) {
			log, lost := &kubelet{lines: lines, breaks: []int{7, 9, 0, 16, 2, 12}}, 0
			c.request.Lost = func(error) { lost++ }
			var out bytes.Buffer
			if err := Copy(t.Context(), clientOf(t, log), runs(), c.request, &out); err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(c.want, "\n") + "\n"; out.String() != got {
				t.Errorf("got\n%s", out.String())
			}
			if lost != 6 || len(log.asked) != 7 {
				t.Errorf("lost %d times, asked %q", lost, log.asked)
			}
		})
	}
}

// Of a log that is followed by its last lines, those that came later are not cut.
func TestFollowTailAgain(t *testing.T) {
	log := &kubelet{lines: []string{"2026-01-01T00:00:00.1Z a", "2026-01-01T00:00:00.2Z b"}, breaks: []int{1}}
	var out bytes.Buffer
	if err := Copy(t.Context(), clientOf(t, log), runs(), Request{Container: "main", Follow: true, Tail: 5},
		&out); err != nil || out.String() != "a\nb\n" {
		t.Errorf("%q, %v", out.String(), err)
	}
	if got := strings.Join(log.asked, ", "); got != " 5, 2026-01-01T00:00:00Z " {
		t.Errorf("asked %q", got)
	}
}

// An output that cannot be written to is not taken for a connection that is lost.
func TestFollowIntoFullOutput(t *testing.T) {
	full := fault.New(fault.OutputFailed, "full")
	log := &kubelet{lines: []string{"2026-01-01T00:00:00.1Z a"}}
	err := Copy(t.Context(), clientOf(t, log), runs(), Request{Container: "main", Follow: true, Tail: -1},
		failing{full})
	if !errors.Is(err, full) || len(log.asked) != 1 {
		t.Errorf("%v, asked %q", err, log.asked)
	}
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }
