//go:build e2e

package e2e

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/creack/pty"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/schematest"
)

// unscheduled makes a pod that looks like a workspace's and that no scheduler
// looks at.
func (w *world) unscheduled(name string, labels map[string]string) *corev1.Pod {
	w.Helper()
	marks := map[string]string{
		"k8shell.io/canonical-id": name, "k8shell.io/username": "alice",
		"k8shell.io/blueprint": "dev",
	}
	maps.Copy(marks, labels)
	pod, err := w.CoreV1().Pods(w.namespace).Create(w.Context(), &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: marks},
		Spec: corev1.PodSpec{
			SchedulerName: "nobody",
			Containers:    []corev1.Container{{Name: "k8shell-main", Image: "registry.example.com/berth/workspace:v1"}},
		},
	}, metav1.CreateOptions{})
	if err != nil {
		w.Fatal(err)
	}
	return pod
}

// replicas are such pods of a Deployment that is gone: its ReplicaSet alone is there.
func (w *world) replicas(deployment string, n int32, labels map[string]string) {
	w.Helper()
	const hash = "5f7d9c6b8"
	labels = maps.Clone(labels)
	maps.Copy(labels, map[string]string{
		"pod-template-hash": hash, "k8shell.io/workload-kind": "deployment",
		"k8shell.io/workload-name": deployment,
	})
	_, err := w.AppsV1().ReplicaSets(w.namespace).Create(w.Context(), &appsv1.ReplicaSet{
		ObjectMeta: metav1.ObjectMeta{Name: deployment + "-" + hash},
		Spec: appsv1.ReplicaSetSpec{
			Replicas: &n, Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: corev1.PodSpec{
				SchedulerName: "nobody",
				Containers: []corev1.Container{{
					Name:  "k8shell-main",
					Image: "registry.example.com/berth/workspace:v1",
				}},
			}},
		},
	}, metav1.CreateOptions{})
	if err != nil {
		w.Fatal(err)
	}
	w.eventually("there are replicas", func() bool {
		list, err := w.CoreV1().Pods(w.namespace).
			List(w.Context(), metav1.ListOptions{LabelSelector: "pod-template-hash=" + hash})
		return err == nil && len(list.Items) == int(n)
	})
}

// A long list is read page by page, in one request for each, and the names of
// it without the pods; and in one of each kind what is there of those without pods.
func TestStatusOfMany(t *testing.T) {
	const many = 600 // two pages
	w := newWorld(t)
	var group sync.WaitGroup
	next := make(chan int)
	for range 8 {
		group.Go(func() {
			for i := range next {
				w.unscheduled(fmt.Sprintf("alice-%07x", i), nil)
			}
		})
	}
	for i := range many {
		next <- i
	}
	close(next)
	group.Wait()
	for _, test := range []struct {
		args                               []string
		pods, events, namespace, workspace int // where nothing is listed, the namespace may not exist
	}{
		{[]string{"-o", "jsonl"}, 2, 1, 0, many},
		{[]string{"-o", "name"}, 2, 0, 0, many},
		{[]string{"--no-headers"}, 2, 1, 0, many},
		{[]string{"--no-headers", "--owner", "alice,bob", "--sort-by", "age"}, 2, 1, 0, many},
		{[]string{"-o", "name", "--owner", "bob"}, 1, 0, 1, 0},
		{[]string{"-o", "name", "--stage", "running"}, 2, 1, 1, 0},
	} {
		var mu sync.Mutex
		asked := map[string]int{}
		proxy := w.proxy(func(r *http.Request) bool {
			mu.Lock()
			defer mu.Unlock()
			asked[r.URL.Path[strings.LastIndex(r.URL.Path, "/")+1:]]++
			return false
		})
		cmd := w.command(append([]string{"status"}, test.args...)...)
		cmd.Env = append(cmd.Env, "KUBECONFIG="+proxy.kubeconfig)
		r := w.finish(cmd)
		r.mustBe(w, 0)
		mu.Lock()
		if lines := strings.Count(r.stdout, "\n"); lines != test.workspace || asked["pods"] != test.pods ||
			asked["events"] != test.events || asked["configmaps"] != 1 ||
			asked["secrets"] != 1 || asked["persistentvolumeclaims"] != 1 || asked[w.namespace] != test.namespace ||
			len(asked) > 5+test.namespace {
			t.Errorf("%s: %d lines after requests %v; want %+v", test.args, lines, asked, test)
		}
		mu.Unlock()
	}
}

