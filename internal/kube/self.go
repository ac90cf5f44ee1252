package kube

import (
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"os"
	"strings"

	"k8s.io/client-go/rest"
)

// Self is the user name in the credentials: who is impersonated, or the subject of
// the certificate or of the token. It is a guess, made without a request, to choose
// what to ask first; the API server decides. It is empty if the credentials do not
// say, as with a login program.
func Self(config *rest.Config) string {
	if config == nil {
		return ""
	}
	if config.Impersonate.UserName != "" {
		return config.Impersonate.UserName
	}
	if certificate := content(config.CertData, config.CertFile); certificate != nil {
		return certificateName(certificate)
	}
	return tokenName(string(content([]byte(config.BearerToken), config.BearerTokenFile)))
}

// tokenFile is where a pod has the token of its ServiceAccount.
const tokenFile = "/var/run/secrets/kubernetes.io/serviceaccount/token"

// InPod is true for the client of a process that logs in as the ServiceAccount of its pod.
func (c *Client) InPod() bool { return c.Config != nil && c.Config.BearerTokenFile == tokenFile }

func content(data []byte, file string) []byte {
	if len(data) > 0 || file == "" {
		return data
	}
	data, _ = os.ReadFile(file) // the client that uses it reports the error
	return data
}

func certificateName(text []byte) string {
	block, _ := pem.Decode(text)
	if block == nil {
		return ""
	}
	certificate, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return ""
	}
	return certificate.Subject.CommonName
}

// tokenName reads the subject of a JSON Web Token, without verifying it.
func tokenName(token string) string {
	parts := strings.Split(strings.TrimSpace(token), ".")
	if len(parts) != 3 {
		return ""
	}
	text, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil {
		return ""
	}
	var claims struct {
		Subject string `json:"sub"`
	}
	_ = json.Unmarshal(text, &claims) // then there is no subject
	return claims.Subject
}
