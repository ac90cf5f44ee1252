// Package manifest makes the Kubernetes objects that run a role of `berth serve`. It is pure: what is random or depends
// on the time is an argument. The objects are the templates, but for admission policies, which are compared with those
// of a cluster, too.
package manifest

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"embed"
	"encoding/json"
	"fmt"
	"net"
	"path"
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	"github.com/berthdev/berth/internal/keypair"
	"github.com/berthdev/berth/internal/rbac"
	"github.com/berthdev/berth/third_party/template"
)

// Role is what berth can be in a cluster.
type Role struct {
	// Name is that of the command, and the end of the names of the objects.
	Name string
	// Everywhere and InSystem are what it may do in the cluster and in its namespace.
	Everywhere, InSystem rbac.Command
	// Installer is what it takes to act as the ServiceAccount that has the install role; the zero value of a role that
	// installs nothing.
	Installer rbac.Command
	// Users are ClusterRoles for those who ask it.
	Users []UserRole
	// Ports are more ports on which it is reached, beside that of HTTPS.
	Ports []Port
	// Grants are more that it may do, each a Role or ClusterRole of its own.
	Grants []Grant
	// NoService is true if nobody asks it anything: it has health and metrics alone.
	NoService bool
	// NeedsBaseURL is true if it is told its base URL and its namespace.
	NeedsBaseURL bool
	// Definitions are the CustomResourceDefinitions that it works on, as documents.
	Definitions [][]byte
	// Policies limit who may write what it acts upon, and Guard is what it may do to see that they are there, whatever
	// the namespace in which it may do the rest.
	Policies []Policy
	Guard    rbac.Command
	// Node is what it needs of a node, if a pod of it runs on each; the zero value otherwise.
	Node Node
	// Cache is how much it keeps on disk, as a quantity; empty for nothing.
	Cache string
}

// UserRole is a ClusterRole that an administrator binds.
type UserRole struct {
	Name  string
	Rules []rbacv1.PolicyRule
}

// Grant is what a role may do in a namespace that is there already; an empty one is the whole cluster. Its objects have
// the name of the role's, with a suffix.
type Grant struct {
	Suffix, Namespace string
	Rules             []rbacv1.PolicyRule
}

// Port is a port of a Service.
type Port struct {
	Name   string
	Number int32
}

// Options are what an administrator chooses.
type Options struct {
	Namespace string
	Image     string
	Replicas  int32
	// Issuer is cert-manager's, as NAME or KIND/NAME; empty for Pair.
	Issuer string
	Pair   keypair.Pair
	// Arguments are more of the command's.
	Arguments []string
	// Authorities are certificates in PEM that the role checks others with; it finds them in the file PathAuthorities.
	// Empty for none.
	Authorities []byte
	// Kubeconfig is how the role reaches another API server; it finds it in the file PathKubeconfig. Empty for none.
	Kubeconfig []byte
	// HostDirectory is a directory of the node with the socket of another program, which the role
	// finds in the directory PathHost; empty for none.
	HostDirectory string
	// HostPort is the port of nodes by which a role of nodes is reached; 0 for none.
	HostPort int32
	// Only is the one namespace in which the role may do what it does everywhere; empty for all.
	Only string
	// Configuration is the configuration of the role; empty for none.
	Configuration []byte
	// Hosts are more names, or IP addresses, by which the role is reached.
	Hosts []string
	// InstallRole is the ClusterRole of the installer; empty for none.
	InstallRole string
	// Accounts are more ServiceAccounts that the role may act as.
	Accounts []types.NamespacedName
}

// Node is what a role needs of each node that it runs on: it is a CSI driver.
type Node struct {
	// Driver is the name of the driver.
	Driver string
	// Directory is where it keeps volumes, and Kubelet the directory of the kubelet.
	Directory, Kubelet string
	// Read is true if users read what their pods have left.
	Read bool
}

