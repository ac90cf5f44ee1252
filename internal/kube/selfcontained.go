package kube

import (
	"errors"
	"net/netip"
	"net/url"
	"strings"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/berthdev/berth/internal/credential"
	"github.com/berthdev/berth/internal/fault"
)

// SelfContained is a kubeconfig that works on another host: its current context alone, with
// the content of the files that it names, relative to that of the kubeconfig itself. A
// credential that is made again on this host cannot be taken along and is refused, and so is
// a server that is this host, or that is not verified.
func SelfContained(text []byte, file string) ([]byte, error) {
	config, err := clientcmd.Load(text)
	if err != nil { // the parser's message may repeat what it has read
		return nil, unusable(file, errors.New("it is no kubeconfig"))
	}
	if err := clientcmdapi.MinifyConfig(config); err != nil {
		return nil, unusable(file, err)
	}
	config.Preferences, config.Extensions = clientcmdapi.Preferences{}, nil
	for name, user := range config.AuthInfos {
		if err := movable(file, name, user); err != nil {
			return nil, err
		}
		user.LocationOfOrigin, user.Extensions = file, nil
	}
	for name, cluster := range config.Clusters {
		if err := reachable(file, name, cluster); err != nil {
			return nil, err
		}
		cluster.LocationOfOrigin, cluster.Extensions = file, nil
	}
	for _, context := range config.Contexts {
		context.Extensions = nil
	}
	if err := clientcmdapi.FlattenConfig(config); err != nil {
		return nil, unusable(file, err)
	}
	if err := clientcmd.ConfirmUsable(*config, ""); err != nil {
		return nil, unusable(file, err)
	}
	return clientcmd.Write(*config)
}

func unusable(file string, err error) error {
	return fault.New(fault.InvalidArgument, "kubeconfig %s cannot be used: %w", file, err).
		WithHint("see `kubectl config view --kubeconfig FILE`")
}

// reachable refuses a server that another host does not reach, or that anybody can be.
func reachable(file, name string, cluster *clientcmdapi.Cluster) error {
	refuse := func(what, hint string) error {
		return fault.New(fault.InvalidArgument, "cluster %s of kubeconfig %s %s", name, file, what).WithHint("%s", hint)
	}
	server, err := url.Parse(cluster.Server)
	switch {
	case cluster.Server == "":
		return nil // said with whatever else is missing
	case err != nil || server.Scheme != "https":
		return refuse("has a server that is not https",
			"set server to the https URL of the API server: others could read a credential that is sent without encryption")
	case cluster.InsecureSkipTLSVerify:
		return refuse("does not verify its server (insecure-skip-tls-verify)",
			"name the CA of the server: certificate-authority-data")
	case isThisHost(server.Hostname()):
		return refuse("has the server "+server.Host+", which is this host only",
			"use the address by which other hosts reach it")
	case cluster.ProxyURL != "":
		return refuse("has a proxy (proxy-url)", "use a kubeconfig that reaches the server without one")
	}
	return nil
}

// isThisHost is true for a name or address that means another host on each.
func isThisHost(name string) bool {
	address, err := netip.ParseAddr(name)
	return credential.IsLoopback(name) || strings.HasSuffix(name, ".localhost") || err == nil && address.IsUnspecified()
}

// movable refuses a user whose credential comes from this host each time, and one without any.
func movable(file, name string, user *clientcmdapi.AuthInfo) error {
	var from string
	switch {
	case user.Exec != nil:
		from = "the command " + user.Exec.Command + " (exec)"
	case user.TokenFile != "":
		from = "the file " + user.TokenFile + " (tokenFile)"
	case user.AuthProvider != nil:
		from = "the auth provider " + user.AuthProvider.Name
	case user.Token == "" && user.ClientCertificate == "" && len(user.ClientCertificateData) == 0 && user.Username == "":
		return fault.New(fault.InvalidArgument, "user %s of kubeconfig %s has no credential", name, file).
			WithHint("use a kubeconfig with a token or a client certificate, for example of a ServiceAccount of that cluster")
	default:
		return nil
	}
	return fault.New(fault.InvalidArgument,
		"user %s of kubeconfig %s has its credential from %s, which exists on this host only", name, file, from).
		WithHint("use a kubeconfig with a token or a client certificate, for example of a ServiceAccount of that cluster")
}
