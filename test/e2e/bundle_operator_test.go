//go:build e2e

package e2e

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/keypair"
)

// issuersOperator is a ClusterServiceVersion whose deployment runs the webhook of the chart of issuers. A pod that is
// to end goes on answering for as long as the API server may still ask it.
const issuersOperator = `apiVersion: operators.coreos.com/v1alpha1
kind: ClusterServiceVersion
metadata: {name: issuers.v1}
spec:
  version: 1.0.0
  installModes: [{type: AllNamespaces, supported: true}]
  customresourcedefinitions: {owned: [{name: issuers.GROUP, kind: Issuer, version: v1}]}
  install:
    strategy: deployment
    spec:
      deployments:
      - name: issuers
        spec:
          replicas: 1
          selector: {matchLabels: {app: issuers}}
          template:
            metadata: {labels: {app: issuers}}
            spec:
              containers:
              - name: webhook
                image: IMAGE
                args: [webhook, /tmp/k8s-webhook-server/serving-certs]
                ports: [{containerPort: 8443}]
                lifecycle: {preStop: {sleep: {seconds: 5}}}
                readinessProbe: {httpGet: {path: /healthz, port: 8443, scheme: HTTPS}, periodSeconds: 1}
  webhookdefinitions:
  - {type: ValidatingAdmissionWebhook, generateName: validating.GROUP, deploymentName: issuers, containerPort: 443,
    targetPort: 8443, webhookPath: /validate, failurePolicy: Fail, sideEffects: None, timeoutSeconds: 5,
    admissionReviewVersions: [v1],
    rules: [{apiGroups: [GROUP], apiVersions: ["*"], operations: [CREATE], resources: [issuers]}]}
`

const issuersDefinition = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: issuers.GROUP}
spec:
  group: GROUP
  scope: Namespaced
  names: {kind: Issuer, listKind: IssuerList, plural: issuers, singular: issuer}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {server: {type: string}}}}}}
