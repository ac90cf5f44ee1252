package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/cert"

	"github.com/berthdev/berth/test/bench/internal/process"
)

// gateway is a running `berth serve gateway`.
type gateway struct {
	address, ca, token string
	cmd                *exec.Cmd
}

// start runs a gateway on this host, until it accepts connections.
func start(ctx context.Context, dir, berth, kubeconfig string, sessions int) (*gateway, error) {
	certificate, key, err := cert.GenerateSelfSignedCertKey("127.0.0.1", nil, nil)
	if err != nil {
		return nil, err
	}
	g := &gateway{ca: filepath.Join(dir, "gateway.crt")}
	private := filepath.Join(dir, "gateway.key")
	for path, text := range map[string][]byte{g.ca: certificate, private: key} {
		if err := os.WriteFile(path, text, 0o600); err != nil {
			return nil, err
		}
	}
	if g.address, err = free(); err != nil {
		return nil, err
	}
	log, err := os.Create(filepath.Join(dir, "gateway.log"))
	if err != nil {
		return nil, err
	}
	defer func() { _ = log.Close() }()
	g.cmd = exec.CommandContext(ctx, berth, "serve", "gateway", "--listen", g.address, "--metrics-listen",
		"127.0.0.1:0", "--tls-cert", g.ca, "--tls-key", private,
		"--max-sessions", strconv.Itoa(sessions+10), "--max-sessions-per-user", strconv.Itoa(sessions+10))
	g.cmd.Env, g.cmd.Stderr = process.Env(dir, kubeconfig), log
	if err := g.cmd.Start(); err != nil {
		return nil, err
	}
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		conn, err := net.Dial("tcp", g.address)
		if err == nil {
			return g, conn.Close()
		}
		if time.Now().After(deadline) || ctx.Err() != nil {
			text, _ := os.ReadFile(log.Name())
			return g, fmt.Errorf("the gateway does not serve: %w\n%s", err, text)
		}
	}
}

func (g *gateway) stop() {
	_ = g.cmd.Process.Kill()
	_ = g.cmd.Wait()
}

// free is an address that nobody listens on.
func free() (string, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return listener.Addr().String(), listener.Close()
}

// anonymous is how much memory the gateway has that is no file's, in bytes.
func (g *gateway) anonymous() (int64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", g.cmd.Process.Pid))
	if err != nil {
		return 0, err
	}
	_, after, found := strings.Cut(string(text), "RssAnon:")
	fields := strings.Fields(after)
	if !found || len(fields) < 2 {
		return 0, fmt.Errorf("the kernel does not say RssAnon of process %d", g.cmd.Process.Pid)
	}
	kibibytes, err := strconv.ParseInt(fields[0], 10, 64)
	return kibibytes << 10, err
}

// user makes a user of the gateway, who may do nothing else, and gives their token.
func (s *setup) user(ctx context.Context) (token string, err error) {
	const name = "bench"
	object := metav1.ObjectMeta{Name: name}
	role := &rbacv1.Role{
		ObjectMeta: object,
		Rules: []rbacv1.PolicyRule{{
			APIGroups: []string{"berth.dev"}, Resources: []string{"workspaces/exec"},
			Verbs: []string{"create"},
		}},
	}
	if _, err := s.client.RbacV1().Roles(s.namespace).Create(ctx, role, metav1.CreateOptions{}); err != nil {
		return "", err
	}
	_, err = s.client.RbacV1().RoleBindings(s.namespace).Create(ctx, &rbacv1.RoleBinding{
		ObjectMeta: object, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: name},
		Subjects: []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Name: "default", Namespace: s.namespace}},
	}, metav1.CreateOptions{})
	if err != nil {
		return "", err
	}
	made, err := s.client.CoreV1().ServiceAccounts(s.namespace).
		CreateToken(ctx, "default", &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	if err != nil {
		return "", err
	}
	return made.Status.Token, nil
}
