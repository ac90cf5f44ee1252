package injection

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/userstring"
)

// Parts are what a workspace puts into a workload.
type Parts struct {
	ID string
	// Lock is the mark of the lock under which they are injected; empty for none.
	Lock                        string
	Containers, InitContainers  []any
	Volumes                     []any
	Labels, TemplateAnnotations map[string]string
	// Objects are the ConfigMaps and claims that the volumes are made of.
	Objects []*unstructured.Unstructured
	// LeftOut are the volumes and containers that an injected workspace does not
	// have, by their names in the chart.
	LeftOut []string
}

// containerPodman cannot run inside a workload's pod.
const containerPodman = "k8shell-podman"

// Make takes apart what the chart renders for a workspace of its own. Names get the
// canonical ID in front. What is backed by a Secret is left out: the owner of the
// workspace is not the only reader of the workload's namespace.
func Make(id string, into Workload, objects []*unstructured.Unstructured) (Parts, error) {
	p := Parts{ID: id}
	pod := kube.OfKind(objects, "Pod")
	if pod == nil {
		return p, fault.New(fault.Internal, "the chart has no pod to inject")
	}
	p.Labels = labels.Merge(map[string]string{
		kube.LabelInjected:     "true",
		kube.LabelWorkloadKind: kube.LabelValue(into.Kind),
		kube.LabelWorkloadName: kube.LabelValue(into.Name),
	}, pod.GetLabels())
	p.TemplateAnnotations = map[string]string{
		kube.AnnotationUserString: pod.GetAnnotations()[kube.AnnotationUserString],
	}
	spec, _ := runtime.DeepCopyJSON(pod.Object)["spec"].(map[string]any)
	gone := map[string]bool{} // volumes
	for _, volume := range list(spec, "volumes") {
		if secret(volume) {
			gone[nameOf(volume)] = true
			p.LeftOut = append(p.LeftOut, nameOf(volume))
		}
	}
	used := map[string]bool{}
	p.Containers = p.take(list(spec, "containers"), gone, used)
	p.InitContainers = p.take(list(spec, "initContainers"), gone, used)
	for _, volume := range list(spec, "volumes") {
		if v, ok := volume.(map[string]any); ok && used[nameOf(v)] {
			p.Objects = append(p.Objects, p.behind(v, objects)...)
			v["name"] = kube.Name(id, nameOf(v))
			p.Volumes = append(p.Volumes, v)
		}
	}
	if strict, ok := pod.GetAnnotations()[kube.AnnotationStrictScripts]; ok {
		p.TemplateAnnotations[kube.AnnotationStrictScripts] = strict
	}
	return p, nil
}

// Workload is what a workspace goes into.
type Workload struct {
	Kind string // deployment, statefulset, daemonset
	Name string
}

// take gives containers their new names, and their mounts.
func (p *Parts) take(containers []any, gone, used map[string]bool) (taken []any) {
	for _, item := range containers {
		c, ok := item.(map[string]any)
		if !ok {
			continue
		}
		if nameOf(c) == containerPodman {
			p.LeftOut = append(p.LeftOut, containerPodman)
			continue
		}
		c["name"] = kube.Name(p.ID, nameOf(c))
		for _, key := range []string{"volumeMounts", "volumeDevices"} {
			p.mounts(c, key, gone, used)
		}
		taken = append(taken, c)
	}
	return taken
}

func (p *Parts) mounts(container map[string]any, key string, gone, used map[string]bool) {
	var left []any
	for _, item := range list(container, key) {
		if mount, ok := item.(map[string]any); ok && !gone[nameOf(mount)] {
			used[nameOf(mount)] = true
			mount["name"] = kube.Name(p.ID, nameOf(mount))
			left = append(left, mount)
		}
	}
	delete(container, key)
	if len(left) > 0 {
		container[key] = left
	}
}

// behind are the objects that a volume is made of, marked as an injected
// workspace's. They are found again by their labels.
func (p *Parts) behind(volume map[string]any,
	objects []*unstructured.Unstructured,
) (found []*unstructured.Unstructured) {
	names := map[string]string{
		"ConfigMap":             text(volume, "configMap", "name"),
		"PersistentVolumeClaim": text(volume, "persistentVolumeClaim", "claimName"),
	}
	for _, object := range objects {
		if object.GetName() != names[object.GetKind()] || object.GetName() == "" {
			continue
		}
		object = object.DeepCopy()
		object.SetLabels(labels.Merge(object.GetLabels(), p.Labels))
		object.SetAnnotations(labels.Merge(object.GetAnnotations(), p.TemplateAnnotations))
		found = append(found, object)
	}
	return found
}

// userString is the user string that the pods carry.
func (p Parts) userString() string {
	return userstring.FromAnnotation(p.TemplateAnnotations[kube.AnnotationUserString])
}

// secret is true for a volume that holds a Secret.
func secret(volume any) bool {
	v, _ := volume.(map[string]any)
	if lookup(v, "secret") != nil {
		return true
	}
	return slices.ContainsFunc(list(v, "projected", "sources"), func(source any) bool {
		s, _ := source.(map[string]any)
		return lookup(s, "secret") != nil
	})
}

// hash is over everything that two injections can differ in, but for the job and for what
// berth alone makes of a failure.
func (p Parts) hash() (string, error) {
	withoutJob, annotations := maps.Clone(p.Labels), maps.Clone(p.TemplateAnnotations)
	delete(withoutJob, kube.LabelJobID)
	// What every workspace has since k8shell is to find it is no reason to inject it again.
	maps.DeleteFunc(withoutJob, func(name, value string) bool {
		return name == kube.LabelOrganization && value == "" ||
			name == kube.LabelAgentVersion && value == kube.NoVersion
	})
	delete(annotations, kube.AnnotationStrictScripts)
	if user := p.userString(); user != "" { // as berth wrote it once, so that what is injected since then is the same
		if u, err := userstring.ParseCanonical(user); err == nil {
			user = u.String() // in berth's own scheme, whichever is configured
		}
		annotations[kube.AnnotationUserString] = base64.StdEncoding.EncodeToString([]byte(user))
	}
	content := []any{p.Containers, p.InitContainers, p.Volumes, withoutJob, annotations}
	for _, o := range p.Objects {
		content = append(content, o.GetName(), o.Object["data"], o.Object["spec"])
	}
	text, err := json.Marshal(content)
	if err != nil {
		return "", fmt.Errorf("injection: %w", err)
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])[:16], nil
}
