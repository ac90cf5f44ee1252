package contest

import (
	"github.com/berthdev/berth/test/bench/internal/report"
	"github.com/berthdev/berth/test/bench/internal/tools"
)

// giveUp is longer than any of them should need.
const giveUp = "3m"

// Program is one way to install the subject into an empty namespace and to wait
// until its pod is ready: commands that run one after the other.
type Program struct {
	Name     string
	Commands func(namespace string) [][]string
}

// Programs are those that are compared, in the order in which they take turns.
func Programs(p tools.Paths, s Subject) []Program {
	return []Program{
		{report.Berth, func(ns string) [][]string { return [][]string{berth(p, s, ns)} }},
		{report.Helm, func(ns string) [][]string {
			return [][]string{{
				p.Helm, "install", s.Release, s.Chart, "--namespace", ns, "--values", s.Values, "--wait",
				"--timeout", giveUp,
			}}
		}},
		{report.Kubectl, func(ns string) [][]string {
			return [][]string{
				{p.Kubectl, "apply", "--namespace", ns, "--filename", s.Manifest},
				{p.Kubectl, "wait", "--namespace", ns, "--for=condition=Ready", "pod/" + s.Pod, "--timeout", giveUp},
			}
		}},
	}
}

func berth(p tools.Paths, s Subject, namespace string) []string {
	return []string{
		p.Berth, "provision", userString, "--blueprints", s.Blueprints, "--namespace", namespace,
		"--timeout", giveUp,
	}
}
