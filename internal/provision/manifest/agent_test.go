package manifest

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/berthdev/berth/internal/blueprint"
	"github.com/berthdev/berth/internal/identity"
	"github.com/berthdev/berth/internal/kube"
)

// withAgent is a workspace that has everything that k8shell's agent reads.
func withAgent(t *testing.T, change func(*Spec)) Spec {
	t.Helper()
	s := spec(t, "alice~dev", blueprint.Blueprint{
		Name: "dev", Image: "registry.example.com/dev:1", Splash: "Welcome {{.Username}}",
		Lineage:     []string{"dev", "base"},
		K8shelld:    blueprint.K8shelld{Image: "registry.example.com/k8shelld:v0.17.1"},
		Resources:   blueprint.Resources{CPU: "2", Memory: "64Mi"},
		Env:         map[string]string{"TEAM": "blue", "USERNAME": "root"},
		InitScripts: []blueprint.InitScript{{Name: "tools", Script: "echo 1"}},
		ExtFiles:    map[string]string{"/etc/app.conf": "x"},
		Storages: map[string]blueprint.Storage{
			"data":   {Type: "local", Path: "/data", ClaimSpec: map[string]any{}},
			"given":  {Type: "local", Path: "/given", FsOwnerUID: new(int64(7)), ClaimSpec: map[string]any{}},
			"theirs": {Type: "local", Path: "/theirs", ExistingClaim: "theirs"},
			"team":   {Type: "shared", Path: "/team"},
			"look":   {Type: "emptyDir", Path: "/look", Readonly: true},
		},
		Podman: blueprint.Podman{Enabled: true, Image: "podman"},
	})
	s.Identity = identity.User{
		Username: "alice", UID: 1234, GID: 1235, Fullname: "Alice A.", Email: "alice@example.com", Sudo: true,
		Provider: "ldap", Roles: []string{"dev"},
	}
	s.ControlNamespace, s.APIServer = "control", "http://api-server.control:9101"
	s.Certificate = &Certificate{IssuerName: "internal", IssuerKind: "ClusterIssuer"}
	if change != nil {
		change(&s)
	}
	return s
}

