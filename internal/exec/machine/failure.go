package machine

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/http"
	"strings"

	"k8s.io/client-go/rest"

	"github.com/berthdev/berth/internal/exec"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/rbac"
)

// failure says what kept a session from beginning, or from coming to its end.
func (c Console) failure(ctx context.Context, err error, o outcome) error {
	if f, ok := errors.AsType[*fault.Error](err); ok {
		return f
	}
	if o.code != 0 && o.code != http.StatusSwitchingProtocols {
		return c.refused(ctx, o)
	}
	if _, is := exec.Unsure(err); is {
		return fault.New(fault.Unavailable, "the session with the console of machine %s %w", c.Name, err).
			WithReason(exec.ReasonUnsure).WithHint("what runs on the machine goes on; enter it again")
	}
	if exec.IsLost(err) {
		return fault.New(fault.Unavailable, "the connection to the console of machine %s was lost: %w", c.Name, err).
			WithHint("what runs on the machine goes on; enter it again")
	}
	if o.code == http.StatusSwitchingProtocols {
		return fault.New(fault.Unavailable, "the session with the console of machine %s has ended: %s", c.Name, o.said).
			WithHint("enter it again; if it stays so, ask who runs the machines")
	}
	if c.direct {
		return c.notReached(err)
	}
	return kube.Fault(err, c.call())
}

// notReached is a poollet that has not answered.
func (c Console) notReached(err error) error {
	if certificate, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return c.untrusted(certificate)
	}
	if !wantsCertificate(err) {
		return fault.New(fault.Unavailable, "the poollet of machine %s at %s cannot be reached: %w", c.Name,
			c.url.Host, err).
			WithHint("check the network from here to there, or leave out --direct; another address of the pool is "+
				"chosen with --%s", FlagTypes)
	}
	if cmp.Or(c.config.CertFile, string(c.config.CertData)) == "" && c.config.ExecProvider == nil {
		return fault.New(fault.Unauthenticated,
			"the poollet of machine %s at %s wants a client certificate, and the kubeconfig has none: %w", c.Name,
			c.url.Host, err).
			WithHint("choose a context that has one with --context, or leave out --direct")
	}
	return fault.New(fault.Unauthenticated,
		"the poollet of machine %s at %s does not take your client certificate: %w", c.Name, c.url.Host, err).
		WithHint("ask who runs the pool which authority its clients need a certificate of, or leave out --direct")
}

// wantsCertificate is true if a server has ended a handshake over the client's certificate. TLS has no type for that.
func wantsCertificate(err error) bool {
	operation, ok := errors.AsType[*net.OpError](err)
	return ok && operation.Op == "remote error" && strings.Contains(operation.Err.Error(), "certificate")
}

// untrusted is a poollet whose certificate is not what was wanted.
func (c Console) untrusted(err *tls.CertificateVerificationError) error {
	hint := "take the CA that the pool's administrator hands out"
	if _, ok := errors.AsType[x509.HostnameError](err); ok {
		hint = "the certificate is for other names; another address of the pool is chosen with --" + FlagTypes
	}
	return fault.New(fault.Unavailable, "the certificate of the poollet of machine %s at %s is refused: %w", c.Name,
		c.url.Host, err.Err).WithHint("%s", hint)
}

// refused is what an answer other than a connection means, with the words that came along.
func (c Console) refused(ctx context.Context, o outcome) error {
	said := o.said
	switch o.code {
	case http.StatusOK:
		return c.unconnected(said)
	case http.StatusUnauthorized:
		if !c.direct && (o.gateway || !o.status) {
			return c.serverRefused(said)
		}
		return fault.New(fault.Unauthenticated, "%s does not accept your credentials for the console of machine %s: %s",
			c.server(), c.Name, said).
			WithHint("log in again, or choose another context with --context")
	case http.StatusForbidden:
		return c.forbidden(said)
	case http.StatusNotFound:
		return c.notFound(ctx, o)
	case http.StatusTooManyRequests:
		return fault.New(fault.Unavailable, "%s has too many sessions to open the console of machine %s: %s",
			c.server(), c.Name, said).
			WithHint("try again in %s", wait(o.retryAfter))
	case http.StatusBadRequest, http.StatusConflict, http.StatusUnprocessableEntity:
		return fault.New(fault.Failed, "%s refuses to open the console of machine %s: %s", c.server(), c.Name, said).
			WithHint("see `kubectl describe machine %s --namespace %s`", c.Name, c.Namespace)
	}
	return fault.New(fault.Unavailable, "%s cannot open the console of machine %s: %s", c.server(), c.Name, said).
		WithHint("try again in %s; if it stays so, ask who runs the machines", wait(o.retryAfter))
}

