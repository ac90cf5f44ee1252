package config

import "testing"

// Credentials stay out of workspaces unless the configuration says otherwise, for each address.
func TestCredentialsForWorkspaces(t *testing.T) {
	c, err := load(t, write(t, `repositories:
  credentials:
    - {url: https://github.com, username: alice, password: x}
    - {url: https://git.example.com, username: alice, password: y, inWorkspace: true}
`), "")
	if err != nil {
		t.Fatal(err)
	}
	if all := c.Repositories.Credentials; len(all) != 2 || all[0].InWorkspace || !all[1].InWorkspace {
		t.Errorf("%+v", all)
	}
}
