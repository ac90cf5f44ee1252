package result

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"charm.land/lipgloss/v2"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/english"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/terminal/style"
	"github.com/berthdev/berth/internal/terminal/wording"
)

// Diagnosis is the explanation of the state of a workspace, a pod or a workload.
type Diagnosis struct {
	v1.Diagnosis
	AsOfNewest bool `json:"-"` // its time is the newest one in a dump
	// Explained is true if there is more to read about its cause than the hint.
	Explained bool `json:"-"`
}

// Names are kind/name.
func (d Diagnosis) Names() []string { return []string{d.Subject} }

// Text is what it is, what to do about it, what is behind that, what to type next,
// and where to read on.
func (d Diagnosis) Text(p style.Page) ([]string, error) {
	p.Now, p.Width = d.At, min(p.Width, widestText) // messages of clusters can have thousands of characters
	lines := []string{d.title().Header(p), ""}
	lines = append(lines, d.headline(p)...)
	lines = append(lines, d.whereabouts(p)...)
	if wording.Lasting(d.Cause) == d.Cause {
		lines = append(lines, style.Paragraph(p.Advice(p.Paragraphs(d.Hint)...))...)
	}
	lines = append(lines, style.Paragraph(wording.LogLines(d.Logs, p))...)
	containers := p.Narrower()
	containers.Wide = false
	lines = append(lines, style.Paragraph(style.Indented(containerTable(d.Containers, containers)))...)
	lines = append(lines, style.Paragraph(d.timeline(p))...)
	lines = append(lines, style.Paragraph(wording.WarningLines(d.onceEach(), p))...)
	lines = append(lines, style.Paragraph(wording.UnreadLines(d.Unread, p))...)
	lines = append(lines, d.skipped(p)...)
	if d.AsOfNewest {
		asOf := "as of " + d.At.Format("2006-01-02 15:04:05 MST") + ", the newest time in the dump"
		if d.Verdict == v1.VerdictWaiting || d.Verdict == v1.VerdictTerminating {
			asOf += "; if it was taken later, say so with --now"
		}
		lines = append(lines, style.Paragraph(p.Indent(style.Paint(p.Grey, asOf)))...)
	}
	lines = append(lines, wording.CommandLines(d.next(p.Flags), p)...)
	if c := wording.Lasting(d.Cause); d.Explained && c != nil {
		lines = append(lines, style.Paragraph(p.Indent("See `berth explain "+p.Text(c.Code)+"`."))...)
	}
	return lines, nil
}

// widestText is how many columns a diagnosis takes, also without a terminal.
const widestText = 120

// whereabouts says of a workload how far it is, and which of its pods the cause is about.
func (d Diagnosis) whereabouts(p style.Page) []string {
	c := wording.Lasting(d.Cause)
	if c == nil || !d.isOfPod(*c) {
		return nil
	}
	said, pod := wording.CauseText(*c), strings.TrimPrefix(c.Object, "pod/")
	var parts []string
	if !strings.Contains(said, d.Message) {
		parts = append(parts, d.Message)
	}
	if !strings.Contains(said, "pod "+pod) {
		text := "pod " + pod
		if d.Node != "" {
			text += " on node " + d.Node
		}
		parts = append(parts, text)
	}
	return p.Indent(p.Text(strings.Join(parts, "; ")))
}

// isOfPod is true for the cause of a workload that one of its pods has.
func (d Diagnosis) isOfPod(c v1.Cause) bool {
	return strings.HasPrefix(c.Object, "pod/") && c.Object != d.Subject
}

// onceEach are the warnings, without what the headline has said already.
func (d Diagnosis) onceEach() []v1.Warning {
	all := slices.Clone(d.Warnings)
	for i, w := range all {
		if c := wording.Lasting(d.Cause); c != nil && len(w.Message) > longMessage && isSaid(*c, w.Message) {
			all[i].Message = "as above"
		}
	}
	return all
}

// isSaid is true for what the headline says already, but for what Kubernetes puts in front of it.
func isSaid(c v1.Cause, message string) bool {
	for _, lead := range []string{"Error creating: ", c.Container + ": ", "Error: "} {
		message = strings.TrimPrefix(message, lead)
	}
	return strings.Contains(c.Message, message)
}

// longMessage is how long a message may be, in bytes, that is said twice.
const longMessage = 24

// skipped is what of a dump was not read; of much, the first.
func (d Diagnosis) skipped(p style.Page) (lines []string) {
	const most = 5
	for _, skipped := range d.Skipped[:min(most, len(d.Skipped))] {
		lines = append(lines, style.Paragraph(p.Indent(p.Warning+" not read: "+p.Text(skipped)))...)
	}
	if more := len(d.Skipped) - most; more > 0 {
		lines = append(lines, style.Paragraph(p.Indent(fmt.Sprintf("%s and %d more: --output json lists all", p.Warning,
			more)))...)
	}
	return lines
}

// title is what the first line names.
func (d Diagnosis) title() wording.Title {
	if d.UserString != "" {
		return wording.Title{
			UserString: d.UserString, ID: strings.TrimPrefix(d.Subject, "pod/"),
			Namespace: d.Namespace,
		}
	}
	return wording.Title{ID: d.Subject, Namespace: d.Namespace}
}

