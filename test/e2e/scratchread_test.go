//go:build e2e

package e2e

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/rbac"
)

// leaves is what the pod of the test leaves: files, links that stay and that lead out, and what is no file.
const leaves = `cd /data && mkdir -p logs/old empty && seq 1 200000 >logs/build.log && ` +
	`ln -s build.log logs/latest && ln -s ../../../../../etc/passwd out && ln -s /etc/passwd absolute && ` +
	`ln -s ../.. up && mkfifo pipe && mknod device c 1 3 && echo old >logs/old/one && ` +
	`echo done >ready; sleep 3600`

// reader is somebody without a kubeconfig, who has a token, and the configuration says where the drivers are.
type reader struct {
	*scratch
	home string
}

// A developer reads what a dead pod has left with a role on scratch volumes alone, and nobody else does: the API server
// decides, and the driver writes both into its audit log.
func TestScratchVolumesAreRead(t *testing.T) {
	s := newScratch(newWorld(t), "--prune-interval", "1s", "--read", "--host", "127.0.0.1")
	t.Cleanup(func() {
		s.kubectl("delete", "clusterrole,clusterrolebinding", "berth-volumes."+s.namespace, rbac.ScratchVolumeReader,
			"--ignore-not-found")
	})
	client := &kube.Client{Interface: s.Interface, Config: s.config, Namespace: s.namespace}
	at := newRelay(t, client, s.driverPod().Name)
	owner, other := s.reader("owner", at.port), s.reader("other", at.port)
	s.bind("owner", rbac.ScratchVolumeReader)

	s.create(s.with(pod("left", leaves), map[string]string{"workspace": "alice-2bd806c", "userString": "alice~dev"}))
	s.running("left")
	s.eventually("it has written", func() bool { return s.in("left", "cat /data/ready") == "done" })
	s.delete("left")
	id := ""
	s.eventually("the volume is listed", func() bool {
		list := decode[v1.VolumeList](s.world, owner.run(0, "volume", "list", "-o", "json")).Items
		if len(list) == 1 && list[0].Pod == "left" && list[0].UserString == "alice~dev" {
			id = list[0].ID
		}
		return id != ""
	})
	owner.reads(id)
	owner.refusesEscapes(id)
	other.isRefused(id)
	s.isLimited(at.port, id)
	owner.seesRemoval(id)
}

// reader makes an account that may nothing, and its configuration.
func (s *scratch) reader(name, port string) *reader {
	s.Helper()
	r := &reader{s, s.TempDir()}
	dir := filepath.Join(r.home, "berth")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		s.Fatal(err)
	}
	ca, err := s.CoreV1().ConfigMaps(s.namespace).Get(s.Context(), "berth-volumes-ca", metav1.GetOptions{})
	if err != nil {
		s.Fatal(err)
	}
	s.write(dir, "ca.crt", ca.Data["ca.crt"])
	s.write(dir, "token", s.token(name))
	s.write(dir, "config.yaml", fmt.Sprintf("volumes: {readURL: 'https://127.0.0.1:%s', readCA: ca.crt, "+
		"credential: {tokenFile: token}}\n", port))
	return r
}

// bind gives an account a ClusterRole in the namespace.
func (s *scratch) bind(account, role string) {
	s.Helper()
	_, err := s.RbacV1().RoleBindings(s.namespace).Create(s.Context(), &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "reads-" + account},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Name: account, Namespace: s.namespace}},
	}, metav1.CreateOptions{})
	if err != nil {
		s.Fatal(err)
	}
}

// berth is berth as the reader runs it.
func (r *reader) berth(args ...string) *exec.Cmd {
	cmd := r.command(args...)
	cmd.Env = append(cmd.Env, "KUBECONFIG=/dev/null", "XDG_CONFIG_HOME="+r.home)
	return cmd
}

func (r *reader) run(status int, args ...string) result {
	r.Helper()
	got := r.finish(r.berth(args...))
	got.mustBe(r.world, status)
	return got
}

// says is what the driver has logged.
func (s *scratch) says() string {
	s.Helper()
	return s.output("logs", "--selector", "app.kubernetes.io/component=volumes", "--tail", "-1")
}

