//go:build e2e

package e2e

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	v1 "github.com/berthdev/berth/api/v1"
	remote "github.com/berthdev/berth/internal/exec"
	podexec "github.com/berthdev/berth/internal/exec/pod"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/rbac"
)

// reported are the stages of a run's JSON lines, and the reason of each event that
// Kubernetes recorded.
func (w *world) reported(stdout string) (stages []string, reasons map[string]bool) {
	w.Helper()
	reasons = map[string]bool{}
	lines := strings.Split(strings.TrimSpace(stdout), "\n")
	for _, line := range lines[:len(lines)-1] { // the last one is the result
		var e v1.Event
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			w.Fatalf("%v: %s", err, line)
		}
		if e.Stage != nil {
			stages = append(stages, string(e.Stage.Stage))
		}
		if e.Object != nil {
			reasons[e.Object.Object+" "+e.Object.Reason] = true
		}
	}
	return slices.Compact(stages), reasons
}

// mustHave fails the test unless the record has every change of stage, in
// order, and every event.
func (w *world) mustHave(job v1.Job, stages []string, reasons map[string]bool) {
	w.Helper()
	var recorded []string
	for _, e := range job.Events {
		word, _, _ := strings.Cut(e.Message, ":")
		switch e.Type {
		case v1.JobEventStatus:
			recorded = append(recorded, word)
		case v1.JobEventKubernetes:
			delete(reasons, e.ObjectName+" "+word)
		}
	}
	if recorded = slices.Compact(recorded); !slices.Equal(recorded, stages) || len(reasons) > 0 {
		w.Errorf("the record has the stages %s, the run reported %s; missing events: %v", recorded, stages, reasons)
	}
}

// The record in the cluster has all that the run reported, outlives the
// workspace, and can be followed from another terminal, which ends as the run.
func TestJobInTheCluster(t *testing.T) {
	t.Parallel()
	for blueprint, status := range map[string]int{"busy": 0, "crashing": 3} {
		t.Run(blueprint, func(t *testing.T) {
			w := newWorld(t)
			run := w.start("provision", "alice~"+blueprint, "-o", "jsonl")
			var list v1.JobList
			w.eventually("the job is listed", func() bool {
				list = decode[v1.JobList](w, w.must(0, "jobs", "--workspace", "alice~"+blueprint, "-o", "json"))
				return len(list.Items) == 1
			})
			id := list.Items[0].ID
			if pod := w.pod(w.idOf("alice~" + blueprint)); pod == nil || pod.Labels[kube.LabelJobID] != id {
				t.Errorf("the pod is of another job than %s", id)
			}
			follower := w.start("jobs", id, "--follow")
			r := run.wait()
			r.mustBe(w, status)
			f := follower.wait()
			f.mustBe(w, status)
			stages, reasons := w.reported(r.stdout)
			for _, stage := range stages {
				w.contains(f.stdout, stage)
			}
			job := decode[v1.Job](w, w.must(0, "jobs", id, "-o", "json"))
			w.mustHave(job, stages, reasons)
			if job.Blueprint != blueprint || job.Node == "" || job.Image == "" || (job.Cause != "") != (status != 0) {
				t.Errorf("the record is of blueprint %q, node %q, image %q, cause %q", job.Blueprint, job.Node,
					job.Image, job.Cause)
			}
			counted := decode[v1.JobStats](w, w.must(0, "jobs", "stats", "--by", "blueprint", "-o", "json"))
			if len(counted.Groups) != 1 || counted.Groups[0].Name != blueprint || len(counted.Total.Stages) == 0 ||
				len(counted.Total.Causes) != min(status, 1) {
				t.Errorf("counted are %+v", counted)
			}
			w.must(0, "delete", "alice~"+blueprint)
			history := decode[v1.JobList](w, w.must(0, "status", "alice~"+blueprint, "--history", "-o", "json"))
			if len(history.Items) != 1 || len(history.Items[0].Events) != len(job.Events) {
				t.Errorf("the history is %+v", history)
			}
		})
	}
}

