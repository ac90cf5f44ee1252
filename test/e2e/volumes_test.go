//go:build e2e

package e2e

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// scratch is a world with a driver of scratch volumes on its node, as `berth serve
// manifests` prints it and with nothing changed, and a pod that sees the node's directory.
type scratch struct {
	*world
	driver, directory string
	file              string // what was applied
}

func newScratch(w *world, args ...string) *scratch {
	w.Helper()
	w.kubeconfig, w.limited = w.admin, w.config
	s := &scratch{world: w, driver: w.namespace + ".scratch.test", directory: "/var/lib/berth-" + w.namespace}
	args = append([]string{
		"serve", "manifests", "volumes", "--image", "registry.example.com/berth/berth:" + w.program(binary),
		"--driver-name", s.driver, "--directory", s.directory,
	}, args...)
	s.file = w.write(w.TempDir(), "driver.yaml", w.must(0, args...).stdout)
	w.Cleanup(func() {
		if w.Failed() {
			w.Logf("the driver says:\n%s", w.output("logs", "--selector", "app.kubernetes.io/component=volumes",
				"--tail", "60"))
			w.Logf("events:\n%s", w.output("get", "events"))
		}
		w.kubectl("delete", "pods", "--selector", "!app.kubernetes.io/component",
			"--timeout=60s") // while the driver is there
		w.kubectl("delete", "daemonset", "berth-volumes", "--cascade=foreground", "--timeout=60s")
		w.kubectl("delete", "csidriver", s.driver)
	})
	w.kubectl("apply", "--server-side", "-f", s.file)
	s.ready()
	look := pod("look", "sleep 3600")
	look.Spec.Volumes = []corev1.Volume{{
		Name:         "node",
		VolumeSource: corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: s.directory}},
	}}
	look.Spec.Containers[0].VolumeMounts = []corev1.VolumeMount{{Name: "node", MountPath: "/node"}}
	s.create(look)
	s.running("look")
	return s
}

// ready waits until the newest driver works and the node has it.
func (s *scratch) ready() {
	s.Helper()
	s.eventually("the driver is ready", func() bool {
		d := s.daemonSet()
		return d.Status.ObservedGeneration == d.Generation && d.Status.UpdatedNumberScheduled == 1 &&
			d.Status.NumberReady == 1
	})
}

func (s *scratch) daemonSet() *appsv1.DaemonSet {
	s.Helper()
	d, err := s.AppsV1().DaemonSets(s.namespace).Get(s.Context(), "berth-volumes", metav1.GetOptions{})
	if err != nil {
		s.Fatal(err)
	}
	return d
}

// pod is one whose container runs a script.
func pod(name, script string) *corev1.Pod {
	now := int64(0)
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: corev1.PodSpec{
			TerminationGracePeriodSeconds: &now,
			Containers: []corev1.Container{{
				Name: "main", Image: "registry.example.com/berth/workspace:v1",
				Command: []string{"sh", "-c", script},
			}},
		},
	}
}

// with gives a pod a scratch volume at /data.
func (s *scratch) with(p *corev1.Pod, attributes map[string]string) *corev1.Pod {
	p.Spec.Volumes = append(p.Spec.Volumes,
		corev1.Volume{Name: "data", VolumeSource: corev1.VolumeSource{CSI: &corev1.CSIVolumeSource{
			Driver:           s.driver,
			VolumeAttributes: attributes,
		}}})
	for i := range p.Spec.Containers {
		p.Spec.Containers[i].VolumeMounts = append(p.Spec.Containers[i].VolumeMounts,
			corev1.VolumeMount{Name: "data", MountPath: "/data"})
	}
	return p
}

func (s *scratch) create(p *corev1.Pod) types.UID {
	s.Helper()
	made, err := s.CoreV1().Pods(s.namespace).Create(s.Context(), p, metav1.CreateOptions{})
	if err != nil {
		s.Fatal(err)
	}
	return made.UID
}

