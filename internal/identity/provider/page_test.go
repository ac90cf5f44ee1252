package provider

import (
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/berthdev/berth/internal/blueprint/expression"
	"github.com/berthdev/berth/internal/identity"
)

// The table of docs/identity.md has a row for each field of the variable user and a
// column for each kind of provider that knows users. A cell says first what the
// provider fills in; what no provider fills in is said as a constant.
func TestPageSaysWhatExpressionsHave(t *testing.T) {
	page, err := os.ReadFile("../../../docs/identity.md")
	if err != nil {
		t.Fatal(err)
	}
	table := tableOf(string(page), "| field |")
	if diff := cmp.Diff([]string{"`kubernetes`", "`file`, `configmap`", "`github`"}, table["field"]); diff != "" {
		t.Fatalf("the columns (-want +got):\n%s", diff)
	}
	providers := []identity.Users{clusterOf("alice", false), listed(t, users), githubAt(t, hub(t).URL, "acme")}
	user := reflect.TypeFor[expression.User]()
	for field := range user.Fields() {
		cells, ok := table["`"+field.Tag.Get("cel")+"`"]
		if !ok || len(cells) != len(providers) {
			t.Errorf("the row of user.%s is %q", field.Tag.Get("cel"), cells)
			continue
		}
		for j, provider := range providers {
			who, err := provider.Resolve(t.Context(), "alice")
			if err != nil {
				t.Fatal(err)
			}
			value, empty := factOf(who, field), factOf(identity.NewUser("", ""), field)
			constant := map[string]any{
				"empty": reflect.Zero(field.Type).Interface(), "1000": 1000,
				"`[\"*\"]`": []string{"*"},
			}[cells[j]]
			if filled := !reflect.DeepEqual(value, empty); filled != (constant == nil) || !filled &&
				!reflect.DeepEqual(value, constant) {
				t.Errorf("user.%s of %T is %v, the page says %q", field.Tag.Get("cel"), provider, value, cells[j])
			}
		}
	}
}

// factOf is the zero value for what users do not have.
func factOf(user identity.User, field reflect.StructField) any {
	if fact := reflect.ValueOf(user).FieldByName(field.Name); fact.IsValid() {
		return fact.Interface()
	}
	return reflect.Zero(field.Type).Interface()
}

// tableOf is the cells of the rows of a table, by the first one of each; the table
// begins with this line.
func tableOf(page, begin string) map[string][]string {
	rows := map[string][]string{}
	_, rest, _ := strings.Cut(page, begin)
	table, _, _ := strings.Cut(begin+rest, "\n\n")
	for line := range strings.Lines(table) {
		cells := strings.Split(strings.Trim(line, "| \n"), " | ")
		rows[cells[0]] = cells[1:]
	}
	return rows
}