// A record that cannot be written is a warning, not a failure.
func TestJobThatCannotBeRecorded(t *testing.T) {
	w := newWorld(t)
	kubeconfig := w.between(func(out http.ResponseWriter, r *http.Request, next http.Handler) {
		if r.Method != http.MethodPatch || !strings.Contains(r.URL.Path, "/configmaps/k8shell-job-") {
			next.ServeHTTP(out, r)
			return
		}
		out.Header().Set("Content-Type", "application/json")
		out.WriteHeader(http.StatusForbidden)
		_, _ = io.WriteString(out, `{"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": `+
			`"Forbidden", "code": 403, "message": "no"}`)
	})
	cmd := w.command("provision", "alice~plain")
	cmd.Env = append(cmd.Env, "KUBECONFIG="+kubeconfig)
	r := w.finish(cmd)
	r.mustBe(w, 0)
	w.contains(r.stderr, "the job record was not written: you may not patch configmaps")
}

// NATS in the cluster, behind a forwarded port, is killed and comes back while
// a workspace is provisioned: nothing is missing, and nothing waits for it.
func TestJobInNATSThatIsKilled(t *testing.T) {
	w := newWorld(t)
	w = w.as(w.role(rbac.Developer()), w.role(rbac.Named(rbac.JobsInNATS)))
	w.installNATS()
	config := w.natsConfig()
	berth := func(args ...string) *exec.Cmd {
		cmd := w.command(args...)
		cmd.Env = append(cmd.Env, "BERTH_CONFIG="+config)
		return cmd
	}
	run := w.launch(berth("provision", "alice~gated", "-o", "jsonl"))
	var id string
	w.eventually("the job is in NATS", func() bool {
		r := w.finish(berth("jobs", "-o", "name"))
		id = strings.TrimSpace(r.stdout)
		return r.status == 0 && id != ""
	})
	w.killNATS()
	w.recordEvent("alice~gated", "WhileNATSWasAway")
	w.waitForNATS()
	w.eventually("NATS has what happened while it was away", func() bool {
		return strings.Contains(w.finish(berth("jobs", id, "-o", "json")).stdout, "WhileNATSWasAway")
	})
	w.open("alice~gated")
	r := run.wait()
	r.mustBe(w, 0)
	stages, reasons := w.reported(r.stdout)
	shown := w.fromNATS(func() result { return w.finish(berth("jobs", id, "-o", "json")) })
	job := decode[v1.Job](w, shown)
	if job.State != v1.JobSucceeded || w.recordsInTheCluster() != 0 || strings.Contains(r.stderr, "warning") {
		t.Errorf("the job is %s, %d records are in the cluster; stderr:\n%s", job.State, w.recordsInTheCluster(),
			r.stderr)
	}
	w.mustHave(job, stages, reasons)
	if strings.Contains(r.stderr+r.stdout, "berth-test") {
		t.Error("the password was printed")
	}
}

// NATS is away when the job ends: the record waits in the cluster, and the next
// command that reaches NATS moves it.
func TestJobThatIsMovedIntoNATS(t *testing.T) {
	w := newWorld(t)
	w = w.as(w.role(rbac.Developer()), w.role(rbac.Named(rbac.JobsInNATS)))
	w.installNATS()
	config := w.natsConfig()
	berth := func(args ...string) result {
		cmd := w.command(args...)
		cmd.Env = append(cmd.Env, "BERTH_CONFIG="+config)
		return w.finish(cmd)
	}
	w.scaleNATS(0)
	r := berth("provision", "alice~plain", "-o", "jsonl")
	r.mustBe(w, 0)
	w.contains(r.stderr, "the job record is in the cluster until a command reaches NATS")
	if n := w.recordsInTheCluster(); n != 1 {
		t.Errorf("%d records are in the cluster", n)
	}
	w.scaleNATS(1)
	w.waitForNATS()
	list := w.fromNATS(func() result { return berth("jobs", "-o", "json") })
	jobs := decode[v1.JobList](w, list)
	if n := w.recordsInTheCluster(); n != 0 || len(jobs.Items) != 1 {
		t.Fatalf("%d records are in the cluster still; the jobs are %+v", n, jobs.Items)
	}
	shown := w.fromNATS(func() result { return berth("jobs", jobs.Items[0].ID, "-o", "json") })
	stages, reasons := w.reported(r.stdout)
	w.mustHave(decode[v1.Job](w, shown), stages, reasons)
	w.lacksNATS(config)
}

