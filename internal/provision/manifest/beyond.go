package manifest

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/volume"
)

// Values that are recorded may be anybody's, and the chart's templates take them as they
// are: a text can be more than a text. So what is checked is what they are rendered to.

// Beyond are what objects of a record have and no workspace of this chart does, or of k8shell's where the record is of
// that one: kinds, fields of the pod, volumes. Each names its field; none if the objects are those of the workspace
// with the canonical ID.
func Beyond(id string, objects []*unstructured.Unstructured, k8shells bool) (problems []string) {
	kinds := []string{"Certificate", "ConfigMap", "NetworkPolicy", "PersistentVolumeClaim", "Pod", "Service"}
	if k8shells {
		kinds = append(kinds, "CiliumNetworkPolicy")
	}
	pods := 0
	for _, object := range objects {
		kind, name := object.GetKind(), object.GetName()
		switch {
		case !slices.Contains(kinds, kind) && (!k8shells || !IsPAT(id, object)):
			problems = append(problems, fmt.Sprintf("%s %s is nothing that a workspace has", kind, name))
		case object.GetLabels()[kube.LabelCanonicalID] != kube.LabelValue(id):
			problems = append(problems, fmt.Sprintf("%s %s is not labelled as an object of workspace %s", kind, name,
				id))
		case object.GetNamespace() != "":
			problems = append(problems, fmt.Sprintf("%s %s names a namespace", kind, name))
		default:
			problems = append(problems, beyondMetadata(object)...)
			switch kind {
			case "Pod":
				pods++
				problems = append(problems, beyondPod(id, object, k8shells)...)
			case "Secret":
				problems = append(problems, beyondSecret(object)...)
			}
		}
	}
	if pods != 1 {
		problems = append(problems, fmt.Sprintf("there are %d pods", pods))
	}
	return problems
}

// beyondMetadata is what the chart gives no object beside its name, labels, and annotations of workspaces: what keeps
// it from being deleted, has it deleted with another, or has programs of the cluster do something with it. Those of a
// claim are what its blueprint says.
func beyondMetadata(object *unstructured.Unstructured) (problems []string) {
	path := fmt.Sprintf("%s %s: metadata", object.GetKind(), object.GetName())
	metadata, _ := object.Object["metadata"].(map[string]any)
	problems = unknown(path, metadata, "name", "namespace", "labels", "annotations")
	annotations, _ := metadata["annotations"].(map[string]any)
	known := []string{"meta.helm.sh/release-name", "meta.helm.sh/release-namespace"}
	switch object.GetKind() {
	case "PersistentVolumeClaim":
		return problems
	case "Pod":
		known = append(known, kube.AnnotationIdentity, kube.AnnotationManifestHash, kube.AnnotationUserString,
			kube.AnnotationUser, kube.AnnotationStrictScripts)
	}
	return append(problems, unknown(path+".annotations", annotations, known...)...)
}

// beyondSecret is what a Secret with a token for k8shell's API server does not have. Of another type, the cluster may
// put a token of its own into it.
func beyondSecret(secret *unstructured.Unstructured) (problems []string) {
	path := "Secret " + secret.GetName()
	problems = unknown(path, secret.Object, "apiVersion", "kind", "metadata", "type", "data", "stringData")
	if kind, has := secret.Object["type"]; has && kind != "" && kind != "Opaque" {
		problems = append(problems, fmt.Sprintf("%s is of type %v", path, kind))
	}
	for _, field := range []string{"data", "stringData"} {
		content, is := secret.Object[field].(map[string]any)
		if _, has := secret.Object[field]; has && !is {
			problems = append(problems, fmt.Sprintf("%s.%s has no fields", path, field))
		}
		problems = append(problems, unknown(path+"."+field, content, "token")...)
	}
	return problems
}

// beyondPod are the fields of a pod that the chart does not have.
func beyondPod(id string, pod *unstructured.Unstructured, k8shells bool) (problems []string) {
	if pod.GetName() != id {
		problems = append(problems, "the pod is named "+pod.GetName())
	}
	spec, _ := pod.Object["spec"].(map[string]any)
	problems = append(problems, unknown("spec", spec, "hostname", "subdomain", "restartPolicy",
		"automountServiceAccountToken",
		"enableServiceLinks", "terminationGracePeriodSeconds", "imagePullSecrets", "initContainers", "containers",
		"volumes")...)
	// k8shell leaves the token of the namespace's default account in its pods; another account is named nowhere.
	if spec["automountServiceAccountToken"] != false && !k8shells {
		problems = append(problems, "spec.automountServiceAccountToken is not false")
	}
	for _, field := range []string{"containers", "initContainers"} {
		for i, container := range items(spec, field) {
			problems = append(problems, beyondContainer(id, fmt.Sprintf("spec.%s[%d]", field, i), container)...)
		}
	}
	for i, volume := range items(spec, "volumes") {
		problems = append(problems, beyondVolume(id, fmt.Sprintf("spec.volumes[%d]", i), volume)...)
	}
	return problems
}

func beyondContainer(id, path string, container map[string]any) []string {
	problems := unknown(path, container, "name", "image", "imagePullPolicy", "command", "args", "ports",
		"readinessProbe", "startupProbe",
		"workingDir", "env", "securityContext", "resources", "resizePolicy", "volumeMounts")
	for i, port := range items(container, "ports") {
		problems = append(problems, unknown(fmt.Sprintf("%s.ports[%d]", path, i), port, "name", "containerPort")...)
	}
	for i, variable := range items(container, "env") {
		known := []string{"name", "value"}
		if at(variable, "valueFrom", "secretKeyRef", "name") == PATSecret(id) {
			known = append(known, "valueFrom")
		}
		problems = append(problems, unknown(fmt.Sprintf("%s.env[%d]", path, i), variable, known...)...)
	}
	for i, mount := range items(container, "volumeMounts") {
		problems = append(problems, unknown(fmt.Sprintf("%s.volumeMounts[%d]", path, i), mount, "name", "mountPath",
			"subPath", "readOnly")...)
	}
	return problems
}

