package release

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strconv"

	helm "helm.sh/helm/v3/pkg/release"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// A record is a Secret as Helm's storage driver writes it: the release as JSON,
// compressed and in base64, with what it is found by in labels. The driver
// itself is not linked, since it brings Helm's SQL storage along; a test reads
// with it what is written here, and the reverse.
const (
	recordType = "helm.sh/release.v1"
	recordKey  = "release"
)

func key(release *helm.Release) string { return Key(release.Name, release.Version) }

// Key is the name of the Secret of a release's revision.
func Key(name string, revision int) string {
	return fmt.Sprintf("sh.helm.release.v1.%s.v%d", name, revision)
}

// selector finds the records of a release.
func selector(name string) string { return "owner=helm,name=" + name }

// The labels that say when a record was written.
const (
	createdAt  = "createdAt"
	modifiedAt = "modifiedAt"
)

// encode makes the Secret of a record, with one of these labels.
func (r Records) encode(release *helm.Release, stamp string) (*corev1.Secret, error) {
	document, err := json.Marshal(release)
	if err != nil {
		return nil, fmt.Errorf("record of %s: %w", release.Name, err)
	}
	packed := compress(document)
	all := labels.Merge(release.Labels, map[string]string{
		"name": release.Name, "owner": "helm", "status": release.Info.Status.String(),
		"version": strconv.Itoa(release.Version),
		stamp:     strconv.FormatInt(release.Info.LastDeployed.Unix(), 10),
	})
	delete(all, labelVersion)
	delete(all, labelKept)
	delete(all, labelLast)
	delete(all, labelCreated)
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: key(release), Labels: all, OwnerReferences: r.Owners},
		Type:       recordType,
		Data:       map[string][]byte{recordKey: []byte(base64.StdEncoding.EncodeToString(packed))},
	}, nil
}

func compress(document []byte) []byte {
	var packed bytes.Buffer
	w, _ := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	_, _ = w.Write(document) // a buffer takes everything
	_ = w.Close()
	return packed.Bytes()
}
