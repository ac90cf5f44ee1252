package result

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/english"
	"github.com/berthdev/berth/internal/terminal/style"
)

// Volumes is a list of scratch volumes.
type Volumes struct{ v1.VolumeList }

// Names are the IDs.
func (l Volumes) Names() (names []string) {
	for _, v := range l.VolumeList.Items {
		names = append(names, v.ID)
	}
	return names
}

// Items are the volumes.
func (l Volumes) Items() (items []Kind) {
	for _, v := range l.VolumeList.Items {
		items = append(items, Volume{v})
	}
	return items
}

// Empty is the remark about an empty list.
func (l Volumes) Empty() string {
	if len(l.VolumeList.Items) > 0 {
		return ""
	}
	return "no volumes whose pods are gone, on " + english.Plural(len(l.Nodes), "node")
}

// Text is a table, and what pressure does to the volumes of a node.
func (l Volumes) Text(p style.Page) ([]string, error) {
	cols := []style.Column{
		{Title: "NODE", Name: true, Least: 8},
		{Title: "VOLUME"},
		{Title: "WORKSPACE OR POD", Name: true, Least: 12},
		{Title: "STORAGE", Name: true, Least: 7, DropOrder: 2},
		{Title: "SIZE", DropOrder: 1},
		{Title: "GOES"},
	}
	factors, short := l.factors(), ShortVolumes(l.VolumeList.Items)
	cells := func(v v1.Volume) []string {
		return []string{
			v.Node, short(v.ID), whose(v), style.OrDash(v.Storage), style.OrDash(size(v.Bytes)),
			goes(v, factors[v.Node], p.Now),
		}
	}
	all := cells
	if p.Wide {
		cols = append(
			cols, style.Column{Title: "NAMESPACE", Name: true, Least: 9, DropOrder: 4},
			style.Column{Title: "POD", Name: true, Least: 10, DropOrder: 3},
			style.Column{Title: "DELETED", DropOrder: 5}, style.Column{Title: "KEPT FOR", DropOrder: 6},
			style.Column{Title: "FILES", DropOrder: 7},
			style.Column{Title: "FAILURE", Least: 12},
		)
		all = func(v v1.Volume) []string {
			return append(cells(v), v.Namespace, v.Pod, style.Age(v.DeletedAt, p.Now),
				style.Whole(style.Seconds(v.LifespanSeconds)), count(v.Inodes), v.Failure)
		}
	}
	return append(style.Rows(cols, l.VolumeList.Items, p, all), style.Paragraph(l.pressure(p))...), nil
}

func (l Volumes) factors() map[string]float64 {
	factors := map[string]float64{}
	for _, n := range l.Nodes {
		factors[n.Name] = n.Factor
	}
	return factors
}

// pressure says of each node whose disk is too full what that does.
func (l Volumes) pressure(p style.Page) (lines []string) {
	for _, n := range l.Nodes {
		if n.Error != nil || n.Factor >= 1 || n.TotalBytes <= 0 || !l.has(n.Name) {
			continue
		}
		free := float64(n.FreeBytes) / float64(n.TotalBytes)
		scarce := fmt.Sprintf("%.1f%% of the disk is free, less than %.1f%%", 100*free, 100*n.Headroom)
		if free >= n.Headroom {
			scarce = fmt.Sprintf("less than %.1f%% of the disk's inodes are free", 100*n.Headroom)
		}
		lines = append(lines, style.Paint(p.Yellow, p.Warning)+" "+p.Text(fmt.Sprintf(
			"node %s: %s: volumes go sooner, after %.2f of their time", n.Name, scarce, n.Factor)))
	}
	return lines
}

// has says whether a volume of a node is listed.
func (l Volumes) has(node string) bool {
	return slices.ContainsFunc(l.VolumeList.Items, func(v v1.Volume) bool { return v.Node == node })
}

// volumePrefix begins the IDs that the kubelet makes.
const volumePrefix = "csi-"

// enough is how much of an ID usually names one volume, in characters.
const enough = 10

// ShortVolume is the beginning of a volume's ID.
func ShortVolume(id string) string { return beginning(id, enough) }

func beginning(id string, length int) string {
	id = strings.TrimPrefix(id, volumePrefix)
	return id[:min(len(id), length)]
}

// ShortVolumes shortens the IDs of volumes as far as each still names one of them.
func ShortVolumes(all []v1.Volume) (short func(id string) string) {
	ids := make([]string, len(all))
	for i := range all {
		ids[i] = strings.TrimPrefix(all[i].ID, volumePrefix)
	}
	slices.Sort(ids) // what is alike stands beside each other
	length := enough
	for i := 1; i < len(ids); i++ {
		a, b, same := ids[i-1], ids[i], 0
		for same < min(len(a), len(b)) && a[same] == b[same] {
			same++
		}
		length = max(length, same+1)
	}
	return func(id string) string { return beginning(id, length) }
}

// whose is the workspace that a volume was made for, as its pod said, or else the pod.
func whose(v v1.Volume) string {
	switch {
	case v.UserString != "":
		return v.UserString
	case v.Workspace != "":
		return v.Workspace
	}
	return v.Namespace + "/" + v.Pod
}

func size(bytes *int64) string {
	if bytes == nil {
		return ""
	}
	return style.Bytes(*bytes)
}

