package diagnose

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
	"strings"
	"testing"

	v1 "github.com/berthdev/berth/api/v1"
)

// causes are the codes as they stand in the source: one that is added there
// needs a hint here.
func causes(t *testing.T) []string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "../watch/causes.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var codes []string
	ast.Inspect(file, func(n ast.Node) bool {
		if literal, ok := n.(*ast.BasicLit); ok {
			code, _ := strconv.Unquote(literal.Value)
			codes = append(codes, code)
		}
		return true
	})
	return codes
}

func TestEveryCauseHasAHint(t *testing.T) {
	codes := causes(t)
	if len(codes) < 35 {
		t.Errorf("only %d codes were found", len(codes))
	}
	for _, code := range codes {
		for name, about := range map[string]About{"pod": {Namespace: "shop"}, "workspace": {Blueprint: "dev", UserString: "alice~dev"}} {
			hint := Hint(&v1.Cause{Code: code, Container: "app", Object: "pod/api"}, about)
			if len(hint) < 40 || strings.Contains(hint, "  ") {
				t.Errorf("%s of a %s: %q", code, name, hint)
			}
			for _, placeholder := range []string{"{spec", "{image", "{memory", "{req", "{class", "{comm", "{again", "{retried", "{anew", "{ns", "{cont", "{limit", "{exit", "{last", "{quota", "{refused", "{nodes", "{room", "{miss", "{prob", "{name"} {
				if strings.Contains(hint, placeholder) {
					t.Errorf("%s has an unknown placeholder: %q", code, hint)
				}
			}
			if name == "pod" && (strings.Contains(hint, "blueprint") || strings.Contains(hint, "rovision ")) {
				t.Errorf("%s of a pod speaks of blueprints: %q", code, hint)
			}
		}
	}
	if extra := len(hints()) - len(codes); extra != 0 {
		t.Errorf("%d hints more than causes", extra)
	}
}

