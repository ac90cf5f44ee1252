//go:build e2e

package e2e

import (
	"encoding/base64"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berthdev/berth/internal/certtest"
	"github.com/berthdev/berth/internal/exec/machine"
)

// machines is a world with the stand-in for the API of machines, registered as the API
// server knows such: there can be one at a time on a cluster. Its poollet's consoles are
// that of the pod console.
type machines struct {
	*world
	authority *certtest.Authority
	objects   *corev1.ConfigMap
	port      string // on which the poollet is reached from here
}

func newMachines(t *testing.T) *machines {
	t.Helper()
	w := newBareWorld(t)
	w.kubeconfig, w.limited = w.admin, w.config
	m := &machines{world: w, authority: certtest.New(t)}
	m.secrets()
	m.permissions()
	m.objects = &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "machines"}}
	if _, err := m.CoreV1().ConfigMaps(m.namespace).Create(m.Context(), m.objects, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	m.startServers()
	t.Cleanup(func() { // the APIService goes before what answers for it
		m.kubectl("delete", "apiservice", machine.Version+"."+machine.Group, "--ignore-not-found")
		if t.Failed() {
			m.Logf("the API says:\n%s\nthe poollet says:\n%s", m.output("logs", "machines"), m.output("logs", "poollet"))
		}
	})
	m.kubectl("wait", "--for=condition=Available", "apiservice/"+machine.Version+"."+machine.Group, "--timeout=120s")
	_, m.port, _ = net.SplitHostPort(m.forwarded("poollet", "12319"))
	m.has(
		pool("east", "", "Hostname", "poollet."+m.namespace+".svc"), m.machine("web", "east"),
		pool("near", m.port, "ExternalIP", "127.0.0.1"), m.machine("near", "near"),
		m.machine("waiting", ""), m.machine("orphan", "gone"),
		pool("bare", ""), m.machine("bare", "bare"),
		pool("nowhere", "1", "InternalIP", "127.0.0.1"), m.machine("nowhere", "nowhere"),
		m.machine("lost", "near"), m.machine("busy", "near"), m.machine("broken", "near"), m.machine("elsewhere", "near"),
	)
	return m
}

// secrets are the certificates of both servers.
func (m *machines) secrets() {
	m.Helper()
	authority := m.file(m.authority.File)
	for _, name := range []string{"machines", "poollet"} {
		pair := m.authority.Issue(time.Now().Add(time.Hour), name+"."+m.namespace+".svc", "127.0.0.1")
		secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: name}, Data: map[string][]byte{
			"tls.crt": m.file(pair.Cert), "tls.key": m.file(pair.Key), "poollet.crt": authority,
		}}
		if _, err := m.CoreV1().Secrets(m.namespace).Create(m.Context(), secret, metav1.CreateOptions{}); err != nil {
			m.Fatal(err)
		}
	}
}

// permissions are those of both servers: the API server of machines may use any pool.
func (m *machines) permissions() {
	m.Helper()
	self := []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Name: "default", Namespace: m.namespace}}
	m.bind(metav1.NamespaceSystem, m.namespace+"-machines", []rbacv1.PolicyRule{
		{APIGroups: []string{""}, Resources: []string{"configmaps"}, ResourceNames: []string{"extension-apiserver-authentication"}, Verbs: []string{"get"}},
	}, self)
	m.bind(m.namespace, "machines", []rbacv1.PolicyRule{
		{APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: []string{"get"}},
		{APIGroups: []string{""}, Resources: []string{"pods/attach"}, Verbs: []string{"get", "create"}},
	}, self)
	m.bindEverywhere(m.namespace+"-machines", []rbacv1.PolicyRule{
		{APIGroups: []string{"authentication.k8s.io"}, Resources: []string{"tokenreviews"}, Verbs: []string{"create"}},
		{APIGroups: []string{"authorization.k8s.io"}, Resources: []string{"subjectaccessreviews"}, Verbs: []string{"create"}},
		{APIGroups: []string{machine.Group}, Resources: []string{"machinepools/proxy"}, Verbs: []string{"create"}},
	}, self)
}

