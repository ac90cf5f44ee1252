package operator

import (
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/berthdev/berth/internal/bundle/certificate"
)

// targetNamespaces is the annotation by which an operator knows which namespaces it watches. Empty means all.
const targetNamespaces = "olm.targetNamespaces"

// Watched are the namespaces that an operator watches, by its objects; none are all, and false is no operator.
func Watched(objects []*unstructured.Unstructured) (namespaces []string, is bool) {
	for _, object := range objects {
		text, found, _ := unstructured.NestedString(object.Object, "spec", "template", "metadata", "annotations",
			targetNamespaces)
		if object.GetKind() == "Deployment" && found {
			return strings.FieldsFunc(text, func(r rune) bool { return r == ',' }), true
		}
	}
	return nil, false
}

// deployments are the operator's, whose pods have the annotations of the description and know what to watch.
func (r *reading) deployments() (objects []map[string]any) {
	for _, d := range r.Spec.Install.Spec.Deployments {
		object := plainObject("apps/v1", "Deployment", r.namespace, d.Name)
		if len(d.Label) > 0 {
			_ = unstructured.SetNestedStringMap(object, d.Label, "metadata", "labels")
		}
		spec := d.Spec
		if spec == nil {
			spec = map[string]any{}
		}
		object["spec"] = spec
		annotations := map[string]any{}
		for key, value := range r.Metadata.Annotations {
			annotations[key] = value
		}
		own, _, _ := unstructured.NestedMap(spec, "template", "metadata", "annotations")
		maps.Copy(annotations, own)
		annotations[targetNamespaces] = strings.Join(r.watch, ",")
		_ = unstructured.SetNestedMap(spec, annotations, "template", "metadata", "annotations")
		if s := r.serverOf(d.Name); s != nil {
			s.mount(spec)
			certificate.From(object, r.namespace, s.secret)
		}
		objects = append(objects, object)
	}
	return objects
}

// volume is where the containers of a deployment find its certificate.
type volume struct{ name, path, certificate, key string }

// volumes are those that the Operator Lifecycle Manager gives to a deployment that serves: one for the programs that
// look where an API server does, one for those that look where a webhook does.
func volumes() []volume {
	return []volume{
		{"apiservice-cert", "/apiserver.local.config/certificates", "apiserver.crt", "apiserver.key"},
		{"webhook-cert", "/tmp/k8s-webhook-server/serving-certs", "tls.crt", "tls.key"},
	}
}

// mount puts the certificate into every container of a deployment. A volume that is mounted at one of the places is
// left out: it is of a certificate that something else would have to make.
func (s *server) mount(spec map[string]any) {
	pod, _, _ := unstructured.NestedMap(spec, "template", "spec")
	if pod == nil {
		return // it is no deployment, which the cluster says
	}
	replaced := map[string]bool{}
	for _, v := range volumes() {
		replaced[v.name] = true
	}
	for _, container := range list(pod["containers"]) {
		for _, mount := range list(container["volumeMounts"]) {
			if isPlace(mount["mountPath"]) {
				replaced[textOf(mount["name"])] = true
			}
		}
	}
	isReplaced := func(v any) bool {
		fields, ok := v.(map[string]any)
		return ok && replaced[textOf(fields["name"])]
	}
	kept, _ := pod["volumes"].([]any)
	kept = slices.DeleteFunc(kept, isReplaced)
	for _, v := range volumes() {
		kept = append(kept, map[string]any{"name": v.name, "secret": map[string]any{
			"secretName": s.secret,
			"items": []any{
				map[string]any{"key": "tls.crt", "path": v.certificate},
				map[string]any{"key": "tls.key", "path": v.key},
			},
		}})
	}
	pod["volumes"] = kept
	for _, kind := range []string{"containers", "initContainers"} {
		for _, container := range list(pod[kind]) {
			mounts, _ := container["volumeMounts"].([]any)
			mounts = slices.DeleteFunc(mounts, func(v any) bool {
				fields, ok := v.(map[string]any)
				return ok && (isPlace(fields["mountPath"]) || replaced[textOf(fields["name"])])
			})
			if kind == "containers" {
				for _, v := range volumes() {
					mounts = append(mounts, map[string]any{"name": v.name, "mountPath": v.path})
				}
			}
			if mounts != nil {
				container["volumeMounts"] = mounts
			}
		}
	}
	_ = unstructured.SetNestedMap(spec, pod, "template", "spec")
}

// isPlace is true for a path at which a certificate is mounted.
func isPlace(path any) bool {
	at := strings.TrimRight(textOf(path), "/")
	return slices.ContainsFunc(volumes(), func(v volume) bool { return v.path == at })
}

// textOf is a value if it is a text.
func textOf(v any) string {
	text, _ := v.(string)
	return text
}

// list are the mappings of a list.
func list(v any) (items []map[string]any) {
	all, _ := v.([]any)
	for _, item := range all {
		if fields, ok := item.(map[string]any); ok {
			items = append(items, fields)
		}
	}
	return items
}
