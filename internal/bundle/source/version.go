package source

import (
	"cmp"
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"

	"github.com/berthdev/berth/internal/fault"
)

// maxVersion is how long a range of versions may be.
const maxVersion = 256 // bytes

// constraint reads a version or a range of them, as Helm has them.
func constraint(wanted string) (*semver.Constraints, error) {
	const hint = "write a version (1.2.3) or a range of them (~1.2, ^1, '>=1.2 <2'); '>=0-0' takes pre-releases as well"
	if len(wanted) > maxVersion {
		return nil, fault.New(fault.InvalidArgument, "the version has more than %d characters", maxVersion).
			WithHint(hint)
	}
	c, err := semver.NewConstraint(wanted)
	if err != nil {
		return nil, fault.New(fault.InvalidArgument, "version %q is neither a version nor a range of versions", wanted).
			WithHint(hint)
	}
	return c, nil
}

// isExact is true for a version that is written out, and fits no other.
func isExact(wanted string) bool {
	_, err := semver.StrictNewVersion(wanted)
	return err == nil
}

// choose takes the newest of some versions that is wanted, as Helm does: the very one, if it is there, or else what
// fits the range. A pre-release fits only a range that names one. What is no version is passed over.
func choose(versions []string, wanted, of string) (string, error) {
	if slices.Contains(versions, wanted) {
		return wanted, nil
	}
	fits, err := constraint(wanted)
	if err != nil {
		return "", err
	}
	var newest *semver.Version
	known := make([]*semver.Version, 0, len(versions))
	for _, text := range versions {
		v, err := semver.NewVersion(text)
		if err != nil {
			continue
		}
		known = append(known, v)
		if fits.Check(v) && (newest == nil || v.GreaterThan(newest)) {
			newest = v
		}
	}
	if newest == nil {
		return "", fault.New(fault.NotFound, "%s has no version %q%s", of, wanted, newestOf(known)).
			WithHint("choose another version; a pre-release is taken only by its name or a range that " +
				"names one, as '>=0-0'")
	}
	return newest.Original(), nil
}

// newestOf are the newest few versions, for a message.
func newestOf(versions []*semver.Version) string {
	const most = 5
	slices.SortFunc(versions, func(a, b *semver.Version) int {
		return cmp.Or(b.Compare(a), cmp.Compare(a.Original(), b.Original()))
	})
	var texts []string
	for _, v := range versions[:min(most, len(versions))] {
		texts = append(texts, v.Original())
	}
	if len(texts) == 0 {
		return ", and no other"
	}
	return "; the newest are " + strings.Join(texts, ", ")
}
