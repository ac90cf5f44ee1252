package manifest

import (
	"path"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// Node is what a role needs of each node that it runs on: it is a CSI driver.
type Node struct {
	// Driver is the name of the driver.
	Driver string
	// Directory is where it keeps volumes, and Kubelet the directory of the kubelet.
	Directory, Kubelet string
}

// EnvNode is the variable with the name of the node, for arguments: $(NODE_NAME).
const EnvNode = "NODE_NAME"

// What a driver takes: its records are on disk, and what it reads of volumes passes through.
const (
	memoryOfNode     = "128Mi"
	memoryGoalOfNode = "64MiB"
)

// onNodes are the objects of a role that runs on each node. It asks the API server nothing, so that it has a
// ServiceAccount without permissions and without a token.
func (r Role) onNodes(o Options) []runtime.Object {
	local := metav1.ObjectMeta{Name: r.objectName(), Namespace: o.Namespace, Labels: r.labels()}
	no := false
	objects := []runtime.Object{
		privilegedNamespace(o),
		&corev1.ServiceAccount{ObjectMeta: local, AutomountServiceAccountToken: &no},
	}
	objects = append(objects, r.trust(o)...)
	return append(objects, r.network(o), r.csiDriver(), r.daemonSet(o))
}

// privilegedNamespace is one whose pods may be privileged: anyone who may create pods there has all nodes, so that
// nothing else belongs in it.
func privilegedNamespace(o Options) *corev1.Namespace {
	all := namespace(o)
	all.Labels = map[string]string{"pod-security.kubernetes.io/enforce": "privileged"}
	return all
}

func (r Role) csiDriver() *storagev1.CSIDriver {
	no, yes, policy := false, true, storagev1.FileFSGroupPolicy
	return &storagev1.CSIDriver{
		ObjectMeta: r.global(r.Node.Driver),
		Spec: storagev1.CSIDriverSpec{
			AttachRequired: &no, PodInfoOnMount: &yes, FSGroupPolicy: &policy, RequiresRepublish: &no, StorageCapacity: &no,
			VolumeLifecycleModes: []storagev1.VolumeLifecycleMode{storagev1.VolumeLifecycleEphemeral},
		},
	}
}

// daemonSet replaces the pods one after the other. The mounts are those of the node: they stay while a driver is
// replaced.
func (r Role) daemonSet(o Options) *appsv1.DaemonSet {
	one := intstr.FromInt32(1)
	return &appsv1.DaemonSet{
		ObjectMeta: metav1.ObjectMeta{Name: r.objectName(), Namespace: o.Namespace, Labels: r.labels()},
		Spec: appsv1.DaemonSetSpec{
			Selector: &metav1.LabelSelector{MatchLabels: r.selector()},
			UpdateStrategy: appsv1.DaemonSetUpdateStrategy{
				Type:          appsv1.RollingUpdateDaemonSetStrategyType,
				RollingUpdate: &appsv1.RollingUpdateDaemonSet{MaxUnavailable: &one},
			},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: r.labels()}, Spec: r.nodePod(o)},
		},
	}
}

func (r Role) nodePod(o Options) corev1.PodSpec {
	no, root := false, int64(0)
	return corev1.PodSpec{
		ServiceAccountName: r.objectName(), AutomountServiceAccountToken: &no, EnableServiceLinks: &no,
		PriorityClassName: "system-node-critical",
		NodeSelector:      map[string]string{corev1.LabelOSStable: "linux"},
		Tolerations:       []corev1.Toleration{{Operator: corev1.TolerationOpExists}}, // a pod on any node may have a volume
		SecurityContext:   &corev1.PodSecurityContext{RunAsUser: &root, RunAsGroup: &root},
		Containers:        []corev1.Container{r.nodeContainer(o)},
		Volumes:           append(r.volumes(o), r.hostPaths()...),
	}
}

// nodeContainer is privileged because the kubelet and the pods are to see what it mounts (mount propagation
// Bidirectional), which Kubernetes allows to nobody else; and because it reads and removes files of any owner.
func (r Role) nodeContainer(o Options) corev1.Container {
	yes := true
	c := r.container(o)
	c.Env = []corev1.EnvVar{
		{Name: EnvNode, ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: "spec.nodeName"}}},
		{Name: "GOMEMLIMIT", Value: memoryGoalOfNode},
	}
	c.SecurityContext = &corev1.SecurityContext{Privileged: &yes, ReadOnlyRootFilesystem: &yes}
	c.Resources = corev1.ResourceRequirements{
		Requests: corev1.ResourceList{
			corev1.ResourceCPU:    resource.MustParse("10m"),
			corev1.ResourceMemory: resource.MustParse("64Mi"),
		},
		Limits: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse(memoryOfNode)},
	}
	both, in := corev1.MountPropagationBidirectional, corev1.MountPropagationHostToContainer
	c.VolumeMounts = append(c.VolumeMounts,
		corev1.VolumeMount{Name: "scratch", MountPath: r.Node.Directory, MountPropagation: &in},
		corev1.VolumeMount{Name: "pods", MountPath: r.Node.pods(), MountPropagation: &both},
		corev1.VolumeMount{Name: "plugin", MountPath: r.Node.plugin()},
		corev1.VolumeMount{Name: "registry", MountPath: r.Node.registry()})
	return c
}

// hostPaths are the directories of the node, each under its own path: what the driver tells the kubelet are paths of
// the node.
func (r Role) hostPaths() []corev1.Volume {
	there, made := corev1.HostPathDirectory, corev1.HostPathDirectoryOrCreate
	host := func(name, at string, kind *corev1.HostPathType) corev1.Volume {
		return corev1.Volume{
			Name:         name,
			VolumeSource: corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: at, Type: kind}},
		}
	}
	return []corev1.Volume{
		host("scratch", r.Node.Directory, &made), host("pods", r.Node.pods(), &there),
		host("plugin", r.Node.plugin(), &made), host("registry", r.Node.registry(), &there),
	}
}

func (n Node) pods() string     { return path.Join(n.Kubelet, "pods") }
func (n Node) plugin() string   { return path.Join(n.Kubelet, "plugins", n.Driver) }
func (n Node) registry() string { return path.Join(n.Kubelet, "plugins_registry") }