// The lists: filters, order, looks, what is injected, what is being stopped.
func TestStatusLists(t *testing.T) {
	w := newWorld(t)
	w.unscheduled("alice-1", nil)
	w.unscheduled("bob-2", map[string]string{
		"k8shell.io/username": "bob", "k8shell.io/blueprint": "ml", "team": "red",
		"k8shell.io/stop-requested": "true",
	})
	injected := "carol~dev+workload=deployment/web+ns=" + w.namespace
	id := w.idOf(injected)
	w.replicas("web", 2, map[string]string{
		"k8shell.io/canonical-id": id, "k8shell.io/blueprint": "dev",
		"k8shell.io/username": "carol", "k8shell.io/injected": "true",
	})
	for args, want := range map[string]string{
		"":                              "alice-1 bob-2 " + id,
		"--owner Bob":                   "bob-2",
		"--blueprint dev,ml":            "alice-1 bob-2 " + id,
		"--blueprint dev":               "alice-1 " + id,
		"-l team=red":                   "bob-2",
		"-l team!=red --owner alice":    "alice-1",
		"--stage Scheduling,Failed":     "alice-1 bob-2 " + id,
		"--stage failed":                "",
		"--sort-by blueprint":           "alice-1 " + id + " bob-2",
		"--sort-by owner --stage  -":    "!",
		"--sort-by colour":              "!",
		"-l (":                          "!",
		"alice-1 --owner alice":         "!",
		"--events":                      "!",
		"--stage running --sort-by age": "",
	} {
		r := w.berth(append([]string{"status", "-o", "name"}, strings.Fields(args)...)...)
		got := strings.Join(strings.Fields(r.stdout), " ")
		if want == "!" && r.status != 2 || want != "!" && (r.status != 0 || got != want) {
			t.Errorf("status %s: %q, status %d, want %q\n%s", args, got, r.status, want, r.stderr)
		}
	}
	for _, arg := range []string{"id/" + id, injected} {
		one := decode[v1.Workspace](w, w.must(0, "status", arg, "-o", "json"))
		if one.ID != id || one.Workload != "deployment/web" || len(one.Replicas) != 2 ||
			one.Stage != v1.StageScheduling {
			t.Errorf("the injected one is %+v", one)
		}
	}
	if bob := decode[v1.Workspace](w, w.must(0, "status", "bob-2", "-o", "json")); bob.Status != v1.StatusStopping {
		t.Errorf("one that is being stopped is reported as %s", bob.Status)
	}
	w.contains(w.must(0, "status", "-o", "wide").stdout, "USERSTRING", "NODE", "IMAGE", "deployment/web",
		"0 of 2 ready")
	w.must(7, "status", "id/dave-1234567")
}

// Events are of this pod, oldest first, in text and in the document.
func TestStatusEvents(t *testing.T) {
	w := newWorld(t)
	w.must(0, "provision", "alice~plain")
	w.eventually("the kubelet's events are there", func() bool {
		return strings.Contains(w.must(0, "status", "alice~plain", "--events").stdout, "Started")
	})
	w.contains(w.must(0, "status", "alice~plain", "--events").stdout, "REASON", "Scheduled", "Started")
	one := decode[v1.Workspace](w, w.must(0, "status", "alice~plain", "--events", "-o", "json"))
	if len(one.Events) < 3 || one.Events[0].Reason != "Scheduled" || one.Events[0].At.IsZero() {
		t.Errorf("the events are %+v", one.Events)
	}
	if one := decode[v1.Workspace](w, w.must(0, "status", "alice~plain", "-o", "json")); len(one.Events) > 0 {
		t.Error("events without --events")
	}
}