// start runs both servers and the console, and registers the API.
func (m *machines) startServers() {
	m.Helper()
	program := filepath.Join(m.TempDir(), "machines")
	build := exec.Command("go", "build", "-ldflags=-s -w", "-o", program, "./machines")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		m.Fatalf("%v\n%s", err, out)
	}
	image := "registry.example.com/berth/berth:" + m.program(program)
	m.apply(
		fmt.Sprintf(servedBy, "machines", image, "api", "8443", m.namespace),
		fmt.Sprintf(servedBy, "poollet", image, "poollet, east", "12319", m.namespace),
		`{apiVersion: v1, kind: Service, metadata: {name: machines}, spec: {selector: {app: machines}, ports: [{port: 443, targetPort: 8443}]}}`,
		`{apiVersion: v1, kind: Service, metadata: {name: poollet}, spec: {selector: {app: poollet}, ports: [{port: 12319}]}}`,
		console,
		fmt.Sprintf(`{apiVersion: apiregistration.k8s.io/v1, kind: APIService, metadata: {name: %[1]s.%[2]s}, spec: {
			group: %[2]s, version: %[1]s, groupPriorityMinimum: 1000, versionPriority: 10, caBundle: %[3]s,
			service: {name: machines, namespace: %[4]s}}}`, machine.Version, machine.Group, base64.StdEncoding.EncodeToString(m.file(m.authority.File)), m.namespace),
	)
	m.kubectl("wait", "--for=condition=Ready", "pod/machines", "pod/poollet", "pod/console", "--timeout=120s")
}

const servedBy = `
apiVersion: v1
kind: Pod
metadata: {name: %[1]s, labels: {app: %[1]s}}
spec:
  ` + restricted + `
  terminationGracePeriodSeconds: 1
  volumes: [{name: tls, secret: {secretName: %[1]s}}]
  containers:
    - name: server
      image: %[2]s
      args: [%[3]s]
      env: [{name: NAMESPACE, value: %[5]s}]
      volumeMounts: [{name: tls, mountPath: /tls}]
      readinessProbe: {tcpSocket: {port: %[4]s}, periodSeconds: 1}
      ` + restrictedContainer + `
`

// console does what a serial console does: it is there whoever is connected, and shows
// itself anew when its terminal has another size. A line that is typed is a command.
const console = `
apiVersion: v1
kind: Pod
metadata: {name: console}
spec:
  ` + restricted + `
  terminationGracePeriodSeconds: 0
  containers:
    - name: console
      image: registry.example.com/berth/workspace:v1
      tty: true
      stdin: true
      command:
        - sh
        - -c
        - |
          trap 'echo "redraw $(stty size)"' WINCH
          trap 'echo interrupted' INT
          while :; do if read -r line; then eval "$line"; else sleep 0.1; fi; done
      ` + restrictedContainer + `
`

// machine is a machine of the world's namespace.
func (m *machines) machine(name, pool string) string {
	spec := "{}"
	if pool != "" {
		spec = "{machinePoolRef: {name: " + pool + "}}"
	}
	return fmt.Sprintf("{kind: Machine, metadata: {name: %s, namespace: %s}, spec: %s}", name, m.namespace, spec)
}

// pool is a pool with addresses, each a type and a value. It reports a port, if one is
// given.
func pool(name, port string, addresses ...string) string {
	var all []string
	for i := 0; i < len(addresses); i += 2 {
		all = append(all, fmt.Sprintf("{type: %s, address: %q}", addresses[i], addresses[i+1]))
	}
	endpoints := "{}"
	if port != "" {
		endpoints = "{machinepoolletEndpoint: {port: " + port + "}}"
	}
	return fmt.Sprintf("{kind: MachinePool, metadata: {name: %s}, status: {addresses: [%s], daemonEndpoints: %s}}", name, strings.Join(all, ", "), endpoints)
}

// has says which objects the API has.
func (m *machines) has(objects ...string) {
	m.Helper()
	m.objects.Data = map[string]string{}
	for i, object := range objects {
		m.objects.Data[fmt.Sprint(i)] = object
	}
	if _, err := m.CoreV1().ConfigMaps(m.namespace).Update(m.Context(), m.objects, metav1.UpdateOptions{}); err != nil {
		m.Fatal(err)
	}
}
