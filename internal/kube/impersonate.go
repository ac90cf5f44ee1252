package kube

import (
	"net/http"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/transport"
)

// UserOf is the user name of a ServiceAccount.
func UserOf(account types.NamespacedName) string {
	return "system:serviceaccount:" + account.Namespace + ":" + account.Name
}

// ActingAs is a client with the rights of a ServiceAccount, on the same connection. It takes
// the permission to impersonate the ServiceAccount, which the API server checks with each
// request, and to whose groups the API server adds what every ServiceAccount belongs to. A
// user whom the kubeconfig impersonates is left out: impersonation does not nest.
func (c *Client) ActingAs(account types.NamespacedName) (*Client, error) {
	config := rest.CopyConfig(c.Config)
	config.Impersonate = rest.ImpersonationConfig{UserName: UserOf(account)}
	sending, inner := *c.HTTP, c.HTTP.Transport
	if inner == nil {
		inner = http.DefaultTransport // as net/http takes it
	}
	// The outermost of all that add headers: those inside keep what they find.
	sending.Transport = transport.NewImpersonatingRoundTripper(transport.ImpersonationConfig{UserName: UserOf(account)},
		inner)
	acting, err := clientFor(config, &sending, c.Namespace, c.Requests)
	if err != nil {
		return nil, err
	}
	acting.guard = c.guard
	return acting, nil
}
