// Package kube creates the clients and has what every user of the API server needs: labels, the resources of kinds, the
// meaning of errors, the count of requests.
package kube

import (
	"context"
	"errors"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	appsv1 "k8s.io/client-go/kubernetes/typed/apps/v1"
	authenticationv1 "k8s.io/client-go/kubernetes/typed/authentication/v1"
	authorizationv1 "k8s.io/client-go/kubernetes/typed/authorization/v1"
	batchv1 "k8s.io/client-go/kubernetes/typed/batch/v1"
	coordinationv1 "k8s.io/client-go/kubernetes/typed/coordination/v1"
	corev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	storagev1 "k8s.io/client-go/kubernetes/typed/storage/v1"
	"k8s.io/client-go/rest"
	clienttransport "k8s.io/client-go/transport"

	"github.com/berthdev/berth/internal/kube/transport"
)

// Client is one connection to a cluster and the namespace to work in.
type Client struct {
	Interface
	Dynamic   dynamic.Interface
	Config    *rest.Config
	Namespace string
	Requests  *Counter
	// HTTP sends its requests; nil in tests.
	HTTP *http.Client
	// Ready has a connection for the next stream; nil for none.
	Ready *Ready

	guard *transport.Guard
}

// NewClient reads the kubeconfig that the flags name. It sends no request. waiting is told what a request has been
// waiting for when that is long; it may be nil.
func NewClient(flags genericclioptions.RESTClientGetter, userAgent string,
	waiting func(what string) (over func()),
) (*Client, error) {
	loader := flags.ToRawKubeConfigLoader()
	namespace, _, err := loader.Namespace()
	if err != nil {
		return nil, configFault(err)
	}
	raw, err := configured(loader)
	if err != nil {
		return nil, err
	}
	config, err := flags.ToRESTConfig()
	if err != nil {
		return nil, configFault(err)
	}
	config.UserAgent = userAgent
	config.WarningHandler = rest.NoWarnings{}
	// The API server has its own fairness; a client-side limit of five requests a second only adds waiting.
	config.QPS = -1
	counter := &Counter{}
	config.Wrap(counter.wrap)
	config.Wrap(transport.Inner)
	config.Wrap(withoutPages)
	inner, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, configFault(err)
	}
	outer := *inner
	guard := transport.New(inner.Transport, transport.Options{
		Server: "the API server " + config.Host, Plugin: plugin(config, raw), Waiting: waiting,
	})
	outer.Transport = guard
	client, err := clientFor(config, &outer, namespace, counter)
	if err == nil {
		client.guard, client.Ready = guard, newReady(config)
	}
	return client, err
}

func clientFor(config *rest.Config, httpClient *http.Client, namespace string, counter *Counter) (*Client, error) {
	// Built-in kinds are decoded from protobuf in a fraction of the time and memory; servers that do not support it
	// answer with JSON.
	compact := rest.CopyConfig(config)
	compact.AcceptContentTypes = runtime.ContentTypeProtobuf + "," + runtime.ContentTypeJSON
	typed, err := newTyped(compact, httpClient)
	if err != nil {
		return nil, configFault(err)
	}
	dyn, err := dynamic.NewForConfigAndClient(config, httpClient)
	if err != nil {
		return nil, configFault(err)
	}
	return &Client{
		Interface: typed, Dynamic: dyn, Config: config, Namespace: namespace, Requests: counter,
		HTTP: httpClient,
	}, nil
}

// In is the same client for another namespace.
func (c *Client) In(namespace string) *Client {
	other := *c
	other.Namespace = namespace
	return &other
}

// ActingAs is a client with the rights of a ServiceAccount, on the same connection. It takes the permission to
// impersonate the ServiceAccount, which the API server checks with each request, and to whose groups the API server
// adds what every ServiceAccount belongs to. A user whom the kubeconfig impersonates is left out: impersonation does
// not nest.
func (c *Client) ActingAs(account types.NamespacedName) (*Client, error) {
	config := rest.CopyConfig(c.Config)
	config.Impersonate = rest.ImpersonationConfig{UserName: UserOf(account)}
	sending, inner := *c.HTTP, c.HTTP.Transport
	if inner == nil {
		inner = http.DefaultTransport // as net/http takes it
	}
	// The outermost of all that add headers: those inside keep what they find.
	sending.Transport = clienttransport.NewImpersonatingRoundTripper(
		clienttransport.ImpersonationConfig{UserName: UserOf(account)}, inner)
	acting, err := clientFor(config, &sending, c.Namespace, c.Requests)
	if err != nil {
		return nil, err
	}
	acting.guard = c.guard
	return acting, nil
}