// reads reads all of it, parts of it, and copies it.
func (r *reader) reads(id string) {
	r.Helper()
	var whole bytes.Buffer
	for i := 1; i <= 200000; i++ {
		fmt.Fprintln(&whole, i)
	}
	want := whole.String()
	short := strings.TrimPrefix(id, "csi-")[:10]
	files := decode[v1.VolumeFiles](r.world, r.run(0, "volume", "list", short, "-o", "json"))
	var names []string
	for _, f := range files.Items {
		names = append(names, f.Name+":"+f.Type)
	}
	if got := strings.Join(names, " "); got != "absolute:link device:device empty:directory logs:directory out:link "+
		"pipe:pipe ready:file up:link" || files.ID != id {
		r.Errorf("%s has %s", files.ID, got)
	}
	r.contains(r.run(0, "volume", "list", short+":logs").stdout, "build.log", "latest -> build.log", "old")
	for part, args := range map[string][]string{
		want:               {"logs/build.log"},
		"1\n2\n":           {"logs/latest", "--range", "0-3"},
		"199999\n200000\n": {"/logs/build.log", "--tail", "14"},
		want[1000000:]:     {"logs/build.log", "--offset", "1000000"},
	} {
		if got := r.run(0, append([]string{"volume", "read", short}, args...)...).stdout; got != part {
			r.Errorf("%s: %d bytes, want %d", args, len(got), len(part))
		}
	}
	r.contains(r.run(2, "volume", "read", short, "ready", "--offset", "9").stderr, "it has 5 bytes")
	to := filepath.Join(r.TempDir(), "back")
	r.run(0, "volume", "cp", short+":logs", to)
	if got, err := os.ReadFile(filepath.Join(to, "build.log")); err != nil || string(got) != want {
		r.Errorf("%d bytes were copied, %v", len(got), err)
	}
	if got, err := os.ReadFile(filepath.Join(to, "old", "one")); err != nil || string(got) != "old\n" {
		r.Errorf("%q, %v", got, err)
	}
	r.run(0, "volume", "cp", id+":logs/build.log", filepath.Join(to, "alone"))
	if got, err := os.ReadFile(filepath.Join(to, "alone")); err != nil || string(got) != want {
		r.Errorf("%d bytes were copied, %v", len(got), err)
	}
	refusal := r.run(3, "volume", "cp", id, filepath.Join(r.TempDir(), "all")).stderr
	r.contains(refusal, `refused "out"`, "which is not copied with it")
	r.run(0, "volume", "cp", id, filepath.Join(r.TempDir(), "all"), "--outside-links")
	log := r.says()
	r.contains(log, `"user":"system:serviceaccount:`+r.namespace+`:owner"`, `"volume":"`+id+`","path":"logs/build.log"`)
}

// refusesEscapes are paths that lead out, and what is no file.
func (r *reader) refusesEscapes(id string) {
	r.Helper()
	for path, says := range map[string]string{
		"../../queue.db": "leads out of the volume", "logs/../../x": "leads out of the volume",
		"out": "leads out of the volume", "absolute": "leads out of the volume",
		"up/queue.db": "leads out of the volume", "pipe": "is a pipe, and no file",
		"device": "is a device, and no file", "logs": "is a directory, and no file",
		"ready/x": "is not a directory",
	} {
		got := r.run(2, "volume", "read", id, path)
		r.contains(got.stderr, says)
		if got.stdout != "" {
			r.Errorf("%s gives %q", path, got.stdout)
		}
	}
	r.contains(r.run(2, "volume", "list", id+":up").stderr, "leads out of the volume")
	r.contains(r.run(7, "volume", "read", id, "nothing").stderr, `"nothing" is not in the volume`)
}

