package manifest

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/berthdev/berth/internal/blueprint"
	"github.com/berthdev/berth/internal/blueprint/catalog"
	"github.com/berthdev/berth/internal/blueprint/expression"
	"github.com/berthdev/berth/internal/kube"
)

const helperImage = "registry.example.com/platform/helper:1"

// templates are what custom blueprints inherit from.
const templates = `blueprints:
- {name: plain, template: base, helperImage: "` + helperImage + `"}
- name: restricted
  template: plain
  env: {https_proxy: "http://proxy.example.com:3128", TEAM: blue}
  securityContext:
    allowPrivilegeEscalation: false
    capabilities: {drop: [ALL]}
    runAsNonRoot: true
    runAsUser: 1000
    seccompProfile: {type: RuntimeDefault}
- name: at-home
  template: plain
  securityContext:
    runAsUser: 1000
    seccompProfile: {type: Localhost, localhostProfile: strict.json}
    readOnlyRootFilesystem: true
  storages:
    home:
      type: local
      path: /home/dev
      fsOwnerUid: 1000
      claimSpec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
- name: agent
  template: plain
  k8shelld: {image: registry.example.com/k8shelld:1}
  securityContext: {capabilities: {drop: [NET_RAW]}}
  env: {HOME: /work}
- name: podman
  template: plain
  podman: {enabled: true, image: quay.io/podman/stable:v5}
- {name: user, template: plain, securityContext: {runAsUser: 1000}}
- {name: bare, template: plain, securityContext: {capabilities: {drop: [ALL], add: [NET_BIND_SERVICE]}}}
- name: lent
  template: plain
  storages:
    x: {type: local, path: /data, existingClaim: of-the-team, fsOwnerUid: 1000}
    y:
      type: shared
      path: /scratch
      fsOwnerGid: 1000
      claimSpec: {accessModes: [ReadWriteMany], resources: {requests: {storage: 1Gi}}}
`

// The rights of a workspace are its template's: whatever a custom blueprint says,
// if it is accepted, the pod that is made of it has no more of them.
func TestCustomBlueprintsGiveNoRights(t *testing.T) {
	set := loadTemplates(t)
	r := rand.New(rand.NewPCG(9, 2))
	accepted, own := map[string]int{}, map[string]corev1.Pod{}
	names := []string{"plain", "restricted", "at-home", "agent", "podman", "user", "bare", "lent"}
	for _, name := range names {
		b, err := resolved(t, set, catalog.Order{Name: name})
		if err != nil {
			t.Fatal(err)
		}
		own[name] = podOf(t, withRepository(t, b))
	}
	for i := range 1200 {
		template := pick(r, names...)
		text := hostileBlueprint(r, template)
		b, err := resolved(t, set, catalog.Order{
			Custom: &blueprint.Source{Name: ".k8shell.yaml", Text: []byte(text)},
			As:     "repo-org-proj",
		})
		if err != nil {
			continue
		}
		accepted[template]++
		for _, problem := range moreRights(own[template], podOf(t, withRepository(t, b))) {
			t.Errorf("%d: %s\n%s", i, problem, text)
		}
		if t.Failed() {
			return
		}
	}
	t.Logf("accepted: %v", accepted)
	for _, template := range names {
		if accepted[template] < 10 {
			t.Errorf("of template %s only %d are accepted, which proves little", template, accepted[template])
		}
	}
}

func loadTemplates(t *testing.T) *catalog.Set {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "platform.yaml"), []byte(templates), 0o600); err != nil {
		t.Fatal(err)
	}
	set, err := catalog.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

func resolved(t *testing.T, set *catalog.Set, o catalog.Order) (blueprint.Blueprint, error) {
	t.Helper()
	d, err := set.Compose(o)
	if err != nil {
		return blueprint.Blueprint{}, err
	}
	return d.Resolve(t.Context(), expression.Facts{User: expression.User{Username: "alice"}})
}

