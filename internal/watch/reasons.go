package watch

import (
	"maps"
	"slices"
	"strings"
)

// reasonsOf gives for each cause Kubernetes' own words for it, by which it can be
// ignored as well as by its code. A failed pull is ErrImagePull at one moment and
// ImagePullBackOff at the next: either word means both.
func reasonsOf() map[string][]string {
	pull := []string{reasonErrImagePull, reasonImagePullBackOff}
	start := []string{"CreateContainerError", "RunContainerError", reasonStartError, "ContainerCannotRun"}
	return map[string][]string{
		CauseImageNotFound:       pull,
		CauseImagePullDenied:     pull,
		CauseImageWrongPlatform:  pull,
		CauseImageNotPresent:     {reasonErrImageNeverPull},
		CauseInvalidImageName:    {"InspectFailed"},
		CauseRegistryUnreachable: append([]string{"RegistryUnavailable"}, pull...),
		CauseRegistryRateLimited: pull,
		CauseImagePullFailed:     append([]string{"SignatureValidationFailed"}, pull...),

		CauseConfigMissing:   {"CreateContainerConfigError"},
		CauseCommandNotFound: start,
		CauseExecFormat:      start,
		CauseStartFailed:     start,
		CauseInitFailed:      nil,
		CauseOOMKilled:       nil,
		CauseCrashLoop:       {"BackOff", reasonCrashLoopBackOff},
		CauseContainerExited: nil,
		CauseProbeFailed:     {"Unhealthy"},
		CauseReadinessGate:   nil,

		CauseUnschedulable:      {"FailedScheduling"},
		CauseSchedulingGated:    nil,
		CauseSandboxFailed:      {"FailedCreatePodSandBox"},
		CauseEvicted:            nil,
		CausePreempted:          {"Preempting"},
		CauseNodeOutOfResources: {"OutOfcpu", "OutOfmemory", "OutOfpods"},
		CauseNodeAffinity:       nil,
		CauseDeadlineExceeded:   nil,
		CausePodFailed:          nil,
		CausePodDeleted:         nil,

		CauseVolumeUnbound:       {"FailedBinding"},
		CauseVolumePending:       {"ProvisioningFailed"},
		CauseStorageClassMissing: {"ProvisioningFailed"},
		CauseClaimMissing:        nil,
		CauseVolumeMissingObject: {"FailedMount"},
		CauseVolumeNotMounted:    {"FailedAttachVolume", "FailedMount"},

		CauseQuotaExceeded:    {"FailedCreate"},
		CausePodRefused:       {"FailedCreate"},
		CauseProgressDeadline: nil,
		CauseJobFailed:        nil,
	}
}

// Reasons are the names by which causes can be ignored: their codes, and
// Kubernetes' own words that are none of those. Both are sorted.
func Reasons() (codes, kubernetes []string) {
	table := reasonsOf()
	codes = slices.Sorted(maps.Keys(table))
	for _, words := range table {
		kubernetes = append(kubernetes, words...)
	}
	slices.Sort(kubernetes)
	return codes, slices.Compact(kubernetes)
}

// Reason gives the proper spelling of a name by which a cause can be ignored;
// false if there is none of that name in any case.
func Reason(name string) (proper string, ok bool) {
	codes, kubernetes := Reasons()
	for _, known := range slices.Concat(codes, kubernetes) {
		if strings.EqualFold(known, name) {
			return known, true
		}
	}
	return "", false
}

// names are all words by which a finding can be ignored.
func (f finding) names() []string {
	names := []string{f.cause.Code, f.reason}
	if slices.Contains([]string{CauseCommandNotFound, CauseExecFormat, CauseStartFailed}, f.cause.Code) {
		return names // of how it did not start, its own word is the one that is meant
	}
	return append(names, reasonsOf()[f.cause.Code]...)
}