// isRefused is somebody with a token, and no role.
func (r *reader) isRefused(id string) {
	r.Helper()
	user := "system:serviceaccount:" + r.namespace + ":other"
	for _, args := range [][]string{
		{"list"}, {"list", id}, {"read", id, "ready"}, {"cp", id, filepath.Join(r.TempDir(), "x")},
	} {
		got := r.run(4, append([]string{"volume"}, args...)...)
		r.contains(got.stderr, user+" may not", "scratch-volume-reader")
		if got.stdout != "" {
			r.Errorf("%s gives %q", args, got.stdout)
		}
	}
	for line := range strings.SplitSeq(r.says(), "\n") {
		if strings.Contains(line, user) && strings.Contains(line, `"msg":"audit"`) &&
			strings.Contains(line, `get scratchvolumes.berth.dev alice-2bd806c`) &&
			strings.Contains(line, `"status":403`) {
			return
		}
	}
	r.Errorf("the audit log has no line of the refusal: %s", r.says())
}

// isLimited is a role on the volumes of one workspace: those of others are not read, and not listed.
func (s *scratch) isLimited(port, id string) {
	s.Helper()
	for account, workspace := range map[string]string{"limited": "alice-2bd806c", "elsewhere": "bob-59936c3"} {
		r := s.reader(account, port)
		command := rbac.Named(rbac.VolumeRead)
		if _, err := s.RbacV1().Roles(s.namespace).Create(s.Context(), &rbacv1.Role{
			ObjectMeta: metav1.ObjectMeta{Name: account}, Rules: command.PolicyRulesOf(workspace),
		}, metav1.CreateOptions{}); err != nil {
			s.Fatal(err)
		}
		if _, err := s.RbacV1().RoleBindings(s.namespace).Create(s.Context(), &rbacv1.RoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: account},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: account},
			Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Name: account, Namespace: s.namespace}},
		}, metav1.CreateOptions{}); err != nil {
			s.Fatal(err)
		}
		r.run(4, "volume", "list")
		listed := 0
		s.eventually("the role counts", func() bool {
			got := s.finish(r.berth("volume", "list", "--of", workspace, "-o", "json"))
			if got.status == 0 {
				listed = len(decode[v1.VolumeList](s.world, got).Items)
			}
			return got.status == 0
		})
		if want := map[string]int{"limited": 1, "elsewhere": 0}[account]; listed != want {
			s.Errorf("%s sees %d volumes", account, listed)
		}
		r.run(map[string]int{"limited": 0, "elsewhere": 4}[account], "volume", "read", id, "ready")
	}
}

// seesRemoval is a volume that is removed while it is read: an error, and not what looks like all of it.
func (r *reader) seesRemoval(id string) {
	r.Helper()
	const size = 512 << 20
	write := fmt.Sprintf("truncate -s %d /data/file; echo done >/data/ready; sleep 3600", size)
	r.create(r.with(pod("large", write), nil))
	r.running("large")
	r.eventually("it has written", func() bool { return r.in("large", "cat /data/ready") == "done" })
	r.delete("large")
	large := ""
	r.eventually("the volume is listed", func() bool {
		for _, v := range decode[v1.VolumeList](r.world, r.run(0, "volume", "list", "-o", "json")).Items {
			if v.Pod == "large" {
				large = v.ID
			}
		}
		return large != ""
	})
	reading := r.berth("volume", "read", large, "file")
	var stderr bytes.Buffer
	reading.Stderr = &stderr
	out, err := reading.StdoutPipe()
	if err == nil {
		err = reading.Start()
	}
	if err == nil {
		_, err = io.ReadFull(out, make([]byte, 1<<20))
	}
	if err != nil {
		r.Fatal(err)
	}
	r.must(0, "volume", "purge", "--driver-namespace", r.namespace, "--yes", large)
	n, _ := io.Copy(io.Discard, out)
	err = reading.Wait()
	if reading.ProcessState.ExitCode() != 7 || n+1<<20 >= size {
		r.Errorf("%v after %d bytes", err, n)
	}
	r.contains(stderr.String(), "was removed", "is not all")
	r.contains(r.run(7, "volume", "read", large, "file").stderr, "volume "+large+" was removed")
	r.run(0, "volume", "read", id, "ready") // the other one is still there
	for line := range strings.SplitSeq(r.says(), "\n") {
		if strings.Contains(line, `"volume":"`+large+`","path":"file"`) && strings.Contains(line, `"ended":"`) {
			return
		}
	}
	r.Errorf("the audit log does not say that the read has ended: %s", r.says())
}