// withRepository is the workspace of a private repository.
func withRepository(t *testing.T, b blueprint.Blueprint) Spec {
	t.Helper()
	s := spec(t, "alice~repo=org/proj", b)
	s.Access.Remote = "https://git.example.com/{owner}/{name}.git"
	s.Access.Repositories = []RepositoryAccess{{URL: "https://git.example.com", Username: "alice", Password: "hunter2"}}
	s.Repository = s.Access.Clone(s.User)
	return s
}

func podOf(t *testing.T, s Spec) corev1.Pod {
	t.Helper()
	var pod corev1.Pod
	object := kube.OfKind(render(t, s).Objects, "Pod")
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, &pod); err != nil {
		t.Fatal(err)
	}
	return pod
}

// moreRights are what a pod may that the template's own may not.
func moreRights(template, pod corev1.Pod) (problems []string) {
	report := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }
	bare := func(s corev1.PodSpec) corev1.PodSpec {
		s.Containers, s.InitContainers, s.Volumes = nil, nil, nil
		return s
	}
	if diff := cmp.Diff(bare(template.Spec), bare(pod.Spec)); diff != "" {
		report("the pod: %s", diff)
	}
	if token := pod.Spec.AutomountServiceAccountToken; token == nil || *token {
		report("it has a token")
	}
	if diff := cmp.Diff(guarded(template), guarded(pod)); diff != "" {
		report("volumes: %s", diff)
	}
	known := containers(template)
	for name, c := range containers(pod) {
		twin, has := known[name]
		switch name {
		case "k8shell-main":
			problems = append(problems, mainRights(twin, c)...)
		case "init-storage":
			problems = append(problems, helperRights(known["k8shell-main"], c, has)...)
			problems = append(problems, givenAway(template, pod)...)
			problems = append(problems, storagesOf(c)...)
		case "init-base":
			// What it gives away is held to the template below; it is the same otherwise.
			problems = append(problems, givenAway(template, pod)...)
			problems = append(problems, installs(twin, c)...)
		case "init-repository":
			problems = append(problems, helperRights(known["k8shell-main"], c, has)...)
			if diff := cmp.Diff(twin.Env, c.Env); diff != "" {
				report("%s: %s", name, diff)
			}
			for _, m := range c.VolumeMounts {
				if strings.HasPrefix(m.Name, "storage-") && (!m.ReadOnly ||
					!strings.HasPrefix(m.MountPath, "/k8shell/home/")) {
					report("%s mounts %+v", name, m)
				}
			}
		default:
			c.Resources, twin.Resources = corev1.ResourceRequirements{}, corev1.ResourceRequirements{}
			if diff := cmp.Diff(twin, c); diff != "" {
				report("%s: %s", name, diff)
			}
		}
	}
	return problems
}

// storagesOf holds a container that gives storages away to these, where they hide nothing of its image.
func storagesOf(c corev1.Container) (problems []string) {
	for i, arg := range c.Args {
		if !regexp.MustCompile(`^(\d*(:\d+)?|/k8shell/storage/[a-z0-9-]+)$`).MatchString(arg) {
			problems = append(problems, fmt.Sprintf("argument %d of %s: %q", i, c.Name, arg))
		}
	}
	for _, m := range c.VolumeMounts {
		if m.Name != "storage-"+strings.TrimPrefix(m.MountPath, "/k8shell/storage/") {
			problems = append(problems, fmt.Sprintf("%s mounts %s at %s", c.Name, m.Name, m.MountPath))
		}
	}
	return problems
}

// installs holds what installs an agent to the template's own, but for the storages that it gives away.
func installs(twin, c corev1.Container) (problems []string) {
	isBin := func(m corev1.VolumeMount) bool { return m.Name == "bin-volume" && m.MountPath == "/usr/local/bin" }
	of := c
	of.VolumeMounts = slices.DeleteFunc(slices.Clone(c.VolumeMounts), isBin)
	problems = storagesOf(of)
	for _, x := range []*corev1.Container{&twin, &c} { // what it may choose
		x.Args, x.Resources, x.VolumeMounts = nil, corev1.ResourceRequirements{}, nil
	}
	if diff := cmp.Diff(twin, c); diff != "" {
		problems = append(problems, c.Name+": "+diff)
	}
	return problems
}

