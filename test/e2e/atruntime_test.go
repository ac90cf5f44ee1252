//go:build e2e

package e2e

import (
	"crypto/tls"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/gorilla/websocket"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berthdev/berth/internal/exec/machine"
)

// podRuntime is the pod of the machine runtime.
const podRuntime = "runtime"

// TestMachinesAtRuntime are the tests of a gateway that reports its pool and has a machine runtime behind it: a
// program of the test, which runs a shell for each session. They are run by `make test-machines`.
func TestMachinesAtRuntime(t *testing.T) {
	if os.Getenv(endingsVariable) == "" {
		t.Skipf("%s is not set: see make test-machines", endingsVariable)
	}
	parallel(t)
	m := newMachinesAtRuntime(t)
	for _, test := range []struct {
		name string
		run  func(*machines)
	}{
		{"the pool is reported", (*machines).testReported},
		{"a shell", (*machines).testShell},
		{"WebSockets", (*machines).testOldWebSocket},
		{"a session without a status", (*machines).testQuiet},
		{"what is refused", (*machines).testRefusalsAtRuntime},
		{"many endings", (*machines).testManyEndingsAtRuntime},
		{"the pool stays ready", (*machines).testStaysReady},
		{"a status that others write", (*machines).testForeignStatus},
		{"another holder of the lease", (*machines).testOtherHolder},
		{"the runtime is restarted", (*machines).testRuntimeRestarted},
		{"the end of the gateway", (*machines).testReportEnds}, // for good
	} {
		t.Run(test.name, func(t *testing.T) {
			at := *m
			at.world = m.of(t)
			test.run(&at)
		})
	}
}

func newMachinesAtRuntime(t *testing.T) *machines {
	t.Helper()
	m := newMachinesOf(t, podRuntime)
	m.leaseNamespace()
	standIn := m.standIn()
	m.apply(m.runtimePod(standIn))
	m.poolletWith("--iri-endpoint", "unix://"+m.socketDirectory()+"/iri.sock",
		"--report-pool", "--pool-class", "small=20", "--pool-class", "large=4/2")
	objects := []string{
		"{kind: MachinePool, metadata: {name: east}}", "{kind: MachinePool, metadata: {name: west}}",
		"{kind: MachineClass, metadata: {name: small}}", "{kind: MachineClass, metadata: {name: large}}",
		m.machine("west", "west"),
		"{kind: Machine, metadata: {name: new, namespace: " + m.namespace + "}, " +
			"spec: {machineClassRef: {name: small}}}",
		strings.Replace(m.machine("odd", "east"), "//"+idOf("odd"), "//"+oddID, 1),
	}
	for _, name := range []string{"web", "broker", "quiet", "expired", "full", "again", "lost"} {
		objects = append(objects, m.machine(name, "east"))
	}
	m.has(podAPI, objects...)
	m.has(podRuntime,
		m.atRuntime("other-id", "web", uidOf("web"), ""), // found by its labels, whatever its ID is
		fmt.Sprintf("{kind: Machine, metadata: {name: %s, labels: {machinepoollet.ironcore.dev/machine-uid: %s}}}",
			idOf("broker"), uidOf("broker")),
		m.atRuntime(oddID, "odd", uidOf("odd"), ""), m.atRuntime(idOf("quiet"), "quiet", uidOf("quiet"), "quiet"),
		m.atRuntime(idOf("expired"), "expired", uidOf("expired"), "expired"),
		m.atRuntime(idOf("full"), "full", uidOf("full"), "full"),
		m.atRuntime(idOf("again"), "again", "uid-of-before", ""), m.atRuntime(idOf("west"), "west", uidOf("west"), ""),
	)
	m.startServers(standIn)
	return m
}

// oddID is an ID that is no name of Kubernetes: a runtime may have such.
const oddID = "VM_odd:1"

// socketDirectory is the directory of the node in which the runtime has its socket.
func (m *machines) socketDirectory() string { return "/tmp/iri-" + m.namespace }

