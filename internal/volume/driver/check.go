//go:build linux

package driver

import (
	"path"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	csi "github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/userstring"
	"github.com/berthdev/berth/internal/volume"
)

// What the kubelet adds to the attributes of a volume, as the CSIDriver object has podInfoOnMount.
const (
	contextEphemeral = "csi.storage.k8s.io/ephemeral"
	contextPod       = "csi.storage.k8s.io/pod.name"
	contextNamespace = "csi.storage.k8s.io/pod.namespace"
	contextPodUID    = "csi.storage.k8s.io/pod.uid"
)

// How much of what a pod has written is kept, in bytes: of names, and of user strings with
// their escapes. Many pods can write much, which is all in memory.
const (
	longestName       = 63
	longestPod        = 253
	longestUserString = userstring.MaxCanonical
)

// publication is a request to publish that was checked.
type publication struct {
	volume.Volume
	target    string
	readOnly  bool
	afterlife *time.Duration
}

// checkPublish is what a request asks for, or what is wrong with it.
func checkPublish(r *csi.NodePublishVolumeRequest) (p publication, err error) {
	attributes := r.GetVolumeContext()
	if err := checkIDs(r.GetVolumeId(), r.GetTargetPath()); err != nil {
		return p, err
	}
	if p.readOnly, err = checkCapability(r.GetVolumeCapability()); err != nil {
		return p, err
	}
	if attributes[contextEphemeral] != "true" {
		return p, invalid("%s is %q: only inline (ephemeral) volumes are offered", contextEphemeral,
			attributes[contextEphemeral])
	}
	if uid := attributes[contextPodUID]; !volume.IsID(uid) {
		return p, invalid("%s must be a single path element, got %q: the CSIDriver object has podInfoOnMount",
			contextPodUID, uid)
	}
	if size, ok := attributes[volume.AttributeSize]; ok {
		return p, invalid("the attribute %s (%q) is not supported: no quota limits a scratch volume, and what looks "+
			"like a limit would be none", volume.AttributeSize, fault.Shorten(size, longestName))
	}
	if p.afterlife, err = afterlife(attributes); err != nil {
		return p, err
	}
	p.readOnly = p.readOnly || r.GetReadonly()
	p.target = path.Clean(r.GetTargetPath())
	p.Volume = volume.Volume{
		ID: r.GetVolumeId(), PodUID: attributes[contextPodUID], Pod: kept(attributes[contextPod], longestPod),
		Namespace:  kept(attributes[contextNamespace], longestName),
		Workspace:  kept(attributes[volume.AttributeWorkspace], longestName),
		UserString: kept(attributes[volume.AttributeUserString], longestUserString),
		Storage:    kept(attributes[volume.AttributeStorage], longestName),
		Bytes:      -1, Inodes: -1,
	}
	return p, nil
}

func checkIDs(id, target string) error {
	switch {
	case id == "":
		return invalid("the volume ID is missing")
	case !volume.IsID(id):
		return invalid("the volume ID must be a single path element, got %q", id)
	case target == "":
		return invalid("the target path is missing")
	case !path.IsAbs(target) || path.Clean(target) == "/":
		return invalid("the target path must be an absolute path of a directory, got %q", target)
	}
	return nil
}

// checkCapability says whether only reading is asked for.
func checkCapability(c *csi.VolumeCapability) (readOnly bool, err error) {
	mode := c.GetAccessMode().GetMode()
	switch {
	case c == nil:
		return false, invalid("the volume capability is missing")
	case c.GetBlock() != nil:
		return false, invalid("block access is not offered: a scratch volume is a directory")
	case c.GetMount() == nil:
		return false, invalid("the volume capability has no access type: it must be mount")
	}
	if flags := c.GetMount().GetMountFlags(); len(flags) > 0 && !slices.Equal(flags, []string{"ro"}) {
		return false, invalid("mount flags are not supported, got %q", flags)
	}
	switch mode {
	case csi.VolumeCapability_AccessMode_MULTI_NODE_READER_ONLY,
		csi.VolumeCapability_AccessMode_MULTI_NODE_SINGLE_WRITER,
		csi.VolumeCapability_AccessMode_MULTI_NODE_MULTI_WRITER:
		return false, invalid("access mode %s is not offered: a scratch volume is on one node", mode)
	}
	return mode == csi.VolumeCapability_AccessMode_SINGLE_NODE_READER_ONLY || len(c.GetMount().GetMountFlags()) > 0, nil
}

// afterlife is what a pod asks for; nil for nothing.
func afterlife(attributes map[string]string) (*time.Duration, error) {
	text, ok := attributes[volume.AttributeAfterlife]
	if !ok || text == "" {
		return nil, nil //nolint:nilnil // nothing is asked for
	}
	asked, err := time.ParseDuration(text)
	if err != nil || asked < 0 {
		return nil, invalid("the attribute %s must be a duration such as 30m, got %q", volume.AttributeAfterlife,
			fault.Shorten(text, longestName))
	}
	return &asked, nil
}

// kept is what is recorded of a text that a pod has written: nothing of one that cannot be what it is to be.
func kept(text string, longest int) string {
	if len(text) > longest || !utf8.ValidString(text) ||
		strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) || unicode.IsSpace(r) }) {
		return ""
	}
	return text
}

func invalid(format string, args ...any) error {
	return status.Errorf(codes.InvalidArgument, format, args...)
}
