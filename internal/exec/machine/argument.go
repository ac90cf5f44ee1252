package machine

import (
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/berthdev/berth/internal/fault"
)

// Prefix is what the name of a machine follows on a command line. No user string and no
// canonical ID has a slash there.
const Prefix = "machine/"

// Argument reads what may name a machine: machine/NAME. It is false for anything else.
func Argument(text string) (name string, is bool, err error) {
	name, is = strings.CutPrefix(text, Prefix)
	switch {
	case !is:
		return "", false, nil
	case name == "":
		return "", true, fault.New(fault.InvalidArgument, "machine name is empty").WithHint("name it as in machine/web")
	case len(validation.IsDNS1123Subdomain(name)) > 0:
		return "", true, fault.New(fault.InvalidArgument, "invalid machine name %q", name).
			WithHint("a name has lower case letters, digits, - and . alone; see `kubectl get machines`")
	}
	return name, true, nil
}
