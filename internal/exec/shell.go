package exec

// Shell is the command that enters a workspace when none is given: the best
// shell that the image has, as a login shell.
func Shell() []string {
	return []string{"/bin/sh", "-c", "if [ -x /bin/bash ]; then exec /bin/bash -l; else exec /bin/sh -l; fi"}
}