func containers(pod corev1.Pod) map[string]corev1.Container {
	all := map[string]corev1.Container{}
	for _, c := range slices.Concat(pod.Spec.InitContainers, pod.Spec.Containers) {
		all[c.Name] = c
	}
	return all
}

// guarded are the volumes of kinds that give rights.
func guarded(pod corev1.Pod) (all []corev1.Volume) {
	for _, v := range pod.Spec.Volumes {
		if v.EmptyDir == nil && v.PersistentVolumeClaim == nil {
			all = append(all, v)
		}
	}
	return slices.DeleteFunc(all, func(v corev1.Volume) bool { return v.ConfigMap != nil && v.Name == "init-scripts" })
}

func mainRights(twin, c corev1.Container) (problems []string) {
	report := func(format string, args ...any) {
		problems = append(problems, "k8shell-main: "+fmt.Sprintf(format, args...))
	}
	theirs := map[string]bool{}
	for _, m := range twin.VolumeMounts {
		theirs[m.Name+" "+m.MountPath] = true
	}
	for _, m := range c.VolumeMounts {
		own := !theirs[m.Name+" "+m.MountPath]
		if own && (!strings.HasPrefix(m.Name, "storage-") && m.Name != "init-scripts" || m.MountPropagation != nil) {
			report("mounts %+v", m)
		}
		for _, system := range []string{"/k8shell", "/bin", "/usr", "/etc", "/proc", "/sys", "/dev", "/lib", "/run"} {
			if own && m.Name != "init-scripts" && (within(m.MountPath, system) || within(system, m.MountPath)) {
				report("mounts %s over %s", m.Name, m.MountPath)
			}
		}
	}
	for _, v := range c.Env {
		if v.ValueFrom != nil {
			report("variable %s comes from elsewhere", v.Name)
		}
	}
	for _, x := range []*corev1.Container{&twin, &c} { // what it may choose
		x.Image, x.Env, x.Resources, x.VolumeMounts, x.WorkingDir = "", nil, corev1.ResourceRequirements{}, nil, ""
	}
	if diff := cmp.Diff(twin, c); diff != "" {
		report("%s", diff)
	}
	return problems
}

func within(path, dir string) bool {
	return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/")
}

// helperRights holds a helper container to the template's main container.
func helperRights(main, c corev1.Container, has bool) (problems []string) {
	report := func(format string, args ...any) {
		problems = append(problems, c.Name+": "+fmt.Sprintf(format, args...))
	}
	if c.Image != helperImage {
		report("runs %s", c.Image)
	}
	constraints := main.SecurityContext
	if constraints == nil {
		constraints = &corev1.SecurityContext{}
	}
	s := c.SecurityContext
	adds := []corev1.Capability(nil)
	if c.Name == "init-storage" {
		adds = []corev1.Capability{"CHOWN"}
		if !has && !mayChown(constraints) {
			report("is root, which the template is not")
		}
	} else if u := constraints.RunAsUser; u != nil && *u != 0 && (s.RunAsUser == nil || *s.RunAsUser != *u) {
		report("is not the template's user")
	} else if n := constraints.RunAsNonRoot; n != nil && *n && (s.RunAsNonRoot == nil || !*s.RunAsNonRoot) {
		report("may be root")
	}
	profile := constraints.SeccompProfile
	if profile == nil {
		profile = &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault}
	}
	switch {
	case s == nil:
		report("has no security context")
	case s.Privileged != nil, s.ProcMount != nil, s.AllowPrivilegeEscalation == nil, *s.AllowPrivilegeEscalation,
		s.ReadOnlyRootFilesystem == nil, !*s.ReadOnlyRootFilesystem:
		report("%+v", s)
	case s.Capabilities == nil, !slices.Equal(s.Capabilities.Drop, []corev1.Capability{"ALL"}),
		!slices.Equal(s.Capabilities.Add, adds):
		report("%+v", s.Capabilities)
	case !cmp.Equal(s.SeccompProfile, profile):
		report("%+v", s.SeccompProfile)
	}
	return problems
}
