//go:build e2e

package e2e

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"path/filepath"
	"strings"
	"testing"

	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/rbac"
)

// certified is the same world for a berth that is run by somebody with a client certificate
// for that name, which the cluster has signed, and with the Role of a developer.
func (w *world) certified(name string) *world {
	w.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		w.Fatal(err)
	}
	request, err := x509.CreateCertificateRequest(rand.Reader,
		&x509.CertificateRequest{Subject: pkix.Name{CommonName: name}}, key)
	if err != nil {
		w.Fatal(err)
	}
	requests := w.CertificatesV1().CertificateSigningRequests()
	signing, err := requests.Create(w.Context(), &certificatesv1.CertificateSigningRequest{
		ObjectMeta: metav1.ObjectMeta{GenerateName: w.namespace + "-"},
		Spec: certificatesv1.CertificateSigningRequestSpec{
			Request:    pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: request}),
			SignerName: certificatesv1.KubeAPIServerClientSignerName,
			Usages:     []certificatesv1.KeyUsage{certificatesv1.UsageDigitalSignature, certificatesv1.UsageClientAuth},
		},
	}, metav1.CreateOptions{})
	if err != nil {
		w.Fatal(err)
	}
	signing.Status.Conditions = []certificatesv1.CertificateSigningRequestCondition{
		{Type: certificatesv1.CertificateApproved, Status: corev1.ConditionTrue, Reason: "Test"},
	}
	if _, err := requests.UpdateApproval(w.Context(), signing.Name, signing, metav1.UpdateOptions{}); err != nil {
		w.Fatal(err)
	}
	w.eventually("the certificate of "+name+" is signed", func() bool {
		signing, err = requests.Get(w.Context(), signing.Name, metav1.GetOptions{})
		return err == nil && len(signing.Status.Certificate) > 0
	})
	_ = requests.Delete(w.Context(), signing.Name, metav1.DeleteOptions{})
	w.bind(w.namespace, signing.Name, rbac.Developer().PolicyRules(),
		[]rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: name}})
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		w.Fatal(err)
	}
	config, err := clientcmd.LoadFromFile(w.admin)
	if err != nil {
		w.Fatal(err)
	}
	config.AuthInfos = map[string]*api.AuthInfo{"caller": {
		ClientCertificateData: signing.Status.Certificate,
		ClientKeyData:         pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}),
	}}
	config.Contexts[config.CurrentContext].AuthInfo = "caller"
	other := *w
	other.kubeconfig = filepath.Join(w.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(*config, other.kubeconfig); err != nil {
		w.Fatal(err)
	}
	other.eventually(name+" may list pods", func() bool { return other.berth("status").status == 0 })
	return &other
}

