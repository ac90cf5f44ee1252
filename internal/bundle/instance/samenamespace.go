package instance

import (
	"cmp"

	"github.com/berthdev/berth/internal/fault"
)

// Values are those that the instance was installed with last; empty if there are none.
func (k Known) Values() string {
	if k.Instance == nil {
		return ""
	}
	c, _ := config(k.Instance) // what cannot be read is replaced
	return c.Values
}

// Keep is where a request has its objects that name no namespace: where those of the
// instance are, once something is installed. Another one that somebody has asked for, and
// not only has in a context, is refused: all of it would be deleted and created anew.
func (k Known) Keep(system, namespace string, asked bool) (string, error) {
	if k.Instance == nil || k.Instance.Status.InstalledBundleName == "" || !IsOurs(k.Instance.Spec.ProvisionerClassName) {
		return namespace, nil
	}
	c, err := config(k.Instance)
	if err != nil {
		return "", err
	}
	if there := cmp.Or(c.Namespace, system); asked && namespace != there {
		return "", fault.New(fault.Conflict, "bundle %s is installed in namespace %s, and does not move to %s", k.Instance.Name, there, namespace).
			WithHint("leave out --namespace to upgrade it where it is, or uninstall it first: berth bundle uninstall %s", k.Instance.Name)
	}
	return c.Namespace, nil
}
