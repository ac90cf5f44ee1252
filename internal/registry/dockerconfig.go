package registry

import (
	"encoding/base64"
	"reflect"
)

// dockerHub is the key of docker.io in a Docker configuration.
const dockerHub = "https://index.docker.io/v1/"

// dockerConfig is a config.json of Docker, including what else it holds than auths.
type dockerConfig map[string]any

func (l Login) dockerConfig() dockerConfig {
	server := l.Server
	if server == DefaultHost || server == "index.docker.io" {
		server = dockerHub
	}
	password := l.Password.Reveal()
	return dockerConfig{"auths": map[string]any{server: map[string]any{
		"username": l.Username, "password": password,
		"auth": base64.StdEncoding.EncodeToString([]byte(l.Username + ":" + password)),
	}}}
}

// add adds the logins of other, and reports whether that changes anything.
func (c dockerConfig) add(other dockerConfig) (changed bool) {
	auths, ok := c["auths"].(map[string]any)
	if !ok {
		auths = map[string]any{}
	}
	added, _ := other["auths"].(map[string]any)
	for server, login := range added {
		if !reflect.DeepEqual(auths[server], login) {
			auths[server], changed = login, true
		}
	}
	c["auths"] = auths
	return changed
}
