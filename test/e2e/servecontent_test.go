//go:build e2e

package e2e

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berthdev/berth/api/bundle/v1alpha1"
)

// The content of a bundle is given to those who have the ClusterRole bundle-reader, by
// both pods, and to nobody else.
func testServeContent(t *testing.T) {
	w := newServing(t, "cluster-admin")
	w.apply(contentOf("one", configMap("a", "one")), w.plainOf(v1alpha1.ClassPlain, "one"))
	address := w.installedBundle().Status.ContentURL
	reader, stranger := w.token("reader"), w.token("stranger")
	_, err := w.RbacV1().ClusterRoleBindings().Create(t.Context(), &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: w.namespace + "-reader"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "bundle-reader"},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Name: "reader", Namespace: w.namespace}},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = w.RbacV1().ClusterRoleBindings().Delete(context.Background(), w.namespace+"-reader", metav1.DeleteOptions{})
	})
	for _, pod := range w.servers() {
		client := w.contentClient(pod.Name)
		status := func(url, token, header, value string) (int, http.Header, string) {
			return w.ask(client, url, token, header, value)
		}
		w.eventually("the reader may read", func() bool {
			code, _, _ := status(address, reader, "", "")
			return code == http.StatusOK
		})
		_, header, body := status(address, reader, "", "")
		tag := header.Get("ETag")
		if !regexp.MustCompile(`^"sha256:[0-9a-f]{64}"$`).MatchString(tag) {
			t.Errorf("the ETag is %q", tag)
		}
		if names := archived(t, body); strings.Join(names, " ") != "manifests manifests/all.yaml" &&
			strings.Join(names, " ") != "manifests/all.yaml" {
			t.Errorf("the archive has %q", names)
		}
		for _, c := range []struct {
			what, url, token, header, value string
			want                            int
		}{
			{"without a token", address, "", "", "", http.StatusUnauthorized},
			{"with a bad token", address, "nonsense", "", "", http.StatusUnauthorized},
			{"with a spoilt token", address, reader + "x", "", "", http.StatusUnauthorized},
			{"by a stranger", address, stranger, "", "", http.StatusForbidden},
			{
				"what there is not, by a stranger", strings.Replace(address, ".tgz", "x.tgz", 1), stranger, "", "",
				http.StatusForbidden,
			},
			{"what there is not", strings.Replace(address, ".tgz", "x.tgz", 1), reader, "", "", http.StatusNotFound},
			{"the directory", address[:strings.LastIndex(address, "/")+1], reader, "", "", http.StatusNotFound},
			{"the bundle as a directory", address + "/", reader, "", "", http.StatusNotFound},
			{"a part", address, reader, "Range", "bytes=0-9", http.StatusPartialContent},
			{"what is known", address, reader, "If-None-Match", tag, http.StatusNotModified},
		} {
			code, _, part := status(c.url, c.token, c.header, c.value)
			if code != c.want {
				t.Errorf("%s, pod %s answers %d, want %d: %s", c.what, pod.Name, code, c.want, part)
			}
			if code == http.StatusPartialContent && part != body[:10] {
				t.Errorf("the part is %q", part)
			}
		}
	}
}

// token is that of a new ServiceAccount of the namespace.
func (w *world) token(account string) string {
	w.Helper()
	accounts := w.CoreV1().ServiceAccounts(w.namespace)
	if _, err := accounts.Create(w.Context(), &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: account}},
		metav1.CreateOptions{}); err != nil {
		w.Fatal(err)
	}
	made, err := accounts.CreateToken(w.Context(), account, &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	if err != nil {
		w.Fatal(err)
	}
	return made.Status.Token
}

// contentClient reaches the server in a pod by the name that it has in the cluster, and
// believes the CA that is handed out.
func (w *world) contentClient(pod string) *http.Client {
	w.Helper()
	ca, err := w.CoreV1().ConfigMaps(w.namespace).Get(w.Context(), "berth-bundles-ca", metav1.GetOptions{})
	if err != nil {
		w.Fatal(err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM([]byte(ca.Data["ca.crt"])) {
		w.Fatalf("the CA is %q", ca.Data)
	}
	port := w.forwarded(pod, "8443")
	dial := func(ctx context.Context, network, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, port)
	}
	client := &http.Client{
		Timeout:   30 * time.Second,
		Transport: &http.Transport{DialContext: dial, TLSClientConfig: &tls.Config{RootCAs: pool}},
	}
	w.Cleanup(client.CloseIdleConnections)
	return client
}

// forwarded is an address on this host that leads to a port of a pod, until the test ends.
func (w *world) forwarded(pod, port string) (address string) {
	w.Helper()
	cmd := exec.Command(os.Getenv("BERTH_TEST_KUBECTL"), "port-forward", "pod/"+pod, ":"+port, "--namespace",
		w.namespace, "--kubeconfig", w.admin)
	p := w.launch(cmd)
	said := regexp.MustCompile(`Forwarding from (127\.0\.0\.1:\d+)`)
	w.eventually("the port is forwarded", func() bool { return said.MatchString(p.stdout.String()) })
	return said.FindStringSubmatch(p.stdout.String())[1]
}

// ask asks a server for something.
func (w *world) ask(client *http.Client, url, token, header, value string) (status int, headers http.Header,
	body string,
) {
	w.Helper()
	request, err := http.NewRequestWithContext(w.Context(), http.MethodGet, url, http.NoBody)
	if err != nil {
		w.Fatal(err)
	}
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	if header != "" {
		request.Header.Set(header, value)
	}
	response, err := client.Do(request)
	if err != nil {
		w.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		w.Fatal(err)
	}
	return response.StatusCode, response.Header, string(text)
}

// archived are the names in an archive.
func archived(t *testing.T, archive string) (names []string) {
	t.Helper()
	unzipped, err := gzip.NewReader(bytes.NewReader([]byte(archive)))
	if err != nil {
		t.Fatal(err)
	}
	files := tar.NewReader(unzipped)
	for {
		header, err := files.Next()
		if errors.Is(err, io.EOF) {
			return names
		}
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, header.Name)
	}
}
