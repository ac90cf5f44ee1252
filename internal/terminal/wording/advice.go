package wording

import (
	"strings"

	v1 "github.com/berthdev/berth/api/v1"
)

// Advice is the command to type next for a workspace as it stands.
func Advice(w v1.Workspace, flags []string) []Command {
	t := Title{UserString: w.UserString, ID: w.ID, Flags: flags}
	switch w.Verdict() {
	case v1.VerdictRunning:
		return []Command{{Line: t.Command("exec")}}
	case v1.VerdictFailed:
		return []Command{{t.Command("diagnose"), "everything that is known about it"}, {t.Command("delete"), "remove it"}}
	case v1.VerdictWaiting:
		cs := []Command{{t.Command("diagnose"), "everything that is known about it"}}
		if w.UserString != "" { // without it, there is nothing to provision
			cs = append([]Command{{t.Command("provision"), "follow it"}}, cs...)
		}
		return cs
	}
	return nil
}

// Treatment is what to type next about a diagnosis: for a workspace berth's own commands, for
// anything else kubectl's.
func Treatment(d v1.Diagnosis, flags []string) []Command {
	name := d.Subject[strings.Index(d.Subject, "/")+1:]
	if d.Blueprint != "" || d.UserString != "" {
		w := v1.Workspace{ID: name, UserString: d.UserString}
		w.Stage, w.Gone = d.Stage, d.Verdict == v1.VerdictGone
		return workspaceTreatment(w, flags)
	}
	option := ""
	if d.Namespace != "" {
		option = " --namespace " + Word(d.Namespace)
	}
	switch d.Verdict {
	case v1.VerdictFailed, v1.VerdictWaiting:
		return []Command{{"kubectl describe " + Word(d.Subject) + option, "what Kubernetes says about it"}}
	}
	return nil
}

func workspaceTreatment(w v1.Workspace, flags []string) []Command {
	t := Title{UserString: w.UserString, ID: w.ID, Flags: flags}
	again := Command{t.Command("provision"), "make it anew"}
	remove := Command{t.Command("delete"), "remove it"}
	switch w.Verdict() {
	case v1.VerdictRunning:
		return []Command{{Line: t.Command("exec")}}
	case v1.VerdictWaiting:
		again.Why = "follow it"
	case v1.VerdictTerminating:
		return nil
	}
	if w.UserString == "" { // without it, there is nothing to provision
		return []Command{remove}
	}
	return []Command{again, remove}
}
