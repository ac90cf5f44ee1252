//go:build e2e

package e2e

import (
	"bufio"
	"crypto"
	"crypto/ecdsa"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berthdev/berth/internal/exec/gateway"
)

// Each refusal has its status, and nothing but its own object is ever entered: not with another
// namespace, not by a path that means something else once it is cleaned or unescaped.
func (g *gatewayWorld) testRefusals() {
	alice := gateway.WorkspacePath(g.namespace, g.idOf("alice~plain"))
	stranger, gone := g.world.token("stranger"), g.world.token("gone")
	if err := g.CoreV1().ServiceAccounts(g.namespace).Delete(g.Context(), "gone", metav1.DeleteOptions{}); err != nil {
		g.Fatal(err)
	}
	in := func(from, to string) string { return strings.Replace(alice, from, to, 1) }
	const all = "?stdout=true&command=true"
	for name, c := range map[string]struct {
		path, token, upgrade string
		status               int
	}{
		"no token":                       {alice + all, "", "SPDY/3.1", 401},
		"a wrong token":                  {alice + all, "wrong", "SPDY/3.1", 401},
		"an altered token":               {alice + all, g.token + "x", "SPDY/3.1", 401},
		"an expired token":               {alice + all, g.expired(g.token), "SPDY/3.1", 401},
		"the token of a deleted account": {alice + all, gone, "SPDY/3.1", 401},
		"another's workspace":            {alice + all, stranger, "SPDY/3.1", 403},
		"unknown, not allowed": {
			in("workspaces/alice", "workspaces/nobody") + all, stranger, "SPDY/3.1",
			403,
		},
		"unknown":           {in("workspaces/alice", "workspaces/nobody") + all, g.token, "SPDY/3.1", 404},
		"another namespace": {in(g.namespace, "kube-system") + all, g.token, "SPDY/3.1", 403},
		"the gateway's own pod": {
			gateway.WorkspacePath(g.system.namespace, g.pods()[0].Name) + all, g.token,
			"SPDY/3.1", 403,
		},
		"no upgrade":         {alice + all, g.token, "", 400},
		"another protocol":   {alice + all, g.token, "h2c", 400},
		"no streams":         {alice + "?command=true", g.token, "SPDY/3.1", 400},
		"a strange option":   {alice + all + "&pod=other", g.token, "SPDY/3.1", 400},
		"another container":  {alice + all + "&container=nope", g.token, "SPDY/3.1", 400},
		"a path that climbs": {in("/workspaces/", "/workspaces/x/../") + all, g.token, "SPDY/3.1", 404},
		"climbing, escaped": {
			in("/workspaces/", "/workspaces/%2e%2e/workspaces/") + all, g.token, "SPDY/3.1",
			404,
		},
		"a slash, escaped":    {in("/workspaces/", "%2fworkspaces/") + all, g.token, "SPDY/3.1", 404},
		"an empty segment":    {in("/workspaces/", "//workspaces/") + all, g.token, "SPDY/3.1", 404},
		"a slash at the end":  {alice + "/" + all, g.token, "SPDY/3.1", 404},
		"upper case":          {in("workspaces/alice", "workspaces/Alice") + all, g.token, "SPDY/3.1", 404},
		"a letter, escaped":   {in("workspaces/alice", "workspaces/%61lice") + all, g.token, "SPDY/3.1", 404},
		"a guessed token URL": {"/exec/" + strings.Repeat("0", 32), g.token, "SPDY/3.1", 404},
		"a machine": {
			"/apis/compute.ironcore.dev/namespaces/" + g.namespace + "/machines/vm/exec",
			g.token, "SPDY/3.1", 404,
		},
	} {
		if status, body := g.raw(c.path, c.token, c.upgrade); status != c.status {
			g.Errorf("%s is answered with %d, want %d: %s", name, status, c.status, body)
		}
	}
	g.write(filepath.Join(g.home, "berth"), "token", stranger)
	r := g.through("alice~plain", "--", "true")
	g.write(filepath.Join(g.home, "berth"), "token", g.token)
	r.mustBe(g.world, 125)
	g.contains(r.stderr, "PERMISSION_DENIED", "ask for a RoleBinding to the ClusterRole workspace-user in namespace "+
		g.namespace)
	g.flooded(alice + all)
}

