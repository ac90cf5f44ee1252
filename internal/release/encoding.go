package release

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"

	helm "helm.sh/helm/v3/pkg/release"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/yamldoc"
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

// The limits of a record, unpacked: a Secret of 1 MiB can hold a gigabyte, and a
// short text a great many values. Records of berth have a tenth of this at most.
const (
	maxDocument = 16 << 20 // bytes
	maxValues   = 100_000  // of the JSON
	maxMarks    = 300_000  // characters of an object in the manifest that can begin a value
	maxAllMarks = 5 * maxMarks
)

// ReasonUnreadable is the reason of the error of a record that cannot be read.
const ReasonUnreadable = "RECORD_UNREADABLE"

// unreadable is the error of a record that cannot be read.
func (r Records) unreadable(secret, name string, err error) error {
	repair := fmt.Sprintf("remove the workspace together with it: berth delete id/%s --namespace %s", name, r.Namespace)
	if r.Repair != nil {
		repair = r.Repair(secret)
	}
	return fault.New(fault.Failed, "Helm's record of release %s, Secret %s/%s, cannot be read: %w", name, r.Namespace,
		secret, err).
		WithReason(ReasonUnreadable).WithHint("restore the Secret, or %s", repair)
}

// decode reads the record of a release in a Secret. It is one that everything else
// can work with: nothing of it is nil, and its manifest can be read.
func decode(secret *corev1.Secret, name string) (*helm.Release, error) {
	release, err := read(secret, name)
	if err != nil {
		return nil, err
	}
	release.Labels = secret.Labels
	if release.Chart != nil && release.Chart.Metadata != nil && release.Chart.Metadata.Annotations[labelChunks] != "" {
		return release, nil // its manifest is in the chunks
	}
	return release, valid(release, name, release.Version)
}

// valid returns an error unless a release is about what it should be, and its manifest
// can be read.
func valid(release *helm.Release, name string, version int) error {
	if release.Name != name || release.Version != version {
		return fmt.Errorf("it is not about release %s", name)
	}
	total := 0
	for _, document := range yamldoc.Documents([]byte(release.Manifest)) {
		marks := yamldoc.Marks(document)
		if total += marks; marks > maxMarks || total > maxAllMarks {
			return fmt.Errorf("its manifest has more than %d values", maxMarks)
		}
	}
	_, err := Objects(release.Manifest)
	return err
}

// unpack is the JSON in a record.
func unpack(data []byte) ([]byte, error) {
	if len(data) == 0 {
		return nil, errors.New("it has no release")
	}
	packed, err := base64.StdEncoding.AppendDecode(nil, data)
	if err != nil {
		return nil, fmt.Errorf("not base64: %w", err)
	}
	return decompress(packed)
}

// decompress unpacks a document within the limits.
func decompress(packed []byte) ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, fmt.Errorf("not gzip: %w", err)
	}
	var document bytes.Buffer
	n, err := io.Copy(&document, io.LimitReader(r, maxDocument+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("not gzip: %w", err)
	case n > maxDocument:
		return nil, fmt.Errorf("larger than %d MiB when unpacked", maxDocument>>20)
	case countValues(document.Bytes()) > maxValues:
		return nil, fmt.Errorf("more than %d values", maxValues)
	}
	return document.Bytes(), nil
}

// countValues is how many values a JSON document has at most, without reading it.
func countValues(document []byte) (count int) {
	text, escaped := false, false
	for _, c := range document {
		switch {
		case escaped:
			escaped = false
		case c == '\\':
			escaped = text
		case c == '"':
			text = !text
		case !text && (c == ',' || c == '[' || c == '{'):
			count++
		}
	}
	return count
}

// version is the revision of a record by its label; 0 if that is not a number.
func version(secret *corev1.Secret) int {
	n, err := strconv.Atoi(secret.Labels["version"])
	if err != nil {
		return 0
	}
	return n
}
