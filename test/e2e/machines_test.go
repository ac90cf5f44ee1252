//go:build e2e

package e2e

import (
	"encoding/base64"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berthdev/berth/internal/certtest"
	"github.com/berthdev/berth/internal/exec/machine"
	"github.com/berthdev/berth/internal/kube"
)

// machines is a world with the stand-in for the API of machines, registered as the API
// server knows such: there can be one at a time on a cluster. Its poollet is the gateway, with
// nothing changed of what is printed, and another stand-in has the machines, whose consoles are pods.
type machines struct {
	*world
	authority *certtest.Authority
	lists     map[string]*corev1.ConfigMap // of the objects of both APIs
	port      string                       // on which the poollet is reached from here
	ca        string                       // the file of its CA
}

// The pods of the machines' world beside the poollet: the API of machines, and what has them.
const (
	podAPI    = "machines"
	podTarget = "target"
)

// broker is the namespace in which the poollet's machines are, in the API that has them.
const broker = "broker"

func newMachines(t *testing.T) *machines {
	t.Helper()
	m := newMachinesOf(t, podTarget)
	standIn := m.standIn()
	m.poollet()
	m.startServers(standIn,
		servedPod(podTarget, standIn, "8444", "target, "+targetToken, m.namespace),
		fmt.Sprintf(consolePod, "console"), fmt.Sprintf(consolePod, "brief"),
	)
	m.kubectl("wait", "--for=condition=Ready", "pod/"+podTarget, "pod/console", "pod/brief", "--timeout=120s")
	m.far()
	m.has(podTarget,
		console("web", "console"), console("near", "console"), console("brief", "brief"),
		console("elsewhere", "elsewhere"), consoleOf("again", "uid-of-before", "console"),
		console("west", "console"),
		strings.Replace(console("shell", "console"), "{console:", "{command: sh, console:", 1),
	)
	return m
}

// newMachinesOf is the beginning of such a world, in which nothing runs yet: there is the pod that has the machines.
func newMachinesOf(t *testing.T, there string) *machines {
	t.Helper()
	gateways.alone(t)
	w := newBareWorld(t)
	w.kubeconfig, w.limited = w.admin, w.config
	m := &machines{world: w, authority: certtest.New(t), lists: map[string]*corev1.ConfigMap{}}
	m.secrets()
	m.permissions()
	for _, name := range []string{podAPI, there} {
		m.lists[name] = &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}}
		if _, err := m.CoreV1().ConfigMaps(m.namespace).
			Create(m.Context(), m.lists[name], metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(m.noGateway)
	t.Cleanup(func() { // the APIService goes before what answers for it
		m.kubectl("delete", "apiservice", machine.Version+"."+machine.Group, "--ignore-not-found")
		if t.Failed() {
			for _, pod := range []string{podAPI, there} {
				m.Logf("%s says:\n%s", pod, m.output("logs", pod))
			}
		}
	})
	return m
}

// far lets the pool of the poollet report the address that the cluster has for it, without a port; near reports the one
// from here until far is called, which it returns for that.
func (m *machines) far() {
	m.Helper()
	m.hasPool(pool("east", "", "Hostname", "berth-gateway."+m.namespace+".svc"))
}

func (m *machines) near() (far func()) {
	m.Helper()
	m.hasPool(pool("east", m.port, "ExternalIP", "127.0.0.1"))
	return m.far
}

// hasPool says which objects the API of machines has, beside that of the poollet's pool.
func (m *machines) hasPool(east string) {
	m.Helper()
	objects := []string{
		east, pool("west", "", "Hostname", "berth-gateway."+m.namespace+".svc"), m.machine("west", "west"),
		pool("bare", ""), m.machine("bare", "bare"), pool("nowhere", "1", "InternalIP", "127.0.0.1"),
		m.machine("nowhere", "nowhere"), m.machine("waiting", ""), m.machine("orphan", "gone"),
	}
	for _, name := range []string{"web", "brief", "near", "lost", "closed", "broken", "elsewhere", "again", "shell"} {
		objects = append(objects, m.machine(name, "east"))
	}
	m.has(podAPI, objects...)
}

// secrets are the certificates of the servers.
func (m *machines) secrets() {
	m.Helper()
	for _, name := range []string{podAPI, podTarget} {
		pair := m.authority.Issue(time.Now().Add(time.Hour), name+"."+m.namespace+".svc", "127.0.0.1")
		secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: name}, Data: map[string][]byte{
			"tls.crt": m.file(pair.Cert), "tls.key": m.file(pair.Key),
		}}
		if _, err := m.CoreV1().Secrets(m.namespace).Create(m.Context(), secret, metav1.CreateOptions{}); err != nil {
			m.Fatal(err)
		}
	}
}

// targetToken is what the target knows the poollet by.
const targetToken = "of-the-poollet"

const toTarget = `
apiVersion: v1
kind: Config
clusters: [{name: target, cluster: {server: "https://target.%s.svc:8444", certificate-authority: %q}}]
users: [{name: poollet, user: {token: %s}}]
contexts: [{name: target, context: {cluster: target, user: poollet}}]
current-context: target
`

// poollet applies what is printed for the pool.
func (m *machines) poollet() {
	m.Helper()
	target := m.write(m.TempDir(), "target.yaml",
		fmt.Sprintf(toTarget, m.namespace, m.authority.File, targetToken))
	said := m.poolletWith("--max-sessions-per-user", "4", "--target-kubeconfig", target, "--target-namespace", broker)
	m.contains(said, "berth-gateway-target", "credential")
}