// lacksNATS lists jobs without each of the permissions that lead to NATS: it is
// said which, and that there may be more.
func (w *world) lacksNATS(config string) {
	w.Helper()
	way, jobs := rbac.Named(rbac.JobsInNATS), w.role(rbac.Named("jobs"))
	runs := map[rbac.Access]*process{}
	for _, a := range way.All() {
		limited := w.as(jobs, grant{w.namespace, without(way, a)})
		cmd := limited.command("jobs")
		cmd.Env = append(cmd.Env, "BERTH_CONFIG="+config)
		runs[a] = limited.launch(cmd)
	}
	needed := slices.DeleteFunc(way.Needs(), func(a rbac.Access) bool { return !w.isNeeded(a) })
	for a, run := range runs {
		r := run.wait()
		r.mustBe(w, 0)
		if slices.Contains(needed, a) {
			w.contains(r.stderr, "listing only the records in the cluster")
			w.names(r.stderr, a)
		} else if strings.Contains(r.stderr, "may not") {
			w.Errorf("without %s NATS is not reached: %s", a, r.stderr)
		}
	}
}

// fromNATS runs a command that reads NATS until NATS has answered in the time that there is
// for that, which is short on a busy machine.
func (w *world) fromNATS(run func() result) (r result) {
	w.Helper()
	w.eventually("NATS answers in time", func() bool {
		r = run()
		return r.status == 0 && !strings.Contains(r.stderr, "NATS")
	})
	return r
}

func (w *world) natsConfig() string {
	w.Helper()
	config := filepath.Join(w.TempDir(), "config.yaml")
	text := fmt.Sprintf("jobs:\n  nats:\n    service: {namespace: %s, name: nats}\n    user: berth\n"+
		"    password: berth-test\n", w.namespace)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		w.Fatal(err)
	}
	return config
}

func (w *world) recordsInTheCluster() int {
	w.Helper()
	maps, err := w.CoreV1().ConfigMaps(w.namespace).
		List(w.Context(), metav1.ListOptions{LabelSelector: "k8shell.io/job-expires"})
	if err != nil {
		w.Fatal(err)
	}
	return len(maps.Items)
}

func (w *world) scaleNATS(replicas int32) {
	w.Helper()
	// A patch, as the controller of the StatefulSet writes as well.
	scale := fmt.Appendf(nil, `{"spec": {"replicas": %d}}`, replicas)
	if _, err := w.AppsV1().StatefulSets(w.namespace).
		Patch(w.Context(), "nats", types.MergePatchType, scale, metav1.PatchOptions{}); err != nil {
		w.Fatal(err)
	}
	if replicas == 0 {
		w.eventually("no NATS is left", func() bool { return len(w.podsOfNATS()) == 0 })
	}
}

// recordEvent records an event about the pod of a workspace.
func (w *world) recordEvent(user, reason string) {
	w.Helper()
	pod := w.pod(w.idOf(user))
	now := metav1.Now()
	_, err := w.CoreV1().Events(w.namespace).Create(w.Context(), &corev1.Event{
		ObjectMeta:     metav1.ObjectMeta{GenerateName: pod.Name + "."},
		InvolvedObject: corev1.ObjectReference{Kind: "Pod", Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID},
		Type:           corev1.EventTypeNormal, Reason: reason, Message: "said by the test", FirstTimestamp: now,
		LastTimestamp: now, Count: 1,
	}, metav1.CreateOptions{})
	if err != nil {
		w.Fatal(err)
	}
}

// installNATS runs a server that keeps what it has, itself included, in a volume of
// its own. It is a StatefulSet, so that two never write to that volume at once. It
// speaks TLS if there is a Secret nats-tls.
func (w *world) installNATS() {
	w.Helper()
	program := filepath.Join(w.TempDir(), "nats")
	build := exec.Command("go", "build", "-ldflags=-s -w", "-o", program, "./nats")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		w.Fatalf("%v\n%s", err, out)
	}
	w.createNATS()
	var pod string
	w.eventually("the pod of NATS runs", func() bool {
		pods, err := w.CoreV1().Pods(w.namespace).List(w.Context(), metav1.ListOptions{LabelSelector: "app=nats"})
		if err != nil || len(pods.Items) == 0 || pods.Items[0].Status.Phase != corev1.PodRunning {
			return false
		}
		pod = pods.Items[0].Name
		return true
	})
	content, err := os.ReadFile(program)
	if err != nil {
		w.Fatal(err)
	}
	var out bytes.Buffer
	client := &kube.Client{Interface: w.Interface, Config: w.config, Namespace: w.namespace}
	status, err := podexec.Run(w.Context(), client, podexec.Request{
		Pod: pod, Container: "nats", Session: remote.Session{
			Stdin: bufio.NewReader(bytes.NewReader(content)), Stdout: &out,
			Stderr: &out,
		},
		Command: []string{"sh", "-c", fmt.Sprintf("head -c %d > /data/new && chmod +x /data/new && mv "+
			"/data/new /data/nats", len(content))},
	})
	if err != nil || status != 0 {
		w.Fatalf("%d, %v: %s", status, err, out.String())
	}
	w.waitForNATS()
}

