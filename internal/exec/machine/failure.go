package machine

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net/http"
	"strings"

	"github.com/berthdev/berth/internal/exec"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/rbac"
)

// failure says what kept a session from beginning, or from coming to its end.
func (c Console) failure(err error, o outcome) error {
	if f, ok := errors.AsType[*fault.Error](err); ok {
		return f
	}
	if o.code != 0 && o.code != http.StatusSwitchingProtocols {
		return c.refused(o)
	}
	if exec.IsLost(err) {
		return fault.New(fault.Unavailable, "the connection to the console of machine %s was lost: %w", c.Name, err).
			WithHint("what runs on the machine goes on; enter it again")
	}
	if o.code == http.StatusSwitchingProtocols {
		return fault.New(fault.Unavailable, "the session with the console of machine %s has ended: %s", c.Name, o.said).
			WithHint("enter it again; if it stays so, ask who runs the machines")
	}
	if certificate, ok := errors.AsType[*tls.CertificateVerificationError](err); ok && c.direct {
		return c.untrusted(certificate)
	}
	if !c.direct {
		return kube.Fault(err, c.call())
	}
	return fault.New(fault.Unavailable, "the poollet of machine %s at %s cannot be reached: %w", c.Name, c.url.Host,
		err).
		WithHint("check the network from here to there, or leave out --direct; another address of the pool is chosen " +
			"with --address-types")
}

// untrusted is a poollet whose certificate is not what was wanted.
func (c Console) untrusted(err *tls.CertificateVerificationError) error {
	hint := "take the CA that the pool's administrator hands out"
	if _, ok := errors.AsType[x509.HostnameError](err); ok {
		hint = "the certificate is for other names; another address of the pool is chosen with --address-types"
	}
	return fault.New(fault.Unavailable, "the certificate of the poollet of machine %s at %s is refused: %w", c.Name,
		c.url.Host, err.Err).WithHint("%s", hint)
}

// refused is what an answer other than a connection means, with the words that came along.
func (c Console) refused(o outcome) error {
	said := o.said
	switch o.code {
	case http.StatusUnauthorized:
		return fault.New(fault.Unauthenticated, "%s does not accept your credentials for the console of machine %s: %s",
			c.server(), c.Name, said).
			WithHint("log in again, or choose another context with --context")
	case http.StatusForbidden:
		return c.forbidden(said)
	case http.StatusNotFound:
		return c.notFound(said)
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

func (c Console) forbidden(said string) error {
	if c.direct {
		return fault.New(fault.PermissionDenied, "you may not open the console of machine %s at the poollet: %s",
			c.Name, said).
			WithHint("%s; or leave out --direct", rbac.PoolHint())
	}
	return fault.New(fault.PermissionDenied, "you may not %s: %s", c.call(), said).
		WithHint("ask for a Role in namespace %q with verb %q on %q; `berth help rbac` lists the Roles of all commands",
			c.Namespace, "create", named("machines/exec"))
}

func (c Console) notFound(said string) error {
	switch {
	case c.direct:
		return fault.New(fault.NotFound, "the poollet does not have machine %s of namespace %s: %s", c.Name,
			c.Namespace, said).
			WithHint("the machine may just have moved: see `kubectl get machine %s --namespace %s`", c.Name,
				c.Namespace)
	case strings.Contains(said, "page not found"):
		return notServed(errors.New(said))
	}
	return fault.New(fault.NotFound, "the console of machine %s in namespace %s cannot be found: %s", c.Name,
		c.Namespace, said).
		WithHint("see `kubectl get machines --namespace %s`, or choose another namespace with --namespace", c.Namespace)
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