// poolletWith applies what is printed with these arguments, and gives what is said about it.
func (m *machines) poolletWith(args ...string) string {
	m.Helper()
	dir := m.TempDir()
	printed := m.must(0, append([]string{
		"serve", "manifests", "gateway", "--host", "127.0.0.1", "--replicas", "1",
		"--client-ca", m.authority.File, "--machine-pool", "east", "--image", images + m.program(binary),
	}, args...)...)
	// Without --namespace: the report of a pool has objects of another one.
	m.tool(os.Getenv("BERTH_TEST_KUBECTL"), []string{
		"apply", "--server-side", "--kubeconfig", m.admin, "-f", m.write(dir, "gateway.yaml", printed.stdout),
	})
	m.ca = m.write(dir, "ca.crt", m.gatewayCA())
	return printed.stderr
}

const images = "registry.example.com/berth/berth:"

// apiServer is who the API server of machines is to the poollet: the common name of its certificate.
func (m *machines) apiServer() string { return podAPI + "." + m.namespace + ".svc" }

// permissions are those of the servers: the API server of machines may use the pool.
func (m *machines) permissions() {
	m.Helper()
	self := []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Name: "default", Namespace: m.namespace}}
	m.bind(metav1.NamespaceSystem, m.namespace+"-machines", []rbacv1.PolicyRule{
		{
			APIGroups: []string{""}, Resources: []string{"configmaps"},
			ResourceNames: []string{"extension-apiserver-authentication"}, Verbs: []string{"get"},
		},
	}, self)
	m.bind(m.namespace, "machines", []rbacv1.PolicyRule{
		{APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: []string{"get", "update"}},
		{APIGroups: []string{""}, Resources: []string{"pods/attach", "pods/exec"}, Verbs: []string{"get", "create"}},
	}, self)
	m.kubectl("create", "clusterrolebinding", m.namespace+"-pool", "--clusterrole", "machine-pool-east-user",
		"--user", m.apiServer())
	m.Cleanup(func() { m.kubectl("delete", "clusterrolebinding", m.namespace+"-pool") })
}

// startServers runs the API of machines, registers it, and waits for it and the gateway. More is applied with it.
func (m *machines) startServers(standIn string, more ...string) {
	m.Helper()
	m.apply(append(more, servedPod(podAPI, standIn, "8443", "api", m.namespace),
		fmt.Sprintf(`{apiVersion: apiregistration.k8s.io/v1, kind: APIService, metadata: {name: %[1]s.%[2]s}, spec: {
			group: %[2]s, version: %[1]s, groupPriorityMinimum: 1000, versionPriority: 10, caBundle: %[3]s,
			service: {name: machines, namespace: %[4]s, port: 8443}}}`, machine.Version, machine.Group,
			base64.StdEncoding.EncodeToString(m.file(m.authority.File)), m.namespace))...)
	m.kubectl("wait", "--for=condition=Ready", "pod/"+podAPI, "--timeout=120s")
	m.kubectl("wait", "--for=condition=Available", "apiservice/"+machine.Version+"."+machine.Group, "--timeout=120s")
	m.eventually("the gateway is ready", func() bool { return len(m.gatewayPods()) == 1 })
	// Each session has a forwarded port of its own: one for all would end with the first that the kubelet loses.
	client := &kube.Client{Interface: m.Interface, Config: m.config, Namespace: m.namespace}
	m.port = newRelay(m.T, client, m.gatewayPods()[0].Name).port
}

// machine is a machine of the world's namespace. It runs in its pool, under another name.
func (m *machines) machine(name, pool string) string {
	spec, status := "{}", "{}"
	if pool != "" {
		spec = "{machinePoolRef: {name: " + pool + "}}"
		status = "{machineID: \"machinebroker://" + idOf(name) + "\"}"
	}
	return fmt.Sprintf("{kind: Machine, metadata: {name: %s, namespace: %s, uid: %s}, spec: %s, status: %s}", name,
		m.namespace, uidOf(name), spec, status)
}

// idOf is what a broker calls a machine, and uidOf is its UID.
func idOf(name string) string  { return "id-" + name }
func uidOf(name string) string { return "uid-" + name }

// console is a machine that a broker has made for another one: its console is a pod.
func console(name, pod string) string { return consoleOf(name, uidOf(name), pod) }

func consoleOf(name, uid, pod string) string {
	return fmt.Sprintf("{kind: Machine, metadata: {name: %s, namespace: %s, "+
		"labels: {machinepoollet.ironcore.dev/machine-uid: %s}}, spec: {console: %s}}", idOf(name), broker, uid, pod)
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
	return fmt.Sprintf("{kind: MachinePool, metadata: {name: %s}, status: {addresses: [%s], daemonEndpoints: %s}}",
		name, strings.Join(all, ", "), endpoints)
}

// has says which objects an API has.
func (m *machines) has(api string, objects ...string) {
	m.Helper()
	list := m.lists[api]
	list.Data = map[string]string{}
	for i, object := range objects {
		list.Data[fmt.Sprint(i)] = object
	}
	if _, err := m.CoreV1().ConfigMaps(m.namespace).Update(m.Context(), list, metav1.UpdateOptions{}); err != nil {
		m.Fatal(err)
	}
}
