package instance

import (
	"crypto/sha256"
	"encoding/base32"
	"encoding/hex"
	"encoding/json"
	"strings"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/berthdev/berth/api/bundle/v1alpha1"
	"github.com/berthdev/berth/internal/fault"
)

// CheckName refuses what cannot be the name of an instance, which is also the name of
// its release and the beginning of those of its bundles.
func CheckName(name string) error {
	switch problems, n := validation.IsDNS1123Label(name), utf8.RuneCountInString(name); {
	case name == "":
		return fault.New(fault.InvalidArgument, "the name of the instance is empty")
	case n > v1alpha1.MaxInstanceName:
		return fault.New(fault.InvalidArgument, "the name %q has %d characters; that of an instance has at most %d", name,
			n, v1alpha1.MaxInstanceName)
	case len(problems) > 0:
		return fault.New(fault.InvalidArgument,
			"%q cannot be the name of an instance: use lower-case letters, digits and hyphens, with a letter or digit at both ends", name)
	}
	return nil
}

// templateHash tells templates apart: of their JSON, in which keys are sorted, so that
// every version of every program on every machine gets the same.
func templateHash(t v1alpha1.Template) (string, error) {
	text, err := json.Marshal(t)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:20]), nil // 40 characters fit into a label
}

// bundleName names the bundle of a template. Two templates can have one name, as only six
// characters are left for the hash: then the next attempt has another one.
func bundleName(instance, hash string, attempt int) string {
	sum := sha256.Sum256([]byte(hash + strings.Repeat("+", attempt)))
	short := strings.ToLower(base32.StdEncoding.EncodeToString(sum[:])[:v1alpha1.MaxBundleName-v1alpha1.MaxInstanceName-1])
	return instance + "-" + short
}
