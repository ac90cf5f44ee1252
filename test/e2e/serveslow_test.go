//go:build e2e

package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/berthdev/berth/api/bundle/v1alpha1"
)

// slowServer sends an archive that is fetched for a quarter of an hour, never too slowly to be
// given up for that.
const slowServer = `
mkdir -p /tmp/www/cgi-bin
head -c 4194304 /dev/urandom >/tmp/a
cat >/tmp/www/cgi-bin/slow <<'end'
#!/bin/sh
printf 'Content-Type: application/gzip\r\n\r\n'
tar -C /tmp -c a | while dd bs=4096 count=1 2>/dev/null; do sleep 1; done
end
chmod +x /tmp/www/cgi-bin/slow
exec httpd -f -p 8080 -h /tmp/www
`

// slowSource runs that server, as the Service slow.
func (w *world) slowSource() {
	w.Helper()
	w.apply(`
apiVersion: v1
kind: Service
metadata: {name: slow}
spec: {selector: {app: slow}, ports: [{port: 80, targetPort: 8080}]}
---
apiVersion: v1
kind: Pod
metadata: {name: slow, labels: {app: slow}}
spec:
  terminationGracePeriodSeconds: 0
  ` + restricted + `
  containers:
    - name: slow
      image: registry.example.com/berth/workspace:git
      command: [sh, -ec, ` + strconv.Quote(slowServer) + `]
      readinessProbe: {tcpSocket: {port: 8080}, periodSeconds: 1}
      ` + restrictedContainer + `
`)
	w.kubectl("wait", "--for=condition=Ready", "pod/slow", "--timeout=120s")
}

// slowOf is an instance of what that server sends.
func (w *world) slowOf(name string) string {
	return fmt.Sprintf(`
apiVersion: core.rukpak.io/v1alpha1
kind: BundleInstance
metadata: {name: %s}
spec:
  provisionerClassName: berth-dev-plain
  config: {namespace: %s}
  template:
    spec:
      provisionerClassName: berth-dev-plain
      source: {type: http, http: {url: "http://slow.%s.svc.cluster.local/cgi-bin/slow?%s"}}
`, name, w.namespace, w.namespace, name)
}

// Sources that send slowly, of more instances than there are workers, keep no other one waiting.
// They are fetched until their instances are deleted.
func testServeSlowSources(t *testing.T) {
	w := newServing(t, "cluster-admin")
	w.slowSource()
	var slow, documents []string
	for i := range 12 {
		name := fmt.Sprintf("%s-slow-%d", w.instance(), i)
		slow, documents = append(slow, name), append(documents, w.slowOf(name))
	}
	remove := append([]string{"delete", "bundleinstances.core.rukpak.io", "--wait=false", "--ignore-not-found"},
		slow...)
	t.Cleanup(func() { w.kubectl(remove...) })
	w.apply(documents...)
	sending := func() int {
		cmd := exec.Command(os.Getenv("BERTH_TEST_KUBECTL"), "exec", "slow", "--namespace", w.namespace, "--kubeconfig",
			w.admin, "--", "ps", "-o", "args")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return strings.Count(string(out), "tar -C /tmp")
	}
	w.eventually("more are fetched than there are workers", func() bool { return sending() > 4 })
	begun := time.Now()
	w.apply(contentOf("good", configMap("a", "here")), w.plainOf(v1alpha1.ClassPlain, "good"))
	w.installedBundle()
	w.says(map[string]string{"a": "here"})
	if took := time.Since(begun); took > 20*time.Second {
		t.Errorf("the other instance was installed after %s", took)
	} else {
		t.Logf("the other instance was installed after %s", took)
	}
	begun = time.Now()
	w.kubectl(remove...)
	w.eventually("nothing is fetched for instances that are deleted", func() bool { return sending() == 0 })
	if took := time.Since(begun); took > 30*time.Second {
		t.Errorf("the last fetch has ended %s after that", took)
	} else {
		t.Logf("the last fetch has ended %s after that", took)
	}
}