// headline says how it is, since when and why.
func (d Diagnosis) headline(p style.Page) []string {
	colour, sign := d.sign(p)
	stage := string(d.Stage)
	if d.Verdict == v1.VerdictGone {
		stage = "Gone" // the stage does not say what became of it
	}
	head := style.Paint(colour, sign+" "+stage)
	if !d.Since.IsZero() && d.Verdict != v1.VerdictGone {
		head += " for " + style.Whole(d.At.Sub(d.Since))
	}
	why := d.Message
	if cause := wording.Lasting(d.Cause); cause != nil {
		why = wording.CauseText(*cause) + numbers(*cause)
	}
	return p.Headline(head, p.Text(why+wording.IgnoredText(d.Ignored)))
}

func (d Diagnosis) sign(p style.Page) (lipgloss.Style, string) {
	switch d.Verdict {
	case v1.VerdictRunning:
		return p.Green, p.Done
	case v1.VerdictFailed:
		return p.Red, p.Failed
	case v1.VerdictWaiting:
		return p.Yellow, p.Warning
	default:
		return p.Grey, p.Stopped
	}
}

// numbers are those of a cause that are not in its message.
func numbers(c v1.Cause) string {
	text := ""
	if c.ExitCode != nil && !strings.Contains(c.Message, "exit code") {
		text += fmt.Sprintf(", exit code %d", *c.ExitCode)
	}
	if c.Restarts != nil && !strings.Contains(c.Message, "restart") {
		text += ", " + english.Plural(*c.Restarts, "restart")
	}
	return text
}

// timeline is the changes of stage, if there was more than one.
func (d Diagnosis) timeline(p style.Page) (lines []string) {
	if len(d.Timeline) < 2 {
		return nil
	}
	for _, m := range d.Timeline {
		offset := "+" + style.Brief(style.Seconds(m.Offset))
		line := "    " + m.At.UTC().Format(time.TimeOnly) + "  " + style.Pad(offset, 8) + "  "
		room := max(p.Width-1-style.Width(line)-14, 0)
		message := p.Cut(p.Text(m.Message), room)
		said := d.Cause != nil && len(m.Message) > longMessage && isSaid(*d.Cause, m.Message)
		if said || room < 12 { // the beginning of a word says nothing
			message = ""
		}
		lines = append(lines, strings.TrimRight(style.Paint(p.Grey, line)+
			style.Paint(p.Stage(m.Stage), style.Pad(string(m.Stage), 12))+"  "+message, " "))
	}
	return lines
}

// next are the commands to type next: for a workspace berth's own, for anything
// else kubectl's.
func (d Diagnosis) next(flags []string) []wording.Command {
	_, name, _ := strings.Cut(d.Subject, "/")
	if d.Blueprint == "" && d.UserString == "" && !d.Startable {
		if d.Verdict != v1.VerdictFailed && d.Verdict != v1.VerdictWaiting {
			return nil
		}
		what := d.Subject
		if d.Cause != nil && d.isOfPod(*d.Cause) {
			what = d.Cause.Object
		}
		line := "kubectl describe " + fault.Word(what)
		if d.Namespace != "" {
			line += " --namespace " + fault.Word(d.Namespace)
		}
		return []wording.Command{{Line: line, Why: "what Kubernetes says about it"}}
	}
	t := wording.Title{UserString: d.UserString, ID: name, Flags: flags}
	provision := wording.Command{Line: t.Command("provision"), Why: "recreate it"}
	remove := wording.Command{Line: t.Command("delete"), Why: "delete it"}
	if d.Verdict == v1.VerdictGone || d.Verdict == v1.VerdictFailed && d.Startable {
		return []wording.Command{startAgain(t), remove}
	}
	switch d.Verdict {
	case v1.VerdictRunning:
		return []wording.Command{{Line: t.Command("exec")}}
	case v1.VerdictStopped:
		return []wording.Command{startIt(t)}
	case v1.VerdictTerminating:
		return nil
	case v1.VerdictWaiting:
		provision.Why = "follow it"
	}
	if d.UserString == "" { // what to provision is not known
		return []wording.Command{remove}
	}
	return []wording.Command{provision, remove}
}

// Checkup is what `berth doctor` has found.
type Checkup struct{ v1.Checkup }

// Text is the checks, each with what to do about it, and how many there are of
// which status.
func (c Checkup) Text(p style.Page) ([]string, error) {
	widest := 0
	for _, item := range c.Items {
		widest = max(widest, style.Width(item.Name))
	}
	counts := map[v1.CheckupStatus]int{}
	var lines []string
	for _, item := range c.Items {
		counts[item.Status]++
		colour, sign := checkupSign(item.Status, p.Styles)
		begin := style.Paint(colour, sign) + " " + style.Pad(p.Text(item.Name), widest) + "  "
		texts := p.Paragraphs(item.Message)
		texts = append(texts, slices.Concat(problemItems(p, item.Problems, item.Excerpts)...)...)
		for _, h := range p.Paragraphs(item.Hint) {
			texts = append(texts, p.Arrow+" "+h)
		}
		for _, text := range texts {
			for _, line := range p.Wrap(text, p.Width-widest-5) {
				lines = append(lines, begin+line)
				begin = style.Pad("", widest+4)
			}
		}
	}
	return append(lines, "", fmt.Sprintf("%d ok, %s, %d failed, %d skipped", counts[v1.CheckupOK],
		english.Plural(counts[v1.CheckupWarning], "warning"), counts[v1.CheckupFailed], counts[v1.CheckupSkipped])), nil
}

func checkupSign(s v1.CheckupStatus, st style.Styles) (lipgloss.Style, string) {
	switch s {
	case v1.CheckupOK:
		return st.Green, st.Done
	case v1.CheckupWarning:
		return st.Yellow, st.Warning
	case v1.CheckupFailed:
		return st.Red, st.Failed
	default:
		return st.Grey, st.Stopped
	}
}