// atRuntime is a machine of a runtime, with the labels that a poollet gives it and a kind of console.
func (m *machines) atRuntime(id, name, uid, console string) string {
	return fmt.Sprintf("{kind: Machine, metadata: {name: %q, labels: {"+
		"machinepoollet.ironcore.dev/machine-namespace: %s, machinepoollet.ironcore.dev/machine-name: %s, "+
		"machinepoollet.ironcore.dev/machine-uid: %s}}, spec: {console: %q}}", id, m.namespace, name, uid, console)
}

// runtimePod runs the runtime in an image that has a shell.
func (m *machines) runtimePod(standIn string) string {
	return fmt.Sprintf(`
apiVersion: v1
kind: Pod
metadata: {name: %[1]s}
spec:
  terminationGracePeriodSeconds: 0
  volumes:
    - {name: program, emptyDir: {}}
    - {name: socket, hostPath: {path: %[2]s, type: DirectoryOrCreate}}
  initContainers:
    - name: program
      image: %[3]q
      args: [install, /program/machines]
      volumeMounts: [{name: program, mountPath: /program}]
  containers:
    - name: runtime
      image: registry.example.com/berth/workspace:v1
      command: [/program/machines, runtime, /iri/iri.sock, "8445"]
      env:
        - {name: NAMESPACE, value: %[4]s}
        - {name: ADDRESS, valueFrom: {fieldRef: {fieldPath: status.podIP}}}
      readinessProbe: {tcpSocket: {port: 8445}, periodSeconds: 1}
      volumeMounts: [{name: program, mountPath: /program}, {name: socket, mountPath: /iri}]
`, podRuntime, m.socketDirectory(), standIn, m.namespace)
}

// sitters are berth at a terminal on the ways to a machine.
func (m *machines) sitters(at string) map[string]*exec.Cmd {
	m.Helper()
	user, config := m.gatewayUser()
	gateway := user.command("exec", "--gateway", "east", "machine/"+at)
	gateway.Env = append(gateway.Env, config...)
	return map[string]*exec.Cmd{"server": m.command("exec", "machine/"+at), "gateway": gateway}
}

// A shell of the runtime is used: what it prints, its size, Ctrl-C and its exit status. It is found by its labels, by
// its ID and UID as those of a broker are, and by an ID that is no name.
func (m *machines) testShell() {
	for _, machine := range []string{"web", "broker", "odd"} {
		for way, cmd := range m.sitters(machine) {
			at := m.sit(cmd)
			at.sees("machine# ")
			at.types("until stty size | grep '24 80'; do sleep 0.1; done\n")
			at.sees("24 80\r\n")
			at.resizes(33, 101)
			at.types("until stty size | grep '33 101'; do sleep 0.1; done\n")
			at.sees("33 101\r\n")
			at.types("sh -c 'echo begin-$((1+1)); while :; do sleep 0.1; done'\n")
			at.sees("begin-2")
			at.types("\x03")
			at.sees("machine# ")
			at.types("echo " + way + "-$?\n")
			at.sees(way + "-130")
			at.types("exit 3\n")
			at.ends(3)
		}
	}
	m.contains(m.output("logs", podRuntime), "console of other-id over SPDY", "console of "+oddID+" over SPDY")
}

// A client of ironcore's age, of version 4 over WebSockets, is passed on as it is.
func (m *machines) testOldWebSocket() {
	w := m.user()
	dialer := websocket.Dialer{
		Subprotocols:    []string{"v4.channel.k8s.io"},
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, //nolint:gosec // a test
	}
	conn, answer, err := dialer.Dial("wss://127.0.0.1:"+m.port+"/apis/compute.ironcore.dev/namespaces/"+m.namespace+
		"/machines/web/exec", http.Header{"Authorization": {"Bearer " + w.limited.BearerToken}})
	if err != nil {
		m.Fatalf("%v: %+v", err, answer)
	}
	defer func() { _ = conn.Close() }()
	_ = answer.Body.Close() // of the upgrade: there is nothing in it
	for _, message := range []string{"\x04" + `{"Width":101,"Height":33}`, "\x00stty size; exit 3\n"} {
		if err := conn.WriteMessage(websocket.BinaryMessage, []byte(message)); err != nil {
			m.Fatal(err)
		}
	}
	var shown strings.Builder
	for {
		_, message, err := conn.ReadMessage()
		if err != nil {
			m.Fatalf("there is no status: %v\n%s", err, shown.String())
		}
		if len(message) > 1 && message[0] == 1 {
			shown.Write(message[1:])
		}
		if len(message) > 1 && message[0] == 3 {
			var status metav1.Status
			if err := json.Unmarshal(message[1:], &status); err != nil || status.Details == nil ||
				status.Details.Causes[0].Message != "3" {
				m.Errorf("%s: %v", message, err)
			}
			break
		}
	}
	m.contains(shown.String(), "33 101")
	m.contains(m.output("logs", podRuntime), "console of other-id over WebSocket")
}

