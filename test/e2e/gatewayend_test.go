//go:build e2e

package e2e

import (
	"crypto/tls"
	"io"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Whatever becomes of clients, the gateway has as many goroutines and connections after them as
// before, and the pod no process of theirs.
func (g *gatewayWorld) testNothingIsLeft() {
	g.through("alice~plain", "--", "true").mustBe(g.world, 0)
	read := func() (goroutines, files int) {
		text := g.metrics()
		return metric(g, text, "go_goroutines"), metric(g, text, "process_open_fds")
	}
	goroutines, files := 1<<20, 1<<20
	for range 5 { // the least that there is without sessions
		a, b := read()
		goroutines, files = min(goroutines, a), min(files, b)
	}
	var runs []*process
	var ends []io.Closer
	for i := range 10 {
		in, out := io.Pipe()
		command := g.user("exec", "--gateway", []string{"office", "old"}[i%2], "-i", "alice~plain", "--", "sh", "-c",
			"cat; : reads 31415")
		command.Stdin = in
		runs, ends = append(runs, g.launch(command)), append(ends, out)
		_, _ = io.WriteString(out, "begun\n")
	}
	for _, run := range runs {
		run.waitForLine("begun")
	}
	for i, run := range runs {
		run.signal([]syscall.Signal{syscall.SIGKILL, syscall.SIGINT, syscall.SIGTERM}[i%3])
		_ = ends[i].Close()
		run.wait()
	}
	for range 10 { // they upgrade and go
		g.raw("/apis/berth.dev/v1/namespaces/"+g.namespace+"/workspaces/"+g.idOf("alice~plain")+
			"/exec?stdin=true&stdout=true", g.token, "SPDY/3.1")
	}
	g.eventually("no process is left", func() bool {
		return !strings.Contains(g.must(0, "exec", "alice~plain", "--", "ps", "-o", "args").stdout, "reads 31415")
	})
	a, b := 0, 0
	defer func() { g.Logf("%d goroutines and %d files before, %d and %d after", goroutines, files, a, b) }()
	g.eventually("goroutines and connections are as before", func() bool {
		a, b = read()
		return a <= goroutines+2 && b <= files+2
	})
}

// metrics are those of the gateway.
func (g *gatewayWorld) metrics() string {
	g.Helper()
	path := "/api/v1/namespaces/" + g.system.namespace + "/pods/https:" + g.pods()[0].Name + ":8081/proxy/metrics"
	text, err := g.CoreV1().RESTClient().Get().AbsPath(path).DoRaw(g.Context())
	if err != nil {
		g.Fatal(err)
	}
	return string(text)
}

func metric(g *gatewayWorld, text, name string) int {
	g.Helper()
	found := regexp.MustCompile(`(?m)^` + name + ` (\S+)$`).FindStringSubmatch(text)
	if found == nil {
		g.Fatalf("there is no %s in:\n%s", name, text)
	}
	value, err := strconv.ParseFloat(found[1], 64)
	if err != nil {
		g.Fatal(err)
	}
	return int(value)
}

// ticking is a session that goes on and prints something ten times a second.
func (g *gatewayWorld) ticking() *process {
	g.Helper()
	return g.tickingThrough("office")
}

func (g *gatewayWorld) tickingThrough(gateway string) *process {
	g.Helper()
	p := g.launch(g.user("exec", "--gateway", gateway, "alice~plain", "--", "sh", "-c",
		"while echo tick; do sleep 0.1; done"))
	p.waitForLine("tick")
	return p
}

// goesOn fails the test unless a session still prints.
func (p *process) goesOn() {
	p.w.Helper()
	before := len(p.stdout.String())
	p.w.eventually("the session goes on: "+p.stderr.String(), func() bool { return len(p.stdout.String()) > before })
}

// Another certificate is taken while sessions are open and begin: none of them is lost, and new
// ones get it.
func (g *gatewayWorld) testRotation() {
	var open []*process
	for range 4 {
		for _, gateway := range protocols() {
			open = append(open, g.tickingThrough(gateway))
		}
	}
	first := g.serial()
	g.system.kubectl("apply", "--server-side", "-f", g.system.write(g.TempDir(), "gateway.yaml", g.manifests()))
	g.believe()
	g.system.kubectl("annotate", "pod", g.pods()[0].Name, "berth.dev/look=now") // so that the kubelet looks at once
	g.eventually("it has another certificate", func() bool {
		g.through("alice~plain", "--", "true").mustBe(g.world, 0)
		return g.serial() != first
	})
	for _, session := range open {
		session.goesOn()
		session.signal(syscall.SIGINT)
		session.wait().mustBe(g.world, 130)
	}
}

// serial is that of the certificate of the gateway.
func (g *gatewayWorld) serial() string {
	g.Helper()
	conn, err := tls.Dial("tcp", "127.0.0.1:"+g.relay.port, &tls.Config{InsecureSkipVerify: true})
	if err != nil {
		g.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	return string(conn.ConnectionState().PeerCertificates[0].Signature)
}

// The pod is replaced: a session that is open is told so within the time that a pod has, and a new
// one begins in the new pod. It believes permissions for two seconds only.
func (g *gatewayWorld) testReplaced() {
	open, old := g.ticking(), g.pods()[0]
	begun := time.Now()
	g.system.kubectl("patch", "deployment", "berth-gateway", "--type=json",
		`-p=[{"op":"add","path":"/spec/template/spec/containers/0/args/-","value":"--allowed-for=2s"}]`)
	r := open.wait()
	r.mustBe(g.world, 125)
	g.contains(r.stderr, "UNAVAILABLE", "the gateway is stopping", "enter again")
	g.Logf("the session ended %s after the change", time.Since(begun).Round(time.Second))
	g.eventually("another pod is ready", func() bool { return len(g.pods()) == 1 && g.pods()[0].Name != old.Name })
	g.relay.leads(g.pods()[0].Name)
	g.through("alice~plain", "--", "true").mustBe(g.world, 0)
}

// A permission is taken away while sessions are open: they end, and say why; those of others go on.
func (g *gatewayWorld) testRevoked() {
	mine, kept := g.ticking(), g.certified()
	if err := g.RbacV1().RoleBindings(g.namespace).Delete(g.Context(), "enter-user",
		metav1.DeleteOptions{}); err != nil {
		g.Fatal(err)
	}
	begun := time.Now()
	r := mine.wait()
	r.mustBe(g.world, 125)
	g.Logf("the session ended %s after the permission", time.Since(begun).Round(100*time.Millisecond))
	g.contains(r.stderr, "PERMISSION_DENIED", "gateway office has ended the session", "any more", "workspace-user")
	kept.goesOn()
	kept.signal(syscall.SIGINT)
	kept.wait().mustBe(g.world, 130)
	g.contains(g.through("alice~plain", "--", "true").stderr, "PERMISSION_DENIED")
}

// certified is a session of the administrator, who has a client certificate.
func (g *gatewayWorld) certified() *process {
	g.Helper()
	cmd := g.user("exec", "--gateway", "admin", "alice~plain", "--", "sh", "-c", "while echo tick; do sleep 0.1; done")
	cmd.Env = append(cmd.Env, "KUBECONFIG="+g.admin)
	p := g.launch(cmd)
	p.waitForLine("tick")
	return p
}
