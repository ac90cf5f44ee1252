package machine

import (
	"cmp"
	"context"
	"crypto/x509"
	"net/url"
	"os"

	"k8s.io/client-go/rest"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
)

// The flags that say how the certificate of a poollet is verified, and at which of its addresses it is reached.
const (
	FlagTypes    = "address-types"
	FlagCA       = "poollet-ca"
	FlagInsecure = "insecure-skip-tls-verify-backend"
)

// Trust says how the certificate of a poollet is verified: with the authorities of a
// file, and no others. It is never left out silently.
type Trust struct {
	CAFile   string
	Insecure bool
}

// Check refuses what does not say how.
func (t Trust) Check() error {
	switch {
	case t.CAFile == "" && !t.Insecure:
		return fault.New(fault.InvalidArgument, "the certificate of the poollet cannot be verified without its CA").
			WithHint("name the file of the CA that the pool's administrator hands out with --%s; --%s connects "+
				"without verifying it", FlagCA, FlagInsecure)
	case t.CAFile != "" && t.Insecure:
		return fault.New(fault.InvalidArgument, "--%s and --%s are mutually exclusive", FlagCA, FlagInsecure).
			WithHint("leave out --%s", FlagInsecure)
	}
	return nil
}

// Direct is the console at the poollet of the machine's pool, which gets the
// credentials of the caller. Nothing is read before it is certain that it may.
func Direct(ctx context.Context, client *kube.Client, name string, types []AddressType, trust Trust) (Console, error) {
	config, err := forPoollet(client.Config, trust)
	if err != nil {
		return Console{}, err
	}
	at, err := Locate(ctx, InCluster(client), client.Namespace, name, types)
	if err != nil {
		return Console{}, err
	}
	return direct(client.Namespace, name, config, at), nil
}

func direct(namespace, name string, config *rest.Config, at *url.URL) Console {
	config.Host = at.Scheme + "://" + at.Host
	return Console{Namespace: namespace, Name: name, config: config, url: at, direct: true}
}

// forPoollet is the configuration to reach a poollet with, wherever it is.
func forPoollet(of *rest.Config, trust Trust) (*rest.Config, error) {
	if err := trust.Check(); err != nil {
		return nil, err
	}
	config, err := credentials(of)
	if err != nil {
		return nil, err
	}
	if config.Insecure = trust.Insecure; !trust.Insecure {
		config.CAData, err = authorities(trust.CAFile)
	}
	return config, err
}

// authorities reads the certificates of a file.
func authorities(file string) ([]byte, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fault.New(fault.InvalidArgument, "--%s: %w", FlagCA, err)
	}
	if !x509.NewCertPool().AppendCertsFromPEM(text) {
		return nil, fault.New(fault.InvalidArgument, "--%s: %s has no certificate in PEM", FlagCA, file).
			WithHint("take the file that the pool's administrator hands out")
	}
	return text, nil
}

// credentials are those of the kubeconfig that a poollet can ask the API server about: a token, a client certificate,
// or a plugin that has either. What is about the API server alone stays behind: its CA and name, its proxy, a password.
func credentials(of *rest.Config) (*rest.Config, error) {
	if of.Impersonate.UserName != "" {
		return nil, fault.New(fault.InvalidArgument, "--direct cannot be used as another user (--as)").
			WithHint("leave out --as: a poollet knows only whose credentials it is sent; or leave out --direct")
	}
	if cmp.Or(of.BearerToken, of.BearerTokenFile, of.CertFile, string(of.CertData)) == "" && of.ExecProvider == nil {
		return nil, fault.New(fault.Unauthenticated,
			"the kubeconfig has no token and no client certificate that the poollet could be sent").
			WithHint("choose another context with --context, or leave out --direct")
	}
	return &rest.Config{
		UserAgent:   of.UserAgent,
		BearerToken: of.BearerToken, BearerTokenFile: of.BearerTokenFile, ExecProvider: of.ExecProvider,
		TLSClientConfig: rest.TLSClientConfig{
			CertFile: of.CertFile, CertData: of.CertData, KeyFile: of.KeyFile,
			KeyData: of.KeyData,
		},
	}, nil
}