func (w *world) createNATS() {
	w.Helper()
	labels := map[string]string{"app": "nats"}
	meta := metav1.ObjectMeta{Name: "nats", Labels: labels}
	_, err := w.CoreV1().PersistentVolumeClaims(w.namespace).
		Create(w.Context(), &corev1.PersistentVolumeClaim{ObjectMeta: meta, Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			Resources: corev1.VolumeResourceRequirements{
				Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("64Mi")},
			},
		}}, metav1.CreateOptions{})
	if err != nil {
		w.Fatal(err)
	}
	_, err = w.CoreV1().Services(w.namespace).
		Create(w.Context(), &corev1.Service{ObjectMeta: meta, Spec: corev1.ServiceSpec{
			Selector: labels, Ports: []corev1.ServicePort{{Port: 4222, TargetPort: intstr.FromString("client")}},
		}}, metav1.CreateOptions{})
	if err != nil {
		w.Fatal(err)
	}
	_, err = w.AppsV1().StatefulSets(w.namespace).
		Create(w.Context(), &appsv1.StatefulSet{ObjectMeta: meta, Spec: appsv1.StatefulSetSpec{
			ServiceName: "nats",
			Selector:    &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: corev1.PodSpec{
				TerminationGracePeriodSeconds: new(int64(1)),
				Containers: []corev1.Container{{
					Name: "nats", Image: "busybox:stable",
					Command: []string{
						"sh", "-c",
						"until [ -x /data/nats ]; do sleep 0.1; done; exec /data/nats /data/store $(ls /tls/tls.crt " +
							"/tls/tls.key 2>/dev/null)",
					},
					Ports: []corev1.ContainerPort{{Name: "client", ContainerPort: 4222}},
					VolumeMounts: []corev1.VolumeMount{
						{Name: "data", MountPath: "/data"},
						{Name: "tls", MountPath: "/tls"},
					},
					ReadinessProbe: &corev1.Probe{
						PeriodSeconds: 1,
						ProbeHandler: corev1.ProbeHandler{
							TCPSocket: &corev1.TCPSocketAction{Port: intstr.FromString("client")},
						},
					},
				}},
				Volumes: []corev1.Volume{
					{
						Name: "data",
						VolumeSource: corev1.VolumeSource{
							PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "nats"},
						},
					},
					{Name: "tls", VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{
						SecretName: "nats-tls",
						Optional:   new(true),
					}}},
				},
			}},
		}}, metav1.CreateOptions{})
	if err != nil {
		w.Fatal(err)
	}
}

// killNATS ends the server, which has no time to say so, and returns when it is
// gone; another one takes its place.
func (w *world) killNATS() {
	w.Helper()
	killed := w.podsOfNATS()[0]
	if err := w.CoreV1().Pods(w.namespace).
		Delete(w.Context(), killed.Name, *metav1.NewPreconditionDeleteOptions(string(killed.UID))); err != nil {
		w.Fatal(err)
	}
	w.eventually("the killed NATS is gone", func() bool {
		pods := w.podsOfNATS()
		return len(pods) == 0 || pods[0].UID != killed.UID
	})
}

func (w *world) podsOfNATS() []corev1.Pod {
	w.Helper()
	pods, err := w.CoreV1().Pods(w.namespace).List(w.Context(), metav1.ListOptions{LabelSelector: "app=nats"})
	if err != nil {
		w.Fatal(err)
	}
	return pods.Items
}

func (w *world) waitForNATS() {
	w.Helper()
	w.eventually("NATS is ready", func() bool {
		pods := w.podsOfNATS()
		return len(pods) == 1 && pods[0].DeletionTimestamp == nil && isReady(&pods[0])
	})
}

func isReady(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
	})
}