func count(n *int64) string {
	if n == nil {
		return "-"
	}
	return strconv.FormatInt(*n, 10)
}

// goes is when a volume is removed, and by how much that is sooner than it would be with
// room on the disk.
func goes(v v1.Volume, factor float64, now time.Time) string {
	switch left := v.GoesAt.Sub(now); {
	case v.Failure != "":
		return "cannot be removed"
	case left <= 0:
		return "now"
	case factor < 1:
		return fmt.Sprintf("in %s (pressure: %.2f)", style.Age(now, v.GoesAt), factor)
	}
	return "in " + style.Age(now, v.GoesAt)
}

// Volume is one scratch volume.
type Volume struct{ v1.Volume }

// Names are its ID.
func (v Volume) Names() []string { return []string{v.ID} }

// Text names it.
func (v Volume) Text(p style.Page) ([]string, error) { return []string{p.Text(v.ID)}, nil }

// Purge is what was removed.
type Purge struct{ v1.VolumePurge }

// Names are the IDs of what is gone.
func (r Purge) Names() (names []string) {
	for _, v := range r.Items {
		if v.Error == nil {
			names = append(names, v.ID)
		}
	}
	return names
}

// Empty is the remark where there was nothing to remove.
func (r Purge) Empty() string {
	if len(r.Items) > 0 {
		return ""
	}
	return "no such volumes"
}

// Text is a line for each volume.
func (r Purge) Text(p style.Page) (lines []string, err error) {
	for _, v := range r.Items {
		what := p.Text(ShortVolume(v.ID) + " on node " + v.Node)
		if of := v.UserString; of != "" {
			what += p.Text(", storage " + v.Storage + " of " + of)
		}
		if v.Error != nil {
			lines = append(lines, style.Paint(p.Red, p.Failed)+" "+what+": "+p.Text(v.Error.Message))
			continue
		}
		lines = append(lines, style.Paint(p.Green, p.Done)+" Removed "+what)
	}
	return lines, nil
}

// Restoration is what was restored of a volume.
type Restoration struct{ v1.VolumeRestoration }

// Names are that of the destination.
func (r Restoration) Names() []string { return []string{r.Destination} }

// Text says how much was restored, and where it is.
func (r Restoration) Text(p style.Page) ([]string, error) {
	where := r.Destination
	if r.Workspace != "" {
		where = r.Workspace + ":" + r.Destination
	}
	took := style.Seconds(r.Seconds)
	lines := []string{fmt.Sprintf("%s Restored %s, %s, in %s (%s) to %s", style.Paint(p.Green, p.Done),
		english.Plural(int(r.Files), "file"),
		style.Bytes(r.Bytes)+"B", style.Brief(took), style.Rate(r.Bytes, took), p.Text(where))}
	for _, warning := range r.Warnings {
		lines = append(lines, style.Paint(p.Yellow, p.Warning)+" "+p.Text(warning))
	}
	return lines, nil
}

// Copy is what was copied.
type Copy struct{ v1.CopyResult }

// Names are that of the destination.
func (c Copy) Names() []string { return []string{c.Destination} }

// Text says how much was copied, how fast, and where it is.
func (c Copy) Text(p style.Page) ([]string, error) {
	took := style.Seconds(c.Seconds)
	lines := []string{fmt.Sprintf("%s Copied %s, %s, in %s (%s) to %s", style.Paint(p.Green, p.Done),
		english.Plural(int(c.Files), "file"),
		style.Bytes(c.Bytes)+"B", style.Brief(took), style.Rate(c.Bytes, took), p.Text(c.where()))}
	for _, warning := range c.Warnings {
		lines = append(lines, style.Paint(p.Yellow, p.Warning)+" "+p.Text(warning))
	}
	return lines, nil
}

func (c Copy) where() string {
	if c.Direction == v1.CopyTo {
		return c.ID + ":" + c.Destination
	}
	return c.Destination
}

// VolumeFiles is what is in a directory of a volume.
type VolumeFiles struct{ v1.VolumeFiles }

// Names are those of what is there.
func (l VolumeFiles) Names() (names []string) {
	for _, f := range l.Items {
		names = append(names, f.Name)
	}
	return names
}

// Empty is the remark about a directory with nothing in it.
func (l VolumeFiles) Empty() string {
	if len(l.Items) > 0 {
		return ""
	}
	return "nothing is there"
}

// Text is a table.
func (l VolumeFiles) Text(p style.Page) ([]string, error) {
	cols := []style.Column{
		{Title: "MODE", DropOrder: 2},
		{Title: "SIZE"},
		{Title: "CHANGED", DropOrder: 1},
		{Title: "NAME", Name: true, Least: 12},
	}
	lines := style.Rows(cols, l.Items, p, func(f v1.VolumeFile) []string {
		what, name := size(f.Bytes), f.Name
		if f.Bytes == nil {
			what = f.Type
		}
		if f.Target != "" {
			name += " -> " + f.Target
		}
		return []string{f.Mode, what, style.Age(f.ModifiedAt, p.Now), name}
	})
	if l.More {
		lines = append(lines, style.Paragraph([]string{
			style.Paint(p.Yellow, p.Warning) + " there is more than is listed",
		})...)
	}
	return lines, nil
}
