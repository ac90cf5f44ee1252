// Package certificate makes the certificates of what a bundle serves to the API server, and renews them. Objects say by
// annotations what is to be filled in when they are applied, so that no record of a bundle has a key.
package certificate

import (
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/berthdev/berth/internal/kube"
)

// annotationHosts is on a Secret: the names that its certificate is for, with commas between them.
const annotationHosts = "berth.dev/certificate-hosts"

// The keys of a Secret.
const (
	keyCertificate = "tls.crt"
	keyKey         = "tls.key"
	keyCA          = "ca.crt"
)

// Secret is one for a certificate for some names, which is made when it is applied.
func Secret(namespace, name string, hosts []string) map[string]any {
	return map[string]any{
		"apiVersion": "v1", "kind": "Secret", "type": "kubernetes.io/tls",
		"metadata": map[string]any{
			"name": name, "namespace": namespace,
			"annotations": map[string]any{annotationHosts: strings.Join(hosts, ",")},
		},
		"data": map[string]any{keyCertificate: "", keyKey: "", keyCA: ""},
	}
}

// From notes in an object that it has to do with the certificate in a Secret: configurations of webhooks, definitions
// and API services trust its CA, and a deployment serves with it.
func From(object map[string]any, namespace, secret string) map[string]any {
	_ = unstructured.SetNestedField(object, namespace+"/"+secret, "metadata", "annotations", kube.AnnotationCertificate)
	return object
}

// reference names a Secret.
type reference struct{ namespace, name string }

// Has is true for a Secret for a certificate.
func Has(object *unstructured.Unstructured) bool { return madeFor(object) != nil }

// Ends says when the certificate of a Secret of the cluster ends, and from when on it is renewed; false if it has none
// that can be read.
func Ends(secret *unstructured.Unstructured) (ends, renewed time.Time, ok bool) {
	text, _, _ := unstructured.NestedString(secret.Object, "data", keyCertificate)
	data, _ := base64.StdEncoding.DecodeString(text)
	block, _ := pem.Decode(data)
	if block == nil {
		return ends, renewed, false
	}
	c, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return ends, renewed, false
	}
	return c.NotAfter.UTC(), due(c).UTC(), true
}

// madeFor are the names that the certificate of a Secret is for; none if it is not one of those.
func madeFor(object *unstructured.Unstructured) []string {
	hosts := object.GetAnnotations()[annotationHosts]
	if hosts == "" || object.GetKind() != "Secret" || object.GetAPIVersion() != "v1" {
		return nil
	}
	return strings.Split(hosts, ",")
}

// from is the Secret of the certificate that an object has to do with.
func from(object *unstructured.Unstructured) (secret reference, ok bool) {
	namespace, name, ok := strings.Cut(object.GetAnnotations()[kube.AnnotationCertificate], "/")
	return reference{namespace, name}, ok
}

// bundlesOf are the places in an object where the CA is.
func bundlesOf(object *unstructured.Unstructured) (configs []map[string]any) {
	field := func(fields map[string]any, path ...string) map[string]any {
		for _, name := range path {
			fields, _ = fields[name].(map[string]any)
		}
		return fields
	}
	switch object.GetKind() {
	case "ValidatingWebhookConfiguration", "MutatingWebhookConfiguration":
		hooks, _ := object.Object["webhooks"].([]any)
		for _, hook := range hooks {
			fields, _ := hook.(map[string]any)
			configs = append(configs, field(fields, "clientConfig"))
		}
	case "CustomResourceDefinition":
		configs = append(configs, field(object.Object, "spec", "conversion", "webhook", "clientConfig"))
	case "APIService":
		configs = append(configs, field(object.Object, "spec"))
	}
	kept := configs[:0]
	for _, config := range configs {
		if config["service"] != nil {
			kept = append(kept, config)
		}
	}
	return kept
}
