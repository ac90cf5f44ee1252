package pod

// Shell is the command that enters a workspace when none is given: the best
// shell that the image has, as a login shell. At a terminal, the blueprint's splash
// is shown first.
func Shell() []string {
	return []string{"/bin/sh", "-c", `if [ -t 1 ] && [ -r /k8shell/runtime/motd ]; then cat /k8shell/runtime/motd; fi
if [ -x /bin/bash ]; then exec /bin/bash -l; else exec /bin/sh -l; fi`}
}
