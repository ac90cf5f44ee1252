package source

import (
	"net"
	"net/url"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/berthdev/berth/internal/credential"
	"github.com/berthdev/berth/internal/fault"
)

// AnnotationHosts names, on a Secret, the hosts that its login may be sent to: HOST or
// HOST:PORT, with commas between them. Without a port it is that of the URL's scheme.
const AnnotationHosts = "berth.dev/hosts"

// allow refuses to send the login of a Secret where it must not go. A server, which fetches what
// others ask for, sends it only where the Secret says: anyone who writes a source may name any Secret
// and any host. A caller at a terminal can read the Secret, and so send it anywhere.
func (f Fetcher) allow(login *corev1.Secret, address *url.URL) error {
	if err := encrypted(address, "the login from secret/"+login.Name); err != nil || f.Getenv != nil {
		return err
	}
	for entry := range strings.SplitSeq(login.Annotations[AnnotationHosts], ",") {
		named, err := url.Parse(address.Scheme + "://" + strings.TrimSpace(entry))
		if err == nil && named.Host != "" && hostPort(named) == hostPort(address) {
			return nil
		}
	}
	return fault.New(fault.PermissionDenied,
		"the annotation %s of secret/%s in namespace %s does not name %s, so its login is not sent there",
		AnnotationHosts, login.Name, login.Namespace, address.Host).
		WithHint("if the login is for that host: kubectl annotate secret %s --namespace %s --overwrite %s=%s", login.Name,
			login.Namespace, AnnotationHosts, address.Host)
}

// encrypted refuses to send a login where others can read it.
func encrypted(address *url.URL, login string) error {
	if address.Scheme != "http" || credential.IsLoopback(address.Hostname()) {
		return nil
	}
	return fault.New(fault.InvalidArgument, "%s is not sent to http://%s without encryption", login, address.Host).
		WithHint("use https://")
}

// hostPort is where a URL leads, in one spelling.
func hostPort(address *url.URL) string {
	port := address.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443", "ssh": "22"}[address.Scheme]
	}
	return net.JoinHostPort(strings.ToLower(address.Hostname()), port)
}
