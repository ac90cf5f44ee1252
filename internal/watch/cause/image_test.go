package cause

import (
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/watch/evidence"
	"github.com/berthdev/berth/internal/watch/watchtest"
)

func pullError(said string) string {
	return fmt.Sprintf("Failed to pull image %q: rpc error: code = Unknown desc = %s", "x/app:1", said)
}

// What is known to pass waits for the grace period under patient; what is not
// fails at once under both; fast waits for nothing.
func TestPullErrors(t *testing.T) {
	for _, test := range []struct {
		said   string
		code   string
		passes bool
	}{
		{
			"unexpected status from HEAD request to https://r/v2/x/app/manifests/1: 429 Too Many Requests",
			RegistryRateLimited, true,
		},
		{"toomanyrequests: You have reached your pull rate limit", RegistryRateLimited, true},
		{"unexpected status from HEAD request to https://r/v2/: 500 Internal Server Error", RegistryUnreachable, true},
		{"unexpected status code https://r/v2/: 502 Bad Gateway", RegistryUnreachable, true},
		{"unexpected status from HEAD request to https://r/v2/: 503 Service Unavailable", RegistryUnreachable, true},
		{"unexpected status from HEAD request to https://r/v2/: 521 <none>", RegistryUnreachable, true},
		{
			`failed to do request: Head "https://r/v2/": dial tcp 10.0.0.9:443: connect: connection refused`,
			RegistryUnreachable, true,
		},
		{`failed to do request: Head "https://r/v2/": dial tcp 10.0.0.9:443: i/o timeout`, RegistryUnreachable, true},
		{`failed to do request: Head "https://r/v2/": net/http: TLS handshake timeout`, RegistryUnreachable, true},
		{"context deadline exceeded", RegistryUnreachable, true},
		{`dial tcp: lookup r on 10.0.0.10:53: read udp 10.0.0.1:4->10.0.0.10:53: i/o timeout`, RegistryUnreachable, true},
		{`dial tcp: lookup r on 10.0.0.10:53: server misbehaving`, RegistryUnreachable, true},
		{"pull QPS exceeded", ImagePullFailed, true},
		{`dial tcp: lookup r on 10.0.0.10:53: no such host`, RegistryUnreachable, false},
		{"tls: failed to verify certificate: x509: certificate signed by unknown authority", RegistryUntrusted, false},
		{"x/app:1: not found", ImageNotFound, false},
		{"pull access denied, repository does not exist", ImagePullDenied, false},
		{"unexpected status from HEAD request to https://r/v2/: 401 Unauthorized", ImagePullDenied, false},
		{"no match for platform in manifest", ImageWrongPlatform, false},
		{"http: server gave HTTP response to HTTPS client", RegistryPlainHTTP, false},
		{"failed to extract layer sha256:1: write /usr/lib/x: no space left on device", NodeDiskFull, true},
		{
			`short-name "app" did not resolve to an alias and no unqualified-search registries are defined`, ImageShortName,
			false,
		},
		{"Source image rejected: A signature was required, but no signature exists", ImageUnsigned, false},
		{`media type "application/vnd.docker.distribution.manifest.v1+prettyjws" is no longer supported since containerd v2.1`, ImageUnsupported, false},
		{"who knows", ImagePullFailed, false},
	} {
		t.Run(test.said, func(t *testing.T) {
			pod := podOf(watchtest.NewPod("web", "1", watchtest.OnNode), warning("app", "Failed", pullError(test.said)))
			compare(t, Judge(pod, DefaultPolicy(), watchtest.After(time.Second)).Failed, test.code)
			got := Judge(pod, patient(), watchtest.After(time.Second))
			if !test.passes {
				compare(t, got.Failed, test.code)
				return
			}
			if got.Failed != nil || len(got.Graced) != 1 || !got.Next.Equal(watchtest.After(time.Minute)) {
				t.Fatalf("patient: %+v", got)
			}
			compare(t, &got.Graced[0], test.code+": (may pass: waiting up to 1m)")
		})
	}
}

