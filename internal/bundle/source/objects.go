package source

import (
	"bytes"
	"io"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/berthdev/berth/internal/bundle/content"
	"github.com/berthdev/berth/internal/chart/manifest"
	"github.com/berthdev/berth/internal/fault"
)

// objects gives a text back that has objects of Kubernetes and nothing else. The author of a bundle chooses the URL,
// and can read the content: what another server answers with is neither kept nor shown in an error.
func objects(text io.Reader) (io.Reader, error) {
	raw, err := io.ReadAll(io.LimitReader(text, manifest.MaxBytes+1))
	if err != nil {
		return nil, err
	}
	if len(raw) > manifest.MaxBytes {
		return nil, fault.New(fault.InvalidArgument, "the text is larger than %d MiB", manifest.MaxBytes>>20).
			WithReason(content.ReasonTooLarge).WithHint("make an archive of several files")
	}
	reader := manifest.Reader{Unchecked: true, Several: func(*unstructured.Unstructured) bool { return true }}
	reader.Read("", raw)
	found, _ := reader.Objects()
	ok := len(found) > 0 && len(reader.Problems()) == 0
	for _, object := range found {
		ok = ok && object.GetAPIVersion() != "" && object.GetKind() != ""
	}
	if !ok {
		return nil, fault.New(fault.InvalidArgument, "this is neither an archive nor YAML of Kubernetes objects: each "+
			"document has to have apiVersion and kind").
			WithHint("check that it is the address of the file itself")
	}
	return bytes.NewReader(raw), nil
}
