// Command machines stands in for the API of machines: an API server that the cluster's own
// passes requests on to, what keeps its objects, and what has the machines: a second API server whose
// consoles are pods, or a machine runtime whose consoles are shells.
package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "machines:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) == 2 && args[0] == "install" {
		return install(args[1])
	}
	config, err := rest.InClusterConfig()
	if err != nil {
		return err
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	cluster := cluster{Interface: client, config: config, namespace: os.Getenv("NAMESPACE")}
	switch {
	case len(args) == 1 && args[0] == "api":
		cluster.configMap = "machines"
		go cluster.keep(context.Background())
		return cluster.serve(":8443", "requestheader-client-ca-file", newAPI(cluster))
	case len(args) == 2 && args[0] == "target":
		cluster.configMap = "target"
		return cluster.serve(":8444", "client-ca-file", newTarget(cluster, args[1]))
	case len(args) == 3 && args[0] == "runtime":
		cluster.configMap = "runtime"
		return cluster.serveRuntime(args[1], args[2])
	}
	return errors.New("usage: machines install FILE | api | target TOKEN | runtime SOCKET PORT")
}

// install copies this program, for an image that has a shell.
func install(file string) error {
	self, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		return err
	}
	return os.WriteFile(file, self, 0o755) //nolint:gosec // a program
}

// cluster is what this runs in.
type cluster struct {
	kubernetes.Interface
	config    *rest.Config
	namespace string
	configMap string // which has the objects
}

// serve answers requests. A client may have a certificate of the authority that the API
// server names for this.
func (c cluster) serve(listen, authority string, handler http.Handler) error {
	said, err := c.CoreV1().ConfigMaps(metav1.NamespaceSystem).
		Get(context.Background(), "extension-apiserver-authentication", metav1.GetOptions{})
	if err != nil {
		return err
	}
	clients := x509.NewCertPool()
	if !clients.AppendCertsFromPEM([]byte(said.Data[authority])) {
		return fmt.Errorf("the API server has no %s", authority)
	}
	server := &http.Server{
		Addr: listen, Handler: handler, ReadHeaderTimeout: time.Minute,
		ErrorLog: log.New(io.Discard, "", 0), // of probes that say nothing
		TLSConfig: &tls.Config{
			MinVersion: tls.VersionTLS12, ClientAuth: tls.VerifyClientCertIfGiven,
			ClientCAs: clients,
		},
		TLSNextProto: map[string]func(*http.Server, *tls.Conn, http.Handler){}, // HTTP/2 has no upgrades
	}
	return server.ListenAndServeTLS("/tls/tls.crt", "/tls/tls.key")
}