func (s *scratch) running(name string) {
	s.Helper()
	s.eventually(name+" runs", func() bool {
		p, err := s.CoreV1().Pods(s.namespace).Get(s.Context(), name, metav1.GetOptions{})
		return err == nil && p.Status.Phase == corev1.PodRunning && len(p.Status.ContainerStatuses) > 0 &&
			p.Status.ContainerStatuses[0].Ready
	})
}

// in runs a script in a pod.
func (s *scratch) in(name, script string) string {
	s.Helper()
	return s.inContainer(name, "main", script)
}

func (s *scratch) inContainer(name, container, script string) string {
	s.Helper()
	cmd := exec.Command(os.Getenv("BERTH_TEST_KUBECTL"), "exec", "--namespace", s.namespace, "--kubeconfig", s.admin,
		name, "--container", container, "--", "sh", "-c", script)
	out, err := cmd.Output()
	if failed, is := errors.AsType[*exec.ExitError](err); is {
		s.Logf("in %s, %s: %v", name, script, err)
		out = append(out, failed.Stderr...) // of a command that works, old kubectl says things of its own there
	}
	return strings.TrimSpace(string(out))
}

func (s *scratch) delete(names ...string) {
	s.Helper()
	s.kubectl(append([]string{"delete", "pod", "--wait", "--timeout=120s"}, names...)...)
}

// node is what the node has of the volumes of a pod.
func (s *scratch) node(uid types.UID, script string) string {
	s.Helper()
	return s.in("look", fmt.Sprintf("cd /node/%s/csi-* && %s", uid, script))
}

// Pods of a real kubelet have scratch volumes: written, kept for their afterlife, removed after it.
func TestScratchVolumes(t *testing.T) {
	s := newScratch(newWorld(t), "--prune-interval", "1s")
	for name, test := range map[string]func(*scratch){
		"afterlife": testAfterlife, "containers": testScratchOfContainers,
		"refused": testScratchRefused,
		"an upgrade": testScratchThrough(func(s *scratch) {
			s.kubectl("set", "env", "daemonset/berth-volumes", "UPGRADED=yes")
			s.ready()
		}),
		"a rolling restart":       testScratchThrough((*scratch).rollingRestart),
		"a driver that is killed": testScratchThrough((*scratch).killDriver),
	} {
		t.Run(name, func(t *testing.T) {
			w := *s.world
			w.T = t
			test(&scratch{world: &w, driver: s.driver, directory: s.directory, file: s.file})
		})
	}
}

// The data of a volume outlives its pod for as long as the node says, or less if the pod asks for less.
func testAfterlife(s *scratch) {
	kept := s.create(s.with(pod("kept", "echo kept >/data/file; sleep 3600"), nil))
	brief := s.create(s.with(pod("brief", "echo brief >/data/file; sleep 3600"), map[string]string{"afterlife": "1s"}))
	for name, uid := range map[string]types.UID{"kept": kept, "brief": brief} {
		s.running(name)
		s.eventually("what it has written is on the node",
			func() bool { return s.in("look", fmt.Sprintf("cat /node/%s/csi-*/file 2>/dev/null || :", uid)) == name })
	}
	s.delete("kept", "brief")
	s.eventually("what was to stay a second is gone",
		func() bool { return s.in("look", fmt.Sprintf("ls -d /node/%s 2>/dev/null || :", brief)) == "" })
	if got := s.node(kept, "cat file"); got != "kept" {
		s.Errorf("of the other one is left %q", got)
	}
}

