//go:build e2e

package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// standIn builds the program that stands in for what is not berth, and gives its image.
func (m *machines) standIn() (image string) {
	m.Helper()
	program := filepath.Join(m.TempDir(), "machines")
	build := exec.Command("go", "build", "-ldflags=-s -w", "-o", program, "./machines")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		m.Fatalf("%v\n%s", err, out)
	}
	return images + m.program(program)
}

// servedPod is a pod of the stand-in with its Service.
func servedPod(name, image, port, args, namespace string) string {
	return fmt.Sprintf(servedBy, name, image, args, port, namespace, grace) +
		fmt.Sprintf("---\n{apiVersion: v1, kind: Service, metadata: {name: %[1]s}, spec: {selector: {app: %[1]s}, "+
			"ports: [{port: %[2]s}]}}", name, port)
}

const servedBy = `
apiVersion: v1
kind: Pod
metadata: {name: %[1]s, labels: {app: %[1]s}}
spec:
  ` + restricted + `
  terminationGracePeriodSeconds: 1
  volumes: [{name: tls, secret: {secretName: %[1]s}}, {name: poollet, configMap: {name: berth-gateway-ca}}]
  containers:
    - name: server
      image: %[2]s
      args: [%[3]s]
      env: [{name: NAMESPACE, value: %[5]s}, {name: GRACE, value: %[6]s}]
      volumeMounts: [{name: tls, mountPath: /tls}, {name: poollet, mountPath: /poollet}]
      readinessProbe: {tcpSocket: {port: %[4]s}, periodSeconds: 1}
      ` + restrictedContainer + `
`

// consolePod does what a serial console does: it is there with or without a client, and shows
// itself again when its terminal has another size. A line that is typed is a command.
const consolePod = `
apiVersion: v1
kind: Pod
metadata: {name: %s}
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
