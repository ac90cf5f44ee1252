// Package kube creates the clients and has what every user of the API server needs:
// labels, the resources of kinds, the meaning of errors, the count of requests.
package kube

import (
	"maps"
	"net/http"
	"os"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/berthdev/berth/internal/fault"
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

	guard *transport.Guard
}

// Close ends a credential plugin that is still running though nobody waits for it.
func (c *Client) Close() {
	if c.guard != nil && c.guard.PluginRuns() {
		endChildren()
	}
}

// NewClient reads the kubeconfig that the flags name. It sends no request. waiting is
// told what a request has been waiting for when that is long; it may be nil.
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
	// The API server has its own fairness; a client-side limit of five requests
	// a second only adds waiting.
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
		client.guard = guard
	}
	return client, err
}

// plugin names the credential plugin that is run before the first request; empty if
// there is none.
func plugin(config *rest.Config, raw clientcmdapi.Config) string {
	if config.ExecProvider == nil {
		return ""
	}
	name := "the credential plugin " + config.ExecProvider.Command
	for _, user := range slices.Sorted(maps.Keys(raw.AuthInfos)) {
		exec := raw.AuthInfos[user].Exec
		if exec != nil && exec.Command == config.ExecProvider.Command && slices.Equal(exec.Args, config.ExecProvider.Args) {
			return name + " (user " + user + " of the kubeconfig)"
		}
	}
	return name
}

// configured gives the kubeconfig. It returns an error if no cluster is configured: client-go would fall
// back to localhost:8080. In a pod, where KUBERNETES_SERVICE_HOST is set, no
// kubeconfig is needed.
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

func clientFor(config *rest.Config, httpClient *http.Client, namespace string, counter *Counter) (*Client, error) {
	// Built-in kinds are decoded from protobuf in a fraction of the time and memory;
	// servers that do not support it answer with JSON.
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

func configFault(err error) error {
	return fault.New(fault.InvalidArgument, "kubeconfig: %w", err).
		WithHint("choose a kubeconfig with --kubeconfig or KUBECONFIG, and a context with --context")
}

// Object names an object as kind/name, the way kubectl does: pod/alice-1234567.
func Object(kind, name string) string { return strings.ToLower(kind) + "/" + name }