// unconnected is an answer that is no refusal and no connection either: that of a poollet which does not know who asks.
func (c Console) unconnected(said string) error {
	f := fault.New(fault.Unavailable, "%s has answered without opening the console of machine %s: %s", c.server(),
		c.Name, said)
	if c.direct {
		return f.WithHint("a poollet answers so where it does not know a client certificate: choose another context " +
			"with --context, or leave out --direct; if it stays so, ask who runs the machines")
	}
	return f.WithHint("a poollet answers so where it does not know the client certificate of the API server: " +
		"ask who runs the machines")
}

// isOfServer is true for the words with which an API server refuses a request itself.
func isOfServer(said string) bool { return strings.Contains(said, " is forbidden: ") }

func (c Console) forbidden(said string) error {
	switch {
	case c.direct:
		return fault.New(fault.PermissionDenied, "you may not open the console of machine %s at the poollet: %s",
			c.Name, said).
			WithHint("%s; or leave out --direct", rbac.PoolHint())
	case !isOfServer(said):
		return c.serverRefused(said)
	}
	return fault.New(fault.PermissionDenied, "you may not %s: %s", c.call(), said).
		WithHint("ask for a Role in namespace %q with verb %q on %q; `berth help rbac` lists the Roles of all commands",
			c.Namespace, "create", named("machines/exec"))
}

// serverRefused is an API server that the poollet does not let in. No login and no Role of the user changes that.
func (c Console) serverRefused(said string) error {
	return fault.New(fault.Unavailable, "the API server may not open the console of machine %s at its poollet: %s",
		c.Name, said).
		WithHint("it is not about your permissions: ask who runs the machines whether the poollet takes the client "+
			"certificate of the API server, and whether its user may get and create %s", named("machinepools/proxy"))
}

func (c Console) notFound(ctx context.Context, o outcome) error {
	said := o.said
	switch {
	case !o.status: // a runtime's, or that of an API server that serves no such path
		if !c.direct && !c.served(ctx) {
			return notServed(errors.New(said))
		}
		return fault.New(fault.Unavailable, "the runtime of machine %s does not know the URL of the session: %s",
			c.Name, said).
			WithHint("such a URL works once, for a minute: enter the machine again")
	case strings.Contains(said, named("machinepools")+` "`):
		return fault.New(fault.NotFound, "the pool of machine %s does not exist: %s", c.Name, said).
			WithHint("the machine refers to it; ask who runs the machines")
	case !exec.Means(said, "machine", c.Name):
		return fault.New(fault.NotFound, "what the console of machine %s takes is not there: %s", c.Name, said).
			WithHint("that is not the machine that you have named; ask who runs the machines")
	case c.direct:
		return fault.New(fault.NotFound, "the poollet does not have machine %s of namespace %s: %s", c.Name,
			c.Namespace, said).
			WithHint("the machine may just have moved: see `kubectl get machine %s --namespace %s`", c.Name,
				c.Namespace)
	}
	return fault.New(fault.NotFound, "the console of machine %s in namespace %s cannot be found: %s", c.Name,
		c.Namespace, said).
		WithHint("see `kubectl get machines --namespace %s`, or choose another namespace with --namespace", c.Namespace)
}

// served asks whether the API server knows machines at all; true if that cannot be found out.
func (c Console) served(ctx context.Context) bool {
	client, err := rest.HTTPClientFor(c.config)
	if err != nil {
		return true
	}
	at := *c.url
	at.RawQuery, at.Path = "", strings.TrimSuffix(at.Path, Path(c.Namespace, c.Name))+"/apis/"+Group+"/"+Version
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, at.String(), http.NoBody)
	if err != nil {
		return true
	}
	answer, err := client.Do(request)
	if err != nil {
		return true
	}
	_ = answer.Body.Close()
	return answer.StatusCode != http.StatusNotFound
}

// server is who answers.
func (c Console) server() string {
	if c.direct {
		return "the poollet at " + c.url.Host
	}
	return "the API server"
}

func (c Console) call() kube.Call {
	return kube.Call{Verb: "create", Resource: named("machines/exec"), Namespace: c.Namespace, Name: c.Name}
}

// words are what the server says, without what client-go puts in front of them.
func words(err error) string {
	return strings.TrimSpace(strings.TrimPrefix(err.Error(), "unable to upgrade connection: "))
}

// wait is how long a server asks to wait.
func wait(retryAfter string) string {
	if retryAfter == "" {
		return "a while"
	}
	return retryAfter + " s"
}