// Two containers share a volume, one of them to read alone; the group of the pod may write, and nobody may write to one
// that is read-only.
func testScratchOfContainers(s *scratch) {
	user, group, yes := int64(1000), int64(2000), true
	p := s.with(pod("two", "sleep 3600"), nil)
	p.Spec.SecurityContext = &corev1.PodSecurityContext{RunAsUser: &user, FSGroup: &group}
	second := *p.Spec.Containers[0].DeepCopy()
	second.Name, second.VolumeMounts[0].ReadOnly = "reader", true
	p.Spec.Containers = append(p.Spec.Containers, second)
	p.Spec.Volumes = append(p.Spec.Volumes,
		corev1.Volume{Name: "closed", VolumeSource: corev1.VolumeSource{CSI: &corev1.CSIVolumeSource{
			Driver:   s.driver,
			ReadOnly: &yes,
		}}})
	p.Spec.Containers[0].VolumeMounts = append(p.Spec.Containers[0].VolumeMounts,
		corev1.VolumeMount{Name: "closed", MountPath: "/closed"})
	s.create(p)
	s.running("two")
	got := s.in("two", "echo x >/data/file && stat -c '%u %g' /data/file; touch /closed/file 2>&1 || :")
	if !strings.Contains(got, "1000 2000") || !strings.Contains(got, "Read-only file system") {
		s.Errorf("the first says %q", got)
	}
	got = s.inContainer("two", "reader", "cat /data/file; touch /data/other 2>&1 || :")
	if !strings.Contains(got, "x") || !strings.Contains(got, "Read-only file system") {
		s.Errorf("the second says %q", got)
	}
	s.delete("two")
}

// What the driver refuses is an event of the pod, with the reason.
func testScratchRefused(s *scratch) {
	s.create(s.with(pod("sized", "sleep 3600"), map[string]string{"size": "1Gi"}))
	s.eventually("the pod says why", func() bool {
		return strings.Contains(s.output("describe", "pod", "sized"), "no quota limits a scratch volume")
	})
	s.kubectl("delete", "pod", "sized", "--wait=false") // the kubelet takes its time with what it has not mounted
}

// The driver is replaced or killed while pods use volumes: they go on, and can be deleted after it. What
// is written is never empty: a container may be killed between opening a file and writing it.
func testScratchThrough(disturb func(*scratch)) func(*scratch) {
	return func(s *scratch) { s.goesOnThrough(disturb) }
}

func (s *scratch) goesOnThrough(disturb func(*scratch)) {
	s.Helper()
	uid := s.create(s.with(pod("user",
		"i=0; while :; do i=$((i+1)); echo $i >/data/next && mv /data/next /data/count || exit 1; sleep 0.1; done"),
		nil))
	s.running("user")
	disturb(s)
	before := s.in("user", "cat /data/count")
	s.eventually("it goes on writing", func() bool { return s.in("user", "cat /data/count") != before })
	p, err := s.CoreV1().Pods(s.namespace).Get(s.Context(), "user", metav1.GetOptions{})
	if err != nil || p.Status.ContainerStatuses[0].RestartCount != 0 {
		s.Errorf("it was restarted: %v, %v", p.Status.ContainerStatuses, err)
	}
	s.create(s.with(pod("new", "echo new >/data/file; sleep 3600"), nil))
	s.running("new")
	s.delete("user", "new")
	if s.node(uid, "cat count") == "" {
		s.Error("its data is gone")
	}
}

// rollingRestart does what kubectl rollout restart does, and waits for its end.
func (s *scratch) rollingRestart() {
	s.Helper()
	before := s.driverPod()
	patch := fmt.Sprintf(
		`{"spec": {"template": {"metadata": {"annotations": {"kubectl.kubernetes.io/restartedAt": %q}}}}}`,
		time.Now().Format(time.RFC3339))
	if _, err := s.AppsV1().DaemonSets(s.namespace).Patch(s.Context(), "berth-volumes", types.StrategicMergePatchType,
		[]byte(patch), metav1.PatchOptions{}); err != nil {
		s.Fatal(err)
	}
	s.ready()
	if after := s.driverPod(); after.UID == before.UID {
		s.Error("it is still the same pod")
	}
}

// killDriver kills the process of the driver, and waits for the next one.
func (s *scratch) killDriver() {
	s.Helper()
	before := s.driverPod()
	s.endRole(before.Name, "volumes")
	s.eventually("the driver runs again", func() bool {
		status := s.driverPod().Status.ContainerStatuses
		return len(status) > 0 && status[0].Ready &&
			status[0].RestartCount > before.Status.ContainerStatuses[0].RestartCount
	})
}

