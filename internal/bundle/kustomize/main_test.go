package kustomize_test

import (
	"errors"
	"os"
	"testing"
	"testing/fstest"

	"github.com/berthdev/berth/internal/bundle/kustomize"
	"github.com/berthdev/berth/internal/fault"
)

func TestMain(m *testing.M) {
	kustomize.Worker(os.Exit)
	m.Run()
}

// content makes a file system of names and texts.
func content(files map[string]string) fstest.MapFS {
	fsys := fstest.MapFS{}
	for name, text := range files {
		fsys[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return fsys
}

// problems are those of an error.
func problems(t *testing.T, err error) []string {
	t.Helper()
	f, ok := errors.AsType[*fault.Error](err)
	if !ok || f.Code != fault.InvalidArgument {
		t.Fatalf("error %#v is no INVALID_ARGUMENT", err)
	}
	if len(f.Problems) > 0 {
		return f.Problems
	}
	return []string{f.Message}
}

// deployment and service are what most kustomizations begin with.
const (
	deployment = `apiVersion: apps/v1
kind: Deployment
metadata: {name: web, labels: {tier: front}}
spec:
  replicas: 1
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - name: web
        image: example.com/web:v1
        env: [{name: HOST, value: placeholder}]
        envFrom: [{configMapRef: {name: settings}}, {secretRef: {name: login}}]
`
	service = `apiVersion: v1
kind: Service
metadata: {name: web}
spec: {selector: {app: web}, ports: [{port: 80}]}
`
)
