package instance

import "github.com/berthdev/berth/test/cluster/internal/supervisor"

// Daemon is one daemon and how it is.
type Daemon struct {
	Name string
	supervisor.State
}

// Daemons lists the daemons of a cluster that runs.
func (i *Instance) Daemons() ([]Daemon, error) {
	states, err := supervisor.ReadStates(i.dir)
	if err != nil {
		return nil, err
	}
	var daemons []Daemon
	for _, d := range i.settings().Daemons() {
		daemons = append(daemons, Daemon{d.Name, states[d.Name]})
	}
	return daemons, nil
}
