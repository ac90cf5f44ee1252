// Package bundle is how the documents about bundles look that a command prints without
// having shown progress.
package bundle

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/english"
	"github.com/berthdev/berth/internal/terminal/style"
)

// Content is what is in a bundle.
type Content struct{ v1.BundleContent }

// Names are the digest.
func (c Content) Names() []string { return []string{c.Digest} }

// Text says what was found, and where it came from.
func (c Content) Text(p style.Page) ([]string, error) {
	what := p.Text(c.Format)
	if c.Package != "" {
		what += ", " + p.Text(strings.TrimSpace(c.Package+" "+c.Version))
	}
	lines := p.Labels([][2]string{
		{"Source", p.Text(c.Source)},
		{"Format", what},
		{"Digest", c.Digest},
		{"Signed by", p.Text(c.SignedBy)},
		{"Files", fmt.Sprintf("%s, %s", english.Plural(c.Files, "file"), style.Bytes(c.Bytes)+"B")},
		{"Objects", p.Text(kinds(c.Objects))},
		{"Directory", p.Text(c.Directory)},
	})
	for _, warning := range c.Warnings {
		lines = append(lines, style.Paint(p.Yellow, p.Warning)+" "+p.Text(warning))
	}
	for _, text := range unchecked(c.Unchecked) {
		lines = append(lines, style.Paint(p.Yellow, p.Warning)+" "+p.Text(text))
	}
	return lines, nil
}

// unchecked are lines about objects that could not be checked, one for each reason.
func unchecked(objects []v1.UncheckedObject) (lines []string) {
	const most = 5 // names in a line; the document has all
	names := map[string][]string{}
	for _, o := range objects {
		names[o.Reason] = append(names[o.Reason], o.Object)
	}
	for _, why := range slices.Sorted(maps.Keys(names)) {
		of := names[why]
		if more := len(of) - most; more > 0 {
			of = append(of[:most:most], english.Count(more, "other"))
		}
		lines = append(lines, "not checked: "+strings.Join(of, ", ")+": "+why)
	}
	return lines
}

// kinds counts objects: 2 ConfigMap, 1 Deployment.
func kinds(counts map[string]int) string {
	parts := make([]string, 0, len(counts))
	for _, kind := range slices.Sorted(maps.Keys(counts)) {
		parts = append(parts, fmt.Sprintf("%d %s", counts[kind], kind))
	}
	return strings.Join(parts, ", ")
}

// Diff is what an installation would change.
type Diff struct{ v1.BundleDiff }

// Names are kind/name of each object that would change.
func (d Diff) Names() (names []string) {
	for _, o := range d.Items {
		names = append(names, o.Object)
	}
	return names
}

// Empty is the remark about no difference.
func (d Diff) Empty() string {
	if len(d.Items) > 0 {
		return ""
	}
	return "nothing would change"
}

// Text is the lines that would change, below the name of each object.
func (d Diff) Text(p style.Page) (lines []string, err error) {
	for _, o := range d.Items {
		name := o.Object
		if o.Namespace != "" {
			name += " in namespace " + o.Namespace
		}
		lines = append(lines, style.Paint(p.Bold, p.Text(o.Action+" "+name)))
		for line := range strings.SplitSeq(strings.TrimSuffix(o.Diff, "\n"), "\n") {
			lines = append(lines, coloured(line, p))
		}
	}
	return lines, nil
}

func coloured(line string, p style.Page) string {
	inner := strings.TrimLeft(line, " ")
	rest := line[:len(line)-len(inner)] + p.Text(inner)
	switch {
	case strings.HasPrefix(line, "@@"):
		return style.Paint(p.Grey, rest)
	case strings.HasPrefix(line, "+"):
		return style.Paint(p.Green, rest)
	case strings.HasPrefix(line, "-"):
		return style.Paint(p.Red, rest)
	}
	return rest
}

// watched are the namespaces that an operator watches; empty for what is none.
func watched(w *v1.WatchedNamespaces) string {
	switch {
	case w == nil:
		return ""
	case w.All:
		return "all namespaces"
	}
	return strings.Join(w.Namespaces, ", ")
}

// certificates are those of what is served, and when they end.
func (s State) certificates(p style.Page) []string {
	ends := func(c v1.BundleCertificate) string {
		if c.EndsAt.IsZero() {
			return style.OrDash("")
		}
		return c.EndsAt.Format(time.DateOnly)
	}
	lines := table(p, s.Certificates,
		column[v1.BundleCertificate]{
			style.Column{Title: "CERTIFICATE", Name: true, Least: 16},
			func(c v1.BundleCertificate) string { return "secret/" + c.Secret },
		},
		column[v1.BundleCertificate]{
			style.Column{Title: "NAMESPACE", Name: true, Least: 9, DropOrder: 1},
			func(c v1.BundleCertificate) string { return c.Namespace },
		},
		column[v1.BundleCertificate]{style.Column{Title: "ENDS"}, ends},
		column[v1.BundleCertificate]{
			style.Column{Title: "NOTE", Least: 12},
			func(c v1.BundleCertificate) string {
				if c.EndsAt.IsZero() {
					return c.Message
				}
				return "is renewed from " + c.RenewedFrom.Format(time.DateOnly) + " on"
			},
		})
	return style.Paragraph(lines)
}
