package pki

import (
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
)

// Kubeconfig renders a kubeconfig with everything in it for the client whose
// certificate is in dir.
func Kubeconfig(dir, client, cluster, server string) ([]byte, error) {
	var encoded []any
	for _, file := range []string{"ca.crt", client + ".crt", client + ".key"} {
		data, err := os.ReadFile(filepath.Join(dir, file))
		if err != nil {
			return nil, err
		}
		encoded = append(encoded, base64.StdEncoding.EncodeToString(data))
	}
	return fmt.Appendf(nil, kubeconfig, append([]any{cluster, server, client}, encoded...)...), nil
}

const kubeconfig = `apiVersion: v1
kind: Config
current-context: %[1]s
clusters:
- name: %[1]s
  cluster:
    server: %[2]s
    certificate-authority-data: %[4]s
users:
- name: %[3]s
  user:
    client-certificate-data: %[5]s
    client-key-data: %[6]s
contexts:
- name: %[1]s
  context:
    cluster: %[1]s
    user: %[3]s
`
