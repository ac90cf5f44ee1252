package injection

import (
	"fmt"

	"github.com/berthdev/berth/internal/fault"
)

// fit returns an error if the pod template already has a container, a volume or a
// port of the workspace. All containers of a pod share its ports.
func (p Parts) fit(workload map[string]any) error {
	spec, _ := lookup(workload, "spec", "template", "spec").(map[string]any)
	var problems []string
	clash := func(what string, injected []any, present ...any) {
		have := map[string]bool{}
		for _, item := range present {
			have[nameOf(item)] = true
		}
		for _, item := range injected {
			if have[nameOf(item)] {
				problems = append(problems, fmt.Sprintf("it already has a %s %s", what, nameOf(item)))
			}
		}
	}
	containers := append(append([]any{}, list(spec, "containers")...), list(spec, "initContainers")...)
	clash("container", append(append([]any{}, p.Containers...), p.InitContainers...), containers...)
	clash("volume", p.Volumes, list(spec, "volumes")...)
	taken := ports(containers)
	for port, by := range ports(p.Containers) {
		if owner, ok := taken[port]; ok {
			problems = append(problems, fmt.Sprintf("its container %s listens on port %s, as %s does", owner, port, by))
		}
	}
	if len(problems) == 0 {
		return nil
	}
	err := fault.New(fault.Conflict, "workspace %s cannot be injected into %s", p.ID, text(workload, "metadata", "name"))
	err.Problems = problems
	return err
}

// ports are the declared ports and the containers that declare them.
func ports(containers []any) map[string]string {
	all := map[string]string{}
	for _, item := range containers {
		c, _ := item.(map[string]any)
		for _, port := range list(c, "ports") {
			declared, _ := port.(map[string]any)
			protocol := text(declared, "protocol")
			if protocol == "" {
				protocol = "TCP"
			}
			all[fmt.Sprintf("%v/%s", declared["containerPort"], protocol)] = nameOf(c)
		}
	}
	return all
}
