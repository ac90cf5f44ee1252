package main

import (
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// exec finds the poollet of a machine, as ironcore's API server does, and passes the connection on to it: with a client
// certificate, and nothing of what the user has sent or is.
func (a api) exec(w http.ResponseWriter, r *http.Request) {
	at, err := a.poollet(r)
	if err != nil {
		fail(w, err)
		return
	}
	fmt.Println(r.Header.Get("X-Remote-User"), "is connected with", at)
	through{
		at: at, authority: "/poollet/ca.crt", insecure: r.URL.Query().Get("insecureSkipTLSVerifyBackend") == "true",
		certificate: "/tls/tls.crt", key: "/tls/tls.key", host: r.Host,
	}.ServeHTTP(w, r)
}

// preferred are the types of addresses, as ironcore's API server prefers them by default.
func preferred() []string {
	return []string{"Hostname", "InternalDNS", "InternalIP", "ExternalDNS", "ExternalIP"}
}

// defaultPort is the port of a poollet that reports none.
const defaultPort = 12319

// poollet is where the poollet of the machine of a request has its console.
func (a api) poollet(r *http.Request) (*url.URL, error) {
	namespace, name := r.PathValue("namespace"), r.PathValue("name")
	machine, err := a.object(r.Context(), kindMachine, namespace, name)
	if err != nil {
		return nil, err
	}
	poolName, _, _ := unstructured.NestedString(machine.Object, "spec", "machinePoolRef", "name")
	if poolName == "" {
		return nil, refusal{
			http.StatusBadRequest, metav1.StatusReasonBadRequest,
			fmt.Sprintf("machine %s has no machine pool", name),
		}
	}
	pool, err := a.object(r.Context(), kindPool, "", poolName)
	if err != nil {
		return nil, err
	}
	addresses, _, _ := unstructured.NestedSlice(pool.Object, "status", "addresses")
	host := ""
	for _, wanted := range preferred() {
		for _, address := range addresses {
			if has, is := address.(map[string]any); is && has["type"] == wanted && host == "" {
				host, _ = has["address"].(string)
			}
		}
	}
	if host == "" {
		return nil, fmt.Errorf("no preferred addresses found for machine pool %s", poolName)
	}
	port := int64(defaultPort)
	if endpoint, found, _ := unstructured.NestedFieldNoCopy(pool.Object, "status", "daemonEndpoints",
		"machinepoolletEndpoint", "port"); found {
		switch n := endpoint.(type) {
		case int64:
			port = n
		case float64:
			port = int64(n)
		}
	}
	return &url.URL{
		Scheme: "https", Host: net.JoinHostPort(host, strconv.FormatInt(port, 10)),
		Path: "/apis/compute.ironcore.dev/namespaces/" + namespace + "/machines/" + name + "/exec",
	}, nil
}
