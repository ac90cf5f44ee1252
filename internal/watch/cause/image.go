package cause

import (
	"fmt"
	"strings"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/pattern"
)

// The causes for which an image does not come.
const (
	ImageNotFound       = "ImageNotFound"       // no such repository, tag or digest
	ImagePullDenied     = "ImagePullDenied"     // needs a pull secret, or another one
	ImageWrongPlatform  = "ImageWrongPlatform"  // not built for the node's architecture
	ImageNotPresent     = "ImageNotPresent"     // pull policy Never, and the node does not have it
	BadImageName        = "InvalidImageName"    // malformed
	ImageShortName      = "ImageShortName"      // without a registry, and the node does not guess one
	ImageUnsigned       = "ImageUnsigned"       // the node wants a signature
	ImageUnsupported    = "ImageUnsupported"    // in a format that the runtime does not read
	RegistryUnreachable = "RegistryUnreachable" // DNS, network, 5xx
	RegistryUntrusted   = "RegistryUntrusted"   // its certificate is not trusted by the node
	RegistryPlainHTTP   = "RegistryPlainHTTP"   // speaks HTTP where the node speaks HTTPS
	RegistryRateLimited = "RegistryRateLimited" // 429
	NodeDiskFull        = "NodeDiskFull"        // the node has no room for it
	ImagePullFailed     = "ImagePullFailed"     // for another reason
)

const (
	registryUnavailable = "RegistryUnavailable"
	badSignature        = "SignatureValidationFailed"
)

const noSecret pattern.Expr = `\(pull secret (.+) does not exist\)`

// login is how the node gets to log in to a registry.
func login(c v1.Cause, a About) string {
	if m := noSecret.FindStringSubmatch(c.Message); m != nil {
		return fmt.Sprintf("The registry wants a login, and the pod's pull secret %s does not exist: create it with "+
			"`kubectl create secret docker-registry %s%s --docker-server=HOST --docker-username=USER --docker-password=PASSWORD`. Kubernetes keeps trying.", m[1], m[1], a.option())
	}
	return fmt.Sprintf("The registry is private or has no such image. Check %s; if it is right, the namespace needs a pull secret: "+
		"`kubectl create secret docker-registry registry%s --docker-server=HOST --docker-username=USER --docker-password=PASSWORD`, then "+
		"`kubectl patch serviceaccount default%s -p '{\"imagePullSecrets\":[{\"name\":\"registry\"}]}'`. %s",
		a.field(c, imageField(c.Container), "image"), a.option(), a.option(), a.again())
}

// distrust says what a certificate lacks.
func distrust(c v1.Cause, a About) string {
	switch {
	case strings.Contains(c.Message, "expired"):
		return "The registry's certificate has expired, or a clock is wrong: have the certificate renewed."
	case strings.Contains(c.Message, "is valid for"), strings.Contains(c.Message, "doesn't contain any IP SANs"), strings.Contains(c.Message, "cannot validate certificate for"):
		return "The registry's certificate is for another host name: use that one in " + a.field(c, imageField(c.Container), "image") + ", or have the certificate issued for this one."
	}
	return "The node does not trust the registry's certificate. Have the certificate of the authority that signed it added on every node (containerd: /etc/containerd/certs.d/HOST/hosts.toml)."
}