// Where nothing but the echo of a failed pull is left, that is the cause.
func TestEchoOfAFailedPull(t *testing.T) {
	pod := podOf(watchtest.NewPod("web", "1", watchtest.OnNode), warning("app", "Failed", "Error: ImagePullBackOff"))
	compare(t, Judge(pod, DefaultPolicy(), watchtest.After(time.Second)).Failed, ImagePullFailed)
}

// An image that will never come fails at once under both policies.
func TestPermanentImageCauses(t *testing.T) {
	for code, wait := range map[string]func(*corev1.ContainerStatus){
		BadImageName:    watchtest.Waits("InvalidImageName", `couldn't parse image name "X:1"`),
		ImageNotPresent: watchtest.Waits("ErrImageNeverPull", ""),
		ImageNotFound: watchtest.Waits("ImagePullBackOff",
			`Back-off pulling image "x/app:1": ErrImagePull: x/app:1: not found`),
		ImagePullDenied: watchtest.Waits("ErrImagePull", "pull access denied"),
		ImageUnsigned:   watchtest.Waits("SignatureValidationFailed", "no signature"),
	} {
		for _, p := range []Policy{DefaultPolicy(), patient()} {
			compare(t, Judge(appThat(wait), p, watchtest.Epoch).Failed, code)
		}
	}
	compare(t, Judge(appThat(watchtest.Waits("RegistryUnavailable", "who knows")), DefaultPolicy(), watchtest.Epoch).
		Failed, RegistryUnreachable)
}

func TestImageHints(t *testing.T) {
	checkHints(t, []hintTest{
		{
			"of a helper",
			v1.Cause{Code: ImageNotFound, Container: "init-repository"},
			About{Blueprint: "dev"},
			[]string{`"helperImage" in blueprint dev`},
		},
		{
			"of a helper in a workload",
			v1.Cause{Code: ImageNotFound, Container: "alice-1a2b3c4-init-storage"},
			About{Blueprint: "dev"},
			[]string{`"helperImage" in blueprint dev`},
		},
		{
			"a wrong tag of a workspace",
			v1.Cause{Code: ImageNotFound},
			About{Blueprint: "dev", Origin: "dev.yaml:7", UserString: "a~dev", Namespace: "shop"},
			[]string{
				"no such image or tag", `"image" in blueprint dev (dev.yaml:7)`,
				"`berth provision a~dev --namespace shop`",
			},
		},
		{
			"a wrong tag of a pod",
			v1.Cause{Code: ImageNotFound, Container: "app"},
			About{},
			[]string{`"image" of container app in the pod's spec`},
		},
		{
			"a private registry",
			v1.Cause{Code: ImagePullDenied},
			About{Namespace: "shop"},
			[]string{"pull secret", "kubectl create secret docker-registry registry --namespace shop"},
		},
	})
}

// What the kubelet only repeats is explained by the newest event that has the registry's words.
func TestPullIsExplained(t *testing.T) {
	const backingOff = "Back-off pulling image \"x/app:1\""
	event := func(reason, message string) *corev1.Event {
		return watchtest.Event("web", "1", "app", reason, message).Warn().Event
	}
	said, echo := event("Failed", pullError("denied")), event("Failed", "Error: ImagePullBackOff")
	for name, test := range map[string]struct {
		message string
		events  []*corev1.Event
		want    string
	}{
		"the attempt before": {
			backingOff,
			[]*corev1.Event{said, echo, event("BackOff", backingOff)},
			pullError("denied"),
		},
		"another kind of event":  {backingOff, []*corev1.Event{said, event("Pulling", "Pulling image")}, pullError("denied")},
		"only echoes":            {backingOff, []*corev1.Event{echo}, backingOff},
		"nothing to be heard of": {backingOff, nil, backingOff},
		"it says why itself":     {backingOff + `": denied`, []*corev1.Event{said}, backingOff + `": denied`},
	} {
		if got := explained(evidence.Container{Events: test.events}, test.message); got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}
