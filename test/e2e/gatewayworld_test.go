//go:build e2e

package e2e

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/streaming/pkg/httpstream"

	"github.com/berthdev/berth/internal/kube"
)

// gatewayWorld is a world with a workspace, alice~plain, and a gateway in another namespace: one
// pod, with nothing changed of what is printed. A cluster has one at a time.
type gatewayWorld struct {
	*world
	system *world // with the gateway
	relay  *relay // in front of it, for users
	home   string // of the configuration of the user, whose token is in it
	token  string
	image  string // its tag
}

// gateways is who applies what is printed of a gateway, whose roles are those of the cluster.
var gateways = gate{changed: sync.NewCond(&sync.Mutex{}), shared: map[string]int{}}

const gatewayPods = "app.kubernetes.io/component=gateway"

func newGateway(t *testing.T) *gatewayWorld {
	t.Helper()
	gateways.alone(t)
	g := &gatewayWorld{world: newWorldAlone(t), system: newBareWorld(t), home: t.TempDir()}
	g.system.kubeconfig, g.system.limited = g.admin, g.config
	g.image = g.system.program(binary)
	t.Cleanup(func() {
		g.system.noGateway()
	})
	g.system.kubectl("apply", "--server-side", "-f", g.system.write(t.TempDir(), "gateway.yaml", g.manifests()))
	g.must(0, "provision", "alice~plain")
	g.system.eventually("the gateway is ready", func() bool { return len(g.system.gatewayPods()) == 1 })
	g.relay = newRelay(t, &kube.Client{Interface: g.Interface, Config: g.config, Namespace: g.system.namespace},
		g.pods()[0].Name)
	g.token = g.world.token("user")
	g.allow("user")
	g.configure()
	g.eventually("the user is let in", func() bool { return g.through("alice~plain", "--", "true").status == 0 })
	return g
}

// manifests are what is printed, with a new certificate each time.
func (g *gatewayWorld) manifests() string {
	g.Helper()
	return g.system.must(0, "serve", "manifests", "gateway", "--host", "localhost", "--replicas", "1",
		"--client-ca", filepath.Join(os.Getenv(clusterVariable), "pki", "ca.crt"),
		"--image", "registry.example.com/berth/berth:"+g.image).stdout
}

// pods are the pods of the gateway that are ready.
func (g *gatewayWorld) pods() []corev1.Pod { return g.system.gatewayPods() }

// gatewayPods are the pods of the gateway of the namespace that are ready.
func (w *world) gatewayPods() (pods []corev1.Pod) {
	w.Helper()
	list, err := w.CoreV1().Pods(w.namespace).List(w.Context(), metav1.ListOptions{LabelSelector: gatewayPods})
	if err != nil {
		w.Fatal(err)
	}
	for _, p := range list.Items {
		ready := len(p.Status.ContainerStatuses) == 1 && p.Status.ContainerStatuses[0].Ready
		if p.DeletionTimestamp == nil && ready {
			pods = append(pods, p)
		}
	}
	return pods
}

// gatewaySays is the log of the gateway of the namespace.
func (w *world) gatewaySays() string {
	return w.output("logs", "--selector", gatewayPods, "--prefix", "--tail", "-1")
}

// noGateway removes what a gateway has in no namespace.
func (w *world) noGateway() {
	if w.Failed() {
		w.Logf("the gateway says:\n%s", w.gatewaySays())
	}
	w.kubectl("delete", "clusterrolebinding,clusterrole", "--selector", gatewayPods, "--ignore-not-found")
}

// allow lets an account of the namespace into its workspaces, as the administrator is told to.
func (g *gatewayWorld) allow(account string) {
	g.Helper()
	binding := &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "enter-" + account},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "workspace-user"},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Name: account, Namespace: g.namespace}},
	}
	if _, err := g.RbacV1().RoleBindings(g.namespace).Create(g.Context(), binding, metav1.CreateOptions{}); err != nil {
		g.Fatal(err)
	}
}

// believe adds the CA that is handed out to those of the user.
func (g *gatewayWorld) believe() {
	g.Helper()
	dir := filepath.Join(g.home, "berth")
	before, _ := os.ReadFile(filepath.Join(dir, "ca.crt")) // none yet
	g.write(dir, "ca.crt", string(before)+g.authorities())
}