// UserOf is the user name of a ServiceAccount.
func UserOf(account types.NamespacedName) string {
	return "system:serviceaccount:" + account.Namespace + ":" + account.Name
}

// LacksNamespace is true if a namespace certainly does not exist. It is false for a caller who may not read it.
func (c *Client) LacksNamespace(ctx context.Context, namespace string) bool {
	_, err := c.CoreV1().Namespaces().Get(ctx, namespace, metav1.GetOptions{})
	return apierrors.IsNotFound(err)
}

// InPod is true for the client of a process that logs in as the ServiceAccount of its pod.
func (c *Client) InPod() bool { return c.Config != nil && c.Config.BearerTokenFile == tokenFile }

// tokenFile is where a pod has the token of its ServiceAccount.
const tokenFile = "/var/run/secrets/kubernetes.io/serviceaccount/token"

// Close ends a credential plugin that is still running though nobody waits for it.
func (c *Client) Close() {
	c.Ready.Close()
	if c.guard != nil && c.guard.PluginRuns() {
		endChildren()
	}
}

// Interface is the part of client-go's kubernetes.Interface that is used. The rest would be a tenth of the program.
type Interface interface {
	Discovery() discovery.DiscoveryInterfaces
	AppsV1() appsv1.AppsV1Interface
	AuthenticationV1() authenticationv1.AuthenticationV1Interface
	AuthorizationV1() authorizationv1.AuthorizationV1Interface
	BatchV1() batchv1.BatchV1Interface
	CoordinationV1() coordinationv1.CoordinationV1Interface
	CoreV1() corev1.CoreV1Interface
	StorageV1() storagev1.StorageV1Interface
}

// typed are clients on one connection.
type typed struct {
	discovery      discovery.DiscoveryInterfaces
	apps           appsv1.AppsV1Interface
	authentication authenticationv1.AuthenticationV1Interface
	authorization  authorizationv1.AuthorizationV1Interface
	batch          batchv1.BatchV1Interface
	coordination   coordinationv1.CoordinationV1Interface
	core           corev1.CoreV1Interface
	storage        storagev1.StorageV1Interface
}

func newTyped(config *rest.Config, client *http.Client) (Interface, error) {
	var t typed
	var errs [8]error
	t.discovery, errs[0] = discovery.NewDiscoveryClientForConfigAndClient(config, client)
	t.apps, errs[1] = appsv1.NewForConfigAndClient(config, client)
	t.authentication, errs[2] = authenticationv1.NewForConfigAndClient(config, client)
	t.authorization, errs[3] = authorizationv1.NewForConfigAndClient(config, client)
	t.batch, errs[4] = batchv1.NewForConfigAndClient(config, client)
	t.coordination, errs[5] = coordinationv1.NewForConfigAndClient(config, client)
	t.core, errs[6] = corev1.NewForConfigAndClient(config, client)
	t.storage, errs[7] = storagev1.NewForConfigAndClient(config, client)
	return t, errors.Join(errs[:]...)
}

func (t typed) Discovery() discovery.DiscoveryInterfaces { return t.discovery }

func (t typed) AppsV1() appsv1.AppsV1Interface { return t.apps }

func (t typed) AuthenticationV1() authenticationv1.AuthenticationV1Interface { return t.authentication }

func (t typed) AuthorizationV1() authorizationv1.AuthorizationV1Interface { return t.authorization }

func (t typed) BatchV1() batchv1.BatchV1Interface { return t.batch }

func (t typed) CoordinationV1() coordinationv1.CoordinationV1Interface { return t.coordination }

func (t typed) CoreV1() corev1.CoreV1Interface { return t.core }

func (t typed) StorageV1() storagev1.StorageV1Interface { return t.storage }
