package terminal

import (
	"fmt"
	"strings"

	v1 "github.com/berthdev/berth/api/v1"
)

// containerLines are the containers below the running stage. As long as all of
// them wait, they say nothing that the stage does not.
func containerLines(cs []v1.Container, v view) []string {
	widest, news := 0, false
	for _, c := range cs {
		widest = max(widest, width(v.st.text(c.Name)))
		news = news || c.State != v1.ContainerWaiting
	}
	if !news {
		return nil
	}
	widest = min(widest, max(v.width/2-6, 8))
	lines := make([]string, 0, len(cs))
	for _, c := range cs {
		name := pad(v.st.cutMiddle(v.st.text(c.Name), widest), widest)
		state := v.st.cut(v.st.text(containerText(c)), max(v.width-1-6-widest-3, 0))
		lines = append(lines, "      "+paint(v.st.grey, name)+"   "+paint(v.st.container(c.State), state))
	}
	return lines
}

// containerText is a container's state and what makes it worth a look.
func containerText(c v1.Container) string {
	text := string(c.State)
	if c.Reason != "" && c.State != v1.ContainerDone && c.State != v1.ContainerReady && !ordinary(c.Reason) {
		text += " " + c.Reason
	}
	if c.ExitCode != nil && *c.ExitCode != 0 {
		text += fmt.Sprintf(", exit code %d", *c.ExitCode)
	}
	if c.Restarts > 0 {
		text += ", " + plural(c.Restarts, "restart")
	}
	return text
}

// ordinary are Kubernetes' words for what the state says already.
func ordinary(reason string) bool {
	switch reason {
	case "PodInitializing", "ContainerCreating", "Completed", "Pulling", "Pulled":
		return true
	}
	return false
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// shortImage leaves the registry and the path out: dev-tools:1.4.
func shortImage(image string) string {
	name := image[strings.LastIndex(image, "/")+1:]
	if base, digest, ok := strings.Cut(name, "@sha256:"); ok {
		return base + "@" + digest[:min(len(digest), 7)]
	}
	return name
}