func TestHints(t *testing.T) {
	number := func(n int) *int { return &n }
	for _, c := range []struct {
		name  string
		cause v1.Cause
		about About
		says  []string
	}{
		{"wrong tag", v1.Cause{Code: "ImageNotFound"}, About{Blueprint: "dev", Origin: "dev.yaml:7", UserString: "a~dev"}, []string{`"image" in blueprint dev (dev.yaml:7)`, "`berth provision a~dev`"}},
		{"wrong tag of a pod", v1.Cause{Code: "ImageNotFound", Container: "app"}, About{}, []string{`"image" of container app in the pod's spec`}},
		{"private", v1.Cause{Code: "ImagePullDenied"}, About{Namespace: "shop"}, []string{"kubectl create secret docker-registry registry --namespace shop"}},
		{"out of memory", v1.Cause{Code: "OOMKilled", Container: "app"}, About{Memory: "16Mi"}, []string{"limit of 16Mi", `"resources.limits.memory" of container app`}},
		{"without a limit", v1.Cause{Code: "OOMKilled"}, About{}, []string{"more memory than the node could give it"}},
		{"killed", v1.Cause{Code: "CrashLoop", ExitCode: number(137)}, About{}, []string{"137 is SIGKILL"}},
		{"crashed", v1.Cause{Code: "CrashLoop", ExitCode: number(139), Object: "pod/api", Container: "app", Restarts: number(3)}, About{}, []string{"139 is SIGSEGV", "`kubectl logs api --container app --previous`"}},
		{"terminated", v1.Cause{Code: "ContainerExited", ExitCode: number(143)}, About{}, []string{"143 is SIGTERM"}},
		{"not found", v1.Cause{Code: "InitFailed", ExitCode: number(127)}, About{}, []string{"127: a program was not found"}},
		{"quota", v1.Cause{Code: "QuotaExceeded", Message: `pods "a" is forbidden: exceeded quota: q, requested: requests.cpu=2,requests.memory=1Gi, used: requests.cpu=3,requests.memory=1Gi, limited: requests.cpu=4,requests.memory=4Gi`}, About{}, []string{"Quota q", "requests.cpu: 2 more wanted, 3 of 4 in use", "requests.memory: 1Gi more wanted, 1Gi of 4Gi in use"}},
		{"quota of numbers", v1.Cause{Code: "QuotaExceeded", Message: `pods "a" is forbidden: exceeded quota: q, requested: pods=1, used: pods=4, limited: pods=4`}, About{Namespace: "shop"}, []string{"pods: 1 more wanted, 4 of 4 in use). Delete what", "`kubectl describe quota --namespace shop`"}},
		{"quota of storage", v1.Cause{Code: "QuotaExceeded", Message: `persistentvolumeclaims "a" is forbidden: exceeded quota: q, requested: fast.storageclass.storage.k8s.io/requests.storage=2Gi, used: fast.storageclass.storage.k8s.io/requests.storage=0, limited: fast.storageclass.storage.k8s.io/requests.storage=1Gi`}, About{Blueprint: "dev"}, []string{"2Gi more wanted, 0 of 1Gi in use", `Lower "storages" in blueprint dev`}},
		{"quota of what is not said", v1.Cause{Code: "QuotaExceeded", Message: `pods "a" is forbidden: failed quota: q: must specify limits.cpu for: app; limits.memory for: app`}, About{Blueprint: "dev"}, []string{"limits.cpu for: app", `"resources" in blueprint dev`}},
		{"pod security", v1.Cause{Code: "PodRefused", Message: `pods "a" is forbidden: violates PodSecurity "restricted:latest": runAsNonRoot != true (pod or container "app" must set securityContext.runAsNonRoot=true)`}, About{Blueprint: "dev", Namespace: "shop"}, []string{"security level restricted", "Set `securityContext: {allowPrivilegeEscalation: false,", "` in blueprint dev", "`kubectl get namespace shop --show-labels`"}},
		{"webhook", v1.Cause{Code: "PodRefused", Message: `admission webhook "images.example.com" denied the request: not signed`}, About{}, []string{"Admission webhook images.example.com"}},
		{"limit range", v1.Cause{Code: "PodRefused", Message: `pods "a" is forbidden: maximum memory usage per Container is 64Mi, but limit is 512Mi`}, About{Blueprint: "dev", Namespace: "shop"}, []string{"`kubectl describe limitrange --namespace shop`", `"resources" in blueprint dev`}},
		{"account", v1.Cause{Code: "PodRefused", Message: `pods "a" is forbidden: error looking up service account shop/ci: serviceaccount "ci" not found`}, About{Namespace: "shop"}, []string{"`kubectl create serviceaccount ci --namespace shop`"}},
		{"priority", v1.Cause{Code: "PodRefused", Message: `pods "a" is forbidden: no PriorityClass with name urgent was found`}, About{}, []string{"Priority class urgent"}},
		{"another rule", v1.Cause{Code: "PodRefused", Message: `Pod "a" is invalid: spec.x: Invalid value`}, About{}, []string{"what the message names in the pod's spec"}},
		{"nodes", v1.Cause{Code: "Unschedulable", Message: "0/4 nodes: 1 node(s) had untolerated taint {a: b}, 2 Insufficient memory, 1 node(s) were unschedulable"}, About{Requests: "64Gi memory"}, []string{"Of 4 nodes, 1 has a taint", "2 have too little memory left", "1 has been closed", "asks for 64Gi memory"}},
		{"strange node", v1.Cause{Code: "Unschedulable", Message: "0/4 nodes: who knows"}, About{}, []string{"No node can take the pod."}},
		{"key", v1.Cause{Code: "ConfigMissing", Message: "couldn't find key url in Secret shop/db"}, About{Namespace: "shop"}, []string{"Secret db has no key url", "`kubectl edit secret db --namespace shop`"}},
		{"secret", v1.Cause{Code: "ConfigMissing", Message: `secret "db" not found`}, About{}, []string{"`kubectl create secret generic db --from-literal=KEY=VALUE`"}},
		{"class", v1.Cause{Code: "StorageClassMissing", Message: `storageclass.storage.k8s.io "fast" not found`}, About{Blueprint: "dev"}, []string{"Storage class fast does not exist", "claimSpec in blueprint dev"}},
		{"probe", v1.Cause{Code: "ProbeFailed", Container: "app"}, About{Probe: "GET /healthz on port 8080"}, []string{"asks for GET /healthz on port 8080"}},
		{"job", v1.Cause{Code: "JobFailed", Object: "job/backup"}, About{}, []string{"job-name=backup"}},
	} {
		hint := Hint(&c.cause, c.about)
		for _, words := range c.says {
			if !strings.Contains(hint, words) {
				t.Errorf("%s: %q does not say %q", c.name, hint, words)
			}
		}
	}
	unbound := v1.Cause{Code: "Unschedulable", Message: "0/1 nodes: pod has unbound immediate PersistentVolumeClaims"}
	if hint := Hint(&unbound, About{Namespace: "shop", Blueprint: "dev", Requests: "1 cpu"}); hint != "The pod waits for its volume to be made. If that does not end, `kubectl describe pvc --namespace shop` says why." {
		t.Errorf("the hint for an unbound claim: %q", hint)
	}
	if hint := Hint(nil, About{}); hint != "" {
		t.Errorf("no cause, but %q", hint)
	}
}
