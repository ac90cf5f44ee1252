package identity

import (
	"errors"
	"net/url"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/userstring"
	"github.com/berthdev/berth/internal/yamldoc"
)

// refsToTry are the ref as it was typed, and then as it stands in the key. An
// empty one is the default branch.
func refsToTry(u userstring.UserString) []string {
	if u.RefTyped == u.Ref {
		return []string{u.Ref}
	}
	return []string{u.RefTyped, u.Ref}
}

// customOrigin says where a file was found: github.com/org/proj@main:.k8shell.yaml.
func customOrigin(where string, u userstring.UserString, ref string) string {
	text := where + "/" + u.RepoOwner + "/" + u.RepoName
	if ref != "" {
		text += "@" + ref
	}
	return text + ":" + CustomFile
}

func noRef(where string, u userstring.UserString) error {
	return fault.New(fault.NotFound, "repository %s/%s at %s has no branch, tag or commit %q", u.RepoOwner, u.RepoName, where, u.RefTyped).
		WithHint("check the ref; it is case-sensitive. Without one it is the default branch")
}

func noFile(where string) error {
	return fault.New(fault.InvalidArgument, "%s is not a file", where).
		WithHint("a directory, a link or a submodule cannot be a blueprint")
}

func tooLarge(where string) error {
	return fault.New(fault.InvalidArgument, "%s is larger than %d MiB", where, yamldoc.MaxFile>>20)
}

// transportError leaves the address out of an error of net/http: what it is
// about is said elsewhere, and a query or a login in it is nobody's business.
func transportError(err error) error {
	if urlErr, ok := errors.AsType[*url.Error](err); ok {
		return urlErr.Err
	}
	return err
}
