package manifest

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// Where a pod has what.
const (
	pathTLS   = "/etc/berth/tls"
	pathCache = "/var/cache/berth"
	pathTemp  = "/tmp"

	pathAuthorities = "/etc/berth/authorities"
	// PathAuthorities is the file of Options.Authorities.
	PathAuthorities = pathAuthorities + "/" + KeyCA

	pathTarget = "/etc/berth/target"
	// PathKubeconfig is the file of Options.Kubeconfig.
	PathKubeconfig = pathTarget + "/" + keyKubeconfig

	pathConfiguration = "/etc/berth/configuration"
)

// nobody is who the process is: the image has no users.
const nobody = 65532

// memory is the limit of a pod; what it needs depends on the largest object, not on the number of them.
const (
	memory     = "512Mi"
	memoryGoal = "448MiB" // what the garbage collector works towards
)

func (r Role) deployment(o Options) *appsv1.Deployment {
	none := intstr.FromInt32(0)
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: r.objectName(), Namespace: o.Namespace, Labels: r.labels()},
		Spec: appsv1.DeploymentSpec{
			Replicas: &o.Replicas, Selector: &metav1.LabelSelector{MatchLabels: r.selector()},
			Strategy: appsv1.DeploymentStrategy{
				Type:          appsv1.RollingUpdateDeploymentStrategyType,
				RollingUpdate: &appsv1.RollingUpdateDeployment{MaxUnavailable: &none},
			},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: r.labels(), Annotations: o.annotations()},
				Spec:       r.pod(o),
			},
		},
	}
}

func (r Role) pod(o Options) corev1.PodSpec {
	yes, id := true, int64(nobody)
	return corev1.PodSpec{
		ServiceAccountName: r.objectName(),
		SecurityContext: &corev1.PodSecurityContext{
			RunAsNonRoot: &yes, RunAsUser: &id, RunAsGroup: &id, FSGroup: &id,
			SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
		},
		Containers: []corev1.Container{r.container(o)},
		Volumes:    r.volumes(o),
		TopologySpreadConstraints: []corev1.TopologySpreadConstraint{{
			MaxSkew: 1, TopologyKey: corev1.LabelHostname, WhenUnsatisfiable: corev1.ScheduleAnyway,
			LabelSelector: &metav1.LabelSelector{MatchLabels: r.selector()},
		}},
	}
}

func (r Role) volumes(o Options) []corev1.Volume {
	volumes := []corev1.Volume{
		{Name: "tls", VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: r.secretName()}}},
	}
	if r.Cache != "" {
		volumes = append(volumes, r.scratch("cache"), r.scratch("tmp"))
	}
	if len(o.Authorities) > 0 {
		volumes = append(volumes, corev1.Volume{
			Name: "authorities",
			VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{
				LocalObjectReference: corev1.LocalObjectReference{Name: r.authoritiesName()},
			}},
		})
	}
	if len(o.Kubeconfig) > 0 {
		volumes = append(volumes, corev1.Volume{
			Name:         "target",
			VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: SecretKubeconfig(r.Name)}},
		})
	}
	if len(o.Configuration) > 0 {
		volumes = append(volumes, corev1.Volume{
			Name:         "configuration",
			VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: SecretConfiguration(r.Name)}},
		})
	}
	return volumes
}

func (r Role) mounts(o Options) []corev1.VolumeMount {
	all := []corev1.VolumeMount{{Name: "tls", MountPath: pathTLS, ReadOnly: true}}
	if r.Cache != "" {
		all = append(all, corev1.VolumeMount{Name: "cache", MountPath: pathCache},
			corev1.VolumeMount{Name: "tmp", MountPath: pathTemp})
	}
	if len(o.Authorities) > 0 {
		all = append(all, corev1.VolumeMount{Name: "authorities", MountPath: pathAuthorities, ReadOnly: true})
	}
	if len(o.Kubeconfig) > 0 {
		all = append(all, corev1.VolumeMount{Name: "target", MountPath: pathTarget, ReadOnly: true})
	}
	if len(o.Configuration) > 0 {
		all = append(all, corev1.VolumeMount{Name: "configuration", MountPath: pathConfiguration, ReadOnly: true})
	}
	return all
}

// scratch is space on the node's disk, within a bound. What lies there twice, while it is unpacked, is smaller than the
// cache.
func (r Role) scratch(name string) corev1.Volume {
	size := resource.MustParse(r.Cache)
	return corev1.Volume{
		Name:         name,
		VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{SizeLimit: &size}},
	}
}

func (r Role) container(o Options) corev1.Container {
	yes, no := true, false
	ports := []corev1.ContainerPort{{Name: "metrics", ContainerPort: aboutPort, Protocol: corev1.ProtocolTCP}}
	if !r.NoService {
		ports = append([]corev1.ContainerPort{{Name: "https", ContainerPort: servingPort, Protocol: corev1.ProtocolTCP}},
			ports...)
	}
	env := []corev1.EnvVar{
		{Name: "XDG_CACHE_HOME", Value: pathCache},
		{Name: "HOME", Value: pathTemp},
		{Name: "GOMEMLIMIT", Value: memoryGoal},
	}
	if len(o.Configuration) > 0 {
		env = append(env, corev1.EnvVar{Name: "BERTH_CONFIG", Value: pathConfiguration + "/" + keyConfiguration})
	}
	return corev1.Container{
		Name: r.Name, Image: o.Image,
		Args: r.arguments(o), Env: env, Ports: ports,
		LivenessProbe:  probe("/healthz", 20),
		ReadinessProbe: probe("/readyz", 5),
		Resources: corev1.ResourceRequirements{
			Requests: corev1.ResourceList{
				corev1.ResourceCPU:    resource.MustParse("50m"),
				corev1.ResourceMemory: resource.MustParse("128Mi"),
			},
			Limits: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse(memory)},
		},
		SecurityContext: &corev1.SecurityContext{
			AllowPrivilegeEscalation: &no, ReadOnlyRootFilesystem: &yes, RunAsNonRoot: &yes,
			Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
		},
		VolumeMounts: r.mounts(o),
	}
}

func (r Role) arguments(o Options) []string {
	all := []string{"serve", r.Name}
	if !r.NoService {
		all = append(all, fmt.Sprintf("--listen=:%d", servingPort))
	}
	all = append(all, fmt.Sprintf("--metrics-listen=:%d", aboutPort),
		"--tls-cert="+pathTLS+"/"+corev1.TLSCertKey, "--tls-key="+pathTLS+"/"+corev1.TLSPrivateKeyKey)
	if r.NeedsBaseURL {
		all = append(all, "--base-url="+r.BaseURL(o.Namespace), "--system-namespace="+o.Namespace)
	}
	if r.installs() {
		all = append(all, "--installer="+r.installer(o).String())
	}
	return append(all, o.Arguments...)
}

func probe(path string, every int32) *corev1.Probe {
	return &corev1.Probe{
		ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{
			Path: path, Port: intstr.FromString("metrics"), Scheme: corev1.URISchemeHTTPS,
		}},
		PeriodSeconds: every, TimeoutSeconds: 3,
	}
}
