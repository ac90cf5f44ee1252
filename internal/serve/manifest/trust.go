package manifest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// Pair is a certificate with its key, and the CA to hand out, in PEM.
type Pair struct{ CA, Cert, Key []byte }

// PairFor is how long a certificate is good that is made here. There is nobody who renews it: the manifests are printed
// and applied again.
const PairFor = 2 * 365 * 24 * time.Hour

// KeyCA is the key under which a ConfigMap has the CA.
const KeyCA = "ca.crt"

// ConfigMapCA is the ConfigMap that has the CA of a role.
func ConfigMapCA(role string) string { return "berth-" + role + "-ca" }

// NewPair makes a certificate for some names and IP addresses. The key of its CA is thrown away: it signs nothing else.
func NewPair(names []string, now time.Time) (Pair, error) {
	ca := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "CA of " + names[0]}, NotBefore: now.Add(-time.Hour),
		NotAfter: now.Add(PairFor),
		IsCA:     true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	leaf := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: names[0]}, NotBefore: ca.NotBefore, NotAfter: ca.NotAfter,
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	leaf.DNSNames, leaf.IPAddresses = apart(names)
	caKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return Pair{}, fmt.Errorf("make a key: %w", err)
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return Pair{}, fmt.Errorf("make a key: %w", err)
	}
	caDER, err := x509.CreateCertificate(rand.Reader, ca, ca, &caKey.PublicKey, caKey)
	if err != nil {
		return Pair{}, fmt.Errorf("make a CA: %w", err)
	}
	der, err := x509.CreateCertificate(rand.Reader, leaf, ca, &key.PublicKey, caKey)
	if err != nil {
		return Pair{}, fmt.Errorf("make a certificate: %w", err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return Pair{}, fmt.Errorf("write a key: %w", err)
	}
	return Pair{CA: block("CERTIFICATE", caDER), Cert: block("CERTIFICATE", der), Key: block("PRIVATE KEY", secret)}, nil
}

// apart are the names, and the IP addresses among them.
func apart(hosts []string) (names []string, addresses []net.IP) {
	for _, host := range hosts {
		if address := net.ParseIP(host); address != nil {
			addresses = append(addresses, address)
		} else {
			names = append(names, host)
		}
	}
	return names, addresses
}

func block(kind string, content []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: content})
}

// keyKubeconfig is the key under which a Secret has a kubeconfig.
const keyKubeconfig = "kubeconfig"

// SecretKubeconfig is the Secret that has the kubeconfig of a role.
func SecretKubeconfig(role string) string { return "berth-" + role + "-target" }

// keyConfiguration is the key under which a Secret has a configuration.
const keyConfiguration = "config.yaml"

// SecretConfiguration is the Secret that has the configuration of a role.
func SecretConfiguration(role string) string { return "berth-" + role + "-configuration" }

// annotationTarget is a digest of the kubeconfig, on pods. A process reads it once: one that is applied with another
// kubeconfig is replaced.
const annotationTarget = "berth.dev/target"

func (o Options) annotations() map[string]string {
	if len(o.Kubeconfig) == 0 {
		return nil
	}
	return map[string]string{annotationTarget: fmt.Sprintf("%x", sha256.Sum256(o.Kubeconfig))[:16]}
}

func (r Role) secretName() string      { return r.objectName() + "-tls" }
func (r Role) authoritiesName() string { return r.objectName() + "-authorities" }

// trust is what makes the role's certificate, and whom it believes itself.
func (r Role) trust(o Options) (objects []runtime.Object) {
	if len(o.Authorities) > 0 {
		objects = append(objects, &corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Name: r.authoritiesName(), Namespace: o.Namespace, Labels: r.labels()},
			Data:       map[string]string{KeyCA: string(o.Authorities)},
		})
	}
	if len(o.Kubeconfig) > 0 {
		objects = append(objects, &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Name: SecretKubeconfig(r.Name), Namespace: o.Namespace, Labels: r.labels()},
			StringData: map[string]string{keyKubeconfig: string(o.Kubeconfig)},
		})
	}
	if len(o.Configuration) > 0 {
		objects = append(objects, &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Name: SecretConfiguration(r.Name), Namespace: o.Namespace, Labels: r.labels()},
			StringData: map[string]string{keyConfiguration: string(o.Configuration)},
		})
	}
	if o.Issuer != "" {
		return append(objects, r.certificate(o))
	}
	return append(objects, r.pair(o)...)
}

// pair is a Secret with a certificate, and the CA for those who ask the role.
func (r Role) pair(o Options) []runtime.Object {
	meta := metav1.ObjectMeta{Name: r.secretName(), Namespace: o.Namespace, Labels: r.labels()}
	public := meta
	public.Name = ConfigMapCA(r.Name)
	return []runtime.Object{
		&corev1.Secret{ObjectMeta: meta, Type: corev1.SecretTypeTLS, StringData: map[string]string{
			corev1.TLSCertKey: string(o.Pair.Cert), corev1.TLSPrivateKeyKey: string(o.Pair.Key),
		}},
		&corev1.ConfigMap{ObjectMeta: public, Data: map[string]string{KeyCA: string(o.Pair.CA)}},
	}
}

func (r Role) certificate(o Options) *unstructured.Unstructured {
	kind, name, divided := strings.Cut(o.Issuer, "/")
	if !divided {
		kind, name = "ClusterIssuer", o.Issuer
	}
	hosts, addresses := apart(append(r.Hosts(o.Namespace), o.Hosts...))
	spec := map[string]any{
		"secretName": r.secretName(), "dnsNames": values(hosts), "usages": []any{"digital signature", "server auth"},
		"issuerRef":  map[string]any{"group": "cert-manager.io", "kind": kind, "name": name},
		"privateKey": map[string]any{"algorithm": "ECDSA", "size": int64(256), "rotationPolicy": "Always"},
	}
	if len(addresses) > 0 {
		spec["ipAddresses"] = values(addresses)
	}
	certificate := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "cert-manager.io/v1",
		"kind":       "Certificate", "spec": spec,
	}}
	certificate.SetName(r.secretName())
	certificate.SetNamespace(o.Namespace)
	certificate.SetLabels(r.labels())
	return certificate
}

// values are texts as a document has them.
func values[T any](all []T) []any {
	texts := make([]any, len(all))
	for i, v := range all {
		texts[i] = fmt.Sprint(v)
	}
	return texts
}