// driverPod is the only pod of the driver that is not about to end.
func (s *scratch) driverPod() corev1.Pod {
	s.Helper()
	list, err := s.CoreV1().Pods(s.namespace).List(s.Context(),
		metav1.ListOptions{LabelSelector: "app.kubernetes.io/component=volumes"})
	if err != nil {
		s.Fatal(err)
	}
	left := slices.DeleteFunc(list.Items, func(p corev1.Pod) bool { return p.DeletionTimestamp != nil })
	if len(left) != 1 {
		s.Fatalf("the driver has %d pods", len(left))
	}
	return left[0]
}

// A hundred pods come and go at once: each has a volume of its own, nothing of them is left, and nothing
// of others is removed.
func TestHundredScratchVolumes(t *testing.T) {
	const pods = 100
	s := newScratch(newWorld(t), "--prune-interval", "1s", "--afterlife", "2h")
	stays := s.create(s.with(pod("stays", "echo stays >/data/file; sleep 3600"), map[string]string{"afterlife": "0s"}))
	var names []string
	for i := range pods {
		afterlife := "0s"
		if i%10 == 0 {
			afterlife = "2h"
		}
		name := fmt.Sprintf("p%d", i)
		names = append(names, name)
		s.create(s.with(pod(name, "echo $HOSTNAME >/data/file; sleep 3600"), map[string]string{"afterlife": afterlife}))
	}
	s.eventually("all run", func() bool {
		list, err := s.CoreV1().Pods(s.namespace).List(context.Background(), metav1.ListOptions{})
		return err == nil && len(list.Items) >= pods &&
			!slices.ContainsFunc(list.Items, func(p corev1.Pod) bool { return p.Status.Phase != corev1.PodRunning })
	})
	s.eventually("all have written what is theirs",
		func() bool { return s.in("look", "cat /node/*/csi-*/file | sort -u | wc -l") == fmt.Sprint(pods+1) })
	s.delete(names...)
	s.eventually("what has no afterlife is gone",
		func() bool { return s.in("look", "ls -d /node/*/csi-* | wc -l") == fmt.Sprint(pods/10+1) })
	if got := s.in("look", "cat /node/*/csi-*/file | grep -c 0$"); got != fmt.Sprint(pods/10) {
		s.Errorf("of those with an afterlife are left %s", got)
	}
	if got := s.node(stays, "cat file"); got != "stays" {
		s.Errorf("what is in use has %q", got)
	}
	if got := s.in("look", "ls -d /node/*/ | wc -l"); got != fmt.Sprint(pods/10+1) {
		s.Errorf("directories of pods are left: %s", got)
	}
}

// The kubelet and containerd are restarted while pods use volumes: the pods go on, and
// volumes are published and unpublished after it. It runs before the parallel tests.
func TestScratchVolumesAcrossRestarts(t *testing.T) {
	dir := os.Getenv(clusterVariable)
	if dir == "" {
		t.Skipf("%s is not set: the kubelet of a cluster in use must not be killed", clusterVariable)
	}
	s := newScratch(newWorldAlone(t), "--prune-interval", "1s")
	uid := s.create(s.with(pod("user", "while :; do date >/data/next && mv /data/next /data/file; sleep 0.1; done"),
		nil))
	s.running("user")
	for _, daemon := range []string{"kubelet", "containerd"} {
		restart := exec.Command("go", "run", ".", "--dir", dir, "restart", daemon)
		restart.Dir = "../cluster"
		if out, err := restart.CombinedOutput(); err != nil {
			t.Fatalf("restart: %v\n%s", err, out)
		}
		name := "after-" + daemon
		s.create(s.with(pod(name, "echo new >/data/file; sleep 3600"), map[string]string{"afterlife": "0s"}))
		s.running(name)
		s.delete(name)
	}
	p, err := s.CoreV1().Pods(s.namespace).Get(t.Context(), "user", metav1.GetOptions{})
	if err != nil || p.UID != uid || p.Status.ContainerStatuses[0].RestartCount != 0 {
		t.Errorf("it was restarted: %v, %v", p.Status.ContainerStatuses, err)
	}
	s.delete("user")
	if s.node(uid, "cat file") == "" {
		t.Error("its data is gone")
	}
	s.eventually("nothing else is left", func() bool { return s.in("look", "ls -d /node/*/csi-* | wc -l") == "1" })
}
