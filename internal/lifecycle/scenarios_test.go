package lifecycle_test

import (
	"encoding/json"
	"fmt"
	"os"
	"testing"
	"time"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/lifecycle"
)

// scenario is one of the tables that specify what is exchanged. Rows that contradict the
// title of their scenario are given once more as the title has them.
type scenario struct {
	Name         string `json:"name"`
	Rows         []row  `json:"rows"`
	RowsAsTitled []row  `json:"rows_as_titled"`
}

// row is what happens, and how the record is then. Its clock times stand for revisions.
type row struct {
	Event            string          `json:"event"`
	UserAction       string          `json:"user_action"`
	AgentReport      string          `json:"agent_report"`
	IncludeConfig    string          `json:"include_config"`
	Desired          v1.DesiredState `json:"desired"`
	Actual           v1.ActualState  `json:"actual"`
	DesiredUpdatedAt string          `json:"desired_updated_at"`
	RespondedAt      string          `json:"responded_at"`
}

// Each row of the specification, in each of its scenarios, wherever the records are.
func TestScenarios(t *testing.T) {
	text, err := os.ReadFile("testdata/scenarios.json")
	if err != nil {
		t.Fatal(err)
	}
	var all []scenario
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	for place, of := range places(t) {
		t.Run(place, func(t *testing.T) { playAll(t, all, of) })
	}
}

func playAll(t *testing.T, all []scenario, of func(namespace string) kept) {
	rows := 0
	for i, s := range all {
		rows += len(s.Rows)
		t.Run(s.Name, func(t *testing.T) { play(t, of(fmt.Sprintf("rows-%d", i)), s.Rows) })
		if len(s.RowsAsTitled) > 0 {
			t.Run(s.Name+", as titled", func(t *testing.T) { play(t, of(fmt.Sprintf("titled-%d", i)), s.RowsAsTitled) })
		}
	}
	if len(all) != 27 || rows != 116 {
		t.Errorf("%d scenarios with %d rows, want 27 with 116", len(all), rows)
	}
}

const workspace = "alice-dev"

// player plays the rows of a scenario, one after the other.
type player struct {
	records kept
	// clock has the scenario's time of each revision.
	clock map[lifecycle.Revision]string
}

func play(t *testing.T, records kept, rows []row) {
	t.Helper()
	p := player{records, map[lifecycle.Revision]string{0: ""}}
	for i, row := range rows {
		switch row.Event {
		case "CURRENT_DB_STATE":
			p.begin(t, row)
		case "USER_ACTION":
			p.want(t, i, row)
		case "AGENT_ACTION":
			p.exchange(t, i, row)
		default:
			t.Fatalf("row %d: unknown event %q", i, row.Event)
		}
		r := one(records.read(t))
		got := [4]any{r.Desired, r.Actual, p.clock[r.Changed], p.clock[r.Answered]}
		if want := [4]any{row.Desired, row.Actual, row.DesiredUpdatedAt, row.RespondedAt}; got != want {
			t.Errorf("row %d (%s %s%s): %v, want %v", i, row.Event, row.UserAction, row.AgentReport, got, want)
		}
	}
}

// one is the only record; an empty one if there is none.
func one(records map[string]lifecycle.Record) (r lifecycle.Record) {
	for _, r = range records {
	}
	return r
}

// begin is what a scenario begins with.
func (p player) begin(t *testing.T, row row) {
	t.Helper()
	if row.Desired == "" {
		return
	}
	at := clock(t, row.DesiredUpdatedAt)
	r := lifecycle.Record{
		ID: workspace, Incarnation: "1", CreatedAt: at, Desired: row.Desired, DesiredAt: at,
		Changed: revision(t, row.DesiredUpdatedAt),
		Actual:  row.Actual, ActualAt: at, Answered: revision(t, row.RespondedAt),
	}
	p.clock[r.Changed], p.clock[r.Answered] = row.DesiredUpdatedAt, row.RespondedAt
	if _, err := p.records.change(t.Context(), workspace,
		func(lifecycle.Record) (lifecycle.Record, error) { return r, nil }); err != nil {
		t.Fatal(err)
	}
}

// want is a row in which a user wants something.
func (p player) want(t *testing.T, i int, row row) {
	t.Helper()
	at := clock(t, row.DesiredUpdatedAt)
	r, err := p.records.change(t.Context(), workspace, func(r lifecycle.Record) (lifecycle.Record, error) {
		if r.ID == "" {
			return lifecycle.New(workspace, "1", at), nil
		}
		return r.Set(row.Desired, at)
	})
	if err != nil {
		t.Fatal(err)
	}
	if !r.Pending() {
		t.Errorf("row %d: the change is not newer than the answer", i)
	}
	p.clock[r.Changed] = row.DesiredUpdatedAt
}

// exchange is a row in which the agent reports, or has nothing to report.
func (p player) exchange(t *testing.T, i int, row row) {
	t.Helper()
	records := p.records.read(t)
	var report lifecycle.Report
	if row.AgentReport != "" {
		report.Workspaces = []lifecycle.Reported{{
			ID: one(records).Key(), Actual: v1.ActualState(row.AgentReport),
			Version: "v" + row.RespondedAt,
		}}
	}
	at := clock(t, row.RespondedAt)
	pass, err := p.records.exchange(t.Context(), records, report, at)
	if err != nil {
		t.Fatal(err)
	}
	if mark := lifecycle.NextMark(records, at).Revision; p.clock[mark] == "" {
		p.clock[mark] = row.RespondedAt
	}
	var w lifecycle.Answered
	if len(pass.Answer.Workspaces) > 0 {
		w = pass.Answer.Workspaces[0]
	}
	if want := row.IncludeConfig == "Y"; w.Apply != want {
		t.Errorf("row %d: configuration to apply: %t, want %t", i, w.Apply, want)
	}
}

func unlimited(lifecycle.Record) lifecycle.Limits { return lifecycle.Limits{} }

// clock is a scenario's time; the zero time if it has none.
func clock(t *testing.T, text string) time.Time {
	t.Helper()
	if text == "" {
		return time.Time{}
	}
	at, err := time.Parse("2006-01-02 15:04", "2026-01-01 "+text)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

// revision is the minute of a scenario's time.
func revision(t *testing.T, text string) lifecycle.Revision {
	t.Helper()
	if text == "" {
		return 0
	}
	return lifecycle.Revision(clock(t, text).Hour()*60 + clock(t, text).Minute())
}
