package printer

import (
	"fmt"
	"io"
	"strings"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/terminal"
	"github.com/berthdev/berth/internal/terminal/style"
)

// PrintResolution prints what a user string means.
func PrintResolution(s terminal.Streams, f Format, r *v1.Resolution) error {
	if !f.IsText() {
		return Print(s, f, r)
	}
	st := s.Out.Styles()
	lines := resolutionLines(*r, st)
	if r.Blueprint != nil {
		body, err := blueprintLines(*r.Blueprint, true, st)
		if err != nil {
			return err
		}
		lines = append(append(lines, ""), body...)
	}
	_, err := io.WriteString(s.Out, style.JoinLines(lines))
	return err
}

func resolutionLines(r v1.Resolution, st style.Styles) []string {
	f := r.Fields
	lines := texts(st, [][2]string{
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
		{"Identity", identityText(r.Identity)},
	})
	if r.Identity != nil {
		lines = append(lines, identityLines(*r.Identity, st)...)
	}
	if r.Blueprint != nil {
		lines = append(lines, texts(st, [][2]string{{"Made from", strings.Join(r.Blueprint.Lineage, " ← ")}})...)
	}
	if r.Notice != "" {
		lines = append(lines, "", style.Paint(st.Yellow, st.Warning)+" "+st.Text(r.Notice))
	}
	return lines
}

func identityText(i *v1.Identity) string {
	if i == nil {
		return ""
	}
	text := fmt.Sprintf("%s, uid %d, gid %d", i.Username, i.UID, i.GID)
	if i.Organization != "" {
		text += ", of " + i.Organization
	}
	return text + ", from " + i.Provider
}

// identityLines are what a provider says beyond the usual.
func identityLines(i v1.Identity, st style.Styles) []string {
	sudo, allowed := "", strings.Join(i.Blueprints, ", ")
	if i.Sudo {
		sudo = "yes"
	}
	if allowed == "*" {
		allowed = ""
	}
	return texts(st, [][2]string{
		{"Full name", i.Fullname},
		{"Email", i.Email},
		{"Roles", strings.Join(i.Roles, ", ")},
		{"Sudo", sudo},
		{"May use", allowed},
	})
}

// texts are labels of values that are to be made fit to be shown.
func texts(st style.Styles, rows [][2]string) []string {
	for i := range rows {
		rows[i][1] = st.Text(rows[i][1])
	}
	return labels(st, rows)
}