// EnvNode is the variable with the name of the node, for arguments: $(NODE_NAME).
const EnvNode = "NODE_NAME"

// Pods is the directory of the kubelet that has the volumes of pods.
func (n Node) Pods() string { return path.Join(n.Kubelet, "pods") }

// Plugin is where the kubelet finds the socket of the driver.
func (n Node) Plugin() string { return path.Join(n.Kubelet, "plugins", n.Driver) }

// Registry is where a driver registers itself.
func (n Node) Registry() string { return path.Join(n.Kubelet, "plugins_registry") }

// The files that a pod finds what the options say in, and what they are in a ConfigMap or a Secret.
const (
	keyKubeconfig = "kubeconfig"
	// PathAuthorities is the file of Options.Authorities.
	PathAuthorities = "/etc/berth/authorities/ca.crt"
	// PathHost is where Options.HostDirectory is mounted: not below /var/run, which has the token of the pod.
	PathHost = "/etc/berth/host"
	// PathKubeconfig is the file of Options.Kubeconfig.
	PathKubeconfig = "/etc/berth/target/" + keyKubeconfig
)

// SecretKubeconfig is the Secret that has the kubeconfig of a role.
func SecretKubeconfig(role string) string { return "berth-" + role + "-target" }

// SecretConfiguration is the Secret that has the configuration of a role.
func SecretConfiguration(role string) string { return "berth-" + role + "-configuration" }

// Account is as what a role runs in a namespace.
func Account(role, namespace string) types.NamespacedName {
	return types.NamespacedName{Namespace: namespace, Name: Role{Name: role}.objectName()}
}

func (r Role) objectName() string { return "berth-" + r.Name }

// Hosts are the names by which a role is reached in the cluster.
func (r Role) Hosts(namespace string) []string {
	service := r.objectName() + "." + namespace
	return []string{service + ".svc", service + ".svc.cluster.local", service, r.objectName()}
}

// BaseURL is where a role is reached in the cluster.
func (r Role) BaseURL(namespace string) string { return "https://" + r.Hosts(namespace)[0] }

// labels are those of all objects of a role.
func (r Role) labels() map[string]string {
	return map[string]string{
		"app.kubernetes.io/name": "berth", "app.kubernetes.io/component": r.Name,
		"app.kubernetes.io/managed-by": "berth",
	}
}

// YAML are the objects as documents, in an order in which they can be created: admission policies before what they
// guard.
func YAML(r Role, o Options) ([]byte, error) {
	var documents [][]byte
	for _, p := range r.Policies {
		policy, binding := p.Objects(r)
		for _, object := range []runtime.Object{policy, binding} {
			content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
			if err != nil {
				return nil, fmt.Errorf("policy %s: %w", p.Name, err)
			}
			document, err := marshal(content)
			if err != nil {
				return nil, err
			}
			documents = append(documents, document)
		}
	}
	documents = append(documents, r.Definitions...)
	objects, err := r.objects(o)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	for i, document := range append(documents, objects...) {
		if i > 0 {
			out.WriteString("---\n")
		}
		out.Write(bytes.TrimPrefix(document, []byte("---\n")))
	}
	return out.Bytes(), nil
}

// marshal leaves out what an API server fills in.
func marshal(content map[string]any) ([]byte, error) {
	delete(content, "status")
	if metadata, ok := content["metadata"].(map[string]any); ok {
		delete(metadata, "creationTimestamp")
	}
	return yaml.Marshal(content)
}

//go:embed templates
var templates embed.FS

