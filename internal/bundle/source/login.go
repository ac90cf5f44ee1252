package source

import (
	"context"
	"net"
	"net/url"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	typedv1 "k8s.io/client-go/kubernetes/typed/core/v1"

	"github.com/berthdev/berth/api/bundle/v1alpha1"
	"github.com/berthdev/berth/internal/credential"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/git"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/secret"
)

// secretOf is the name of the Secret with the login; empty if the source names no Secret.
func secretOf(auth *v1alpha1.Authorization) string {
	if auth == nil {
		return ""
	}
	return auth.Secret.Name
}

// login is the username and password of a Secret for a host; nil if the Secret has no name.
func (f Fetcher) login(ctx context.Context, address *url.URL, name string) (*credential.Source, error) {
	if name == "" {
		return nil, nil
	}
	found, err := f.Cluster.secret(ctx, name)
	if err != nil {
		return nil, err
	}
	if err := f.allow(found, address); err != nil {
		return nil, err
	}
	login := loginIn(found)
	if login.Anonymous() {
		return nil, fault.New(fault.InvalidArgument, "secret/%s in namespace %s has no password", name,
			f.Cluster.Namespace).
			WithHint("create it with the keys username and password: kubectl create secret generic NAME --namespace "+
				"%s --type kubernetes.io/basic-auth --from-literal username=USER --from-file password=FILE",
				f.Cluster.Namespace)
	}
	return given(login), nil
}

// loginIn is the username and password in a Secret.
func loginIn(found *corev1.Secret) credential.Credential {
	return credential.Credential{
		Username: string(found.Data["username"]),
		Token:    secret.Text(strings.TrimRight(string(found.Data["password"]), "\r\n")), From: "secret/" + found.Name,
	}
}

// lent is the Secret of a source, for what its content depends on.
type lent struct {
	secret string
	// at is where the source is; nil if its login is for registries, which it names.
	at *url.URL
}

// Beside fetches what the content of a source names, and so somebody else than the author of the source. The login of
// the source goes along to those hosts alone that its Secret names and, at a terminal, to the host of the source.
func (f Fetcher) Beside(s v1alpha1.Source) Fetcher {
	f.lent, f.Commit = lent{}, nil
	text := ""
	switch s.Type {
	case v1alpha1.SourceImage:
		f.lent.secret = s.Image.PullSecret
	case v1alpha1.SourceGit:
		f.lent.secret, text = secretOf(s.Git.Auth), s.Git.Repository
	case v1alpha1.SourceHTTP:
		f.lent.secret, text = secretOf(s.HTTP.Auth), s.HTTP.URL
	case v1alpha1.SourceChart:
		f.lent.secret, text = secretOf(s.Chart.Auth), s.Chart.Repository
	case v1alpha1.SourceConfigMaps, v1alpha1.SourceUpload:
	}
	if at, err := url.Parse(text); err == nil && at.Host != "" {
		f.lent.at = at
	}
	return f
}

// lentLogin is the username and password that go along to a host; nil if there are none for it.
func (f Fetcher) lentLogin(ctx context.Context, address *url.URL) (*credential.Source, error) {
	if f.lent.secret == "" {
		return nil, nil
	}
	found, err := f.Cluster.secret(ctx, f.lent.secret)
	if err != nil {
		return nil, err
	}
	at := f.lent.at
	there := f.Getenv != nil && at != nil && at.Scheme == address.Scheme && hostPort(at) == hostPort(address)
	login, goes := loginIn(found), there || names(found, address)
	if goes && !login.Anonymous() && encrypted(address, "") == nil {
		return given(login), nil
	}
	return nil, nil
}

// sshKey is an SSH client with the key of a Secret for a host.
func (f Fetcher) sshKey(ctx context.Context, address *url.URL, auth v1alpha1.Authorization) (command []string,
	remove func(), err error,
) {
	found, err := f.Cluster.secret(ctx, auth.Secret.Name)
	if err != nil {
		return nil, nil, err
	}
	if err := f.allow(found, address); err != nil {
		return nil, nil, err
	}
	key, known := found.Data["ssh-privatekey"], found.Data["ssh-knownhosts"]
	switch {
	case len(key) == 0:
		return nil, nil, fault.New(fault.InvalidArgument, "secret/%s in namespace %s has no ssh-privatekey",
			auth.Secret.Name, f.Cluster.Namespace).
			WithHint("create it with the keys ssh-privatekey and ssh-knownhosts: kubectl create secret generic NAME "+
				"--namespace %s --type kubernetes.io/ssh-auth --from-file ssh-privatekey=FILE --from-file "+
				"ssh-knownhosts=FILE", f.Cluster.Namespace)
	case len(known) == 0 && !auth.InsecureSkipVerify:
		return nil, nil, fault.New(fault.InvalidArgument, "secret/%s in namespace %s has no ssh-knownhosts",
			auth.Secret.Name, f.Cluster.Namespace).
			WithHint("add the key of the host, as `ssh-keyscan` prints it: compare it with what its " +
				"administrator publishes")
	}
	return git.SSHKey(key, known, auth.InsecureSkipVerify)
}

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
	if names(login, address) {
		return nil
	}
	return fault.New(fault.PermissionDenied,
		"the annotation %s of secret/%s in namespace %s does not name %s, so its login is not sent there",
		AnnotationHosts, login.Name, login.Namespace, address.Host).
		WithHint("if the login is for that host: kubectl annotate secret %s --namespace %s --overwrite %s=%s",
			login.Name, login.Namespace, AnnotationHosts, address.Host)
}

// names is true for a Secret that says that its login is for a host.
func names(login *corev1.Secret, address *url.URL) bool {
	for entry := range strings.SplitSeq(login.Annotations[AnnotationHosts], ",") {
		named, err := url.Parse(address.Scheme + "://" + strings.TrimSpace(entry))
		if err == nil && named.Host != "" && hostPort(named) == hostPort(address) {
			return true
		}
	}
	return false
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

// Cluster is where the objects are that a source names: one namespace, the system
// namespace.
type Cluster struct {
	Client    typedv1.CoreV1Interface
	Namespace string
}

// secret reads a Secret with a login.
func (c *Cluster) secret(ctx context.Context, name string) (*corev1.Secret, error) {
	if c == nil {
		return nil, withoutCluster("secret/" + name)
	}
	found, err := c.Client.Secrets(c.Namespace).Get(ctx, name, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return nil, fault.New(fault.NotFound, "secret/%s does not exist in namespace %s", name, c.Namespace).
			WithHint("create it there: the logins of sources are in the system namespace, which " +
				"--system-namespace names")
	case err != nil:
		return nil, kube.Fault(err, kube.Call{Verb: "get", Resource: "secrets", Namespace: c.Namespace, Name: name})
	}
	return found, nil
}

func (c *Cluster) configMap(ctx context.Context, name string) (*corev1.ConfigMap, error) {
	if c == nil {
		return nil, withoutCluster("configmap/" + name)
	}
	found, err := c.Client.ConfigMaps(c.Namespace).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return nil, kube.Fault(err, kube.Call{Verb: "get", Resource: "configmaps", Namespace: c.Namespace, Name: name})
	}
	return found, nil
}

func withoutCluster(object string) error {
	return fault.New(fault.InvalidArgument, "the source needs %s of a cluster, but no cluster is used", object).
		WithHint("choose a cluster with --kubeconfig or --context, or name a source that needs none")
}
