package manifest_test

import (
	"slices"
	"strings"
	"testing"

	"k8s.io/client-go/applyconfigurations"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/berthdev/berth/internal/chart/manifest"
)

// What is taken when it is created and refused at each update is mended, and said. Whether it is taken is asked of the
// types of server-side apply.
func TestFits(t *testing.T) {
	const pod = "{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {containers: [{name: c, image: i, CONTAINER}]}}"
	server := applyconfigurations.NewTypeConverter(scheme.Scheme)
	for name, test := range map[string]struct {
		text     string
		newer    bool
		says     []string
		refused  string
		has, not string
	}{
		"a variable twice": {
			text: "env: [{name: X, value: one}, {name: Z}, {name: X, value: two}]", has: "two", not: "one",
			says: []string{"spec.containers[0].env has name X more than once: the last one counts"},
		},
		"the same mount twice": {
			text: "volumeMounts: [{name: a, mountPath: /x}, {name: a, mountPath: /x}]",
			says: []string{"spec.containers[0].volumeMounts has mountPath /x more than once: the last one counts"},
		},
		"two mounts in one place": {
			text:    "volumeMounts: [{name: a, mountPath: /x}, {name: b, mountPath: /x}]",
			refused: "spec.containers[0].volumeMounts has mountPath /x more than once",
		},
		"two containers of one name": {
			text:    "env: []}, {name: c, image: other",
			refused: "spec.containers has name c more than once",
		},
		"a port for two protocols": {
			text: "ports: [{containerPort: 53, protocol: UDP}, {containerPort: 53}]",
			has:  "UDP",
		},
		"a port twice, once by default": {
			text: "ports: [{containerPort: 53, protocol: TCP}, {containerPort: 53, name: two}]", has: "two",
			says: []string{"spec.containers[0].ports has containerPort 53, protocol TCP more than once: " +
				"the last one counts"},
		},
		"two names of a port, which a Service may use": {
			text:    "ports: [{containerPort: 53, name: one}, {containerPort: 53, name: two}]",
			refused: "spec.containers[0].ports has containerPort 53, protocol TCP more than once",
		},
		"a port on two of the node": {
			text:    "ports: [{containerPort: 53, hostPort: 53}, {containerPort: 53, hostPort: 54}]",
			refused: "spec.containers[0].ports has containerPort 53, protocol TCP more than once",
		},
		"an unknown field": {
			text: "imagePullSecret: x, resources: {limit: {cpu: 1}}", not: "imagePullSecret",
			says: []string{
				"spec.containers[0].imagePullSecret is not a field, and is left out",
				"spec.containers[0].resources.limit is not a field, and is left out",
			},
		},
		"a field of a newer cluster": {text: "env: [{name: X}], soon: x", newer: true, has: "soon"},
		"all as it should be": {
			text: "env: [{name: X, valueFrom: {secretKeyRef: {name: s, key: k}}}], resources: {limits: {cpu: " +
				"1, memory: 1Gi}}, " +
				"livenessProbe: {httpGet: {port: http, path: /}}, args: [a, a], securityContext: {runAsUser: 0}",
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := &manifest.Reader{Fits: true, Newer: test.newer}
			r.Read("f.yaml", []byte(strings.Replace(pod, "CONTAINER", test.text, 1)))
			if test.refused != "" {
				const after = ", and both count: no upgrade could apply them"
				if want := []string{"f.yaml:1: Pod a: " + test.refused + after}; !slices.Equal(r.Problems(), want) {
					t.Errorf("refuses %q", r.Problems())
				}
				return
			}
			objects, _ := r.Objects()
			if len(objects) != 1 || len(r.Problems()) > 0 {
				t.Fatal(r.Problems())
			}
			for i := range test.says {
				test.says[i] = "f.yaml:1: Pod a: " + test.says[i]
			}
			if !slices.Equal(r.Warnings(), test.says) {
				t.Errorf("says %q", r.Warnings())
			}
			if _, err := server.ObjectToTyped(objects[0]); err != nil && !test.newer {
				t.Errorf("the API server does not take it: %v", err)
			}
			text, _ := objects[0].MarshalJSON()
			if !strings.Contains(string(text), test.has) || test.not != "" && strings.Contains(string(text), test.not) {
				t.Errorf("%s", text)
			}
		})
	}
}