// Each caller of the API server has a workspace of their own in a namespace that they share,
// whatever they are called: they type who they are, and are nobody else.
func TestCallersAreUsers(t *testing.T) {
	parallel(t)
	w := newBareWorld(t)
	account := w.as(w.role(rbac.Developer()))
	service := "system%3Aserviceaccount%3A" + w.namespace + "%3A" + account.account
	people := []struct {
		berth     *world
		canonical string
		typed     string
	}{
		{w.certified("alice@example.com"), "alice@example.com", "Alice@Example.com"},
		{w.certified("alice@evil.org"), "alice@evil.org", "alice%40evil.org"},
		{w.certified("alice"), "alice", "alice"},
		{w.certified("Alice"), "%41lice", "%41lice"},
		{w.certified("jo.smith@x"), "jo.smith@x", "jo.smith@x"},
		{w.certified("jo-smith@y"), "jo-smith@y", "jo-smith@y"},
		{w.certified("müller"), "müller", "MÜLLER"},
		{w.certified("mu\u0308ller"), "mu%CC%88ller", "mu%CC%88ller"},
		{account, service, service},
	}
	ids := map[string]string{}
	for _, p := range people {
		p.berth.must(0, "provision", p.typed+"~dev")
		document := decode[v1.Workspace](w, p.berth.must(0, "status", p.typed+"~dev", "-o", "json"))
		if other, is := ids[document.ID]; is || document.Owner != p.canonical ||
			document.UserString != p.canonical+"~dev" {
			t.Errorf("%s has %+v, and %s the same", p.typed, document, other)
		}
		ids[document.ID] = p.canonical
		r := p.berth.must(0, "exec", p.typed+"~dev", "--", "hostname")
		if got := strings.TrimSpace(r.stdout); got != document.ID {
			t.Errorf("%s is in %s, not in %s", p.canonical, got, document.ID)
		}
	}
	labels := map[string]string{}
	for _, p := range people {
		list := decode[v1.WorkspaceList](w, p.berth.must(0, "status", "--owner", p.typed, "-o", "json"))
		if len(list.Items) != 1 || list.Items[0].Owner != p.canonical {
			t.Errorf("%s owns %+v", p.canonical, list.Items)
			continue
		}
		label := w.pod(list.Items[0].ID).Labels["k8shell.io/username"]
		if other, is := labels[label]; is {
			t.Errorf("%s and %s have the label %s", other, p.canonical, label)
		}
		labels[label] = p.canonical
		p.berth.offers([]string{"exec", p.canonical}, p.canonical+"~dev\t")
		completed := p.berth.must(0, "__complete", "exec", p.canonical).stdout
		if !strings.Contains("\n"+completed, "\n"+p.canonical+"~dev\t") { // the shell chooses by how they begin
			t.Errorf("%s is completed as %q", p.canonical, completed)
		}
		for _, other := range people {
			if other.canonical == p.canonical {
				continue
			}
			document := decode[v1.Error](w, p.berth.must(4, "provision", other.canonical+"~dev", "-o", "json"))
			if document.Reason != "USER_NOT_YOURS" {
				t.Errorf("%s as %s: %+v", p.canonical, other.canonical, document)
			}
		}
	}
}

// A workspace of an earlier version is entered by the caller whom it names, and by nobody
// whom berth only used to call so. Somebody who knows whose it is hands it over.
func TestFormerWorkspaces(t *testing.T) {
	parallel(t)
	w := newBareWorld(t)
	alice, example, evil := w.certified("alice"), w.certified("alice@example.com"), w.certified("alice@evil.org")
	alice.must(0, "provision", "alice~dev")
	id := w.idOf("alice~dev")
	const unmarked = `{"metadata":{"annotations":{"berth.dev/user":null}}}` // as earlier versions made it
	if _, err := w.CoreV1().Pods(w.namespace).
		Patch(t.Context(), id, types.MergePatchType, []byte(unmarked), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	alice.must(0, "exec", "alice~dev", "--", "sh", "-c", "mkdir -p work && echo mine > work/file")
	for _, former := range []*world{example, evil} {
		for _, args := range [][]string{
			{"exec", "alice~dev", "--", "true"},
			{"exec", "alice~pod=" + id, "--", "true"},
			{"delete", "alice~dev", "--yes"},
			{"logs", "alice~dev"},
			{"stop", "alice~dev", "--yes"},
			{"provision", "alice~dev"},
			{"cp", "alice~dev:work/file", t.TempDir()},
		} {
			r := former.berth(args...)
			if r.status == 0 || !strings.Contains(r.stderr, "may not act for alice") ||
				!strings.Contains(r.stderr, "your user string is now") {
				t.Errorf("%s: %d\n%s", args, r.status, r.stderr)
			}
		}
		list := decode[v1.WorkspaceList](w, former.must(0, "status", "--owner", "alice@example.com", "-o", "json"))
		if len(list.Items) != 0 {
			t.Errorf("the workspace is that of %+v", list.Items)
		}
	}
	if w.pod(id) == nil {
		t.Fatal("the workspace is gone")
	}
	copied := t.TempDir()
	example.must(0, "cp", "id/"+id+":work", copied)
	example.must(0, "provision", "alice@example.com~dev")
	example.must(0, "cp", filepath.Join(copied, "work"), "alice@example.com~dev:")
	r := example.must(0, "exec", "alice@example.com~dev", "--", "cat", "work/file")
	if r.stdout != "mine\n" {
		t.Errorf("the file is %q", r.stdout)
	}
	example.must(0, "delete", "id/"+id, "--yes")
}
