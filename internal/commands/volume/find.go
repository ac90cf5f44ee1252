package volume

import (
	"slices"
	"strings"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/volume"
	"github.com/berthdev/berth/internal/volume/nodes"
)

// kept is a volume that a node keeps.
type kept struct {
	volume.Volume
	on nodes.Answer
}

// leastID is how much of an ID names a volume, in characters.
const leastID = 4

// checkIDs finds what cannot be an ID of a volume, or its beginning.
func checkIDs(ids []string) error {
	for _, id := range ids {
		if len(withoutPrefix(id)) < leastID {
			return fault.New(fault.InvalidArgument, "%q is too short for the ID of a volume: give at "+
				"least %d characters", id, leastID)
		}
	}
	return nil
}

// find finds the volume of an ID, of which the beginning is enough if it is that of one.
func find(answers []nodes.Answer, id string) (kept, error) {
	var found []kept
	for _, a := range answers {
		for _, v := range a.Picture.Volumes {
			if strings.HasPrefix(withoutPrefix(v.ID), withoutPrefix(id)) {
				found = append(found, kept{v, a})
			}
		}
	}
	if slices.ContainsFunc(found, func(k kept) bool { return k.ID == id }) {
		found = slices.DeleteFunc(found, func(k kept) bool { return k.ID != id })
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		err := fault.New(fault.NotFound, "volume %s not found", id).
			WithHint("berth volume list lists those that are kept")
		if missing := unasked(answers); len(missing) > 0 {
			err = fault.New(fault.NotFound, "volume %s not found; not asked: %s", id, strings.Join(missing, ", ")).
				WithHint("it may be on a node that does not answer: try again later")
		}
		return kept{}, err
	}
	var names []string
	for _, k := range found {
		names = append(names, k.ID+" on node "+k.on.Node.Name)
	}
	err := fault.New(fault.InvalidArgument, "%q is ambiguous: %d volumes", id, len(found)).
		WithHint("give more of the ID, or --node")
	err.Problems = names
	return kept{}, err
}

// withoutPrefix is an ID without what the kubelet begins all of them with.
func withoutPrefix(id string) string { return strings.TrimPrefix(id, "csi-") }

// unasked are the nodes that have not answered.
func unasked(answers []nodes.Answer) (names []string) {
	for _, a := range answers {
		if a.Err != nil {
			names = append(names, a.Node.Name)
		}
	}
	return names
}
