package manifest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/berthdev/berth/internal/blueprint"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
)

// JobOf is the job that values were made for; empty if they do not say.
func JobOf(values map[string]any) string {
	if job, ok := at(values, "labels", kube.LabelJobID).(string); ok {
		return job
	}
	job, _ := values[jobValue].(string)
	return job
}

// The values of a release that k8shell has made, which are in ours below the key k8shell.
const (
	jobValue       = "__jobid__"
	blueprintValue = "__blueprint__"
)

// Renderable returns an error for values that no chart of this berth was made of.
func Renderable(values map[string]any) error {
	_, ours := values["labels"].(map[string]any)
	agent, _ := values["agent"].(map[string]any)
	_, configured := at(values, k8shellValue, "__configyaml__").(string)
	if ours && (len(agent) == 0 || configured) {
		return nil
	}
	return fault.New(fault.Failed, "what is recorded of the workspace is of a chart that this berth does not have").
		WithHint("make it of what its blueprint says with `berth update`")
}

// OfJob are the values of an earlier job for another one, and what is known of the blueprint that they were made of.
func OfJob(values map[string]any, jobID string) (map[string]any, blueprint.Blueprint) {
	values = runtime.DeepCopyJSON(values)
	labels, ok := values["labels"].(map[string]any)
	if !ok {
		name, _ := values[blueprintValue].(string)
		if _, has := values[jobValue]; has {
			values[jobValue] = jobID
		}
		return values, blueprint.Blueprint{Name: name}
	}
	name, _ := labels[kube.LabelBlueprint].(string)
	labels[kube.LabelJobID] = kube.LabelValue(jobID)
	if theirs, has := values[k8shellValue].(map[string]any); has {
		theirs[jobValue] = kube.LabelValue(jobID)
	}
	return values, blueprint.Blueprint{Name: name}
}

// limitsValue is the value of the chart in which the limits of the blueprint are kept. The
// chart makes nothing of it: it is there for programs that adopt the workspace by its record.
const limitsValue = "limits"

// LimitsIn are the limits of the blueprint that values of the chart were made of. What cannot be read limits nothing.
func LimitsIn(values map[string]any) (l blueprint.Limits) {
	text, err := json.Marshal(values[limitsValue])
	if err != nil || json.Unmarshal(text, &l) != nil || len(l.Validate()) > 0 {
		return blueprint.Limits{}
	}
	return l
}

// StorageOf is the name of the storage that a claim is for.
func StorageOf(values map[string]any, claim string) string {
	all, _ := values["storages"].([]any)
	for _, storage := range all {
		if s, _ := storage.(map[string]any); s["claim"] == claim {
			return fmt.Sprint(s["name"])
		}
	}
	return claim
}

// ClaimSpec is what a blueprint's values ask of a claim of a workspace's own; nil if they do not have it.
func ClaimSpec(values map[string]any, claim string) any {
	all, _ := values["storages"].([]any)
	for _, storage := range all {
		if s, _ := storage.(map[string]any); s["claim"] == claim {
			return s["claimSpec"]
		}
	}
	return nil
}

// Drift says in which of the chart's values a running workspace is not what would be
// deployed now: "image alpine:3 → alpine:4". Of a variable only the name is given.
func Drift(running, wanted map[string]any) (all []string) {
	// What differs between any two runs, or follows from others; and the limits, which the pod has nothing of.
	derived := []string{
		"annotations", "gitSecret", "helper", "home", "id", k8shellValue, "labels", limitsValue, "names",
	}
	// What may be long, or secret: only that it differs is said.
	contents := []string{"configuration", "extFiles", "initScripts"}
	have, want := map[string]string{}, map[string]string{}
	flatten("", running, have)
	flatten("", wanted, want)
	paths := maps.Clone(have)
	maps.Copy(paths, want)
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		root, _, _ := strings.Cut(path, ".")
		switch {
		case have[path] == want[path] || slices.Contains(derived, root):
		case slices.Contains(contents, root):
			all = append(all, root)
		case root == "env":
			all = append(all, path)
		default:
			all = append(all, fmt.Sprintf("%s %s → %s", path, cmp.Or(have[path], "not set"),
				cmp.Or(want[path], "not set")))
		}
	}
	if len(all) == 0 && configurationDiffers(running, wanted) {
		return []string{"configuration"}
	}
	return slices.Compact(all)
}

// configurationDiffers compares what an agent is told.
func configurationDiffers(running, wanted map[string]any) bool {
	return slices.ContainsFunc([]string{"__configyaml__", "__blueprintyaml__", "__profileyaml__"},
		func(file string) bool {
			return at(running, k8shellValue, file) != at(wanted, k8shellValue, file)
		})
}

// flatten gives every scalar a path. An item of a list is found by its name, if it has one.
func flatten(path string, value any, into map[string]string) {
	switch value := value.(type) {
	case map[string]any:
		for key, field := range value {
			flatten(strings.TrimPrefix(path+"."+key, "."), field, into)
		}
	case []any:
		for i, item := range value {
			fields, _ := item.(map[string]any)
			name, ok := fields["name"].(string)
			if !ok {
				name = strconv.Itoa(i + 1)
			}
			flatten(path+"."+name, item, into)
		}
	case nil:
	default:
		into[path] = fmt.Sprint(value)
	}
}
