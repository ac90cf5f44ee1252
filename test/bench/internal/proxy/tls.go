package proxy

import (
	"crypto/tls"

	"k8s.io/client-go/util/cert"
)

// selfSigned is a certificate for this host that lives as long as the proxy,
// and its own authority.
func selfSigned() (*tls.Config, []byte, error) {
	certificate, key, err := cert.GenerateSelfSignedCertKey("127.0.0.1", nil, nil)
	if err != nil {
		return nil, nil, err
	}
	pair, err := tls.X509KeyPair(certificate, key)
	if err != nil {
		return nil, nil, err
	}
	config := &tls.Config{
		Certificates: []tls.Certificate{pair},
		NextProtos:   []string{"h2", "http/1.1"},
		MinVersion:   tls.VersionTLS12,
	}
	return config, certificate, nil
}