// flooded asks with tokens that are made up. Those who are known get in meanwhile.
func (g *gatewayWorld) flooded(path string) {
	g.Helper()
	var group sync.WaitGroup
	answers := make(chan int, 200)
	for i := range cap(answers) {
		group.Go(func() {
			status, _ := g.raw(path, "made-up-"+string(rune('a'+i%26))+strings.Repeat("x", i), "SPDY/3.1")
			answers <- status
		})
	}
	g.through("alice~plain", "--", "true").mustBe(g.world, 0)
	group.Wait()
	close(answers)
	counts := map[int]int{}
	for status := range answers {
		counts[status]++
	}
	if counts[401]+counts[429] != 200 {
		g.Errorf("the flood is answered with %v", counts)
	}
}

// raw sends a request exactly as it is written. The status is 0 where there is no answer.
func (g *gatewayWorld) raw(path, token, upgrade string) (status int, body string) {
	conn, err := tls.Dial("tcp", "127.0.0.1:"+g.relay.port, &tls.Config{InsecureSkipVerify: true})
	if err != nil {
		return 0, err.Error()
	}
	defer func() { _ = conn.Close() }()
	_ = conn.SetDeadline(time.Now().Add(patience))
	text := "POST " + path + " HTTP/1.1\r\nHost: localhost\r\nX-Stream-Protocol-Version: v4.channel.k8s.io\r\n"
	if token != "" {
		text += "Authorization: Bearer " + token + "\r\n"
	}
	if upgrade != "" {
		text += "Connection: Upgrade\r\nUpgrade: " + upgrade + "\r\n"
	}
	_, _ = io.WriteString(conn, text+"\r\n")
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return 0, err.Error()
	}
	defer response.Body.Close()
	said, _ := io.ReadAll(io.LimitReader(response.Body, 1000))
	return response.StatusCode, string(said)
}

// expired is a token of an hour ago, signed with the key of the cluster.
func (g *gatewayWorld) expired(token string) string {
	g.Helper()
	raw, err := os.ReadFile(filepath.Join(os.Getenv(clusterVariable), "pki", "sa.key"))
	if err != nil {
		g.Fatal(err)
	}
	block, _ := pem.Decode(raw)
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		if key, err = x509.ParsePKCS1PrivateKey(block.Bytes); err != nil {
			key, err = x509.ParseECPrivateKey(block.Bytes)
		}
	}
	if err != nil {
		g.Fatal(err)
	}
	parts := strings.Split(token, ".")
	text, err := base64.RawURLEncoding.DecodeString(parts[1])
	claims := map[string]any{}
	if err == nil {
		err = json.Unmarshal(text, &claims)
	}
	if err != nil {
		g.Fatal(err)
	}
	then := time.Now().Add(-time.Hour).Unix()
	claims["iat"], claims["nbf"], claims["exp"] = then-600, then-600, then
	text, _ = json.Marshal(claims)
	signed := parts[0] + "." + base64.RawURLEncoding.EncodeToString(text)
	digest := sha256.Sum256([]byte(signed))
	var signature []byte
	switch key := key.(type) {
	case *rsa.PrivateKey:
		signature, err = rsa.SignPKCS1v15(rand.Reader, key, crypto.SHA256, digest[:])
	case *ecdsa.PrivateKey:
		r, s, failed := ecdsa.Sign(rand.Reader, key, digest[:])
		signature, err = append(r.FillBytes(make([]byte, 32)), s.FillBytes(make([]byte, 32))...), failed
	}
	if err != nil {
		g.Fatal(err)
	}
	return signed + "." + base64.RawURLEncoding.EncodeToString(signature)
}