func beyondVolume(id, path string, v map[string]any) []string {
	problems := unknown(path, v, "name", "configMap", "csi", "emptyDir", "persistentVolumeClaim", "secret")
	if secret, has := v["secret"].(map[string]any); has {
		name := secret["secretName"]
		if name != GitSecret(id) && name != kube.CertificateSecret(id) && name != PATSecret(id) {
			problems = append(problems, fmt.Sprintf("%s.secret.secretName is %v, which is not the workspace's", path,
				name))
		}
	}
	if csi, has := v["csi"].(map[string]any); has {
		problems = append(problems, beyondScratch(id, path+".csi", csi)...)
	}
	return problems
}

// beyondScratch are the problems of a CSI volume. A driver that is not berth's gets nothing but what is written of a
// scratch storage: what a driver does otherwise is said by attributes of its own.
func beyondScratch(id, path string, csi map[string]any) []string {
	if csi["driver"] == volume.DriverName {
		return nil
	}
	problems := unknown(path, csi, "driver", "readOnly", "volumeAttributes")
	attributes, _ := csi["volumeAttributes"].(map[string]any)
	if attributes[volume.AttributeStorage] == nil || attributes[volume.AttributeWorkspace] != id {
		return append(problems, fmt.Sprintf("%s.driver is %v, and the volume is no scratch storage of the workspace",
			path, csi["driver"]))
	}
	return append(problems, unknown(path+".volumeAttributes", attributes, volume.AttributeStorage,
		volume.AttributeWorkspace, volume.AttributeUserString, volume.AttributeAfterlife)...)
}

// BeyondBaseline are what the containers of a pod have and pod security refuses at the level
// baseline, as far as Beyond leaves it open. Each names its field.
func BeyondBaseline(objects []*unstructured.Unstructured) (problems []string) {
	pod := kube.OfKind(objects, "Pod")
	if pod == nil {
		return nil
	}
	spec, _ := pod.Object["spec"].(map[string]any)
	for _, field := range []string{"containers", "initContainers"} {
		for _, container := range items(spec, field) {
			context, _ := container["securityContext"].(map[string]any)
			for _, problem := range aboveBaseline(context) {
				problems = append(problems, fmt.Sprintf("container %v: securityContext.%s", container["name"], problem))
			}
		}
	}
	return problems
}

// aboveBaseline are the fields of a security context that the level baseline refuses.
func aboveBaseline(context map[string]any) (problems []string) {
	field := func(keys ...string) any {
		value, _, _ := unstructured.NestedFieldNoCopy(context, keys...)
		return value
	}
	refuse := func(refused bool, name string, value any) {
		if refused {
			problems = append(problems, fmt.Sprintf("%s is %v", name, value))
		}
	}
	among := func(value any, allowed ...any) bool { return value == nil || slices.Contains(allowed, value) }
	refuse(!among(field("privileged"), false), "privileged", field("privileged"))
	refuse(!among(field("procMount"), "Default"), "procMount", field("procMount"))
	refuse(!among(field("seccompProfile", "type"), "RuntimeDefault", "Localhost"), "seccompProfile.type",
		field("seccompProfile", "type"))
	refuse(!among(field("appArmorProfile", "type"), "RuntimeDefault", "Localhost"), "appArmorProfile.type",
		field("appArmorProfile", "type"))
	refuse(!among(field("seLinuxOptions", "type"), "", "container_t", "container_init_t", "container_kvm_t",
		"container_engine_t"), "seLinuxOptions.type", field("seLinuxOptions", "type"))
	refuse(!among(field("seLinuxOptions", "user"), ""), "seLinuxOptions.user", field("seLinuxOptions", "user"))
	refuse(!among(field("seLinuxOptions", "role"), ""), "seLinuxOptions.role", field("seLinuxOptions", "role"))
	refuse(field("windowsOptions") != nil, "windowsOptions", "set")
	added, _ := field("capabilities", "add").([]any)
	for _, capability := range added {
		refuse(!slices.Contains(baselineCapabilities(), strings.TrimPrefix(fmt.Sprint(capability), "CAP_")),
			"capabilities.add", capability)
	}
	return problems
}

// baselineCapabilities are those that may be added at the level baseline.
func baselineCapabilities() []string {
	return []string{
		"AUDIT_WRITE", "CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "MKNOD", "NET_BIND_SERVICE",
		"SETFCAP", "SETGID", "SETPCAP", "SETUID", "SYS_CHROOT",
	}
}

// unknown are the fields of an object that are not among the known.
func unknown(path string, object map[string]any, known ...string) (problems []string) {
	for _, field := range slices.Sorted(maps.Keys(object)) {
		if !slices.Contains(known, field) {
			problems = append(problems, path+"."+field+" is nothing that a workspace has")
		}
	}
	return problems
}

// items are the objects in a list.
func items(object map[string]any, field string) (all []map[string]any) {
	list, _ := object[field].([]any)
	for _, item := range list {
		if item, is := item.(map[string]any); is {
			all = append(all, item)
		}
	}
	return all
}
