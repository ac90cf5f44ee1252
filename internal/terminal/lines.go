package terminal

import (
	"fmt"
	"strings"

	v1 "github.com/berthdev/berth/api/v1"
)

// header says what is worked on: alice~dev → alice-3f9c2e1 in workspaces.
func header(t Title, v view) string {
	id, in := v.st.text(t.ID), ""
	if t.Namespace != "" {
		in = " in " + v.st.text(t.Namespace)
	}
	if t.UserString == "" || t.UserString == t.ID {
		room := v.width - 1 - width(in)
		return paint(v.st.bold, v.st.cutMiddle(id, max(room, 8))) + paint(v.st.grey, in)
	}
	arrow := " " + v.st.arrow + " "
	room := v.width - 1 - width(arrow) - width(id) - width(in)
	user := v.st.cutMiddle(v.st.text(t.UserString), max(room, 8))
	return paint(v.st.bold, user) + paint(v.st.grey, arrow) + id + paint(v.st.grey, in)
}

// itemLine is the line of one step, stage or past warning.
func itemLine(it item, v view) string {
	if it.kind == warningItem {
		return warningLine(it.warning, v, false)
	}
	name := pad(v.st.cutMiddle(v.st.text(it.name), nameWidth), nameWidth)
	took := ""
	switch {
	case it.state != running:
		took = brief(it.took)
	case v.now.Sub(it.begun) >= 1e9:
		took = whole(v.now.Sub(it.begun))
	}
	room := max(v.width-1-prefixWidth-2-tookWidth, 0)
	message := pad(v.st.cut(v.st.text(it.message), room), room)
	line := "  " + sign(it.state, v) + " " + name + " " + message + "  " + paint(v.st.grey, took)
	return strings.TrimRight(line, " ")
}

func sign(s itemState, v view) string {
	switch s {
	case done:
		return paint(v.st.green, v.st.done)
	case failed:
		return paint(v.st.red, v.st.failed)
	case stopped:
		return paint(v.st.grey, v.st.stopped)
	default:
		return v.st.spinner[v.frame%len(v.st.spinner)]
	}
}

// warningLine is one warning with its count and, while it is live, its age.
func warningLine(w v1.Warning, v view, live bool) string {
	name := v.st.text(w.Reason)
	if w.Count > 1 {
		name += fmt.Sprintf(" %s%d", v.st.times, w.Count)
	}
	name = v.st.cutMiddle(name, max(v.width/2-6, 8))
	age := ""
	if live && !w.At.IsZero() && v.now.Sub(w.At) >= 1e9 {
		age = "   " + whole(v.now.Sub(w.At)) + " ago"
	}
	if width(age) > v.width/4 {
		age = ""
	}
	room := v.width - 1 - 4 - width(name) - 3 - width(age)
	text := v.st.cut(v.st.text(warningText(w)), max(room, 0))
	return "  " + paint(v.st.yellow, v.st.warning+" "+name) + "   " + text + paint(v.st.grey, age)
}

// warningText names the container if the message does not.
func warningText(w v1.Warning) string {
	if _, container, ok := strings.Cut(w.Object, ":"); ok && !contains(w.Message, container) {
		return container + ": " + w.Message
	}
	return w.Message
}

func causeText(c v1.Cause) string {
	if c.Container != "" && !contains(c.Message, c.Container) {
		return c.Container + ": " + c.Message
	}
	return c.Message
}

func progressLine(p v1.Progress, v view) string {
	count := ""
	switch {
	case p.Total > 0:
		count = fmt.Sprintf("  %d/%d", p.Done, p.Total)
	case p.Done > 0:
		count = fmt.Sprintf("  %d", p.Done)
	}
	text := v.st.cut(v.st.text(p.Message), max(v.width-1-6-width(count), 0))
	return "      " + text + paint(v.st.grey, count)
}

func contains(s, part string) bool { return part != "" && strings.Contains(s, part) }
