package images

import v1 "github.com/google/go-containerregistry/pkg/v1"

// agentInstall is the entry point of the agent's image: install DIR puts the
// agent and all that it needs into a directory, which another image's container
// then starts it from.
const agentInstall = `#!/bin/busybox sh
if [ "$1" != install ] || [ -z "$2" ]; then
  echo "usage: k8shelld install DIR" >&2
  exit 2
fi
/bin/busybox cp /bin/busybox "$2/busybox" || exit 1
/bin/busybox sed "s|@DIR@|$2|g" /agent > "$2/k8shelld" || exit 1
exec /bin/busybox chmod 755 "$2/k8shelld"
`

// agent stands in for k8shelld: the first process of a workspace, which answers
// on port 2822 and ends on SIGTERM. It uses nothing of the image that it runs in.
const agent = `#!@DIR@/busybox sh
trap 'kill $server; exit 0' TERM INT
@DIR@/busybox httpd -f -p 2822 -h @DIR@ &
server=$!
echo "k8shelld: listening on 2822"
wait $server
`

// agent makes the image that stands in for k8shelld's.
func (c *Catalog) agent(name string) (v1.Image, error) {
	files, err := layer([]entry{file("k8shelld", 0o755, []byte(agentInstall)), file("agent", 0o644, []byte(agent))})
	if err != nil {
		return nil, err
	}
	return c.build(name, v1.Config{Entrypoint: []string{"/k8shelld"}}, files)
}
