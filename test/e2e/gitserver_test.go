//go:build e2e

package e2e

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	remote "github.com/berthdev/berth/internal/exec"
	podexec "github.com/berthdev/berth/internal/exec/pod"
	"github.com/berthdev/berth/internal/kube"
)

// repositories is a directory of git repositories on this machine.
type repositories struct {
	w   *world
	dir string
}

func (w *world) repositories() repositories { return repositories{w, w.TempDir()} }

func (r repositories) git(name string, args ...string) string {
	r.w.Helper()
	cmd := exec.Command("git", append([]string{
		"-C", r.path(name), "-c", "user.name=x", "-c",
		"user.email=x@example.com",
	}, args...)...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		r.w.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

func (r repositories) path(name string) string { return filepath.Join(r.dir, name+".git") }

// create makes a repository with one commit.
func (r repositories) create(name, blueprint string) {
	r.w.Helper()
	if err := os.MkdirAll(r.path(name), 0o700); err != nil {
		r.w.Fatal(err)
	}
	r.git(name, "init", "--quiet", "--initial-branch", "main")
	r.commit(name, blueprint)
}

func (r repositories) commit(name, blueprint string) {
	r.w.Helper()
	if err := os.WriteFile(filepath.Join(r.path(name), ".k8shell.yaml"), []byte(blueprint), 0o600); err != nil {
		r.w.Fatal(err)
	}
	r.git(name, "add", ".")
	r.git(name, "commit", "--quiet", "--message", "blueprint")
}

// The login of the git server.
const (
	gitUser     = "alice"
	gitPassword = "correct-horse" //nolint:gosec // of a server that lives for one test
)

// gitServer is git's own server behind a login, in a pod of the world. What it
// runs comes with the image that workspaces with git have.
const gitServer = `
mkdir -p /srv/git /srv/www/cgi-bin
cat >/srv/www/cgi-bin/git <<'end'
#!/bin/sh
export GIT_PROJECT_ROOT=/srv/git GIT_HTTP_EXPORT_ALL=1
exec git http-backend
end
chmod +x /srv/www/cgi-bin/git
echo "/cgi-bin:` + gitUser + `:` + gitPassword + `" >/srv/httpd.conf
exec httpd -f -v -p 8080 -h /srv/www -c /srv/httpd.conf
`

// serve serves the repositories to the cluster and returns where they are.
func (r repositories) serve() (address string) {
	r.w.Helper()
	labels := map[string]string{"app": "git"}
	meta := metav1.ObjectMeta{Name: "git", Labels: labels}
	_, err := r.w.CoreV1().Services(r.w.namespace).
		Create(r.w.Context(), &corev1.Service{ObjectMeta: meta, Spec: corev1.ServiceSpec{
			Selector: labels, Ports: []corev1.ServicePort{{Port: 80, TargetPort: intstr.FromInt32(8080)}},
		}}, metav1.CreateOptions{})
	if err != nil {
		r.w.Fatal(err)
	}
	now := int64(0)
	_, err = r.w.CoreV1().Pods(r.w.namespace).Create(r.w.Context(), &corev1.Pod{ObjectMeta: meta, Spec: corev1.PodSpec{
		TerminationGracePeriodSeconds: &now,
		Containers: []corev1.Container{{
			Name: "git", Image: "registry.example.com/berth/workspace:git", Command: []string{"sh", "-ec", gitServer},
			ReadinessProbe: &corev1.Probe{
				PeriodSeconds: 1,
				ProbeHandler:  corev1.ProbeHandler{TCPSocket: &corev1.TCPSocketAction{Port: intstr.FromInt32(8080)}},
			},
		}},
	}}, metav1.CreateOptions{})
	if err != nil {
		r.w.Fatal(err)
	}
	r.w.eventually("the git server is ready", func() bool {
		pod := r.w.pod("git")
		return pod != nil && len(pod.Status.ContainerStatuses) == 1 && pod.Status.ContainerStatuses[0].Ready
	})
	r.upload()
	host := fmt.Sprintf("http://git.%s.svc.cluster.local", r.w.namespace)
	r.w.eventually("the Service leads to the git server", func() bool {
		return strings.Contains(r.run("wget", "-S", "-O", "/dev/null", host), "HTTP/")
	})
	return host + "/cgi-bin/git"
}

// upload copies the repositories to the server.
func (r repositories) upload() {
	r.w.Helper()
	archive, err := exec.Command("tar", "-C", r.dir, "-c", ".").Output()
	if err != nil {
		r.w.Fatal(err)
	}
	var out bytes.Buffer
	client := &kube.Client{Interface: r.w.Interface, Config: r.w.config, Namespace: r.w.namespace}
	status, err := podexec.Run(r.w.Context(), client, podexec.Request{
		Pod: "git", Container: "git", Session: remote.Session{
			Stdin: bytes.NewReader(archive), Stdout: &out,
			Stderr: &out,
		},
		Command: []string{"tar", "-C", "/srv/git", "-o", "-x"},
	})
	if err != nil || status != 0 {
		r.w.Fatalf("%d, %v: %s", status, err, out.String())
	}
}

// run is what a command in the server's pod says, whatever becomes of it.
func (r repositories) run(command ...string) string {
	var out bytes.Buffer
	client := &kube.Client{Interface: r.w.Interface, Config: r.w.config, Namespace: r.w.namespace}
	_, _ = podexec.Run(r.w.Context(), client,
		podexec.Request{
			Pod: "git", Container: "git", Session: remote.Session{Stdout: &out, Stderr: &out},
			Command: command,
		})
	return out.String()
}

// configuration makes berth read .k8shell.yaml here, as there is no way from
// here to the server, and workspaces clone from the server with this password.
func (r repositories) configuration(address, password string) string {
	return fmt.Sprintf(`identity: {providers: [{kind: kubernetes}, {kind: git, url: "file://%s/{owner}/{name}.git"}]}
repositories:
  url: %[2]s/{owner}/{name}.git
  credentials:
  - {url: %[2]s, username: %[3]s, password: %[4]s}
`, r.dir, address, gitUser, password)
}

// handingOver is the same with the password in the workspaces, too.
func (r repositories) handingOver(address, password string) string {
	return strings.Replace(r.configuration(address, password), "password: "+password, "password: "+password+
		", inWorkspace: true", 1)
}
