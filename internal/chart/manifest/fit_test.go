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
		has, not string
	}{
		"a variable twice": {
			text: "env: [{name: X, value: one}, {name: Z}, {name: X, value: two}]", has: "two", not: "one",
			says: []string{"spec.containers[0].env has name X more than once: the last one counts"},
		},
		"a mount twice": {
			text: "volumeMounts: [{name: a, mountPath: /x}, {name: b, mountPath: /x}]",
			says: []string{"spec.containers[0].volumeMounts has mountPath /x more than once: the last one counts"},
		},
		"a port for two protocols": {text: "ports: [{containerPort: 53, protocol: UDP}, {containerPort: 53}]", has: "UDP"},
		"a port twice, once by default": {
			text: "ports: [{containerPort: 53, protocol: TCP, name: one}, {containerPort: 53, name: two}]", not: "one",
			says: []string{"spec.containers[0].ports has containerPort 53, protocol TCP more than once: the last one counts"},
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
			text: "env: [{name: X, valueFrom: {secretKeyRef: {name: s, key: k}}}], resources: {limits: {cpu: 1, memory: 1Gi}}, " +
				"livenessProbe: {httpGet: {port: http, path: /}}, args: [a, a], securityContext: {runAsUser: 0}",
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := &manifest.Reader{Fits: true, Newer: test.newer}
			r.Read("f.yaml", []byte(strings.Replace(pod, "CONTAINER", test.text, 1)))
			objects, _ := r.Objects()
			if len(objects) != 1 {
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