// authorities is the CA that is handed out.
func (g *gatewayWorld) authorities() string { return g.system.gatewayCA() }

// gatewayCA is the CA that the gateway of the namespace hands out.
func (w *world) gatewayCA() string {
	w.Helper()
	ca, err := w.CoreV1().ConfigMaps(w.namespace).Get(w.Context(), "berth-gateway-ca", metav1.GetOptions{})
	if err != nil {
		w.Fatal(err)
	}
	return ca.Data["ca.crt"]
}

// configure writes the configuration of the user.
func (g *gatewayWorld) configure() {
	g.Helper()
	dir := filepath.Join(g.home, "berth")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		g.Fatal(err)
	}
	g.write(dir, "config.yaml", fmt.Sprintf(`
gateways:
- {name: office, url: "https://localhost:%s", ca: ca.crt, credential: {tokenFile: token}}
- {name: old, url: %q, ca: old.crt, credential: {command: [cat, %s/token]}}
- {name: admin, url: "https://localhost:%s", ca: ca.crt, credential: {kubeconfig: true}}
`, g.relay.port, g.old(), dir, g.relay.port))
	g.believe()
	g.write(dir, "token", g.token)
}

// user is berth as the user runs it.
func (g *gatewayWorld) user(args ...string) *exec.Cmd {
	g.Helper()
	cmd := g.command(args...)
	cmd.Env = append(cmd.Env, "KUBECONFIG=/dev/null", "XDG_CONFIG_HOME="+g.home)
	return cmd
}

// relay passes connections on to a pod, as a load balancer does. Each has a forwarded port of its
// own: kubectl's end all together when one is reset.
type relay struct {
	port   string
	client *kube.Client
	mu     sync.Mutex
	pod    string
}

func newRelay(t *testing.T, client *kube.Client, pod string) *relay {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	r := &relay{client: client, pod: pod}
	_, r.port, _ = net.SplitHostPort(listener.Addr().String())
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go r.pass(conn)
		}
	}()
	return r
}

// leads says which pod connections go to from now on.
func (r *relay) leads(pod string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.pod = pod
}

func (r *relay) pass(from net.Conn) {
	defer from.Close()
	r.mu.Lock()
	pod := r.pod
	r.mu.Unlock()
	connection, err := r.client.DialPorts(context.Background(), r.client.Namespace, pod)
	if err != nil {
		return
	}
	defer func() { _ = connection.Close() }()
	headers := http.Header{corev1.PortHeader: {"8443"}, corev1.PortForwardRequestIDHeader: {"0"}}
	streams := map[string]httpstream.Stream{}
	for _, kind := range []string{corev1.StreamTypeError, corev1.StreamTypeData} {
		headers.Set(corev1.StreamType, kind)
		if streams[kind], err = connection.CreateStream(headers); err != nil {
			return
		}
	}
	data, done := streams[corev1.StreamTypeData], make(chan struct{}, 3)
	for to, source := range map[io.Writer]io.Reader{
		from: data, data: from,
		io.Discard: streams[corev1.StreamTypeError],
	} {
		go func() {
			_, _ = io.Copy(to, source)
			done <- struct{}{}
		}()
	}
	_ = streams[corev1.StreamTypeError].Close() // nothing is sent on it
	<-done
	if half, ok := from.(*net.TCPConn); ok {
		_ = half.CloseWrite()
	}
	_ = data.Close()
	<-done
}

// old is a proxy in front of the gateway that does not know WebSockets, with its own certificate.
func (g *gatewayWorld) old() (address string) {
	g.Helper()
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM([]byte(g.authorities()))
	target := &url.URL{Scheme: "https", Host: "localhost:" + g.relay.port}
	forward := httputil.NewSingleHostReverseProxy(target)
	forward.Transport = &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}}
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.EqualFold(r.Header.Get("Upgrade"), "websocket") {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		forward.ServeHTTP(w, r)
	}))
	server.StartTLS()
	g.Cleanup(func() { server.CloseClientConnections(); server.Close() })
	g.write(filepath.Join(g.home, "berth"), "old.crt",
		string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})))
	return server.URL
}
