// Command machines stands in for the API of machines: an API server that the cluster's own
// passes requests on to, and a second one that has the machines, whose consoles are pods.
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
		return cluster.serve(":8443", "requestheader-client-ca-file", newAPI(cluster))
	case len(args) == 2 && args[0] == "target":
		cluster.configMap = "target"
		return cluster.serve(":8444", "client-ca-file", newTarget(cluster, args[1]))
	}
	return errors.New("usage: machines api | target TOKEN")
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