// Watching reports every change, as rows and as documents, of all and of one, until
// Ctrl-C; nothing is lost.
func TestStatusWatch(t *testing.T) {
	w := newWorld(t)
	first := w.unscheduled("bob-1", map[string]string{"k8shell.io/username": "bob"})
	rows, lines := w.start("status", "--watch"), w.start("status", "--watch", "-o", "json", "--owner", "alice")
	one := w.start("status", "bob-1", "-w", "-o", "jsonl")
	w.unscheduled("alice-1", nil)
	lines.waitForLine("alice-1") // each of them watches now
	one.waitForLine("Scheduling")
	rows.waitForLine("bob-1")
	w.must(0, "provision", "alice~plain")
	id := w.idOf("alice~plain")
	rows.waitForLine(id, "Running")
	w.must(0, "delete", "alice~plain")
	w.must(0, "delete", "bob-1")
	lines.waitForLine(`"gone":true`)
	one.waitForLine(`"gone":true`)
	rows.waitForLine(id, "deleted")
	for _, run := range []*process{rows, lines, one} {
		run.signal(os.Interrupt)
		r := run.wait()
		r.mustBe(w, 130)
		if r.stderr != "" {
			t.Errorf("Ctrl-C is reported: %q", r.stderr)
		}
	}
	if n := strings.Count(rows.stdout.String(), "NAME "); n != 1 {
		t.Errorf("%d titles:\n%s", n, rows.stdout.String())
	}
	var stages []v1.Stage
	schematest.ValidateLines(t, []byte(lines.stdout.String()))
	for line := range strings.Lines(lines.stdout.String()) {
		var ws v1.Workspace
		if err := json.Unmarshal([]byte(line), &ws); err != nil || ws.Owner != "alice" {
			t.Fatalf("%q: %v", line, err)
		}
		if ws.ID != id || ws.Stage == v1.StagePulling { // reported only if it takes long
			continue
		}
		if len(stages) == 0 || stages[len(stages)-1] != ws.Stage {
			stages = append(stages, ws.Stage)
		}
	}
	if got := fmt.Sprint(stages); got != "[Scheduling Starting Running Terminating Unknown]" {
		t.Errorf("the stages were %s", got)
	}
	w.contains(one.stdout.String(), first.Name)
}

// waitForLine waits until standard output has a line with these words.
func (p *process) waitForLine(words ...string) {
	p.w.Helper()
	p.w.eventually("stdout has "+strings.Join(words, " "), func() bool {
		for line := range strings.Lines(p.stdout.String()) {
			rest := words
			for len(rest) > 0 && strings.Contains(line, rest[0]) {
				rest = rest[1:]
			}
			if len(rest) == 0 {
				return true
			}
		}
		return false
	})
}

// On a terminal the list is redrawn in place, and Ctrl-C gives the cursor back.
func TestStatusWatchAtATerminal(t *testing.T) {
	w := newWorld(t)
	w.unscheduled("alice-1", nil)
	cmd := w.command("status", "-w")
	cmd.Env = append(cmd.Env, "TERM=xterm-256color", "LC_ALL=C.UTF-8", "CI=", "NO_COLOR=")
	tty, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 24, Cols: 100})
	if err != nil {
		t.Fatal(err)
	}
	defer tty.Close()
	var out lockedBuffer
	read := make(chan struct{})
	go func() {
		defer close(read)
		part := make([]byte, 4096)
		for n, err := tty.Read(part); err == nil; n, err = tty.Read(part) {
			_, _ = out.Write(part[:n])
		}
	}()
	shows := func(words string) {
		t.Helper()
		w.eventually("the terminal shows "+words, func() bool {
			return strings.Contains(ansi.Strip(out.String()),
				words)
		})
	}
	shows("alice-1")
	w.unscheduled("bob-2", nil)
	shows("bob-2")
	if _, err := tty.WriteString("\x03"); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	<-read
	if status := cmd.ProcessState.ExitCode(); status != 130 {
		t.Errorf("exit status %d", status)
	}
	text := out.String()
	if strings.LastIndex(text, "\x1b[?25h") < strings.LastIndex(text, "\x1b[?25l") {
		t.Error("the cursor is not given back")
	}
	if n := strings.Count(text, "OWNER"); n != 1 {
		t.Errorf("what did not change was drawn %d times", n)
	}
}
