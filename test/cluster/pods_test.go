//go:build linux

package main

import (
	"errors"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

const manifest = `
apiVersion: v1
kind: Service
metadata: {name: team}
spec:
  clusterIP: None
  selector: {app: workspace}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: home}
spec:
  accessModes: [ReadWriteOnce]
  resources: {requests: {storage: 1Mi}}
---
apiVersion: v1
kind: Pod
metadata:
  name: workspace
  labels: {app: workspace}
spec:
  hostname: alice
  subdomain: team
  terminationGracePeriodSeconds: 0
  containers:
  - name: workspace
    image: registry.example.com/berth/workspace:v1
    imagePullPolicy: Always
    command: [sleep, "86400"]
    securityContext: {runAsUser: 1000}
    volumeMounts: [{name: home, mountPath: /data}]
  volumes:
  - name: home
    persistentVolumeClaim: {claimName: home}
`

// podsRun runs a pod with an image from the registry, a volume and a name, and
// looks at the world from inside.
func podsRun(t *testing.T, d driver) {
	apply := d.command("kubectl", "apply", "-f", "-")
	apply.Stdin = strings.NewReader(manifest)
	if out, err := apply.CombinedOutput(); err != nil {
		t.Fatalf("apply: %v\n%s", err, out)
	}
	d.run(t, "kubectl", "wait", "--for=condition=Ready", "pod/workspace", "--timeout="+patience.String())
	eventually(t, "an event reports that the image was pulled", func() bool {
		return strings.Contains(d.run(t, "kubectl", "events", "--for=pod/workspace"), "Successfully pulled image")
	})
	if user := inside(t, d, "id -un"); user != "dev\n" {
		t.Errorf("the pod runs as %q", user)
	}
	address := d.run(t, "kubectl", "get", "pod/workspace", "-o", "jsonpath={.status.podIP}")
	for name, want := range map[string]string{
		"team.default.svc.cluster.local":       address,
		"alice.team.default.svc.cluster.local": address,
		"kubernetes.default.svc.cluster.local": "10.96.0.1",
	} {
		eventually(t, name+" has the address "+want, func() bool { return resolves(d, name, want) })
	}
	out, err := d.try("kubectl", "exec", "workspace", "--", "nslookup", "example.org")
	if err == nil || !strings.Contains(out, "NXDOMAIN") {
		t.Errorf("a name outside: %v, %q", err, out)
	}
	inside(t, d, "nc -w 5 kubernetes.default 443 </dev/null") // by its service address
}

func inside(t *testing.T, d driver, script string) string {
	t.Helper()
	return d.run(t, "kubectl", "exec", "workspace", "--", "sh", "-c", script)
}

func resolves(d driver, name, want string) bool {
	out, err := d.try("kubectl", "exec", "workspace", "--", "nslookup", name)
	return err == nil && strings.Contains(out, "Address: "+want+"\n")
}

// daemonsComeBack kills what matters most, and then uses it.
func daemonsComeBack(t *testing.T, d driver) {
	names := []string{"etcd", "kube-apiserver", "containerd", "kubelet", "dns", "registry", "relay"}
	for _, name := range names {
		kill(t, d, name)
	}
	restarted := regexp.MustCompile(`(?m)^(\S+) .* [1-9]\d* restarts`)
	eventually(t, "the supervisor starts them again", func() bool {
		out, _ := d.try("status") // fails until all are ready
		return len(restarted.FindAllString(out, -1)) >= len(names)
	})
	d.run(t, "up")
	// The pod has not noticed, but a kubelet that just started has to hear of it.
	eventually(t, "commands run in the pod", func() bool {
		_, err := d.try("kubectl", "exec", "workspace", "--", "true")
		return err == nil
	})
	d.run(t, "kubectl", "delete", "pod/workspace")
	podsRun(t, d)
}

// A kubeconfig of the user's, good or bad, is not read by the cluster.
func TestEnvWithoutCluster(t *testing.T) {
	first, _ := setUp(t)
	cmd := first.command("env")
	cmd.Env = append(cmd.Environ(), "KUBECONFIG=/nonexistent")
	out, err := cmd.CombinedOutput()
	if _, failed := errors.AsType[*exec.ExitError](err); !failed ||
		!strings.Contains(string(out), "start it with cluster up") {
		t.Errorf("env without a cluster: %v\n%s", err, out)
	}
}
