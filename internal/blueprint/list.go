package blueprint

import "github.com/berthdev/berth/internal/yamldoc"

// Summary is a line of a list: what is known of a blueprint without putting it
// together.
type Summary struct {
	Name, Description, Template, Origin string
	IsTemplate                          bool
}

// List are all blueprints, sorted by name.
func (s *Set) List() (all []Summary) {
	for _, name := range s.all() {
		e := s.entries[name]
		summary := Summary{Name: name, Template: e.template, Origin: e.position(), IsTemplate: e.isTemplate}
		if n := yamldoc.Field(e.node, "description"); n != nil && !yamldoc.IsNull(n) {
			summary.Description = n.Value
		}
		all = append(all, summary)
	}
	return all
}
