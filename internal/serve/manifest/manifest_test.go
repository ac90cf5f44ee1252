package manifest

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/berthdev/berth/internal/goldentest"
	"github.com/berthdev/berth/internal/keypair"
	"github.com/berthdev/berth/internal/rbac"
)

func role() Role {
	return Role{
		Name: "bundles", Everywhere: rbac.Named(rbac.ServeBundles), InSystem: rbac.Named(rbac.ServeBundlesInSystem),
		Users: []UserRole{{
			Name:  "bundle-reader",
			Rules: []rbacv1.PolicyRule{{NonResourceURLs: []string{"/bundles/*"}, Verbs: []string{"get"}}},
		}},
		NeedsBaseURL: true, Cache: "4Gi", Installer: rbac.Named(rbac.ServeBundlesAsInstaller),
	}
}

func options() Options {
	return Options{
		Namespace: "berth-system", Image: "registry.example.com/berth:v1", Replicas: 2,
		Pair: keypair.Pair{CA: []byte("the CA\n"), Cert: []byte("the certificate\n"), Key: []byte("the key\n")},
	}
}

func TestGolden(t *testing.T) {
	issued := options()
	issued.Issuer, issued.InstallRole, issued.Replicas = "Issuer/ours", "cluster-admin", 1
	issued.Accounts = []types.NamespacedName{{Namespace: "shop", Name: "deployer"}}
	issued.Authorities, issued.Arguments = []byte("another CA\n"), []string{"--content-ca=" + PathAuthorities}
	for name, o := range map[string]Options{"self-signed": options(), "cert-manager": issued} {
		t.Run(name, func(t *testing.T) {
			got, err := YAML(role(), o)
			if err != nil {
				t.Fatal(err)
			}
			goldentest.Check(t, name+".yaml", string(got))
		})
	}
}

// objects decodes what is printed as an API server would that refuses what it does not know.
func objects(t *testing.T, text []byte) (all []runtime.Object) {
	t.Helper()
	decoder := serializer.NewCodecFactory(scheme.Scheme, serializer.EnableStrict).UniversalDeserializer()
	documents := yaml.NewDocumentDecoder(io.NopCloser(bytes.NewReader(text)))
	for {
		document := make([]byte, 1<<20)
		n, err := documents.Read(document)
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		object, _, err := decoder.Decode(document[:n], nil, nil)
		if err != nil {
			t.Fatalf("%v:\n%s", err, document[:n])
		}
		all = append(all, object)
	}
}

func find[T runtime.Object](t *testing.T, all []runtime.Object) (found []T) {
	t.Helper()
	for _, o := range all {
		if is, ok := o.(T); ok {
			found = append(found, is)
		}
	}
	if len(found) == 0 {
		t.Fatalf("there is no %T", *new(T))
	}
	return found
}

func TestPodsAreConfined(t *testing.T) {
	text, err := YAML(role(), options())
	if err != nil {
		t.Fatal(err)
	}
	all := objects(t, text)
	pod := find[*appsv1.Deployment](t, all)[0].Spec.Template.Spec
	c := pod.Containers[0]
	switch {
	case !*pod.SecurityContext.RunAsNonRoot || *pod.SecurityContext.RunAsUser == 0,
		pod.SecurityContext.SeccompProfile.Type != corev1.SeccompProfileTypeRuntimeDefault,
		!*c.SecurityContext.ReadOnlyRootFilesystem, *c.SecurityContext.AllowPrivilegeEscalation,
		!slices.Equal(c.SecurityContext.Capabilities.Drop, []corev1.Capability{"ALL"}),
		c.Resources.Limits.Memory().IsZero():
		t.Errorf("the pod is not confined: %+v", pod)
	}
	for _, v := range pod.Volumes {
		if v.EmptyDir != nil && v.EmptyDir.SizeLimit == nil {
			t.Errorf("volume %s has no bound", v.Name)
		}
		if i := slices.IndexFunc(c.VolumeMounts, func(m corev1.VolumeMount) bool { return m.Name == v.Name }); i < 0 {
			t.Errorf("volume %s is mounted nowhere", v.Name)
		}
	}
	ports := map[string]bool{}
	for _, p := range c.Ports {
		ports[p.Name] = true
	}
	for _, p := range []*corev1.Probe{c.LivenessProbe, c.ReadinessProbe} {
		if !ports[p.HTTPGet.Port.String()] || p.HTTPGet.Scheme != corev1.URISchemeHTTPS {
			t.Errorf("the probe asks %+v", p.HTTPGet)
		}
	}
}

// The role that installs is bound if an administrator names one, and never otherwise; and to the installer, which is
// all that the server may act as but for what is named.
func TestInstallRole(t *testing.T) {
	for _, install := range []string{"", "cluster-admin"} {
		o := options()
		o.InstallRole = install
		text, err := YAML(role(), o)
		if err != nil {
			t.Fatal(err)
		}
		bound := []string{}
		for _, b := range find[*rbacv1.ClusterRoleBinding](t, objects(t, text)) {
			bound = append(bound, b.RoleRef.Name)
			if b.RoleRef.Name == install &&
				(len(b.Subjects) != 1 || b.Subjects[0].Name != "berth-bundles-installer" ||
					b.Subjects[0].Namespace != "berth-system") {
				t.Errorf("%s is of %v", install, b.Subjects)
			}
		}
		want := []string{install}
		if got := slices.DeleteFunc(bound, func(name string) bool { return name == "berth-bundles" }); strings.Join(got,
			"") != strings.Join(want, "") {
			t.Errorf("%v is bound, want %v", got, want)
		}
		for _, r := range find[*rbacv1.Role](t, objects(t, text)) {
			for _, rule := range r.Rules {
				if slices.Contains(rule.Verbs, "impersonate") &&
					!slices.Equal(rule.ResourceNames, []string{"berth-bundles-installer"}) {
					t.Errorf("the server may act as %q", rule.ResourceNames)
				}
			}
		}
		for _, r := range find[*rbacv1.ClusterRole](t, objects(t, text)) {
			for _, rule := range r.Rules {
				if strings.Contains(strings.Join(slices.Concat(rule.Verbs, rule.Resources, rule.APIGroups), " "), "*") {
					t.Errorf("ClusterRole %s is not the least: %v", r.Name, rule)
				}
			}
		}
	}
}

// A process reads its kubeconfig once: with another one, the pods are others.
func TestPodsAreReplacedForAKubeconfig(t *testing.T) {
	seen := map[string]bool{}
	for _, kubeconfig := range []string{"", "one", "two"} {
		o := options()
		o.Kubeconfig = []byte(kubeconfig)
		text, err := YAML(role(), o)
		if err != nil {
			t.Fatal(err)
		}
		all := objects(t, text)
		seen[find[*appsv1.Deployment](t, all)[0].Spec.Template.Annotations[annotationTarget]] = true
		has := slices.ContainsFunc(find[*corev1.Secret](t, all), func(s *corev1.Secret) bool {
			return s.Name == SecretKubeconfig("bundles") && s.StringData[keyKubeconfig] == kubeconfig
		})
		if has != (kubeconfig != "") {
			t.Errorf("the Secret of kubeconfig %q is there: %t", kubeconfig, has)
		}
	}
	if len(seen) != 3 || !seen[""] {
		t.Errorf("the pods are %v", seen)
	}
}

func TestBaseURL(t *testing.T) {
	if base, host := role().BaseURL("ns"), role().Hosts("ns")[0]; base != "https://"+host {
		t.Errorf("the base URL %s is not of %s, which is in the certificate", base, host)
	}
}
