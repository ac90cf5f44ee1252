package operator

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/berthdev/berth/internal/bundle/certificate"
)

// server is a deployment that serves webhooks or APIs, behind a service and with a certificate of its own.
type server struct {
	*deployment
	service, secret string
	ports           []servedPort
	apis            []description
}

// servedPort is a port of the service, and where the deployment listens.
type servedPort struct {
	number int32
	target intstr.IntOrString
}

// defaultPort is where a webhook or an API is served that does not say it.
const defaultPort = 443

// serving finds the deployments that serve something, and says what is wrong with what they serve.
func (r *reading) serving() {
	for _, w := range r.Spec.Webhooks {
		what := strings.TrimSpace(w.Type + " " + w.GenerateName)
		r.checkWebhook(what, w)
		target := intstr.FromInt32(w.port())
		if w.TargetPort != nil {
			target = *w.TargetPort
		}
		r.serve(what, w.DeploymentName, servedPort{w.port(), target})
	}
	r.checkUnique()
	for _, api := range r.Spec.APIServices.Owned {
		what := fmt.Sprintf("API %s/%s", api.Group, api.Version)
		if len(validation.IsDNS1123Subdomain(api.Group)) > 0 || len(validation.IsDNS1035Label(api.Version)) > 0 {
			r.problem("invalid group or version of %s", what)
		}
		port := cmp.Or(api.ContainerPort, defaultPort)
		if s := r.serve(what, api.DeploymentName, servedPort{port, intstr.FromInt32(port)}); s != nil {
			s.apis = append(s.apis, api)
		}
	}
}

func (w *webhook) port() int32 { return cmp.Or(w.ContainerPort, defaultPort) }

// serve notes that a deployment serves something at a port.
func (r *reading) serve(what, deploymentName string, port servedPort) *server {
	s := r.serverOf(deploymentName)
	if s == nil {
		all := r.Spec.Install.Spec.Deployments
		i := slices.IndexFunc(all, func(d deployment) bool { return d.Name == deploymentName })
		if i < 0 || deploymentName == "" {
			r.problem("%s: the %s has no deployment %q", what, Kind, deploymentName)
			return nil
		}
		service := shorten(strings.ReplaceAll(deploymentName, ".", "-")+"-service", validation.DNS1035LabelMaxLength)
		s = &server{deployment: &all[i], service: service, secret: service + "-cert"}
		if len(s.selector()) == 0 {
			r.problem("%s: deployment %q has no spec.selector.matchLabels", what, deploymentName)
		}
		r.servers = append(r.servers, s)
	}
	switch at := slices.IndexFunc(s.ports, func(p servedPort) bool { return p.number == port.number }); {
	case at < 0:
		s.ports = append(s.ports, port)
	case s.ports[at] != port:
		r.problem("%s: port %d of deployment %q leads to %s and to %s", what, port.number, deploymentName,
			s.ports[at].target.String(), port.target.String())
	}
	return s
}

// serverOf is the server of a deployment; nil if it serves nothing.
func (r *reading) serverOf(deployment string) *server {
	for _, s := range r.servers {
		if s.Name == deployment {
			return s
		}
	}
	return nil
}

// selector is what the pods of a deployment are found by.
func (s *server) selector() map[string]any {
	labels, _, _ := unstructured.NestedMap(s.Spec, "selector", "matchLabels")
	return labels
}

// account is the service account of a deployment.
func (s *server) account() string {
	account, _, _ := unstructured.NestedString(s.Spec, "template", "spec", "serviceAccountName")
	return cmp.Or(account, "default")
}

// endpoints are the services, and the Secrets of their certificates: these are made when the objects are applied.
func (r *reading) endpoints() (objects []map[string]any) {
	for _, s := range r.servers {
		service := plainObject("v1", "Service", r.namespace, s.service)
		var ports []any
		for _, p := range s.ports {
			ports = append(ports, map[string]any{
				"name": strconv.Itoa(int(p.number)), "port": int64(p.number), "targetPort": generic(p.target),
			})
		}
		service["spec"] = map[string]any{"ports": ports, "selector": s.selector()}
		objects = append(objects, service, certificate.Secret(r.namespace, s.secret, []string{
			s.service + "." + r.namespace + ".svc", s.service + "." + r.namespace + ".svc.cluster.local",
			s.service + "." + r.namespace, s.service,
		}))
	}
	return objects
}

// registrations tell the API server about what is served.
func (r *reading) registrations() (objects []map[string]any) {
	for i := range r.Spec.Webhooks {
		w := &r.Spec.Webhooks[i]
		if s := r.serverOf(w.DeploymentName); s != nil && w.Type != conversion {
			objects = append(objects, r.configuration(w, s))
		}
	}
	seen := map[string]bool{}
	for _, s := range r.servers {
		for _, api := range s.apis {
			name := api.Version + "." + api.Group
			if seen[name] {
				continue // another kind of the same API
			}
			seen[name] = true
			objects = append(objects, r.apiService(name, api, s))
		}
		if len(s.apis) > 0 {
			// What serves an API asks the API server who its callers are, and what they may do.
			objects = append(objects,
				r.binding("ClusterRole", "system:auth-delegator", "", s.service+"-"+r.namespace+"-auth-delegator",
					s.account()),
				r.binding("Role", "extension-apiserver-authentication-reader", "kube-system",
					s.service+"-"+r.namespace+"-auth-reader", s.account()))
		}
	}
	return objects
}

// The priorities of an API that an operator serves, as the Operator Lifecycle Manager sets them.
const (
	groupPriority   = 2000
	versionPriority = 20
)

func (r *reading) apiService(name string, api description, s *server) map[string]any {
	object := plainObject("apiregistration.k8s.io/v1", "APIService", "", name)
	object["spec"] = map[string]any{
		"group": api.Group, "version": api.Version,
		"groupPriorityMinimum": int64(groupPriority), "versionPriority": int64(versionPriority),
		"service": map[string]any{
			"name": s.service, "namespace": r.namespace, "port": int64(cmp.Or(api.ContainerPort, defaultPort)),
		},
	}
	return certificate.From(object, r.namespace, s.secret)
}

// beside are the objects beside the description, in the namespace of the operator, whatever they say: the definitions
// know what converts their objects, and what is made of the description is not there twice.
func (r *reading) beside() (all []Other) {
	for i, object := range r.others {
		if s := r.madeTwice(object); s != "" {
			r.warn("%s %s of the bundle is left out: the %s stands for one of that name", object.GetKind(), s, Kind)
			continue
		}
		if was := object.GetNamespace(); was != "" && was != r.namespace {
			r.warn("%s %s is installed in namespace %s, where the operator runs, and not in %s", object.GetKind(),
				object.GetName(), r.namespace, was)
			object = object.DeepCopy()
			object.SetNamespace(r.namespace)
		}
		if object.GetKind() == "CustomResourceDefinition" {
			object = r.converted(object)
		}
		all = append(all, Other{object, i})
	}
	return all
}

// madeTwice is the name of an object that is also made of the description; empty for any other.
func (r *reading) madeTwice(object *unstructured.Unstructured) string {
	for _, s := range r.servers {
		switch name := object.GetName(); {
		case object.GroupVersionKind().Group != "":
		case object.GetKind() == "Service" && name == s.service, object.GetKind() == "Secret" && name == s.secret:
			return name
		}
	}
	return ""
}
