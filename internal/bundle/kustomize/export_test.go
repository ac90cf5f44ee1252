package kustomize

// Explain is the error of a process that has ended in some way.
func Explain(status int, ended, said string) error {
	return Limits{}.explain(status, ended, false, said)
}
