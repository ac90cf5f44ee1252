package cmdutil

import (
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/berthdev/berth/api/bundle/v1alpha1"
	"github.com/berthdev/berth/internal/fault"
)

// FlagServiceAccount names a ServiceAccount that bundles are installed as.
const FlagServiceAccount = "service-account"

// AddServiceAccountFlag adds a flag whose value is a ServiceAccount; nil for none.
func AddServiceAccountFlag(cmd *cobra.Command, account **v1alpha1.ServiceAccount, name, usage string) {
	cmd.Flags().Var(&serviceAccount{account}, name, usage)
}

// serviceAccount is the pflag.Value of one.
type serviceAccount struct{ value **v1alpha1.ServiceAccount }

func (s *serviceAccount) String() string {
	if s.value == nil {
		return ""
	}
	return (*s.value).String()
}

// Type is what help shows as the value.
func (s *serviceAccount) Type() string { return "NAMESPACE/NAME" }

// Set reads it.
func (s *serviceAccount) Set(text string) (err error) {
	*s.value = nil
	if text != "" {
		*s.value, err = ParseServiceAccount(text)
	}
	return err
}

// ParseServiceAccount reads NAMESPACE/NAME.
func ParseServiceAccount(text string) (*v1alpha1.ServiceAccount, error) {
	namespace, name, _ := strings.Cut(text, "/")
	if len(validation.IsDNS1123Label(namespace)) > 0 || len(validation.IsDNS1123Subdomain(name)) > 0 {
		return nil, fault.New(fault.InvalidArgument, "a ServiceAccount is NAMESPACE/NAME, got %q", text)
	}
	return &v1alpha1.ServiceAccount{Namespace: namespace, Name: name}, nil
}