// A runtime that does not say how a shell has ended has not said that it succeeded.
func (m *machines) testQuiet() {
	for way, cmd := range m.sitters("quiet") {
		cmd.Stdin = strings.NewReader("echo $((40+2)); exit 3\n")
		r := m.finish(cmd)
		if r.status != 125 || !strings.Contains(r.stdout, "42") {
			m.Errorf("%s: %+v", way, r)
		}
		m.contains(r.stderr, "UNAVAILABLE", "ended without saying how")
	}
}

// A machine of another pool, one that is not the one that is meant, an URL that has expired, and too many sessions.
func (m *machines) testRefusalsAtRuntime() {
	user, config := m.gatewayUser()
	for machine, says := range map[string][]string{
		"west":  {"NOT_FOUND", "machine west in namespace " + m.namespace + " is not in machine pool east"},
		"again": {"NOT_FOUND", "machine again not found in namespace " + m.namespace},
		"lost":  {"NOT_FOUND", "machine lost not found in namespace " + m.namespace},
		"expired": {
			"UNAVAILABLE", "the runtime of machine expired", "the URL of the session", "enter the machine again",
		},
		"full": {"UNAVAILABLE", "too many sessions", "try again in"},
	} {
		if machine != "west" { // the API server asks the poollet of the other pool
			m.refused(says[0], says[1:], "machine/"+machine)
		}
		cmd := user.command("exec", "--gateway", "east", "machine/"+machine)
		cmd.Env = append(cmd.Env, config...)
		r := m.finish(cmd)
		r.mustBe(m.world, 125)
		m.contains(r.stderr, says...)
	}
	m.contains(m.gatewaySays(), "a machine is not the one that its pool reports")
}

func (m *machines) testManyEndingsAtRuntime() {
	m.manyEndings(8, m.exits("machine/web", map[string]func() *exec.Cmd{
		"the API server": func() *exec.Cmd { return m.command("exec", "machine/web") },
	}))
}

// While the runtime is away, entering a machine says so, and the gateway is not ready. Once it is back, so is
// everything. A session that was open ends, and not as a success.
func (m *machines) testRuntimeRestarted() {
	user, config := m.gatewayUser()
	enter := func() *exec.Cmd {
		cmd := user.command("exec", "--gateway", "east", "machine/web")
		cmd.Env = append(cmd.Env, config...)
		return cmd
	}
	open := m.sit(enter())
	open.sees("machine# ")
	standIn := m.output("get", "pod", podRuntime, "-o", "jsonpath={.spec.initContainers[0].image}")
	m.kubectl("delete", "pod", podRuntime, "--grace-period=0", "--force")
	open.ends(125)
	m.eventually("the gateway says that the runtime is away", func() bool {
		r := m.finish(enter())
		return r.status == 125 &&
			strings.Contains(r.stderr, "the machine runtime of machine pool east cannot be reached")
	})
	m.eventually("the gateway is not ready", func() bool { return len(m.gatewayPods()) == 0 })
	m.apply(m.runtimePod(standIn))
	m.eventually("the gateway is ready", func() bool { return len(m.gatewayPods()) == 1 })
	for way, cmd := range m.sitters("web") {
		if way == "server" {
			m.eventually("the Service has the gateway again", func() bool {
				again := m.command("exec", "machine/web")
				again.Stdin = strings.NewReader("exit 3\n")
				return m.finish(again).status == 3
			})
		}
		cmd.Stdin = strings.NewReader("exit 3\n")
		m.finish(cmd).mustBe(m.world, 3)
	}
}

// poolPath is where the pool is in the API of machines.
func poolPath() string {
	return "/apis/" + machine.Group + "/" + machine.Version + "/machinepools/east"
}
