package kube

import (
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"maps"
	"net/netip"
	"net/url"
	"os"
	"slices"
	"strings"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/berthdev/berth/internal/credential"
	"github.com/berthdev/berth/internal/fault"
)

// configured gives the kubeconfig. It returns an error if no cluster is configured: client-go would fall back to
// localhost:8080. In a pod, where KUBERNETES_SERVICE_HOST is set, no kubeconfig is needed.
func configured(loader clientcmd.ClientConfig) (clientcmdapi.Config, error) {
	raw, err := loader.RawConfig()
	if err != nil {
		return raw, configFault(err)
	}
	config, err := loader.ClientConfig()
	if len(raw.Clusters) > 0 || err != nil || os.Getenv("KUBERNETES_SERVICE_HOST") != "" ||
		config.Host != clientcmd.ClusterDefaults.Server {
		return raw, nil //nolint:nilerr // the caller meets other errors itself
	}
	files := strings.Join(loader.ConfigAccess().GetLoadingPrecedence(), ", ")
	return raw, fault.New(fault.InvalidArgument, "no cluster is configured in %s", files).
		WithHint("set --kubeconfig or KUBECONFIG to your kubeconfig, which usually is ~/.kube/config")
}

func configFault(err error) error {
	return fault.New(fault.InvalidArgument, "kubeconfig: %w", err).
		WithHint("choose a kubeconfig with --kubeconfig or KUBECONFIG, and a context with --context")
}

// plugin names the credential plugin that is run before the first request; empty if there is none.
func plugin(config *rest.Config, raw clientcmdapi.Config) string {
	if config.ExecProvider == nil {
		return ""
	}
	name := "the credential plugin " + config.ExecProvider.Command
	for _, user := range slices.Sorted(maps.Keys(raw.AuthInfos)) {
		exec := raw.AuthInfos[user].Exec
		if exec != nil && exec.Command == config.ExecProvider.Command &&
			slices.Equal(exec.Args, config.ExecProvider.Args) {
			return name + " (user " + user + " of the kubeconfig)"
		}
	}
	return name
}

// Self is the user name in the credentials: who is impersonated, or the subject of the certificate or of the token. It
// is a guess, made without a request, to choose what to ask first; the API server decides. It is empty if the
// credentials do not say, as with a login program.
func Self(config *rest.Config) string {
	if config == nil {
		return ""
	}
	if config.Impersonate.UserName != "" {
		return config.Impersonate.UserName
	}
	if certificate := content(config.CertData, config.CertFile); certificate != nil {
		return certificateName(certificate)
	}
	return tokenName(string(content([]byte(config.BearerToken), config.BearerTokenFile)))
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
			"set server to the https URL of the API server: others could read a credential that is sent "+
				"without encryption")
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
	case user.Token == "" && user.ClientCertificate == "" && len(user.ClientCertificateData) == 0 &&
		user.Username == "":
		return fault.New(fault.InvalidArgument, "user %s of kubeconfig %s has no credential", name, file).
			WithHint("use a kubeconfig with a token or a client certificate, for example of a " +
				"ServiceAccount of that cluster")
	default:
		return nil
	}
	return fault.New(fault.InvalidArgument,
		"user %s of kubeconfig %s has its credential from %s, which exists on this host only", name, file, from).
		WithHint("use a kubeconfig with a token or a client certificate, for example of a " +
			"ServiceAccount of that cluster")
}

// SelfContained is a kubeconfig that works on another host: its current context alone, with the content of the files
// that it names, relative to that of the kubeconfig itself. A credential that is made again on this host cannot be
// taken along and is refused, and so is a server that is this host, or that is not verified.
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

func content(data []byte, file string) []byte {
	if len(data) > 0 || file == "" {
		return data
	}
	data, _ = os.ReadFile(file) // the client that uses it reports the error
	return data
}

func certificateName(text []byte) string {
	block, _ := pem.Decode(text)
	if block == nil {
		return ""
	}
	certificate, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return ""
	}
	return certificate.Subject.CommonName
}

// tokenName reads the subject of a JSON Web Token, without verifying it.
func tokenName(token string) string {
	parts := strings.Split(strings.TrimSpace(token), ".")
	if len(parts) != 3 {
		return ""
	}
	text, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil {
		return ""
	}
	var claims struct {
		Subject string `json:"sub"`
	}
	_ = json.Unmarshal(text, &claims) // then there is no subject
	return claims.Subject
}
