package doctor

import (
	"strings"

	"github.com/berthdev/berth/internal/rbac"
)

// Certificates judges whether workspaces can get those that are configured:
// whether cert-manager is installed, and what the caller may not do of what that takes.
func Certificates(installed bool, missing []rbac.Access, namespace string) Finding {
	if !installed {
		return Failed("the configuration asks for certificates, but the cluster has no certificates.cert-manager.io",
			"have cert-manager installed (https://cert-manager.io), or set certificate.enabled to false")
	}
	if len(missing) == 0 {
		return OK("cert-manager is installed")
	}
	verbs := make([]string, len(missing))
	for i, a := range missing {
		verbs[i] = a.Verb
	}
	return Failed("you may not "+strings.Join(verbs, ", ")+" "+missing[0].Object()+" in namespace "+namespace+
		", which the configuration asks for",
		"ask for the Role "+rbac.Named(rbac.Provision).ObjectName()+" of docs/rbac.md, or set certificate.enabled to false")
}