`

// operator writes the bundle of the operator.
func (c *issuers) operator() string {
	c.Helper()
	dir := c.TempDir()
	of := strings.NewReplacer("GROUP", c.group, "IMAGE", c.image)
	c.writeAll(dir, map[string]string{
		"metadata/annotations.yaml": "annotations: {operators.operatorframework.io.bundle.package.v1: " + c.namespace +
			"}\n",
		"manifests/issuers.clusterserviceversion.yaml": of.Replace(issuersOperator),
		"manifests/issuers.crd.yaml":                   of.Replace(issuersDefinition),
	})
	return dir
}

// home is the namespace of the operator.
func (c *issuers) home() string { return c.namespace + "-system" }

// try asks the webhook about an issuer, which is not kept.
func (c *issuers) try(ctx context.Context, client dynamic.Interface, server string) error {
	i := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"server": server}}}
	i.SetGroupVersionKind(schema.GroupVersionKind{Group: c.group, Version: "v1", Kind: "Issuer"})
	i.SetName("try")
	_, err := client.Resource(schema.GroupVersionResource{Group: c.group, Version: "v1", Resource: "issuers"}).
		Namespace(c.namespace).Create(ctx, i, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	return err
}

// calling asks the webhook again and again until what it returns is called, which gives the errors and how many calls
// there were.
func (c *issuers) calling(client dynamic.Interface) (stop func() (errs []error, calls int)) {
	ctx, cancel := context.WithCancel(c.Context())
	var group sync.WaitGroup
	var errs []error
	calls := 0
	group.Go(func() {
		for ctx.Err() == nil {
			err := c.try(context.WithoutCancel(ctx), client, "https://try.example.com")
			calls++
			if err != nil {
				errs = append(errs, err)
			}
			time.Sleep(20 * time.Millisecond)
		}
	})
	return func() ([]error, int) {
		cancel()
		group.Wait()
		return errs, calls
	}
}

// certificate is the Secret of the operator.
func (c *issuers) certificate() *corev1.Secret {
	c.Helper()
	secret, err := c.CoreV1().Secrets(c.home()).Get(c.Context(), "issuers-service-cert", metav1.GetOptions{})
	if err != nil {
		c.Fatal(err)
	}
	return secret
}

// rolledOut waits until only pods run that were started with the present certificate.
func (c *issuers) rolledOut(before string) {
	c.Helper()
	c.eventually("the pods serve with the other certificate", func() bool {
		d, err := c.AppsV1().Deployments(c.home()).Get(c.Context(), "issuers", metav1.GetOptions{})
		if err != nil {
			return false
		}
		pods, err := c.CoreV1().Pods(c.home()).List(c.Context(), metav1.ListOptions{LabelSelector: "app=issuers"})
		return err == nil && len(pods.Items) == 1 && d.Status.ReadyReplicas == 1 &&
			pods.Items[0].Annotations["olmcahash"] != before &&
			pods.Items[0].Annotations["olmcahash"] == d.Spec.Template.Annotations["olmcahash"]
	})
}

func (c *issuers) hash() string {
	c.Helper()
	d, err := c.AppsV1().Deployments(c.home()).Get(c.Context(), "issuers", metav1.GetOptions{})
	if err != nil {
		c.Fatal(err)
	}
	return d.Spec.Template.Annotations["olmcahash"]
}

// age puts a certificate in place of which less than a third is left. What runs serves with the one before, which is
// trusted as it would be.
func (c *issuers) age() {
	c.Helper()
	secret := c.certificate()
	host := "issuers-service." + c.home()
	pair, err := keypair.New([]string{host + ".svc", host + ".svc.cluster.local", host, "issuers-service"},
		time.Now().Add(-keypair.Lifetime*3/4))
	if err != nil {
		c.Fatal(err)
	}
	secret.Data["tls.crt"], secret.Data["tls.key"] = pair.Cert, pair.Key
	secret.Data["ca.crt"] = append(pair.CA, secret.Data["ca.crt"]...)
	if _, err := c.CoreV1().Secrets(c.home()).Update(c.Context(), secret, metav1.UpdateOptions{
		FieldManager: "berth", // as if berth had made it long ago
	}); err != nil {
		c.Fatal(err)
	}
}

// An operator with a webhook of its own: it is asked, its certificate is kept by an upgrade that changes nothing, and
// is renewed, while calls go on, when its time has come and when its Secret is deleted. No call fails.
func TestBundleOfAnOperatorsWebhook(t *testing.T) {
	c := newIssuers(t)
	client, err := dynamic.NewForConfig(c.config)
	if err != nil {
		t.Fatal(err)
	}
	dir := c.operator()
	i := decode[v1.BundleInstallation](c.world, c.bundle(0, "install", dir, "-o", "json", "--timeout", "3m"))
	if i.Action != v1.BundleInstalled || !i.Healthy {
		t.Errorf("%+v", i)
	}
	c.eventually("the webhook is asked", func() bool {
		return c.try(t.Context(), client, "https://a.example.com") == nil
	})
	if err := c.try(t.Context(), client, "ftp://a.example.com"); err == nil ||
		!strings.Contains(err.Error(), "must be a URL of https") {
		t.Errorf("the webhook says %v", err)
	}
	first := c.certificate().Data["tls.crt"]
	again := decode[v1.BundleInstallation](c.world, c.bundle(0, "install", dir, "-o", "json", "--timeout", "3m"))
	if again.Action != v1.BundleUnchanged || !bytes.Equal(c.certificate().Data["tls.crt"], first) {
		t.Errorf("%+v", again)
	}
	c.bundle(0, "diff", dir, "--exit-code")

	for _, renewal := range []struct {
		name string
		do   func()
	}{
		{"its time has come", c.age},
		{"its Secret is deleted", func() {
			if err := c.CoreV1().Secrets(c.home()).Delete(t.Context(), "issuers-service-cert",
				metav1.DeleteOptions{}); err != nil {
				t.Fatal(err)
			}
		}},
	} {
		before, hash := c.certificate().Data["tls.crt"], c.hash()
		stop := c.calling(client)
		renewal.do()
		c.reconciled()
		c.rolledOut(hash)
		errs, calls := stop()
		if len(errs) > 0 || calls < 10 {
			t.Errorf("%s: of %d calls %d have failed: %v", renewal.name, calls, len(errs), errors.Join(errs...))
		}
		if bytes.Equal(c.certificate().Data["tls.crt"], before) {
			t.Errorf("%s: the certificate is the same", renewal.name)
		}
	}
	c.onlyTheNewOne(client)
	c.bundle(0, "uninstall", "--delete-crds", "--yes")
	if mine := c.mine(); mine != "" {
		t.Errorf("left: %s", mine)
	}
	c.uninstalled()
}

// onlyTheNewOne makes sure that the pods serve with the newest certificate: the API server is told to trust nothing
// else for a moment, which the next pass puts right.
func (c *issuers) onlyTheNewOne(client dynamic.Interface) {
	c.Helper()
	hooks := c.AdmissionregistrationV1().ValidatingWebhookConfigurations()
	list, err := hooks.List(c.Context(), metav1.ListOptions{LabelSelector: "core.rukpak.io/owner-name=" + c.instance()})
	if err != nil || len(list.Items) != 1 {
		c.Fatalf("%d webhooks, %v", len(list.Items), err)
	}
	config := &list.Items[0]
	all := config.Webhooks[0].ClientConfig.CABundle
	newest, _, _ := bytes.Cut(all, []byte("-----END CERTIFICATE-----\n"))
	config.Webhooks[0].ClientConfig.CABundle = append(bytes.Clone(newest), "-----END CERTIFICATE-----\n"...)
	if _, err := hooks.Update(c.Context(), config, metav1.UpdateOptions{}); err != nil {
		c.Fatal(err)
	}
	c.eventually("the webhook is asked with the newest CA alone", func() bool {
		return c.try(c.Context(), client, "https://a.example.com") == nil
	})
	c.reconciled()
	now, err := hooks.Get(c.Context(), config.Name, metav1.GetOptions{})
	if err != nil || !bytes.Equal(now.Webhooks[0].ClientConfig.CABundle, all) {
		c.Errorf("what the API server trusts was not put right: %v\n%s\nand was\n%s\nof\n%s", err,
			now.Webhooks[0].ClientConfig.CABundle, all, now.ManagedFields)
	}
}
