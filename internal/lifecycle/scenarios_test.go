package lifecycle_test

import (
	"encoding/json"
	"maps"
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

// Each row of the specification, in each of its scenarios.
func TestScenarios(t *testing.T) {
	text, err := os.ReadFile("testdata/scenarios.json")
	if err != nil {
		t.Fatal(err)
	}
	var all []scenario
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	rows := 0
	for _, s := range all {
		rows += len(s.Rows)
		t.Run(s.Name, func(t *testing.T) { play(t, s.Rows) })
		if len(s.RowsAsTitled) > 0 {
			t.Run(s.Name+", as titled", func(t *testing.T) { play(t, s.RowsAsTitled) })
		}
	}
	if len(all) != 27 || rows != 116 {
		t.Errorf("%d scenarios with %d rows, want 27 with 116", len(all), rows)
	}
}

const workspace = "alice-dev"

// play runs the rows through records, one after the other.
func play(t *testing.T, rows []row) {
	records := map[string]lifecycle.Record{}
	for i, row := range rows {
		at := lifecycle.Mark{Revision: revision(t, row.DesiredUpdatedAt), Time: clock(t, row.DesiredUpdatedAt)}
		switch row.Event {
		case "CURRENT_DB_STATE":
			if row.Desired != "" {
				records[workspace] = lifecycle.Record{
					ID: workspace, Incarnation: "1", CreatedAt: at.Time, Desired: row.Desired, DesiredAt: at.Time, Changed: at.Revision,
					Actual: row.Actual, ActualAt: at.Time, Answered: revision(t, row.RespondedAt),
				}
			}
		case "USER_ACTION":
			r, exists := records[workspace]
			if !exists {
				r = lifecycle.New(workspace, "1", at.Time)
			} else if changed, err := r.Set(row.Desired, at.Time); err != nil {
				t.Fatal(err)
			} else if r = changed; r.Changed <= r.Answered {
				t.Errorf("row %d: the change is not newer than the answer", i)
			}
			r.Changed = at.Revision // the scenario's own
			records[workspace] = r
		case "AGENT_ACTION":
			exchange(t, i, records, row)
		default:
			t.Fatalf("row %d: unknown event %q", i, row.Event)
		}
		r := records[workspace]
		got := [4]any{r.Desired, r.Actual, r.Changed, r.Answered}
		if want := [4]any{row.Desired, row.Actual, revision(t, row.DesiredUpdatedAt), revision(t, row.RespondedAt)}; got != want {
			t.Errorf("row %d (%s %s%s): %v, want %v", i, row.Event, row.UserAction, row.AgentReport, got, want)
		}
	}
}

// exchange is a row in which the agent reports, or has nothing to report.
func exchange(t *testing.T, i int, records map[string]lifecycle.Record, row row) {
	t.Helper()
	var report lifecycle.Report
	if row.AgentReport != "" {
		report.Workspaces = []lifecycle.Reported{{ID: workspace, Actual: v1.ActualState(row.AgentReport), Version: "v" + row.RespondedAt}}
	}
	at := lifecycle.NextMark(records, clock(t, row.RespondedAt))
	if answered := revision(t, row.RespondedAt); answered > records[workspace].Answered {
		at.Revision = answered
	}
	changed, answer, err := lifecycle.Exchange(records, report, unlimited, at)
	if err != nil {
		t.Fatal(err)
	}
	maps.Copy(records, changed)
	var w lifecycle.Answered
	if len(answer.Workspaces) > 0 {
		w = answer.Workspaces[0]
	}
	if want := row.IncludeConfig == "Y"; w.Apply != want {
		t.Errorf("row %d: configuration to apply: %t, want %t", i, w.Apply, want)
	}
	if want := row.IncludeConfig == "Y" || row.AgentReport != ""; w.HasVersion != want {
		t.Errorf("row %d: resource version: %t, want %t", i, w.HasVersion, want)
	}
}

func unlimited(lifecycle.Record) lifecycle.Limits { return lifecycle.Limits{} }

// clock is a scenario's time; the zero time if it has none.
func clock(t *testing.T, text string) time.Time {
	t.Helper()
	if text == "" {
		return time.Time{}
	}
	at, err := time.Parse("15:04", text)
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