// The pod of a workspace with an agent is what the agent needs, by docs/k8shell.md.
func TestAgentPod(t *testing.T) {
	s := withAgent(t, nil)
	id, pod := s.User.ID(), podOf(t, withAgent(t, nil))
	all := containers(pod)
	main, base := all["k8shell-main"], all["init-base"]
	mounts := map[string]string{}
	for _, m := range main.VolumeMounts {
		at := m.Name
		if m.SubPath != "" {
			at += "/" + m.SubPath
		}
		if m.ReadOnly {
			at += " (ro)"
		}
		mounts[m.MountPath] = at
	}
	env := map[string]string{}
	for _, v := range main.Env {
		env[v.Name] = v.Value
		if v.ValueFrom != nil {
			env[v.Name] = v.ValueFrom.SecretKeyRef.Name + ":" + v.ValueFrom.SecretKeyRef.Key
		}
	}
	asked, limits := main.Resources.Requests, main.Resources.Limits
	probes := []*corev1.Probe{main.ReadinessProbe, main.LivenessProbe, main.StartupProbe}
	for name, c := range map[string]struct{ got, want any }{
		"restarts":            {pod.Spec.RestartPolicy, corev1.RestartPolicyOnFailure},
		"command":             {main.Command, []string{"/usr/local/bin/k8shelld"}},
		"no arguments":        {len(main.Args), 0},
		"no ports":            {len(main.Ports), 0},
		"no probes":           {probes, []*corev1.Probe{nil, nil, nil}},
		"root":                {ids(main), []int64{0, 0}},
		"cpu":                 {asked.Cpu().String() + " " + limits.Cpu().String(), "100m 2"},
		"memory, and no more": {asked.Memory().String() + " " + limits.Memory().String(), "64Mi 64Mi"},
		"resizing":            {len(main.ResizePolicy), 2},
		"init containers":     {len(pod.Spec.InitContainers), 1},
		"the installer":       {base.Image, "registry.example.com/k8shelld:v0.17.1"},
		"what it runs first":  {strings.Join(base.Command, " ")[:43], "/bin/sh -c /k8shell/dist/scripts/init-base "},
		"as root":             {ids(base), []int64{0, 0}},
		"what it gives away": {
			base.Args, []string{"1234:1235", "/k8shell/storage/data", "7", "/k8shell/storage/given"},
		},
		"mounts": {mounts, map[string]string{
			"/usr/local/bin/k8shelld": "bin-volume/k8shelld (ro)", "/usr/local/bin/kbox": "bin-volume/kbox (ro)",
			"/usr/local/bin/sftp": "bin-volume/sftp (ro)", "/etc/k8shell": "config-volume (ro)",
			"/usr/local/k8shell/system": "main-volume (ro)", "/var/run/secrets/k8shell-pat": "pat-secret (ro)",
			"/etc/tls/k8shelld": id + "-cert (ro)", "/var/run/podman": "podman-sock",
			"/etc/app.conf": "main-ext-files-volume/__etc__app.conf (ro)", "/data": "storage-data",
			"/given": "storage-given", "/theirs": "storage-theirs", "/team": "storage-team",
			"/look": "storage-look (ro)",
		}},
		"environment": {env, map[string]string{
			"IMAGE": "registry.example.com/dev:1", "WORKSPACE": id, "BLUEPRINT": "dev", "USERNAME": "alice",
			"USEREMAIL": "alice@example.com", "K8SHELL_PAT_TOKEN": id + "-pat:token", "TEAM": "blue",
			"PROVISIONER_VERSION": "berth", "PROVISION_MODE": "standalone",
			"CONTAINER_HOST": "unix:///var/run/podman/podman.sock", "DOCKER_HOST": "unix:///var/run/podman/podman.sock",
		}},
		"version": {pod.Labels[kube.LabelAgentVersion], "0.17.1"},
	} {
		if diff := cmp.Diff(c.want, c.got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	for _, v := range pod.Spec.Volumes {
		if v.Name == "main-volume" && *v.ConfigMap.DefaultMode != 0o755 {
			t.Errorf("the scripts cannot be run: %o", *v.ConfigMap.DefaultMode)
		}
	}
}

// What the agent is told of its repository and its workload, and that a workload has neither its token nor its key.
func TestAgentEnvironment(t *testing.T) {
	cloned := withAgent(t, func(s *Spec) {
		s.User = spec(t, "alice~repo=acme/shop+ref=Main", blueprint.Blueprint{}).User
		s.Repository = &Repository{URL: "https://git.example.com/acme/shop", Ref: "Main"}
	})
	injected := withAgent(t, func(s *Spec) {
		s.User = spec(t, "alice~dev+workload=deployment/web+ns=shop", blueprint.Blueprint{}).User
		s.Namespace, s.Injected = "shop", true
	})
	for name, c := range map[string]struct {
		spec Spec
		want map[string]string
	}{
		"a repository": {cloned, map[string]string{
			"GIT_ADDRESS": "https://git.example.com/acme/shop", "GIT_REPOREF": "Main", "GIT_REPOOWNER": "acme",
			"GIT_REPONAME": "shop", "PROVISION_MODE": "standalone",
		}},
		"in a workload": {injected, map[string]string{
			"WORKLOAD_KIND": "deployment", "WORKLOAD_NAME": "web", "WORKLOAD_NAMESPACE": "shop",
			"PROVISION_MODE": "inject",
		}},
	} {
		got := map[string]string{}
		for _, v := range containers(podOf(t, c.spec))["k8shell-main"].Env {
			if strings.HasPrefix(v.Name, "GIT_") || strings.HasPrefix(v.Name, "WORKLOAD_") ||
				v.Name == "PROVISION_MODE" {
				got[v.Name] = v.Value
			}
			if c.spec.Injected && v.Name == "K8SHELL_PAT_TOKEN" {
				t.Errorf("%s: it has the token", name)
			}
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// The version of an agent is the tag of its image without its v, and 1.0.0 where that says nothing.
func TestAgentVersion(t *testing.T) {
	for image, want := range map[string]string{
		"": "1.0.0", "k8shelld:v0.17.1": "0.17.1", "k8shelld:0.17.1": "0.17.1",
		"k8shelld": "1.0.0", "k8shelld:latest": "latest", "k8shelld@sha256:" + strings.Repeat("0", 64): "1.0.0",
	} {
		if got := agentVersion(image); got != want {
			t.Errorf("%q: %q, want %q", image, got, want)
		}
	}
}

func ids(c corev1.Container) []int64 {
	return []int64{*c.SecurityContext.RunAsUser, *c.SecurityContext.RunAsGroup}
}

// The objects around an agent have the names by which k8shell's programs look for them.
func TestAgentObjects(t *testing.T) {
	objects := map[string][]string{}
	for _, o := range render(t, withAgent(t, nil)).Objects {
		data, _, _ := unstructured.NestedStringMap(o.Object, "data")
		objects[o.GetKind()+" "+o.GetName()] = slices.Sorted(maps.Keys(data))
		switch address, _, _ := unstructured.NestedString(o.Object, "spec", "clusterIP"); {
		case o.GetKind() == "Service" && address != "None":
			t.Errorf("the Service has address %q", address)
		case o.GetKind() == "Certificate":
			names, _, _ := unstructured.NestedStringSlice(o.Object, "spec", "dnsNames")
			if !slices.Contains(names, "alice-59936c3.workspaces.svc.cluster.local") {
				t.Errorf("the certificate is for %q", names)
			}
		}
	}
	id := "alice-59936c3"
	want := map[string][]string{
		"Pod " + id: nil, "Service " + id: nil, "Certificate " + id + "-cert": nil,
		"ConfigMap " + id + "-k8shelld-config": {"blueprint.yaml", "config.yaml", "profile.yaml"},
		"ConfigMap " + id + "-files":           {"README", "__init_01_tools"},
		"ConfigMap " + id + "-main-ext-files":  {"__etc__app.conf"},
	}
	if diff := cmp.Diff(want, objects); diff != "" {
		t.Error(diff)
	}
}

// An agent's configuration says where it listens, and whom it may trust.
func TestAgentConfiguration(t *testing.T) {
	tls, api := []string{"system", "grpc", "enableTLS"}, []string{"system", "apiServer", "enabled"}
	for name, c := range map[string]struct {
		change func(*Spec)
		file   string
		path   []string
		want   any
	}{
		"the port":           {nil, "config", []string{"system", "grpc", "port"}, 2822.0},
		"TLS":                {nil, "config", tls, true},
		"no certificate":     {func(s *Spec) { s.Certificate = nil }, "config", tls, false},
		"the API server":     {nil, "config", api, true},
		"no API server":      {func(s *Spec) { s.APIServer = "" }, "config", api, false},
		"none in a workload": {func(s *Spec) { s.Injected = true }, "config", api, false},
		"who may come": {nil, "config", []string{"system", "grpc", "allowed"}, []any{
			map[string]any{"namespace": "control", "serviceAccount": "ssh-proxy"},
			map[string]any{"namespace": "control", "serviceAccount": "api-server"},
		}},
		"nobody": {func(s *Spec) { s.ControlNamespace = "" }, "config", []string{"system", "grpc", "allowed"}, []any{}},
		"from anywhere": {func(s *Spec) {
			connection := map[string]any{"allowAnyNS": true, "allowAnySA": true}
			text, _ := yaml.Marshal(map[string]any{"connection": connection})
			_ = yaml.Unmarshal(text, &s.Blueprint.K8shelld)
			s.Blueprint.K8shelld.Image = "k8shelld:1"
		}, "config", []string{"system", "grpc", "allowed"}, []any{
			map[string]any{"namespace": "*", "serviceAccount": "*"},
			map[string]any{"namespace": "control", "serviceAccount": "api-server"},
		}},
		"its user":         {nil, "profile", []string{"username"}, "alice"},
		"a number":         {nil, "profile", []string{"uid"}, "1234"},
		"sudo":             {nil, "profile", []string{"sudo"}, true},
		"where it is from": {nil, "profile", []string{"source"}, "ldap"},
		"a locked account": {
			func(s *Spec) { s.Identity.Status = identity.Locked }, "profile", []string{"account_locked"}, true,
		},
		"the splash":   {nil, "blueprint", []string{"blueprint", "splash"}, "Welcome {{.Username}}"},
		"podman":       {nil, "blueprint", []string{"blueprint", "podman", "enabled"}, true},
		"a zero value": {nil, "blueprint", []string{"blueprint", "showInitScriptStatus"}, false},
		"a storage":    {nil, "blueprint", []string{"blueprint", "storages", "data", "enabled"}, true},
		"metadata":     {nil, "blueprint", []string{"metadata", "name"}, "dev"},
	} {
		values, err := withAgent(t, c.change).Values()
		if err != nil {
			t.Fatal(err)
		}
		text, _ := at(values, k8shellValue, "__"+c.file+"yaml__").(string)
		var have map[string]any
		if err := yaml.Unmarshal([]byte(text), &have); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.want, at(have, c.path...)); diff != "" {
			t.Errorf("%s: %s\n%s", name, diff, text)
		}
		if c.file == "blueprint" && !strings.HasPrefix(text, "# dev < base\n") {
			t.Errorf("%s: the chain is missing: %s", name, text)
		}
	}
}

// Without an agent nothing listens, and there is no Service.
func TestNoServiceWithoutAgent(t *testing.T) {
	shell := spec(t, "alice~dev", blueprint.Blueprint{Name: "dev", Image: "alpine"})
	shell.Identity.Organization = ""
	objects := render(t, shell).Objects
	if service := kube.OfKind(objects, "Service"); service != nil {
		t.Errorf("there is Service %s", service.GetName())
	}
	labels := kube.OfKind(objects, "Pod").GetLabels()
	if _, has := labels[kube.LabelOrganization]; !has || labels[kube.LabelAgentVersion] != "1.0.0" {
		t.Errorf("labels: %v", labels)
	}
}