// objects are those of the templates, each as a document with its fields in order.
func (r Role) objects(o Options) (documents [][]byte, err error) {
	parsed := template.New("").Funcs(template.FuncMap{"json": toJSON, "text": func(b []byte) (string, error) {
		return toJSON(string(b))
	}})
	if err := parseAll(parsed); err != nil {
		return nil, fmt.Errorf("the templates: %w", err)
	}
	files := []string{"access", "trust", "service", "network", "deployment"}
	if r.Node != (Node{}) {
		files = []string{"driver-access", "trust", "network", "driver"}
		if r.Node.Read {
			files = []string{"driver-access", "driver-read", "trust", "network", "driver"}
		}
	}
	values := r.values(o)
	for _, file := range files {
		var text bytes.Buffer
		if err := parsed.ExecuteTemplate(&text, file+".yaml", values); err != nil {
			return nil, fmt.Errorf("the templates: %w", err)
		}
		for part := range strings.SplitSeq("\n"+text.String(), "\n---\n") {
			var content map[string]any
			if err := yaml.Unmarshal([]byte(part), &content); err != nil {
				return nil, fmt.Errorf("%s.yaml: %w", file, err)
			}
			if len(content) == 0 {
				continue
			}
			document, err := marshal(content)
			if err != nil {
				return nil, fmt.Errorf("%s.yaml: %w", file, err)
			}
			documents = append(documents, document)
		}
	}
	return documents, nil
}

// parseAll adds the templates by the names of their files.
func parseAll(t *template.Template) error {
	files, err := templates.ReadDir("templates")
	for _, file := range files {
		text, readErr := templates.ReadFile("templates/" + file.Name())
		if err = cmp.Or(err, readErr); err == nil {
			_, err = t.New(file.Name()).Parse(string(text))
		}
	}
	return err
}

// toJSON is a value as YAML on one line.
func toJSON(value any) (string, error) {
	text, err := json.Marshal(value)
	return string(text), err
}

// values are what the templates say.
type values struct {
	Role                          Role
	Options                       Options
	Name, Namespace, BaseURL      string
	Labels, Selector, Annotations map[string]string
	GuardRules                    []rbacv1.PolicyRule
	// Installs is true for a role that does as another ServiceAccount what others have chosen, and Impersonated are its
	// permissions to do so, by namespace.
	Installs     bool
	Impersonated map[string][]rbacv1.PolicyRule
	// DNSNames and Addresses are what the certificate of the issuer is for.
	DNSNames               []string
	Addresses              []net.IP
	IssuerKind, IssuerName string
}

// annotationTarget is a digest of the kubeconfig, on pods. A process reads it once: one that is applied with another
// kubeconfig is replaced.
const annotationTarget = "berth.dev/target"

func (r Role) values(o Options) values {
	v := values{
		Role: r, Options: o, Name: r.objectName(), Namespace: o.Namespace, BaseURL: r.BaseURL(o.Namespace),
		Labels:   r.labels(),
		Selector: map[string]string{"app.kubernetes.io/name": "berth", "app.kubernetes.io/component": r.Name},
		Installs: len(r.Installer.Rules) > 0,
	}
	if len(o.Kubeconfig) > 0 {
		v.Annotations = map[string]string{annotationTarget: fmt.Sprintf("%x", sha256.Sum256(o.Kubeconfig))[:16]}
	}
	var policies []string
	for _, p := range r.Policies {
		policies = append(policies, PolicyName(r.Name, p.Name))
	}
	v.GuardRules = r.Guard.PolicyRulesOf(policies...)
	names := map[string][]string{o.Namespace: {v.Name + "-installer"}}
	for _, account := range o.Accounts {
		if !slices.Contains(names[account.Namespace], account.Name) {
			names[account.Namespace] = append(names[account.Namespace], account.Name)
		}
	}
	v.Impersonated = map[string][]rbacv1.PolicyRule{}
	for namespace, accounts := range names {
		v.Impersonated[namespace] = r.Installer.PolicyRulesOf(accounts...)
	}
	v.DNSNames, v.Addresses = keypair.Apart(append(r.Hosts(o.Namespace), o.Hosts...))
	var divided bool
	if v.IssuerKind, v.IssuerName, divided = strings.Cut(o.Issuer, "/"); !divided {
		v.IssuerKind, v.IssuerName = "ClusterIssuer", o.Issuer
	}
	return v
}
