package cause

import (
	"fmt"
	"slices"
	"strings"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/pattern"
	"github.com/berthdev/berth/internal/watch/evidence"
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

// pullReasons are Kubernetes' words for a failed pull: it is ErrImagePull at one moment
// and ImagePullBackOff at the next, so that either word means both.
func pullReasons(others ...string) []string {
	return append(others, evidence.ErrImagePull, evidence.ImagePullBackOff)
}

func image() []entry {
	return slices.Concat(imageName(), imageContent(), registry())
}

// imageName are the causes for which the name leads nowhere.
func imageName() []entry {
	return []entry{
		{
			code: ImageNotFound, reasons: pullReasons(),
			hint: "The registry answered, but has no such image or tag. Check {image-field}. {again}",
			explanation: explanation{
				title:    "The image does not exist",
				meaning:  "The node asked the registry for the image, and the registry answered that it has no image of that name, tag or digest.",
				signs:    []string{"`kubectl get pods`: ErrImagePull or ImagePullBackOff", "`kubectl describe pod`: an event Failed with \"not found\" or \"manifest unknown\""},
				remedies: []string{"Correct the name or the tag: a typo, a tag that was removed, a build that was not pushed.", "`docker manifest inspect IMAGE` shows whether it exists.", "Push the image, if it was never there."},
				example:  "collected/o17-second-container-pull",
			},
		},
		{
			code: ImagePullDenied, reasons: pullReasons(), why: login, hint: "{why}",
			explanation: explanation{
				title:    "The registry does not hand out the image",
				meaning:  "The registry wants to know who asks, and the node has no login for it, or one that may not read this image. Many registries answer the same for an image that does not exist.",
				signs:    []string{"An event Failed with \"pull access denied\", \"unauthorized\" or \"403 Forbidden\"", "An event FailedToRetrieveImagePullSecret: a pull secret that the pod names does not exist in its namespace"},
				remedies: []string{"Check the image's name.", "Create a pull secret in the pod's namespace, and name it in imagePullSecrets of the pod or of its service account.", "If there is one, see whether its token has expired and is for this host."},
				example:  "image/pull-secret-missing",
			},
		},
		{
			code: BadImageName, reasons: []string{"InspectFailed"},
			hint: "The name of the image is malformed: it has to be HOST/PATH:TAG, in lower case. Correct {image-field}. {again}",
			explanation: explanation{
				title:    "The image's name is malformed",
				meaning:  "The value of \"image\" is not a valid image name, so no registry is asked.",
				signs:    []string{"`kubectl get pods`: InvalidImageName", "An event InspectFailed with \"couldn't parse image name\""},
				remedies: []string{"Write HOST/PATH:TAG in lower case, without https:// and without blanks.", "See whether a template or a variable was left empty, as in \"app:\"."},
				example:  "image/uppercase",
			},
		},
		{
			code: ImageShortName, reasons: pullReasons(),
			hint: "The name of the image has no registry, and the node does not guess one. Write the whole name, such as docker.io/library/nginx:1.29, in {image-field}. {again}",
			explanation: explanation{
				title:    "The image's name has no registry",
				meaning:  "On nodes with CRI-O or Podman a name without a host, such as nginx, is not taken to be Docker Hub's unless the node is configured so.",
				signs:    []string{"An event Failed with \"short-name … did not resolve to an alias\" or \"short name mode is enforcing\""},
				remedies: []string{"Write the whole name with its host: docker.io/library/nginx:1.29.", "Or have unqualified-search-registries configured on the nodes."},
				example:  "image/short-name",
			},
		},
		{
			code: ImageNotPresent, reasons: []string{evidence.ErrImageNeverPull},
			hint: "The pull policy is Never, and the node does not have {image}. Set \"imagePullPolicy\" to IfNotPresent in {spec}. {again}",
			explanation: explanation{
				title:    "The image may not be pulled, and is not there",
				meaning:  "The container says imagePullPolicy: Never, which is for images that are on the node already. This one is not.",
				signs:    []string{"`kubectl get pods`: ErrImageNeverPull"},
				remedies: []string{"Set imagePullPolicy to IfNotPresent.", "Or load the image onto every node (`kind load docker-image`, `minikube image load`)."},
				example:  "image/never-pull",
			},
		},
	}
}

// imageContent are the causes for which the node cannot use what it gets.
func imageContent() []entry {
	return []entry{
		{
			code: ImageWrongPlatform, reasons: pullReasons(),
			hint: "The image is not built for the node's processor (`kubectl get nodes --label-columns kubernetes.io/arch` shows which that is). " +
				"Build it for several platforms, or name another one in {image-field}. {again}",
			explanation: explanation{
				title:    "The image is not built for the node's processor",
				meaning:  "The image exists, but only for other processors than the node's, such as amd64 alone where the node is arm64.",
				signs:    []string{"An event Failed with \"no match for platform in manifest\" or \"no matching manifest for linux/arm64\""},
				remedies: []string{"Build for several platforms: `docker buildx build --platform linux/amd64,linux/arm64`.", "Or keep the pod on nodes that fit, with nodeSelector kubernetes.io/arch."},
				example:  "collected/b19b-no-platform",
			},
		},
		{
			code: ImageUnsigned, reasons: pullReasons(badSignature),
			hint: "The node accepts signed images only, and found no valid signature of this one. Sign it, or use one that is signed in {image-field}; the rule is in the node's policy.json. {again}",
			explanation: explanation{
				title:    "The image's signature is missing or not valid",
				meaning:  "The container runtime of the node is configured to run only images that carry a certain signature, and this one does not.",
				signs:    []string{"`kubectl get pods`: SignatureValidationFailed", "An event Failed with \"A signature was required, but no signature exists\""},
				remedies: []string{"Sign the image with the key that the cluster expects.", "Use an image that is signed.", "Ask your cluster administrator to change /etc/containers/policy.json, if the rule is not meant for this registry."},
				example:  "image/unsigned",
			},
		},
		{
			code: ImageUnsupported, reasons: pullReasons(),
			hint: "The node's container runtime does not support the format of the image: it was made by an old builder, or it is not a container image. Build and push it again with a current builder. {again}",
			explanation: explanation{
				title:    "The image's format is not supported",
				meaning:  "The registry has what was asked for, but it is an image in the old format (Docker schema 1), or something else than an image, such as a Helm chart.",
				signs:    []string{"An event Failed with \"is no longer supported\", \"unsupported media type\" or \"unknown media type\""},
				remedies: []string{"Pull the image with Docker, and push it again: that converts it.", "Check the name: charts and other artifacts can be in the same registry."},
				example:  "image/schema1",
			},
		},
		{
			code: NodeDiskFull, reasons: pullReasons(),
			hint: "The node's disk is full. Kubernetes removes unused images and keeps trying; if that does not help, use a smaller image or another node, or ask your cluster administrator to make room.",
			explanation: explanation{
				title:    "The node has no room for the image",
				meaning:  "The image is unpacked on the node's disk, and that is full.",
				signs:    []string{"An event Failed with \"no space left on device\"", "`kubectl describe node`: DiskPressure, or events FreeDiskSpaceFailed and ImageGCFailed"},
				remedies: []string{"Make room on the node: images, logs and volumes that nobody needs.", "Use a smaller image.", "Give the nodes larger disks."},
				passes:   "The kubelet removes unused images, and pods with what they have written, when the disk is nearly full.",
				example:  "image/disk-full",
			},
		},
		{
			code: ImagePullFailed, reasons: pullReasons(),
			hint: "The image could not be pulled completely. Check {image-field}, and the registry with `docker pull {image}`.",
			explanation: explanation{
				title:    "The image could not be pulled",
				meaning:  "Pulling failed for a reason that berth does not know. The message has what the runtime says of it.",
				signs:    []string{"`kubectl get pods`: ErrImagePull or ImagePullBackOff", "`kubectl describe pod`: an event Failed"},
				remedies: []string{"Read the event's message to its end: the reason stands last.", "Try `docker pull IMAGE` elsewhere: whether that works shows whose fault it is, the image's or the node's."},
				passes:   "Only if the kubelet's own limit is the reason (\"pull QPS exceeded\").",
				example:  "collected/b24b-cause-lost",
			},
		},
	}
}

// registry are the causes for which nobody answers as expected.
func registry() []entry {
	return []entry{
		{
			code: RegistryUnreachable, reasons: pullReasons(registryUnavailable),
			hint: "The node cannot reach the registry. Check the host in {image-field}, and whether the cluster's nodes may reach it. Kubernetes keeps trying.",
			explanation: explanation{
				title:    "The registry does not answer",
				meaning:  "The node finds no address for the registry's host, gets no connection, or an answer that says that the registry has trouble itself.",
				signs:    []string{"An event Failed with \"no such host\", \"i/o timeout\", \"connection refused\" or \"503 Service Unavailable\""},
				remedies: []string{"Check the host in the image's name.", "Check whether nodes may reach the registry: proxy, firewall, DNS of the nodes, not of the pods.", "See whether the registry has an outage."},
				passes:   "When the registry or the network is back. A host that does not exist does not come by itself.",
				example:  "image/registry-timeout",
			},
		},
		{
			code: RegistryUntrusted, reasons: pullReasons(),
			why: distrust, hint: "{why} Kubernetes keeps trying.",
			explanation: explanation{
				title:    "The registry's certificate is not trusted",
				meaning:  "The registry answers with a certificate that the node's container runtime does not accept: of an authority that it does not know, expired, or for another host name. A Secret in the cluster does not change that: it is the node that pulls.",
				signs:    []string{"An event Failed with \"x509: certificate signed by unknown authority\", \"certificate has expired\" or \"certificate is valid for …, not …\""},
				remedies: []string{"Add the authority's certificate to the runtime of every node: a ca in /etc/containerd/certs.d/HOST/hosts.toml, or /etc/containers/certs.d/HOST/ca.crt with CRI-O.", "Renew the certificate, if it has expired.", "Use the host name that the certificate is for."},
				example:  "image/unknown-authority",
			},
		},
		{
			code: RegistryPlainHTTP, reasons: pullReasons(),
			hint: "The registry speaks HTTP, and the node expects HTTPS. Give the registry a certificate, or have it allowed as insecure on every node " +
				"(containerd: server = \"http://HOST\" in /etc/containerd/certs.d/HOST/hosts.toml). Kubernetes keeps trying.",
			explanation: explanation{
				title:    "The registry speaks HTTP rather than HTTPS",
				meaning:  "Nodes talk to registries by TLS, unless a registry is configured as insecure on the node. This one answers without TLS.",
				signs:    []string{"An event Failed with \"server gave HTTP response to HTTPS client\""},
				remedies: []string{"Serve the registry by TLS.", "Or configure it as http:// in the runtime of every node.", "Check the port: another one may be the registry's with TLS."},
				example:  "collected/o11b-http-https",
			},
		},
		{
			code: RegistryRateLimited, reasons: pullReasons(),
			hint: "The registry refuses more pulls for now. Wait some minutes, log in with a pull secret for a higher limit, or use a registry of your own in {image-field}.",
			explanation: explanation{
				title:    "The registry refuses more pulls for now",
				meaning:  "Public registries limit how much an address or an account may pull in some hours. All nodes behind one address count together.",
				signs:    []string{"An event Failed with \"toomanyrequests\" or \"429 Too Many Requests\""},
				remedies: []string{"Wait: the limit ends after minutes to hours.", "Log in with a pull secret: accounts have higher limits.", "Use a mirror or a registry of your own."},
				passes:   "When the registry's time is over.",
				example:  "collected/b21p-toomanyrequests-patient",
			},
		},
	}
}

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
