package result

import (
	"fmt"
	"strings"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/terminal/style"
)

// Resolution is what a user string means.
type Resolution struct{ v1.Resolution }

// Text is its parts, and the blueprint with the origin of each field.
func (r Resolution) Text(p style.Page) ([]string, error) {
	f, i, madeFrom := r.Fields, v1.Identity{}, ""
	if r.Identity != nil {
		i = *r.Identity
	}
	if r.Blueprint != nil {
		madeFrom = strings.Join(r.Blueprint.Lineage, " ← ")
	}
	sudo, allowed := "", strings.Join(i.Blueprints, ", ")
	if i.Sudo {
		sudo = "yes"
	}
	if allowed == "*" {
		allowed = ""
	}
	rows := [][2]string{
		{"Form", string(r.Form)},
		{"Username", f.Username},
		{"Blueprint", f.Blueprint},
		{"Repo", f.Repo},
		{"Ref", f.Ref},
		{"User", f.User},
		{"Pod", f.Pod},
		{"Namespace", f.Ns},
		{"Workload", f.Workload},
		{"Key", style.OrDash(r.Key)},
		{"ID", r.ID},
		{"Canonical", r.Canonical},
		{"Identity", identity(i)},
		{"Full name", i.Fullname},
		{"Email", i.Email},
		{"Roles", strings.Join(i.Roles, ", ")},
		{"Sudo", sudo},
		{"May use", allowed},
		{"Made from", madeFrom},
	}
	for i := range rows {
		rows[i][1] = p.Text(rows[i][1])
	}
	lines := p.Labels(rows)
	if r.Notice != "" {
		lines = append(lines, "", style.Paint(p.Yellow, p.Warning)+" "+p.Text(r.Notice))
	}
	if r.Blueprint == nil {
		return lines, nil
	}
	body, err := Blueprint{*r.Blueprint}.Text(p)
	return append(lines, style.Paragraph(body)...), err
}

func identity(i v1.Identity) string {
	if i.Username == "" {
		return ""
	}
	text := fmt.Sprintf("%s, uid %d, gid %d", i.Username, i.UID, i.GID)
	if i.Organization != "" {
		text += ", of " + i.Organization
	}
	return text + ", from " + i.Provider
}
